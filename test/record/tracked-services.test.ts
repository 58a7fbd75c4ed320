import t from 'tap';
import { unknownStatus } from '../../src/domain/current.ts';
import { NO_MEMORY } from '../../src/domain/result.ts';
import { createTrackedServices, stateOf } from '../../src/record/tracked-services.ts';
import { record } from '../store/registry-fixtures.ts';
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
