import fc from 'fast-check';
import t from 'tap';
import { idleProbe, type OpenCheck, type ProbeState } from '../../../src/engine/host/probe-actor.ts';
import { ProbeStates } from '../../../src/engine/host/probe-states.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { anyTarget } from '../any-target.ts';
import { targetOf } from '../attempt.ts';

const serviceId = fc.oneof(fc.nat(5), fc.nat(2 ** 40));
const step = fc.oneof(
  fc.tuple(fc.constant('idle' as const), anyTarget(serviceId), fc.constantFrom(0, 0, 1_800_000_000_000)),
  fc.tuple(fc.constant('open' as const), anyTarget(serviceId), fc.constant(0)),
  fc.tuple(fc.constant('delete' as const), anyTarget(serviceId), fc.constant(0)),
);

function openProbe(target: ProbeState['target']): ProbeState {
  const check: OpenCheck = {
    target,
    attempt: 1,
    attempting: false,
    firstFailedAt: 7,
    headUnproven: true,
    clockOffset: 5,
    suspect: null,
    repeats: 1,
    doubted: true,
    worstLoopDelayMs: 3,
  };
  return { target, notBefore: 0, check };
}

t.test('it behaves as a map of states, whose idle targets forget when they were last checked', async (t) => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => {
      const states = new ProbeStates();
      const model = new Map<number, ProbeState>();
      for (const [kind, target, notBefore] of steps) {
        const id = target.serviceId;
        if (kind === 'delete') t.equal(states.delete(id), model.delete(id));
        else if (kind === 'open') {
          const state = openProbe(target);
          states.set(id, state);
          model.set(id, state);
          t.equal(states.get(id), state, 'a check in progress keeps its object');
        } else {
          states.set(id, idleProbe(target, notBefore));
          model.set(id, idleProbe({ ...target, lastCheckedAt: null }, notBefore));
        }
        t.equal(states.size, model.size);
        for (const [known, state] of model) t.strictSame(states.get(known), state);
        t.equal(states.has(id), model.has(id));
        t.strictSame(states.get(id), model.get(id));
      }
    }),
    { numRuns: propertyRuns(100) },
  );
});

t.test('rows of removed services are used again, beyond a chunk of them too', async (t) => {
  const states = new ProbeStates();
  const ids = Array.from({ length: 2_100 }, (_, index) => 1 + index * 3);
  for (const id of ids) states.set(id, idleProbe(targetOf(id)));
  for (const id of ids.slice(0, 1_500)) states.delete(id);
  for (const id of ids.slice(0, 1_500)) states.set(id + 1, idleProbe(targetOf(id + 1)));
  const wanted = [...ids.slice(1_500), ...ids.slice(0, 1_500).map((id) => id + 1)];
  t.equal(states.size, 2_100);
  t.strictSame(
    wanted.map((id) => states.get(id)),
    wanted.map((id) => idleProbe({ ...targetOf(id), lastCheckedAt: null })),
  );
});

t.test('an id is a whole number from 0', async (t) => {
  const states = new ProbeStates();
  t.throws(() => states.set(-1, idleProbe(targetOf(1))), RangeError);
  t.equal(states.size, 0);
});
