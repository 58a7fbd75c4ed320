import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import { openRegistry } from '../../src/store/registry/sqlite-registry.ts';
import { runRegistryContract } from './registry-contract.ts';

runRegistryContract({
  open: (dataDir, options) => openRegistry({ dataDir, log: silentLog, clock: systemClock, ...options }),
});
