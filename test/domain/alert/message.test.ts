/** What an item of a message counts as. */
import t from 'tap';
import type { MessageItem } from '../../../src/domain/alert/message.ts';
import { countStates, stateOf } from '../../../src/domain/alert/message.ts';

const item = (more: object, id = 1) =>
  ({
    service: { id },
    status: 'up',
    lastedMs: null,
    flapping: null,
    incident: null,
    ...more,
  }) as unknown as MessageItem;

t.test('an item counts as what it tells, and what is over as what the service is now', async (t) => {
  const over = { lastedMs: 5 };
  const table: readonly (readonly [object, string])[] = [
    [{ event: 'down', status: 'down' }, 'down'],
    [{ event: 'heartbeat_missed', status: 'down' }, 'down'],
    [{ event: 'down', status: 'up', ...over }, 'up'],
    [{ event: 'down', status: 'slow', ...over }, 'slow'],
    [{ event: 'down', status: 'down', ...over }, 'down'],
    [{ event: 'slow', status: 'slow' }, 'slow'],
    [{ event: 'slow', status: 'up', ...over }, 'fast'],
    [{ event: 'scope', status: 'up' }, 'partial'],
    [{ event: 'scope', status: 'down' }, 'down'],
    [{ event: 'scope', status: 'up', ...over }, 'up'],
    [{ event: 'maintenance' }, 'maintenance'],
    [{ event: 'maintenance', ...over }, 'ended'],
    [{ event: 'certificate', ...over }, 'certificate'],
    [{ event: 'incident' }, 'incident'],
    [{ event: 'vendor_incident', incident: { status: 'resolved' } }, 'resolved'],
    [{ event: 'incident_update', ...over }, 'resolved'],
    [{ event: 'down', status: 'down', flapping: {} }, 'flapping'],
    [{ event: 'down', status: 'down', flapping: {}, ended: 'removed' }, 'unwatched'],
  ];
  for (const [more, state] of table) t.equal(stateOf(item(more)), state, JSON.stringify(more));
});

t.test('a service counts once in each state', async (t) => {
  const down = { event: 'down', status: 'down' };
  t.same(countStates([item(down), item(down), item(down, 2), item({ event: 'maintenance' })]), {
    ...{ down: 2, maintenance: 1 },
  });
  t.same(countStates([]), {});
});
