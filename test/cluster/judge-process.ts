/**
 * A judge for the test to kill: takes results from a Redis into the registry of a folder, and writes a line to standard
 * output for each batch that is committed, before it is acknowledged.
 */

import { writeSync } from 'node:fs';
import { systemClock } from '../../src/clock.ts';
import { ResultReader } from '../../src/cluster/results/result-reader.ts';
import { requireRedisAddress } from '../../src/domain/store-address.ts';
import { silentLog } from '../../src/log.ts';
import { ResultRecord } from '../../src/record/record.ts';
import { openRegistry } from '../../src/store/registry/open-registry.ts';
import { createMemoryStatusStore } from '../../src/store/status/memory-status-store.ts';
import { USUAL } from '../support/attempts.ts';

const [dataDir = '', url = ''] = process.argv.slice(2);
const common = { clock: systemClock, log: silentLog };
const address = requireRedisAddress(url);
const registry = await openRegistry({ ...common, dataDir });
const record = new ResultRecord({
  ...common,
  registry,
  status: createMemoryStatusStore({ log: silentLog }),
  samples: { append: async () => {} },
  settings: { usual: USUAL, firstSpreadMs: 0, controlTargets: 1 },
  heartbeats: { registry, isCatalogueDomain: () => false, silenceMs: 600_000 },
  queryControlTargets: async () => true,
  onRecheck() {},
  sourceUrl: () => '',
  isInMaintenance: () => false,
});
// As a judge that stood by: what the one before it committed last is read when a result needs it.
await record.loadBehind({ ...registry, learn() {}, complete() {} });
new ResultReader({
  ...common,
  address,
  isFresh: () => true,
  async take(results, deliveredAt) {
    const isCommitted = await record.takeRuled(results, deliveredAt);
    // Synchronous: what was said was said, however soon the end comes.
    writeSync(1, `${results.length}\n`);
    return isCommitted;
  },
});
