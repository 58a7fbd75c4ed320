/** Maintenance that owners announce, over the API. */
import t from 'tap';
import { start } from '../../site/posting-account.ts';
import { NOW } from '../../site/site-world.ts';

const HOUR = 3_600_000;

const at = (ms: number) => new Date(ms).toISOString();

t.test('a maintenance is announced, changed, runs, is extended, ended and withdrawn', async (t) => {
  const { world, ada, grace, send } = await start(t);
  const work = {
    title: 'New disks',
    text: 'It may be *slow*.',
    starts_at: '2026-11-20T12:30',
    duration: '1h',
    time_zone: 'europe/berlin',
    recurrence: 'rrule:freq=weekly;byday=fr',
    pages: ['acme'],
  };
  const made = await send('POST', '/api/v1/maintenances', work, ada);
  t.equal(made.status, 201);
  const first = Date.UTC(2026, 10, 20, 11, 30);
  const { id } = made.json;
  t.match(id, /^m\d{15}$/);
  t.strictSame(made.json, {
    id,
    source: 'owner',
    title: 'New disks',
    description: 'It may be slow.',
    definition: {
      title: 'New disks',
      text: 'It may be *slow*.',
      starts_at: at(first),
      duration: '1h',
      time_zone: 'Europe/Berlin',
      recurrence: 'FREQ=WEEKLY;BYDAY=FR',
      pages: ['acme'],
    },
    announced_at: at(NOW),
    next: [0, 1, 2, 3, 4].map((week) => ({
      state: 'planned',
      starts_at: at(first + week * 168 * HOUR),
      ends_at: at(first + week * 168 * HOUR + HOUR),
    })),
  });
  const listed = (await send('GET', '/api/v1/maintenance')).json;
  t.match(listed, {
    total: 2,
    maintenance: [{ source: 'owner', state: 'planned', starts_at: at(first), service: { slug: 'shop' } }, {}],
  });
  const path = `/api/v1/maintenances/${id}`;
  t.match(await send('POST', `${path}/occurrence`, { action: 'end' }, ada), {
    status: 409,
    json: { code: 'conflict' },
  });
  const skipped = await send('POST', `${path}/occurrence`, { action: 'skip' }, ada);
  t.match(skipped.json.next, [{ starts_at: at(first + 168 * HOUR) }]);
  const changed = await send('PATCH', path, { recurrence: null, starts_at: null, text: null }, ada);
  t.match(changed.json, { description: '', next: { length: 1 } });
  t.same(changed.json.definition.recurrence, undefined);
  await world.registry.advanceMaintenances(NOW);
  t.match((await send('GET', '/api/v1/maintenance')).json.maintenance, [{ state: 'running' }]);
  t.match((await send('GET', '/api/v1/incidents')).json.incidents, [
    { severity: 'maintenance', status: 'identified', source: 'owner' },
  ]);
  const once = { ...ada, 'idempotency-key': 'longer' };
  const longer = await send('POST', `${path}/occurrence`, { action: 'extend', by: '30m' }, once);
  const again = await send('POST', `${path}/occurrence`, { action: 'extend', by: '30m' }, once);
  t.same([again.status, again.headers.get('idempotent-replayed'), again.json], [200, 'true', longer.json]);
  t.equal(longer.json.next[0].state, 'running');
  for (const [method, body] of [
    ['GET', undefined],
    ['PATCH', {}],
    ['DELETE', undefined],
  ] as const)
    t.match(await send(method, path, body, grace), { status: 404, json: { code: 'maintenance_not_found' } });
  t.equal((await send('DELETE', path, undefined, ada)).status, 204);
  t.equal((await send('GET', path, undefined, ada)).status, 404);
  t.match((await send('GET', '/api/v1/maintenance')).json, { total: 0 });
  await world.registry.advanceMaintenances(NOW);
  t.match((await send('GET', '/api/v1/incidents')).json.incidents, [{ status: 'resolved' }]);
});
