import { createSharedStatuses } from '../../../src/domain/status/shared-statuses.ts';
import { silentLog } from '../../../src/log.ts';
import { createMemoryStatusStore } from '../../../src/store/status/memory-status-store.ts';
import { runStatusContract } from '../status-contract.ts';

runStatusContract({ open: async () => createMemoryStatusStore({ log: silentLog }) });
runStatusContract({
  open: async () => createMemoryStatusStore({ log: silentLog, rows: createSharedStatuses().published }),
});
