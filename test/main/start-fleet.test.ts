/** What a fleet is started with. */
import t from 'tap';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { isQuiet } from '../../src/main/start-fleet.ts';
import { makeService } from '../record/record-world.ts';

t.test('few checks a second need small heaps, however many services there are', (t) => {
  const services = (count: number, change: Parameters<typeof makeService>[1] = {}) =>
    Array.from({ length: count }, (_, index) => makeService(index + 1, change));
  const checked = (intervalMs: number) => ({ check: { ...DEFAULT_CHECK, intervalMs } });
  const heartbeat = { check: { ...DEFAULT_CHECK, kind: 'heartbeat' } } as const;
  const table = [
    ['the public list every five minutes', services(1_200), 300_000, true],
    ['the same every 30 s', services(1_200), 30_000, true],
    ['the same every 3 s', services(1_200), 3_000, false],
    ['as many as allowed', services(100), 1_000, true],
    ['one more', services(101), 1_000, false],
    ['an interval of their own', services(101, checked(10_000)), 1_000, true],
    ['paused', services(5_000, { paused: true }), 1_000, true],
    ['heartbeats', services(5_000, heartbeat), 1_000, true],
    ['not known yet, as on a node of a cluster', [], 300_000, false],
  ] as const;
  for (const [what, list, intervalMs, wanted] of table) t.equal(isQuiet(list, intervalMs), wanted, what);
  t.end();
});
