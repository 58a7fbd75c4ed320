/** What an owner says on pages, beside what checks see. */
import t from 'tap';
import { start } from '../../site/posting-account.ts';
import { NOW } from '../../site/site-world.ts';
import { dashboard } from '../dashboard-world.ts';

const SAID = {
  title: 'Orders  are late',
  severity: 'major',
  text: 'We **look** into it.',
  services: ['shop'],
};

t.test('pages show what the owner says as safe HTML, beside what checks see', async (t) => {
  const { world, ada, send } = await start(t);
  const text = '**Sorry.** [x](javascript:alert(1)) <script>alert(1)</script> https://a.example';
  await send('POST', '/api/v1/incidents', { ...SAID, title: '<b>Late</b>', text }, ada);
  const [listed] = (await send('GET', '/api/v1/incidents/shop')).json.incidents;
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
  t.match((await world.get(`/status/shop/incidents/${listed.id}`)).text, safe);
  t.match((await world.get('/status/shop/incidents.atom')).text, /the owner says: &lt;b&gt;Late/);
  const feed = (await world.get('/p/acme/incidents.atom')).text;
  t.match(feed, /<title>[^<:]*: &lt;b&gt;Late/);
  t.notMatch(feed, /owner says/i, "the whole page is the owner's");
});

t.test('an incident is previewed, written, updated, explained and removed by forms', async (t) => {
  const { registry, ada, grace, call, post } = await dashboard(t);
  await post('/dashboard/pages/add', ada, { slug: 'acme', title: 'Acme' });
  const PATH = '/dashboard/incidents';
  t.match(await call(PATH, null), { status: 303, location: '/sign-in' });
  t.match(await call(PATH, ada), {
    status: 200,
    text: /You have written no incident yet[\s\S]*name="page:acme"/,
  });
  const typed = { title: 'Late', text: 'We **look**. <script>', 'page:acme': 'on' };
  const preview = await post(`${PATH}/add`, ada, { ...typed, preview: '1' });
  t.match(preview, { status: 200, text: /<strong>look<\/strong>\. &lt;script&gt;/ });
  t.match(preview.text, /value="Late"[\s\S]*name="page:acme" checked/);
  t.same(await registry.ownerIncidentsOf(ada.id), [], 'a preview writes nothing');
  t.match(await post(`${PATH}/add`, ada, { title: ' ', text: 'x' }), {
    status: 400,
    text: /id="problem-add-title" role="alert"/,
  });
  t.match(await post(`${PATH}/add`, ada, { title: 'Late', text: 'x' }), {
    status: 400,
    text: /id="problem-add-services" role="alert">Choose at least one/,
  });
  t.match(await post(`${PATH}/add`, ada, typed), { status: 303, location: PATH });
  const [said] = await registry.ownerIncidentsOf(ada.id);
  const one = `${PATH}/owner-${said?.id}`;
  for (const action of ['update', 'explain', 'save', 'remove'])
    t.match(await post(`${one}/${action}`, grace, { text: 'x' }), { code: 'incident_not_found' });
  t.match(await call(one, grace), { code: 'incident_not_found' });
  const empty = await post(`${one}/update`, ada, { text: '*Soon*', status: 'identified', preview: '1' });
  t.match(empty, { status: 200, text: /<em>Soon<\/em>[\s\S]*<option value="identified" selected>/ });
  t.match(await post(`${one}/update`, ada, { text: 'Over.', status: 'resolved' }), { status: 303 });
  t.match(await post(`${one}/explain`, ada, { text: 'a\u202eb' }), {
    status: 400,
    text: new RegExp(`id="problem-explain-owner-${said?.id}-text"`),
  });
  await post(`${one}/explain`, ada, { text: 'A *disk*.' });
  t.match(await call(PATH, ada), { text: /Post-mortem[\s\S]*<em>disk<\/em>/ });
  t.match(await registry.ownerIncidentsOf(ada.id), [
    { status: 'resolved', postMortem: { plain: 'A disk.' } },
  ]);
  t.match(await post(`${one}/remove`, ada, {}), { status: 303 });
  t.same(await registry.ownerIncidentsOf(ada.id), []);
});

t.test('maintenance is announced, extended, ended, skipped and withdrawn by forms', async (t) => {
  const { registry, ada, call, post } = await dashboard(t);
  await post('/dashboard/pages/add', ada, { slug: 'acme', title: 'Acme' });
  const PATH = '/dashboard/maintenances';
  const last = async () => (await registry.ownerMaintenancesOf(ada.id)).at(-1);
  const typed = { title: 'Disks', duration: '1h', zone: 'Europe/Berlin', 'page:acme': 'on' };
  t.match(await post(`${PATH}/add`, ada, { ...typed, zone: 'Mars', starts: '2020-01-01T10:00' }), {
    status: 400,
    text: /id="problem-add-starts"[\s\S]*id="problem-add-zone"[\s\S]*name="page:acme" checked/,
  });
  t.match(await post(`${PATH}/add`, ada, { ...typed, text: '*x*', preview: '1' }), { text: /<em>x<\/em>/ });
  t.match(await post(`${PATH}/add`, ada, typed), { status: 303, location: PATH });
  t.match(await call(PATH, ada), { text: /in progress[\s\S]*Europe\/Berlin[\s\S]*End now[\s\S]*Extend by/ });
  const one = `${PATH}/m${(await last())?.id}`;
  await post(`${one}/extend`, ada, {});
  t.match(await registry.ownerMaintenancesOf(ada.id), [
    { changes: [{ startsAt: NOW, endsAt: NOW + 5_400_000 }] },
  ]);
  await post(`${one}/end`, ada, {});
  t.match(await post(`${one}/end`, ada, {}), { status: 400, text: /is not running now/ });
  const weekly = { ...typed, starts: '2026-12-01T22:00', recurrence: 'FREQ=WEEKLY' };
  t.match(await post(`${PATH}/add`, ada, weekly), { status: 303 });
  const { id = 0 } = (await last()) ?? {};
  t.match(await post(`${PATH}/m${id}/skip`, ada, {}), { status: 303 });
  t.match(await registry.findOwnerMaintenance(ada.id, id), { changes: [{ endsAt: null }] });
  t.match(await post(`${PATH}/m${id}/remove`, ada, {}), { status: 303 });
  t.equal(await registry.findOwnerMaintenance(ada.id, id), null);

  // How it recurs is chosen, and the rule is made from that.
  const ways: readonly [fields: Record<string, string>, rule: string | null, shown: RegExp][] = [
    [{ repeats: 'once', 'day:MO': 'on', recurrence: 'FREQ=DAILY' }, null, /UTC · /],
    [{ repeats: 'daily' }, 'FREQ=DAILY', /daily · UTC/],
    [{ repeats: 'weekly' }, 'FREQ=WEEKLY', /weekly · UTC/],
    [
      { repeats: 'weekly', 'day:TH': 'on', 'day:MO': 'on' },
      'FREQ=WEEKLY;BYDAY=MO,TH',
      /weekly on Monday, Thursday · UTC/,
    ],
    [{ repeats: 'monthly', month_day: '15' }, 'FREQ=MONTHLY;BYMONTHDAY=15', /monthly on day 15 · UTC/],
    [{ repeats: 'monthly', month_day: '-1' }, 'FREQ=MONTHLY;BYMONTHDAY=-1', /monthly on the last day · UTC/],
    [
      { repeats: 'rule', recurrence: 'freq=monthly;byday=2tu' },
      'FREQ=MONTHLY;BYDAY=2TU',
      /FREQ=MONTHLY;BYDAY=2TU · UTC/,
    ],
  ];
  for (const [fields, rule, shown] of ways) {
    const one = { ...typed, zone: 'UTC', starts: '2026-12-01T22:00', ...fields };
    t.match(await post(`${PATH}/add`, ada, one), { status: 303 });
    const made = await last();
    t.equal(made?.recurrence, rule);
    t.match((await call(PATH, ada)).text, shown);
    // What was chosen is chosen again.
    const form = (await call(`${PATH}/m${made?.id}`, ada)).text;
    for (const [name, value] of Object.entries(fields))
      if (rule !== null && name !== 'recurrence')
        t.match(
          form,
          new RegExp(
            value === 'on' ? `name="${name}" value="on" checked` : `<option value="${value}" selected>`,
          ),
        );
    await post(`${PATH}/m${made?.id}/remove`, ada, {});
  }
});

t.test('it corrects title, severity, start and subjects of an incident by forms', async (t) => {
  const { registry, ada, call, post } = await dashboard(t);
  const PATH = '/dashboard/incidents';
  for (const slug of ['acme', 'shop']) await post('/dashboard/pages/add', ada, { slug, title: slug });
  const typed = { title: 'Late', text: 'We look.', severity: 'minor', 'page:acme': 'on' };
  const later = { ...typed, started_at: '2999-01-01T10:00' };
  t.match(await post(`${PATH}/add`, ada, later), { status: 400, text: /id="problem-add-started_at"/ });
  t.match(await post(`${PATH}/add`, ada, { ...typed, started_at: '2020-01-02T10:05' }), { status: 303 });
  const [before] = await registry.ownerIncidentsOf(ada.id);
  t.match(before, { startedAt: Date.parse('2020-01-02T10:05:00Z'), revision: 1 });
  const one = `${PATH}/owner-${before?.id}`;
  const form = (await call(one, ada)).text;
  t.match(form, /name="revision" value="1"[\s\S]*name="title"[^>]*value="Late"/);
  t.match(form, /<option value="minor" selected>[\s\S]*name="page:acme" checked/);
  t.notMatch(form, /name="page:shop" checked/);

  const changed = { revision: '1', title: 'Orders are late', severity: 'major', 'page:shop': 'on' };
  t.match(await post(`${one}/save`, ada, { ...changed, title: '' }), {
    status: 400,
    text: /name="revision" value="1"[\s\S]*id="problem-save-title"[\s\S]*name="page:shop" checked/,
  });
  t.match(await post(`${one}/save`, ada, { revision: '1', title: 'x', severity: 'minor' }), {
    status: 400,
    text: /id="problem-save-services"/,
  });
  t.match(await post(`${one}/save`, ada, changed), { status: 303, location: PATH });
  const pages = await registry.pagesOf(ada.id);
  t.match(await registry.ownerIncidentsOf(ada.id), [
    {
      title: 'Orders are late',
      severity: 'major',
      pages: [pages.find(({ slug }) => slug === 'shop')?.id],
      updates: before?.updates,
    },
  ]);
});

t.test(
  'it changes every field of a maintenance by a form, and keeps a start that nobody touched',
  async (t) => {
    const { registry, ada, call, post } = await dashboard(t);
    const PATH = '/dashboard/maintenances';
    for (const slug of ['acme', 'shop']) await post('/dashboard/pages/add', ada, { slug, title: slug });
    const summer = { starts: '2027-07-06T22:00', zone: 'Europe/Berlin', recurrence: 'FREQ=WEEKLY' };
    await post(`${PATH}/add`, ada, { title: 'Disks', duration: '90m', ...summer, 'page:acme': 'on' });
    const [made] = await registry.ownerMaintenancesOf(ada.id);
    const one = `${PATH}/m${made?.id}`;
    await post(`${one}/skip`, ada, {});
    const form = (await call(one, ada)).text;
    t.match(form, /name="starts"[^>]*value="2027-07-06T22:00"/, 'on the clock of its time zone');
    t.match(
      form,
      /name="duration"[^>]*value="90m"[\s\S]*value="weekly" selected[\s\S]*name="page:acme" checked/,
    );

    const same = { title: 'Disks', text: 'New *ones*.', duration: '90m', ...summer, 'page:shop': 'on' };
    const preview = await post(`${one}/save`, ada, { ...same, revision: '2', preview: '1' });
    t.match(preview, { status: 200, text: /name="revision" value="2"[\s\S]*<em>ones<\/em>/ });
    t.match(await post(`${one}/save`, ada, { ...same, revision: '2' }), { status: 303, location: PATH });
    const startsAt = Date.parse('2027-07-06T20:00:00Z');
    const [shop] = (await registry.pagesOf(ada.id)).filter(({ slug }) => slug === 'shop');
    t.match(
      await registry.ownerMaintenancesOf(ada.id),
      [{ markdown: 'New *ones*.', startsAt, pages: [shop?.id], changes: [{ startsAt, endsAt: null }] }],
      'what was cancelled stays so, since the times are the same',
    );
    const wrong = { ...same, revision: '3', starts: '', zone: 'Mars', duration: '9d', recurrence: 'x' };
    const refused = (await post(`${one}/save`, ada, wrong)).text;
    for (const field of ['starts', 'zone', 'duration', 'recurrence'])
      t.match(refused, new RegExp(`id="problem-save-${field}"`));
    const moved = { ...same, title: 'Rocks', zone: 'UTC', duration: '2h', recurrence: '', text: '' };
    t.match(await post(`${one}/save`, ada, { ...moved, revision: '3' }), { status: 303 });
    t.match(await registry.ownerMaintenancesOf(ada.id), [
      {
        title: 'Rocks',
        markdown: '',
        startsAt: Date.parse('2027-07-06T22:00:00Z'),
        durationMs: 7_200_000,
        timeZone: 'UTC',
        recurrence: null,
        changes: [],
      },
    ]);
  },
);

t.test('it keeps the seconds of a start, and that it is past', async (t) => {
  const { registry, ada, call, post } = await dashboard(t);
  const PATH = '/dashboard/maintenances';
  await post('/dashboard/pages/add', ada, { slug: 'acme', title: 'Acme' });
  const typed = { title: 'Disks', duration: '1h', zone: 'UTC', 'page:acme': 'on' };
  const { id } = await registry.addOwnerMaintenance({
    ...{ accountId: ada.id, title: 'Disks', markdown: '', plain: '', startsAt: NOW - 1_234_567 },
    ...{ durationMs: 7_200_000, timeZone: 'UTC', recurrence: null, services: [], pages: [1] },
    ...{ siteUrl: 'https://upbeat.test', now: NOW },
  });
  const [, starts = ''] =
    /name="starts"[^>]*value="([^"]+)"/.exec((await call(`${PATH}/m${id}`, ada)).text) ?? [];
  const saved = await post(`${PATH}/m${id}/save`, ada, { ...typed, starts, revision: '1' });
  t.match(saved, { status: 303 });
  t.match(await registry.ownerMaintenancesOf(ada.id), [{ startsAt: NOW - 1_234_567, durationMs: 3_600_000 }]);
});
