/** Random heartbeats, silences, restarts and faults of the registry: what must hold after each of them. */
import fc from 'fast-check';
import t from 'tap';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { createRecordedRegistry } from '../support/recorded-registry.ts';
import { createWorld, makeService, START } from './record-world.ts';

const SILENCE = 20_000;
const CHECK = { ...DEFAULT_CHECK, kind: 'heartbeat', periodMs: SILENCE } as const;
const SERVICE = makeService(1, { origin: 'owner', accountId: 7, domain: 'a.example', check: CHECK });

type Step =
  | { readonly kind: 'beat'; readonly word: 'up' | 'slow' | 'down' }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'fault'; readonly fault: 'refused' | 'answer_lost' }
  /** The process ends, at once or in order, and comes again after a while. */
  | { readonly kind: 'restart'; readonly orderly: boolean; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('beat' as const),
      word: fc.constantFrom('up' as const, 'up' as const, 'slow' as const, 'down' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 30_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fault' as const),
      fault: fc.constantFrom('refused' as const, 'answer_lost' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('restart' as const),
      orderly: fc.boolean(),
      ms: fc.integer({ min: 0, max: 100_000 }),
    }),
  },
);

t.test('it reports each silence once, never too early, and loses no answered heartbeat', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const registry = await createRecordedRegistry([SERVICE]);
      let clock = createFakeClock(START);
      let world = await createWorld({ registry, clock });
      world.record.startListening();
      /** When silence began to count: the newest answered heartbeat, or the newest start. */
      let heardFrom = clock.now();
      let heard = false;
      for (const one of steps) {
        if (one.kind === 'fault') {
          registry.meet(one.fault);
        } else if (one.kind === 'wait') {
          await clock.advance(one.ms);
        } else if (one.kind === 'restart') {
          // What waits for a write that failed is written or given up first: a killed process writes nothing later.
          await clock.advance(500);
          if (one.orderly) await world.record.stop();
          clock = createFakeClock(clock.now() + one.ms);
          world = await createWorld({ registry, clock });
          world.record.startListening();
          heardFrom = clock.now();
        } else {
          const arrivedAt = clock.now();
          const { word } = one;
          const report = {
            kind: 'beat',
            domain: 'a.example',
            word,
            reported: null,
            timestamp: null,
            dependencies: null,
            run: null,
          } as const;
          const receipt = world.record.takeHeartbeat({ report, accountId: 7, arrivedAt, body: '' });
          let settled = false;
          void receipt.finally(() => {
            settled = true;
          });
          // Several faults of the registry in a row are waited for, each longer than the one before.
          for (let waits = 0; !settled && waits < 50; waits++) await clock.advance(300);
          if ((await receipt).status !== word) return false;
          if (registry.current(1).status !== word) return false;
          if (!registry.heartbeats.some((kept) => kept.arrivedAt === arrivedAt)) return false;
          heardFrom = arrivedAt;
          heard = true;
        }
        const { latest, status } = registry.current(1);
        const silentMs = clock.now() - heardFrom;
        if (silentMs < SILENCE && latest?.source === 'silence' && latest.checkedAt > heardFrom) return false;
        if (heard && silentMs > SILENCE + 1_000 && status !== 'down') return false;
        if (latest?.source === 'silence' && latest.statusCode !== 0) return false;
      }
      const chain = registry.transitions;
      const open = [...registry.incidents.values()].filter((incident) => incident.status !== 'resolved');
      await world.record.stop();
      await registry.close();
      return (
        open.length <= 1 &&
        chain.every(({ seq, from, to }, index) => seq === index + 1 && from !== to) &&
        chain.slice(1).every(({ from }, index) => from === chain[index]?.to)
      );
    }),
    { numRuns: propertyRuns(20) },
  );
  t.pass();
});
