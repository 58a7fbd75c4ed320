/** The memory of alerts as JSON. */
import t from 'tap';
import { readAlertState, writeAlertState } from '../../../src/domain/alert/alert-state.ts';
import { AlertWorld, MINUTE, NOON } from './alert-world.ts';

t.test('the state is JSON that survives a later version', async (t) => {
  const world = new AlertWorld();
  world.down(0, 1);
  world.pass(MINUTE);
  const stored = JSON.parse(writeAlertState(world.state));
  const [key = ''] = Object.keys(stored.conditions);
  const later = { ...stored, version: 2, mood: 'good' };
  later.conditions = { [key]: { ...stored.conditions[key], colour: 'red' } };
  world.state = readAlertState(JSON.stringify(later));
  world.up(2 * MINUTE, 2, 'unknown');
  world.pass(2 * MINUTE);
  t.same(JSON.parse(writeAlertState(world.state)), { ...later, decidedAt: NOON + 2 * MINUTE });
  for (const text of ['', 'null', '[]', '{}', '{"version":1,"conditions":{}}'])
    t.throws(() => readAlertState(text), text);
});
