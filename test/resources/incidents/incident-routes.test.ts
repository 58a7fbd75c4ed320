/** Incidents that owners post, over the API. */
import t from 'tap';
import { start } from '../../site/posting-account.ts';
import { NOW } from '../../site/site-world.ts';

const HOUR = 3_600_000;

const at = (ms: number) => new Date(ms).toISOString();

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
  const { id } = made.json;
  t.match(id, /^owner-\d{15}$/);
  const own = `/api/v1/account/incidents/${id}`;
  t.equal(made.headers.get('location'), `https://upbeat.test${own}`);
  t.strictSame(made.json, {
    id,
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
    updates_total: 1,
    post_mortem: null,
  });
  const again = await send('POST', '/api/v1/incidents', SAID, { ...ada, 'idempotency-key': 'one' });
  t.equal(again.headers.get('idempotent-replayed'), 'true');
  t.strictSame(again.json, made.json);

  const listed = (await send('GET', '/api/v1/incidents/shop')).json.incidents[0].id;
  t.match(listed, new RegExp(`^${id}-[0-9a-f]{12}$`));
  const seen = {
    id: listed,
    title: 'Orders are late',
    description: 'We look into it.',
    severity: 'major',
    status: 'investigating',
    started_at: at(NOW),
    resolved_at: null,
    source_url: `https://upbeat.test/status/shop/incidents/${listed}`,
    source: 'owner',
  };
  t.match((await send('GET', '/api/v1/incidents')).json, {
    incidents: [{ ...seen, service: { slug: 'shop' } }],
  });
  t.strictSame((await send('GET', '/api/v1/incidents/shop')).json.incidents, [seen]);
  t.match((await send('GET', `/api/v1/incidents/shop/${listed}`)).json, {
    incident: { source: 'owner', timeline: [{ text: 'We look into it.' }] },
  });
  t.match((await send('GET', '/api/v1/status/shop')).json, { status: 'unknown' }, 'checks decide the status');

  const path = `/api/v1/incidents/${id}`;
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
  const stale = { ...ada, ...tag, 'idempotency-key': 'refused' };
  t.equal((await send('POST', `${path}/updates`, update, stale)).status, 412);
  const written = { ...ada, 'idempotency-key': 'update' };
  const news = { status: 'resolved', text: 'It is **over**.' };
  const [said, repeated] = [
    await send('POST', `${path}/updates`, news, written),
    await send('POST', `${path}/updates`, news, { ...written, 'if-match': '"2-x"' }),
  ];
  t.match(said.json, { updates: { length: 3 } });
  t.same([repeated.status, repeated.json], [200, said.json], 'an update that is sent again is one update');
  for (const [name, first] of [
    ['idempotent-replayed', 'true'],
    ['etag', said.headers.get('etag')],
  ] as const)
    t.equal(repeated.headers.get(name), first, name);
  const read = await send('GET', own, undefined, ada);
  t.strictSame(read.json, said.json);
  t.equal(read.headers.get('cache-control'), 'private, no-cache');
  const etag = { ...ada, 'if-none-match': read.headers.get('etag') ?? '' };
  t.equal((await send('GET', own, undefined, etag)).status, 304);
  const other = await send('POST', `${path}/updates`, update, written);
  t.match(other, { status: 422, json: { code: 'idempotency_mismatch' } });
  const explained = await send('PATCH', path, { post_mortem: '# Why\n\n- a disk\n- was full' }, ada);
  t.match(explained.json, { post_mortem: { plain: 'Why\n- a disk\n- was full' } });
  t.match((await send('GET', `/api/v1/incidents/shop/${listed}`)).json.incident.timeline, { length: 4 });
  t.strictSame((await send('GET', own, undefined, ada)).json, explained.json);
  t.match((await send('GET', '/api/v1/account/incidents', undefined, ada)).json, { total: 1 });

  t.match((await send('GET', '/api/v1/account/incidents', undefined, grace)).json, { total: 0 });
  for (const [method, where, body] of [
    ['GET', own, undefined],
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
