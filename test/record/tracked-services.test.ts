import fc from 'fast-check';
import t from 'tap';
import { NO_MEMORY } from '../../src/domain/result.ts';
import { unknownStatus } from '../../src/domain/status/current.ts';
import { createTrackedServices, stateOf, type TrackedService } from '../../src/record/tracked-services.ts';
import { record } from '../store/registry-fixtures.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { makeService, START } from './record-world.ts';

const up = record(1, 3, 'up', START);
const state = (current = up) => ({ service: makeService(1), current, memory: NO_MEMORY, openIncident: null });

t.test('updates in flight still read the status of a service that was removed and added again', async (t) => {
  const services = createTrackedServices();
  const before = services.add(state());
  services.remove(before);
  t.strictSame(before.current, up);
  const after = services.add(state(unknownStatus(1)));
  t.strictSame(before.current, up);
  before.current = record(1, 4, 'down', START + 1);
  t.strictSame(before.current, record(1, 4, 'down', START + 1));
  t.strictSame(after.current, unknownStatus(1));
  services.remove(before);
  t.equal(services.get(1), after, 'a second removal leaves the new one');
  t.strictSame(after.current, unknownStatus(1));
});

t.test('a state that is evaluated keeps the status that it began with', async (t) => {
  const tracked = createTrackedServices().add(state());
  const seen = stateOf(tracked);
  tracked.current = record(1, 4, 'down', START + 1);
  t.strictSame(seen.current, up);
  t.equal(seen.current, seen.current, 'one object');
});

t.test('its parts behave as members of an object, and no value of one shows in another', async (t) => {
  const time = fc.option(fc.nat());
  const part = fc.oneof(
    fc.record({ lastArrivedAt: time }),
    fc.record({ newestTimestamp: time }),
    fc.record({ queue: fc.option(fc.constant([])) }),
    fc.record({ preview: fc.option(fc.constantFrom(up, unknownStatus(1))) }),
    fc.record({ isMemoryNew: fc.boolean() }),
    fc.record({ isCheckChanged: fc.boolean() }),
    fc.record({ isRemoved: fc.boolean() }),
    fc.record({ checkRevision: fc.nat() }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const tracked = createTrackedServices().add({ ...state(), lastArrivedAt: 7 });
      const plain: Record<string, unknown> = {
        ...{ openIncident: null, lastArrivedAt: 7, newestTimestamp: null, inFlight: null, queue: null },
        ...{ preview: null, isMemoryNew: false, isCheckChanged: false, isRemoved: false },
        checkRevision: tracked.service.revision,
      };
      for (const change of parts) {
        Object.assign(tracked, change);
        Object.assign(plain, change);
        for (const [name, value] of Object.entries(plain))
          t.equal(tracked[name as keyof TrackedService], value, name);
      }
    }),
    { numRuns: propertyRuns(20) },
  );
});
