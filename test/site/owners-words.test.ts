/** What owners say, over HTTP: incidents and maintenance by the API, and where others see them. */
import t, { type Test } from 'tap';
import { sendWith } from './send-with.ts';
import { NOW, service, startApi } from './site-world.ts';

const HOUR = 3_600_000;
const at = (ms: number) => new Date(ms).toISOString();

/** The API with a service and a page of account 1, and keys of accounts 1 and 2. */
async function start(t: Test) {
  const shop = service(1, 'shop', { origin: 'owner', accountId: 1, name: 'Shop' });
  const world = await startApi({ services: [shop, service(2, 'public')] });
  t.teardown(world.close);
  await world.registry.ensureAccount('grace', 1);
  const groups = [{ name: '', services: [1, 2] }];
  await world.registry.addPage({ accountId: 1, slug: 'acme', title: 'Acme', text: '', groups, now: NOW });
  const keyOf = (accountId: number) => world.makeKey({ accountId, scopes: ['read', 'write'] });
  const [ada, grace] = [keyOf(1), keyOf(2)];
  const send = sendWith(world);
  return { world, ada, grace, send };
}

const SAID = {
  title: 'Orders  are late',
  severity: 'major',
  text: 'We **look** into it.',
  services: ['shop'],
};

t.test('an incident is written, updated, explained and removed, and others see who says so', async (t) => {
  const { ada, grace, send } = await start(t);
  const made = await send('POST', '/api/v1/incidents', SAID, { ...ada, 'idempotency-key': 'one' });
  t.equal(made.status, 201);
  t.equal(made.headers.get('location'), 'https://upbeat.test/api/v1/account/incidents/owner-1');
  t.strictSame(made.json, {
    id: 'owner-1',
    source: 'owner',
    title: 'Orders are late',
    severity: 'major',
    status: 'investigating',
    started_at: at(NOW),
    resolved_at: null,
    services: ['shop'],
    pages: [],
    updates: [
      { at: at(NOW), status: 'investigating', text: 'We **look** into it.', plain: 'We look into it.' },
    ],
    post_mortem: null,
  });
  const again = await send('POST', '/api/v1/incidents', SAID, { ...ada, 'idempotency-key': 'one' });
  t.equal(again.headers.get('idempotent-replayed'), 'true');
  t.strictSame(again.json, made.json);

  const seen = {
    id: 'owner-1-1',
    title: 'Orders are late',
    description: 'We look into it.',
    severity: 'major',
    status: 'investigating',
    started_at: at(NOW),
    resolved_at: null,
    source_url: 'https://upbeat.test/status/shop/incidents/owner-1-1',
    source: 'owner',
  };
  t.match((await send('GET', '/api/v1/incidents')).json, {
    incidents: [{ ...seen, service: { slug: 'shop' } }],
  });
  t.strictSame((await send('GET', '/api/v1/incidents/shop')).json.incidents, [seen]);
  t.match((await send('GET', '/api/v1/incidents/shop/owner-1-1')).json, {
    incident: { source: 'owner', timeline: [{ text: 'We look into it.' }] },
  });
  t.match((await send('GET', '/api/v1/status/shop')).json, { status: 'unknown' }, 'checks decide the status');

  const path = '/api/v1/incidents/owner-1';
  const tag = { 'if-match': made.headers.get('etag') ?? '' };
  const early = await send('PATCH', path, { post_mortem: 'A disk.' }, ada);
  t.match(early, { status: 400, json: { errors: [{ field: 'post_mortem', code: 'post_mortem_early' }] } });
  const update = { status: 'resolved', text: 'Over: see [why](https://a.example/b).' };
  const over = await send('POST', `${path}/updates`, update, { ...ada, ...tag });
  t.match(over.json, {
    status: 'resolved',
    resolved_at: at(NOW),
    updates: [{}, { plain: 'Over: see why (https://a.example/b).' }],
  });
  t.equal((await send('POST', `${path}/updates`, update, { ...ada, ...tag })).status, 412);
  const explained = await send('PATCH', path, { post_mortem: '# Why\n\n- a disk\n- was full' }, ada);
  t.match(explained.json, { post_mortem: { plain: 'Why\n- a disk\n- was full' } });
  t.match((await send('GET', '/api/v1/incidents/shop/owner-1-1')).json.incident.timeline, { length: 3 });
  t.strictSame((await send('GET', '/api/v1/account/incidents/owner-1', undefined, ada)).json, explained.json);
  t.match((await send('GET', '/api/v1/account/incidents', undefined, ada)).json, { total: 1 });

  t.match((await send('GET', '/api/v1/account/incidents', undefined, grace)).json, { total: 0 });
  for (const [method, where, body] of [
    ['GET', '/api/v1/account/incidents/owner-1', undefined],
    ['PATCH', path, {}],
    ['POST', `${path}/updates`, { text: 'x' }],
    ['DELETE', path, undefined],
  ] as const)
    t.match(await send(method, where, body, grace), { status: 404, json: { code: 'incident_not_found' } });
  t.equal((await send('DELETE', path, undefined, ada)).status, 204);
  t.strictSame((await send('GET', '/api/v1/incidents')).json.incidents, []);
});

t.test('what is wrong with an incident or a maintenance is named, member by member', async (t) => {
  const { ada, send } = await start(t);
  const rows: readonly [path: string, body: object, errors: readonly (readonly [string | null, string])[]][] =
    [
      ['incidents', { title: 'x' }, [['text', 'member_invalid']]],
      ['incidents', { title: ' ', text: 'x', services: ['shop'] }, [['title', 'member_invalid']]],
      ['incidents', { title: 'a\u202eb', text: 'x', services: ['shop'] }, [['title', 'member_invalid']]],
      ['incidents', { title: 'x', text: 'a\u202eb', services: ['shop'] }, [['text', 'member_invalid']]],
      ['incidents', { title: 'x', text: 'y'.repeat(100_000) }, [['text', 'member_invalid']]],
      ['incidents', { title: 'x', text: 'y', severity: 'maintenance' }, [['severity', 'member_invalid']]],
      ['incidents', { title: 'x', text: 'y' }, [['services', 'subject_missing']]],
      ['incidents', { title: 'x', text: 'y', services: ['public'] }, [['services.0', 'no_subject']]],
      ['incidents', { title: 'x', text: 'y', pages: ['no'] }, [['pages.0', 'no_subject']]],
      [
        'incidents',
        { title: 'x', text: 'y', pages: ['acme'], started_at: at(NOW + HOUR) },
        [['started_at', 'member_invalid']],
      ],
      [
        'maintenances',
        {
          title: 'x',
          duration: '5s',
          starts_at: at(NOW - HOUR),
          time_zone: 'Mars',
          recurrence: 'FREQ=HOURLY',
        },
        [
          ['starts_at', 'maintenance_past'],
          ['duration', 'maintenance_length'],
          ['time_zone', 'timezone_invalid'],
          ['recurrence', 'recurrence_invalid'],
          ['services', 'subject_missing'],
        ],
      ],
      [
        'maintenances',
        { title: 'x', duration: '2d', recurrence: 'FREQ=DAILY', pages: ['acme'] },
        [['duration', 'maintenance_length']],
      ],
      [
        'maintenances',
        { title: 'x', duration: '1h', recurrence: 'FREQ=MONTHLY;BYMONTHDAY=30;BYMONTH=2', pages: ['acme'] },
        [['recurrence', 'recurrence_invalid']],
      ],
    ];
  for (const [path, body, errors] of rows) {
    const { status, json } = await send('POST', `/api/v1/${path}`, body, ada);
    const found = json.errors?.map(({ field, code }: { field: string; code: string }) => [field, code]);
    t.strictSame([status, found], [400, errors], JSON.stringify(body).slice(0, 80));
  }
});

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
  t.strictSame(made.json, {
    id: 'm1',
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
  const path = '/api/v1/maintenances/m1';
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
  const longer = await send('POST', `${path}/occurrence`, { action: 'extend', by: '30m' }, ada);
  t.equal(longer.json.next[0].state, 'running');
  for (const [method, body] of [
    ['GET', undefined],
    ['PATCH', {}],
    ['DELETE', undefined],
  ] as const)
    t.match(await send(method, path, body, grace), { status: 404, json: { code: 'maintenance_not_found' } });
  t.equal((await send('DELETE', path, undefined, { ...ada, 'if-match': '"1-x"' })).status, 412);
  t.equal((await send('DELETE', path, undefined, ada)).status, 204);
  t.equal((await send('GET', path, undefined, ada)).status, 404);
  t.match((await send('GET', '/api/v1/maintenance')).json, { total: 0 });
  await world.registry.advanceMaintenances(NOW);
  t.match((await send('GET', '/api/v1/incidents')).json.incidents, [{ status: 'resolved' }]);
});
