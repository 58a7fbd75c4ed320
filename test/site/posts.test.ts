/** What owners say, over HTTP: incidents and maintenance by the API, and where others see them. */
import ICAL from 'ical.js';
import t, { type Test } from 'tap';
import { openSampleStore } from '../support/sample-store.ts';
import { sendWith } from './send-with.ts';
import { check, current, NOW, service, startApi } from './site-world.ts';

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
    updates_total: 1,
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
  const read = await send('GET', '/api/v1/account/incidents/owner-1', undefined, ada);
  t.strictSame(read.json, said.json);
  t.equal(read.headers.get('cache-control'), 'private, no-cache');
  const etag = { ...ada, 'if-none-match': read.headers.get('etag') ?? '' };
  t.equal((await send('GET', '/api/v1/account/incidents/owner-1', undefined, etag)).status, 304);
  const other = await send('POST', `${path}/updates`, update, written);
  t.match(other, { status: 422, json: { code: 'idempotency_mismatch' } });
  const explained = await send('PATCH', path, { post_mortem: '# Why\n\n- a disk\n- was full' }, ada);
  t.match(explained.json, { post_mortem: { plain: 'Why\n- a disk\n- was full' } });
  t.match((await send('GET', '/api/v1/incidents/shop/owner-1-1')).json.incident.timeline, { length: 4 });
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

t.test('pages show what the owner says as safe HTML, beside what checks see', async (t) => {
  const { world, ada, send } = await start(t);
  const text = '**Sorry.** [x](javascript:alert(1)) <script>alert(1)</script> https://a.example';
  await send('POST', '/api/v1/incidents', { ...SAID, title: '<b>Late</b>', text }, ada);
  await send('POST', '/api/v1/incidents', { title: 'Only here', text: 'A page.', pages: ['acme'] }, ada);
  const work = { title: 'Disks & <i>more</i>', text: '*Slow.*', duration: '2h', pages: ['acme'] };
  await send('POST', '/api/v1/maintenances', work, ada);
  await world.registry.advanceMaintenances(NOW);
  const safe =
    /<strong>Sorry\.<\/strong> \[x\]\(javascript:alert\(1\)\) &lt;script&gt;alert\(1\)&lt;\/script&gt; <a href="https:\/\/a\.example" rel="nofollow noopener">/;
  const page = (await world.get('/p/acme')).text;
  t.match(page, safe);
  t.notMatch(page, /The owner says/, "the whole page is the owner's");
  t.match(page, /Only here[\s\S]*Disks &amp; &lt;i&gt;more&lt;\/i&gt;[\s\S]*<em>Slow\.<\/em>/);
  t.match(page, /<a [^>]*href="webcal:\/\/upbeat\.test\/p\/acme\/calendar\.ics">/);
  t.equal(page.match(/&lt;b&gt;Late/g)?.length, 1, 'it is shown once');
  t.notMatch(page, /<script>alert|href="javascript/);
  t.match(
    page,
    /class="overall down"[^>]*data-live-part="overall">[\s\S]{0,300}Incident reported; no service has been checked yet/,
  );
  await send('POST', '/api/v1/maintenances', { title: 'Silent', duration: '1h', pages: ['acme'] }, ada);
  await world.registry.advanceMaintenances(NOW);
  const boxes = (await world.get('/p/acme')).text.match(
    /<article class="card"><h3>Silent[\s\S]*?<\/article>/,
  );
  t.notMatch(
    boxes?.[0] ?? 'no box',
    /no box|class="post"/,
    'where there is no text, no line ends in nothing',
  );
  const german = (await world.get('/p/acme', { 'accept-language': 'de' })).text;
  t.match(german, /Vorfall gemeldet; noch wurde kein Dienst geprüft\./);
  t.match(
    (await world.get('/status/shop')).text,
    /The owner says[\s\S]*&lt;b&gt;Late[\s\S]*In progress|Maintenance/,
  );
  t.match((await world.get('/status/shop/incidents/owner-1-1')).text, safe);
  t.match((await world.get('/status/shop/incidents.atom')).text, /the owner says: &lt;b&gt;Late/);
  const feed = (await world.get('/p/acme/incidents.atom')).text;
  t.match(feed, /<title>[^<:]*: &lt;b&gt;Late/);
  t.notMatch(feed, /owner says/i, "the whole page is the owner's");
});

t.test('a page is not green while its owner reports an incident', async (t) => {
  const { world, ada, send } = await start(t);
  await world.status.put([current(1, check(NOW - 30_000)), current(2, check(NOW - 30_000))]);
  const read = async () => {
    const [page, embed, json, shop] = await Promise.all([
      world.get('/p/acme'),
      world.get('/p/acme/embed'),
      send('GET', '/api/v1/pages/acme'),
      world.get('/status/shop'),
    ]);
    const [, title] = /<title>(.*?)<\/title>/.exec(page.text) ?? [];
    const [, description] = /name="description" content="(.*?)"/.exec(page.text) ?? [];
    const [, look, headline] = /class="overall (\w+)"[\s\S]*?<strong>(.*?)<\/strong>/.exec(page.text) ?? [];
    const [, framed, inFrame] = /class="overall (\w+)"[\s\S]*?<strong>(.*?)<\/strong>/.exec(embed.text) ?? [];
    const [, ofService, answer] = /<h1 class="answer (\w+)"[\s\S]*?<span>(.*?)<\/span>/.exec(shop.text) ?? [];
    const { status, reported } = json.json;
    return { title, description, look, headline, framed, inFrame, ofService, answer, status, reported };
  };
  const said = 'Incident reported; our checks pass.';
  const ofCritical = {
    title: `Acme: ${said}`,
    description: said,
    look: 'down',
    headline: said,
    framed: 'down',
    inFrame: said,
    ofService: 'down',
    answer: 'Shop: incident reported; our checks pass',
    status: 'up',
    reported: 'critical',
  };
  const sent = await send('POST', '/api/v1/incidents', { ...SAID, severity: 'critical' }, ada);
  t.match(await read(), ofCritical);
  const path = `/api/v1/incidents/${sent.json.id}`;
  await send('PATCH', path, { severity: 'minor' }, ada);
  t.match(await read(), {
    ...ofCritical,
    look: 'slow',
    framed: 'slow',
    ofService: 'slow',
    reported: 'minor',
  });
  await send('POST', `${path}/updates`, { status: 'resolved', text: 'Over.' }, ada);
  t.match(await read(), {
    look: 'up',
    headline: 'All 2 services are operational.',
    ofService: 'up',
    answer: 'Shop is up',
    reported: null,
  });
  t.match((await world.get('/p/acme')).text, /Recently resolved[\s\S]*Over\./);
});

t.test('maintenance is a calendar that readers take, with the same ids for ever', async (t) => {
  const { ada, send, world } = await start(t);
  const title = `Ärger, "x"; \\ ${'lang '.repeat(30)}`.trim();
  const weekly = {
    starts_at: '2026-11-24T22:00',
    time_zone: 'Europe/Berlin',
    recurrence: 'FREQ=WEEKLY;COUNT=3',
  };
  const made = await send(
    'POST',
    '/api/v1/maintenances',
    { title, text: 'one\n\ntwo, 3', duration: '1h', services: ['shop'], ...weekly },
    ada,
  );
  t.equal(made.status, 201);
  const read = async (path: string) => {
    const response = await world.get(path);
    t.equal(response.headers.get('content-type'), 'text/calendar; charset=utf-8');
    t.ok(
      response.text.split('\r\n').every((line) => Buffer.byteLength(line) <= 75),
      'lines are folded',
    );
    return new ICAL.Component(ICAL.parse(response.text)).getAllSubcomponents('vevent').map((component) => {
      const event = new ICAL.Event(component);
      return {
        uid: event.uid,
        sequence: event.sequence,
        start: event.startDate.toJSDate().toISOString(),
        hours: event.duration.toSeconds() / 3_600,
        title: event.summary,
        text: event.description,
        status: component.getFirstPropertyValue('status'),
      };
    });
  };
  const first = Date.UTC(2026, 10, 24, 21);
  const eventAt = (week: number, name: string) => ({
    uid: `m1-${first / 1_000 + week * 604_800}@upbeat.test`,
    sequence: 0,
    start: at(first + week * 168 * HOUR),
    hours: 1,
    title: `${name}: ${title}`,
    text: 'one\ntwo, 3',
    status: 'CONFIRMED',
  });
  const allOf = (name: string) => [0, 1, 2].map((week) => eventAt(week, name));
  const all = allOf('Acme');
  t.strictSame(await read('/status/shop/calendar.ics'), allOf('Shop (shop.example)'));
  t.strictSame(await read('/p/acme/calendar.ics'), all);
  await send('POST', '/api/v1/maintenances/m1/occurrence', { action: 'skip' }, ada);
  t.match(await read('/p/acme/calendar.ics'), [
    { uid: all[0]?.uid, sequence: 1, status: 'CANCELLED' },
    { uid: all[1]?.uid, sequence: 1, status: 'CONFIRMED' },
    {},
  ]);
  await send('DELETE', '/api/v1/maintenances/m1', undefined, ada);
  t.same(
    new Set((await read('/status/shop/calendar.ics')).map(({ status }) => status)),
    new Set(['CANCELLED']),
  );
  t.equal((await world.get('/status/none/calendar.ics')).status, 404);
  t.equal((await world.get('/p/none/calendar.ics')).status, 404);
});

t.test('uptime is told with and without announced maintenance', async (t) => {
  const samples = openSampleStore({ now: () => NOW + 8 * HOUR });
  t.teardown(() => samples.close());
  const shop = service(1, 'shop', { origin: 'owner', accountId: 1 });
  const world = await startApi({ services: [shop], samples, startAt: NOW });
  t.teardown(world.close);
  const key = world.makeKey({ accountId: 1, scopes: ['read', 'write'] });
  await world.status.put([current(1, check(NOW))]);
  const sampleAt = (minute: number) => ({
    ...{ serviceId: 1, at: NOW + minute * 60_000, latencyMs: 100, suspect: false },
    ...(minute < 0
      ? ({ status: 'up', statusCode: 200 } as const)
      : ({ status: 'down', statusCode: 503 } as const)),
  });
  await samples.append(Array.from({ length: 300 }, (_, index) => sampleAt(index - 240)));
  const past = (await world.get('/api/v1/services/shop/history')).json as object;
  t.notOk('maintenance' in past, 'nothing was announced');
  await sendWith(world)(
    'POST',
    '/api/v1/maintenances',
    { title: 'x', duration: '30m', services: ['shop'] },
    key,
  );
  await world.clock.advance(HOUR);
  const { json } = await world.get('/api/v1/services/shop/history');
  t.strictSame((json as { readonly maintenance: object }).maintenance, {
    windows: 1,
    uptime_ratio: 240 / 300,
    uptime_ratio_without: 240 / 270,
  });
  t.match(
    (await world.get('/status/shop')).text,
    /80\s?%[\s\S]{0,80}88\.\d+\s?% without announced maintenance/,
  );
});

t.test('what an owner says of a page alone is in its JSON and its Atom feed', async (t) => {
  const { ada, world, send } = await start(t);
  await world.registry.addPage({ accountId: 1, slug: 'bare', title: 'Bare', text: '', groups: [], now: NOW });
  await send('POST', '/api/v1/incidents', { ...SAID, pages: ['bare', 'acme'] }, ada);
  const work = { title: 'Disks', text: '*All* of them', duration: '1h', pages: ['bare'] };
  await send('POST', '/api/v1/maintenances', work, ada);
  const incident = {
    id: 'owner-1',
    title: 'Orders are late',
    severity: 'major',
    status: 'investigating',
    started_at: at(NOW),
    resolved_at: null,
    url: 'https://upbeat.test/p/bare/incidents/owner-1',
    updates: [{ at: at(NOW), status: 'investigating', text: 'We look into it.' }],
    updates_total: 1,
    post_mortem: null,
  };
  const maintenance = {
    id: 'm1',
    title: 'Disks',
    description: 'All of them',
    state: 'running',
    starts_at: at(NOW),
    ends_at: at(NOW + HOUR),
  };
  for (const path of ['/api/v1/pages/bare', '/p/bare.json']) {
    const { json } = await send('GET', path);
    t.strictSame(json.owner_incidents, [incident]);
    t.strictSame(json.owner_maintenances, [maintenance]);
  }
  const listed = (await send('GET', '/api/v1/pages/acme')).json;
  t.match(listed, { owner_incidents: { length: 0 }, incidents: [{ id: 'owner-1-1' }] }, 'its service has it');
  const feed = async (slug: string) => (await fetch(`${world.origin}/p/${slug}/incidents.atom`)).text();
  const bare = await feed('bare');
  for (const part of [
    '<id>tag:upbeat.test,2026:incident/owner-1</id>',
    '<title>Orders are late (major, investigating)</title>',
    `<id>tag:upbeat.test,2026:maintenance/m1-${NOW / 1_000}</id>`,
    '<title>Disks (maintenance, running)</title>',
  ])
    t.match(bare, part);
  const acme = await feed('acme');
  t.match(acme, '<id>tag:upbeat.test,2026:incident/owner-1-1</id>');
  t.notMatch(acme, 'incident/owner-1</id>', 'what a service says is not said twice');
});
