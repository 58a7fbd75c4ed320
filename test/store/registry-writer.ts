/**
 * A child process for the test to kill: commits updates of two kinds without end, and says on standard output which were
 * acknowledged, one line `service seq observedAt` each. A line is written only after its promise has resolved.
 */
import { writeSync } from 'node:fs';
import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import { openRegistry } from '../../src/store/registry/open-registry.ts';
import { incident, NOON, stay, turn } from './registry-fixtures.ts';

const registry = await openRegistry({
  dataDir: process.argv[2] ?? '',
  postgresUrl: process.argv[3] || null,
  log: silentLog,
  clock: systemClock,
});
const states = await registry.loadServices();

await Promise.all(
  states.map(async ({ service, current: before }) => {
    let current = before;
    for (let n = 0; ; n++) {
      const at = Math.max(current.observedAt, NOON) + 1;
      const to = current.status === 'up' ? 'down' : 'up';
      const update =
        n % 3 === 0
          ? {
              ...turn(current, to, at, service.slug),
              incident: incident(service.id, `own-${service.id}-${current.seq + 1}`),
            }
          : stay(current, at);
      const [outcome] = await registry.commitUpdates([update]);
      if (outcome?.kind !== 'committed') throw new Error('nobody else writes here');
      current = update.current;
      // Synchronous: what was said was said, however soon the end comes.
      writeSync(1, `${service.id} ${current.seq} ${current.observedAt}\n`);
    }
  }),
);
