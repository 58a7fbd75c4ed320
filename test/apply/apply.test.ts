/** `apply` where another process interferes, and by members of an account. */

import t, { type Test } from 'tap';
import { type ApplyContext, applyDocument, MAX_SERVICES_TOGETHER } from '../../src/apply/apply.ts';
import { exportAccount } from '../../src/apply/export-document.ts';
import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import { openRegistryInProcess } from '../../src/store/registry/open-registry.ts';
import { TEST_KINDS } from '../support/channel-kinds.ts';
import { publicOnly } from '../support/destinations.ts';

/** An empty registry with the account of ada. */
async function start(t: Test) {
  const registry = await openRegistryInProcess({
    dataDir: t.testdir(),
    domainsPerAccount: Number.POSITIVE_INFINITY,
    clock: systemClock,
    log: silentLog,
  });
  t.teardown(() => registry.close());
  const { id: accountId } = await registry.ensureAccount('ada', 1);
  const noPublic = { find: () => null, findById: () => null, domains: new Set<string>() };
  const usual = { intervalMs: 300_000, timeoutMs: 10_000, slowOverMs: 3_000, confirmAfterMs: [2_000] };
  const resolved: string[] = [];
  const context: ApplyContext = {
    registry,
    loadPublic: async () => noPublic,
    resolve: async (domain) => {
      resolved.push(domain);
      return ['192.0.2.1'];
    },
    destinations: publicOnly,
    bounds: { usual, minIntervalMs: 30_000, regions: () => [] },
    kinds: TEST_KINDS,
    now: () => 1,
    siteUrl: 'https://status.example',
  };
  return { registry, accountId, context, resolved };
}

const OPTIONS = { dryRun: false, prune: false };

t.test(
  'where a change is refused midway, it tells which changes are made, and the next run makes the others',
  async (t) => {
    const { registry, accountId, context } = await start(t);
    const principal = { role: 'operator', accountId } as const;
    const count = MAX_SERVICES_TOGETHER + 5;
    const services = Array.from({ length: count }, (_, index) => ({ domain: `s${index}.example.org` }));
    const grace = await registry.ensureAccount('grace', 1);
    const noted: [number, number][] = [];
    let real = 0;
    const interfering: ApplyContext = {
      ...context,
      registry: {
        ...context.registry,
        async putContent(id, changes, options) {
          // Someone else takes a domain between the two transactions.
          if (!options.dryRun && ++real === 2)
            await registry.claimDomain(`s${count - 1}.example.org`, grace.id);
          return await registry.putContent(id, changes, options);
        },
      },
    };
    const onProgress = (done: number, total: number) => noted.push([done, total]);
    const outcome = await applyDocument(interfering, principal, { services }, { ...OPTIONS, onProgress });
    t.match(outcome, {
      ok: false,
      refusals: [{ field: `services.${count - 1}`, refusal: { code: 'domain_taken' } }],
      made: { length: MAX_SERVICES_TOGETHER },
    });
    t.same(noted, [[MAX_SERVICES_TOGETHER, count]]);
    t.equal((await registry.servicesOf(accountId)).length, MAX_SERVICES_TOGETHER);
    const next = await applyDocument(context, principal, { services: services.slice(0, -1) }, OPTIONS);
    t.match(next, { ok: true, value: { changes: { length: 4 }, unchanged: MAX_SERVICES_TOGETHER } });
  },
);

t.test('a plan of several transactions is refused as a whole before the first', async (t) => {
  const { registry, accountId, context } = await start(t);
  const grace = await registry.ensureAccount('grace', 1);
  await registry.claimDomain('hers.example.org', grace.id);
  const domains = Array.from({ length: MAX_SERVICES_TOGETHER }, (_, index) => `s${index}.example.org`);
  const services = [...domains, 'hers.example.org'].map((domain) => ({ domain }));
  const outcome = await applyDocument(context, { role: 'operator', accountId }, { services }, OPTIONS);
  t.match(outcome, { ok: false, refusals: [{ field: `services.${MAX_SERVICES_TOGETHER}` }], made: [] });
  t.same(await registry.servicesOf(accountId), []);
});

t.test("this site's own host is no domain of a page, whoever applies it", async (t) => {
  const { accountId, context } = await start(t);
  const pages = [{ slug: 'acme', title: 'Acme', custom_domain: 'status.example' }];
  for (const role of ['operator', 'owner'] as const)
    t.match(await applyDocument(context, { role, accountId }, { pages }, OPTIONS), {
      ok: false,
      refusals: [{ field: 'pages.0.custom_domain', refusal: { code: 'page_domain_of_site' } }],
    });
});

t.test('members apply as their role permits, and a new kind of check asks for the addresses', async (t) => {
  const { registry, accountId, context, resolved } = await start(t);
  const viewer = await applyDocument(context, { role: 'viewer', accountId }, {}, OPTIONS);
  t.match(viewer, { ok: false, refusals: [{ refusal: { code: 'role_required', role: 'editor' } }] });
  const editor = { role: 'editor', accountId } as const;
  const apply = (kind: string, interval: string) =>
    applyDocument(
      context,
      editor,
      { services: [{ domain: 'a.example.org', check: { kind, interval } }] },
      OPTIONS,
    );
  t.match(await apply('root', '1s'), { ok: false, refusals: [{ field: 'services.0.check.interval' }] });
  t.match(await apply('heartbeat', '30s'), { ok: true });
  t.same(resolved, []);
  t.match(await apply('health', '30s'), { ok: true });
  t.same(resolved, ['a.example.org']);
  t.match(await registry.servicesOf(accountId), [{ verified: false, check: { kind: 'health' } }]);
});

t.test('channels and rules are created, kept, changed and removed with services and pages', async (t) => {
  const { registry, accountId, context } = await start(t);
  const principal = { role: 'operator', accountId } as const;
  const apply = async (document: object, options: object = {}) => {
    const outcome = await applyDocument(context, principal, document, { ...OPTIONS, ...options });
    if (!outcome.ok) return outcome.refusals.map(({ field, refusal }) => `${field}: ${refusal.code}`);
    return outcome.value.changes.map(({ action, type, key, members }) =>
      [action, type, key, ...members.map(({ field, secret }) => (secret ? `${field}*` : field))].join(' '),
    );
  };
  const settings = { server: 'https://push.example.com', token: 'one' };
  const ops = { name: 'Ops', kind: 'gotify', settings };
  const mail = { name: 'Mail', kind: 'email', settings: { to: 'ops@example.org' } };
  const rule = { name: 'Mine', services: ['shop.example.org'], pages: ['acme'], channels: ['Mail', 'Ops'] };
  const document = {
    services: [{ domain: 'shop.example.org' }],
    pages: [{ slug: 'acme', title: 'Acme' }],
    channels: [mail, ops],
    rules: [rule, { name: 'Own', own: true, channels: ['Ops'], repeat: '1h' }],
  };
  const created = await apply(document, { dryRun: true });
  t.strictSame(created, [
    'create service shop.example.org',
    'create page acme title',
    'create channel Mail kind settings.to',
    'create channel Ops kind settings.server settings.token*',
    'create rule Mine services pages channels',
    'create rule Own own channels repeat',
  ]);
  t.strictSame(await registry.channelsOf(accountId), [], 'a dry run changes nothing');
  t.strictSame(await apply(document), created);
  t.strictSame(await apply(document), [], 'again changes nothing');
  const { token: _, ...shown } = settings;
  t.strictSame(await apply({ channels: [{ ...ops, settings: shown }] }), [], 'an absent secret stays');
  const [stored] = await registry.servicesOf(accountId);
  t.match(await registry.rulesOf(accountId), [{ of: { services: [stored?.id] } }, { of: { own: true } }]);
  const { document: exported, credentials } = await exportAccount(
    registry,
    accountId,
    context.loadPublic,
    TEST_KINDS,
  );
  t.match(exported, { ...document, channels: [mail, { ...ops, settings: shown }] });
  t.strictSame(credentials, [{ of: 'Ops', type: 'channel', setting: 'token', isList: false }]);
  t.strictSame(await apply(exported), [], 'an export describes what is there');

  t.strictSame(await apply({ channels: [{ ...ops, settings: { ...settings, token: 'two' } }] }), [
    'change channel Ops settings.token*',
  ]);
  t.strictSame(
    await apply({
      channels: [
        { ...mail, kind: 'gotify' },
        { name: 'Bad', kind: 'email', settings: {} },
      ],
      rules: [{ ...rule, channels: ['None'] }, rule, rule],
    }),
    [
      'channels.0.kind: channel_kind_fixed',
      'channels.1.settings.to: setting_invalid',
      'rules.0.channels.0: rule_channel_unknown',
      'rules.2: listed_twice',
    ],
  );
  t.strictSame(await apply({ channels: [ops], rules: [rule] }, { prune: true }), [
    'rules.0.channels.0: rule_channel_unknown',
  ]);
  t.strictSame(await apply({ channels: [mail], rules: [{ ...rule, channels: ['Mail'] }] }, { prune: true }), [
    'change rule Mine channels',
    'remove channel Ops',
    'remove rule Own',
  ]);
  t.strictSame(
    (await registry.channelsOf(accountId)).map(({ name }) => name),
    ['Mail'],
  );
  t.match(await registry.rulesOf(accountId), [{ name: 'Mine' }]);
});

t.test('maintenance is announced, kept, changed and withdrawn with services and pages', async (t) => {
  const { registry, accountId, context } = await start(t);
  const principal = { role: 'operator', accountId } as const;
  const apply = async (document: object, options: object = {}) => {
    const outcome = await applyDocument(context, principal, document, { ...OPTIONS, ...options });
    if (!outcome.ok) return outcome.refusals.map(({ field, refusal }) => `${field}: ${refusal.code}`);
    return outcome.value.changes.map(({ action, type, key, members }) =>
      [action, type, key, ...members.map(({ field }) => field)].join(' '),
    );
  };
  const weekly = {
    title: 'Disks',
    text: 'All **new**.',
    starts_at: '1970-01-06T22:00',
    duration: '2h',
    time_zone: 'Europe/Berlin',
    recurrence: 'FREQ=WEEKLY;BYDAY=TU',
    services: ['shop.example.org'],
    pages: ['acme'],
  };
  const once = { title: 'Disks', starts_at: '1969-12-31T20:00:00Z', duration: '1h', pages: ['acme'] };
  const document = {
    services: [{ domain: 'shop.example.org' }],
    pages: [{ slug: 'acme', title: 'Acme' }],
    maintenances: [weekly, once],
  };
  const created = [
    'create service shop.example.org',
    'create page acme title',
    'create maintenance Disks text starts_at duration time_zone recurrence services pages',
    'create maintenance Disks (2) starts_at duration time_zone pages',
  ];
  t.strictSame(await apply(document, { dryRun: true }), created);
  t.strictSame(await registry.ownerMaintenancesOf(accountId), [], 'a dry run changes nothing');
  t.strictSame(await apply(document), created);
  t.strictSame(await apply(document, { prune: true }), [], 'again changes nothing, not even the past one');
  t.strictSame(await apply({ services: document.services }, { prune: true }), [], 'no list removes nothing');
  const [shop] = await registry.servicesOf(accountId);
  const stored = async () =>
    (await registry.ownerMaintenancesOf(accountId)).toSorted((a, b) => a.createdAt - b.createdAt);
  t.match(await stored(), [
    {
      plain: 'All new.',
      services: [shop?.id],
      timeZone: 'Europe/Berlin',
      startsAt: 5 * 86_400_000 + 21 * 3_600_000,
    },
    { recurrence: null, services: [] },
  ]);
  t.match(await registry.listMaintenances({ limit: 9, offset: 0 }), [
    { title: 'Disks', sourceUrl: 'https://status.example/status/shop-example-org' },
    { title: 'Disks' },
  ]);
  const { document: exported } = await exportAccount(registry, accountId, context.loadPublic, TEST_KINDS);
  t.match(exported.maintenances, [
    { ...weekly, starts_at: '1970-01-06T21:00:00.000Z' },
    { ...once, starts_at: '1969-12-31T20:00:00.000Z', time_zone: 'UTC' },
  ]);
  t.strictSame(await apply(exported, { prune: true }), [], 'an export describes what is there');
  const grace = await registry.ensureAccount('grace', 1);
  const other = { role: 'operator', accountId: grace.id } as const;
  const { services: _, ...rest } = weekly;
  const copied = { pages: [{ slug: 'hers', title: 'Hers' }], maintenances: [{ ...rest, pages: ['hers'] }] };
  t.match(await applyDocument(context, other, copied, OPTIONS), { ok: true });
  t.match(await registry.ownerMaintenancesOf(grace.id), [{ title: 'Disks' }]);

  const skipped = (await stored())[0];
  if (skipped === undefined) throw new Error('there is no maintenance');
  await registry.putOwnerMaintenance(
    { ...skipped, changes: [{ startsAt: skipped.startsAt, endsAt: null }] },
    2,
  );
  t.strictSame(await apply({ maintenances: [{ ...weekly, text: 'Soon.' }, once] }), [
    'change maintenance Disks text',
  ]);
  t.match(
    (await stored())[0],
    { plain: 'Soon.', changes: [{ endsAt: null }] },
    'an occurrence that was skipped stays so',
  );
  t.strictSame(await apply({ maintenances: [{ ...weekly, duration: '3h' }, once] }), [
    'change maintenance Disks text duration',
  ]);
  t.match((await stored())[0], { durationMs: 3 * 3_600_000, changes: [] });
  t.strictSame(
    await apply({
      maintenances: [
        { ...weekly, starts_at: undefined, duration: '1d' },
        { ...weekly, recurrence: 'SOON', duration: '2d', services: ['hers.example.org'] },
        { title: 'None', starts_at: weekly.starts_at, duration: '1h' },
        { ...once, time_zone: 'Mars/Base' },
      ],
    }),
    [
      'maintenances.0.starts_at: member_invalid',
      'maintenances.1.duration: maintenance_length',
      'maintenances.1.recurrence: recurrence_invalid',
      'maintenances.1.services.0: no_subject',
      'maintenances.2.services: subject_missing',
      'maintenances.3.time_zone: timezone_invalid',
    ],
  );
  t.strictSame(
    await apply({ pages: [], maintenances: [once] }, { prune: true }),
    ['maintenances.0.pages.0: no_subject'],
    'a page that goes is not there',
  );
  t.strictSame(await apply({ maintenances: [weekly] }, { prune: true }), [
    'change maintenance Disks duration',
    'remove maintenance Disks (2)',
  ]);
  t.strictSame(await apply({ maintenances: [] }, { prune: true }), ['remove maintenance Disks']);
  t.strictSame(await stored(), []);
});

t.test('what another change has added, or changed, before it is added or removed is refused', async (t) => {
  const { registry, accountId, context } = await start(t);
  const principal = { role: 'operator', accountId } as const;
  const services = [{ domain: 'a.example.org', name: 'One' }];
  t.match(await applyDocument(context, principal, { services }, OPTIONS), { ok: true });
  const added = await applyDocument(
    context,
    principal,
    { services: [{ domain: 'b.example.org' }] },
    {
      ...OPTIONS,
      onPlan: async () => void (await registry.claimDomain('b.example.org', accountId)),
    },
  );
  t.match(added, { ok: false, refusals: [{ field: 'services.0', refusal: { code: 'service_stale' } }] });
  const removed = await applyDocument(
    context,
    principal,
    { services: [] },
    {
      ...{ dryRun: false, prune: true },
      onPlan: async () => void (await registry.changeService('a-example-org', { category: 'ai' })),
    },
  );
  t.match(removed, { ok: false, refusals: [{ field: null, refusal: { code: 'service_stale' } }] });
});
