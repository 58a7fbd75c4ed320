/** `POST /api/v1/apply` with the key of an account, and `upbeat apply --server` against it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { runCommandHere } from '../cli/run-command.ts';
import { service, startApi } from '../site/site-world.ts';

interface Answer {
  readonly errors?: readonly { readonly field: string | null; readonly code: string }[];
}

/** The API with a public service, and a key of ada. The list follows the registry, as in the program. */
async function start(t: Test) {
  const catalogue = [service(1, 'known', { name: 'Known', domain: 'known.example' })];
  const world = await startApi({ services: catalogue });
  t.teardown(world.close);
  t.teardown(world.registry.watchChanges(await world.registry.lastChange(), world.directory.apply));
  await world.registry.ensureAccount('ada', 1);
  await world.registry.ensureAccount('grace', 1);
  const { authorization } = world.makeKey({ accountId: 1, scopes: ['read', 'write'] });
  const apply = async (document: unknown, query = '', more: Record<string, string> = {}) => {
    const response = await fetch(`${world.origin}/api/v1/apply${query}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', ...more },
      body: JSON.stringify(document),
    });
    const json: Answer = JSON.parse(await response.text());
    const isReplay = response.headers.get('idempotent-replayed') === 'true';
    return { status: response.status, json, ...(isReplay ? { isReplay } : {}) };
  };
  return { world, apply, key: authorization.replace('Bearer ', '') };
}

const SHOP = { domain: 'shop.example.com', name: 'Our shop', check: { kind: 'http' } };
const PAGE = { slug: 'acme', title: 'Acme', groups: [{ services: ['shop.example.com', 'known'] }] };
const VERIFICATION = {
  verified: false,
  txt_record: { name: '_upbeat.shop.example.com', value: 'upbeat-verify=1' },
  file: { url: 'https://shop.example.com/.well-known/upbeat-verify', content: 'upbeat-verify=1' },
};

t.test('it applies a document for the account of the key, and says how to verify new domains', async (t) => {
  const { world, apply } = await start(t);
  const document = { services: [SHOP], pages: [PAGE] };
  const changes = [
    {
      ...{ action: 'create', type: 'service', key: 'shop.example.com', path: 'services.0' },
      members: [
        { field: 'name', after: 'Our shop' },
        { field: 'check.kind', after: 'http' },
      ],
    },
    {
      ...{ action: 'create', type: 'page', key: 'acme', path: 'pages.0' },
      members: [
        { field: 'title', after: 'Acme' },
        { field: 'groups', after: [{ services: ['shop.example.com', 'known'] }] },
      ],
    },
  ];
  t.strictSame(await apply(document, '?dry_run=1'), {
    status: 200,
    json: { dry_run: true, changes, unchanged: 0, unverified: [] },
  });
  t.same(await world.registry.servicesOf(1), []);
  const unverified = [{ domain: 'shop.example.com', verification: VERIFICATION }];
  t.strictSame(await apply(document), {
    status: 200,
    json: { dry_run: false, changes, unchanged: 0, unverified },
  });
  t.match(await world.registry.servicesOf(1), [{ slug: 'shop-example-com', verified: false }]);
  t.match(await world.registry.pagesOf(1), [{ slug: 'acme', groups: [{ services: [2, 1] }] }]);
  t.strictSame(await apply(document, '?prune=1'), {
    status: 200,
    json: { dry_run: false, changes: [], unchanged: 2, unverified },
  });
  t.match(await apply({ services: [] }, '?prune=1'), {
    json: { changes: [{ action: 'remove', type: 'service', key: 'shop.example.com', path: null }] },
  });
  t.same(await world.registry.servicesOf(1), []);
});

t.test('it refuses a document with an error for each member, and changes nothing', async (t) => {
  const { world, apply } = await start(t);
  const hers = { domain: 'hers.example.com', name: 'Hers', category: 'developer', paused: false } as const;
  const { check } = service(1, 'known');
  const options = { isProven: false, now: 1 };
  await world.registry.registerService(2, { ...hers, publicDependencies: false, check }, options);
  const cases: readonly [document: unknown, query: string, status: number, errors: unknown][] = [
    [
      {
        services: [{ domain: 'x' }, { ...SHOP, check: { kind: 'htp' } }],
        pages: [{ slug: 'a b' }],
        shelves: [],
      },
      '',
      400,
      [
        ['shelves', 'member_invalid'],
        ['services.0.domain', 'domain_invalid'],
        ['services.1.check.kind', 'member_invalid'],
        ['pages.0.title', 'member_invalid'],
        ['pages.0.slug', 'page_slug_invalid'],
      ],
    ],
    [{ services: [{ domain: 'a.known.example' }] }, '', 403, [['services.0', 'catalogue_domain']]],
    [
      { services: [SHOP, { domain: 'hers.example.com' }] },
      '?dry_run=1',
      403,
      [['services.1', 'foreign_domain']],
    ],
    [
      {
        services: Array.from({ length: 1_001 }, () => SHOP),
        pages: Array.from({ length: 1_001 }, () => ({})),
      },
      '',
      400,
      [
        ['services', 'member_invalid'],
        ['pages', 'member_invalid'],
      ],
    ],
    [
      { services: [{ domain: { toString: null, valueOf: null } }] },
      '',
      400,
      [['services.0.domain', 'member_invalid']],
    ],
    [{}, '?prune=yes', 400, undefined],
    [[], '', 400, [[null, 'member_invalid']]],
  ];
  for (const [document, query, status, errors] of cases) {
    const { status: found, json } = await apply(document, query);
    const shown = json.errors?.map(({ field, code }) => [field, code]);
    t.strictSame([found, shown], [status, errors], JSON.stringify(document).slice(0, 100));
  }
  t.same(await world.registry.servicesOf(1), []);
});

t.test('a document that is sent again with its Idempotency-Key is applied once', async (t) => {
  const { world, apply } = await start(t);
  const document = { services: [SHOP], pages: [PAGE] };
  const once = { 'idempotency-key': 'a' };
  const dry = await apply(document, '?dry_run=1', once);
  t.match(dry, { status: 200, json: { dry_run: true } });
  t.equal((await apply({ services: [{ domain: 'x' }] }, '', once)).status, 400);
  const first = await apply(document, '', once);
  t.match(first, { status: 200, json: { dry_run: false, unverified: [{ verification: VERIFICATION }] } });
  t.match(world.directory.bySlug('shop-example-com'), { name: 'Our shop' }, 'the next read shows it');
  t.equal((await apply({ services: [{ ...SHOP, name: 'Changed' }] })).status, 200);
  await world.registry.proveDomain(1, SHOP.domain, 'http', 1);
  t.strictSame(await apply(document, '', once), { ...first, isReplay: true });
  t.match(await world.registry.servicesOf(1), [{ name: 'Changed' }], 'and nothing is changed');
  const mismatch = { status: 422, json: { code: 'idempotency_mismatch' } };
  t.match(await apply({ services: [] }, '', once), mismatch);
  t.match(await apply(document, '?prune=1', once), mismatch);

  const same = { services: [{ ...SHOP, name: 'Changed' }] };
  const unchanged = await apply(same, '', { 'idempotency-key': 'b' });
  t.match(unchanged, { json: { changes: [], unchanged: 1 } });
  t.equal((await apply({ services: [] }, '?prune=1')).status, 200);
  const replay = await apply(same, '', { 'idempotency-key': 'b' });
  t.strictSame(replay, { ...unchanged, isReplay: true }, 'also where there was nothing to change');
  t.same(await world.registry.servicesOf(1), []);
  const atOnce = await Promise.all([1, 2, 3].map(() => apply(document, '', { 'idempotency-key': 'c' })));
  t.strictSame(new Set(atOnce.map(({ status, json }) => JSON.stringify([status, json]))).size, 1);
});

t.test(
  'only who may replace a credential learns whether a guess is right, and never what it is',
  async (t) => {
    const { world, apply } = await start(t);
    const withToken = (token: string) => ({
      services: [{ ...SHOP, check: { kind: 'http', settings: { token } } }],
    });
    t.equal((await apply(withToken('hunter2'))).status, 200);
    const dry = async (token: string, headers: Record<string, string> = {}) =>
      await apply(withToken(token), '?dry_run=1', headers);
    t.match(await dry('hunter2'), { status: 200, json: { changes: [], unchanged: 1 } });
    const members = [{ field: 'check.settings.token', secret: true }];
    const wrong = await dry('hunter3');
    t.strictSame(wrong.json, {
      dry_run: true,
      changes: [{ action: 'change', type: 'service', key: 'shop.example.com', path: 'services.0', members }],
      unchanged: 0,
      unverified: [{ domain: 'shop.example.com', verification: VERIFICATION }],
    });
    const twice = { services: ['hunter2', 'hunter3'].map((token) => withToken(token).services[0]) };
    t.match(await apply(twice, '?dry_run=1'), { status: 400, json: { errors: [{ code: 'listed_twice' }] } });
    const reader = world.makeKey({ accountId: 1, scopes: ['read', 'heartbeat'] });
    const stranger = world.makeKey({ accountId: 2, scopes: ['read', 'write'] });
    for (const [token, guesses] of [
      ['hunter2', 'right'],
      ['hunter3', 'wrong'],
    ] as const) {
      t.match(await dry(token, reader), { status: 403, json: { code: 'insufficient_scope' } }, guesses);
      t.match(await dry(token, stranger), { status: 403, json: { code: 'forbidden_domain' } }, guesses);
    }
  },
);

t.test('the command applies files by a key', async (t) => {
  const { world, key } = await start(t);
  const path = join(t.testdir(), 'acme.yaml');
  const variable = (name: string) => `\${${name}}`;
  const settings = { headers: [`x-team: ${variable('SHOP_TEAM')}`], token: variable('SHOP_TOKEN') };
  writeFileSync(
    path,
    `services:\n  - ${JSON.stringify({ ...SHOP, check: { kind: 'http', settings } })}\npages:\n  - ${JSON.stringify(PAGE)}\n`,
  );
  const values = { UPBEAT_KEY: key, SHOP_TEAM: 'blue', SHOP_TOKEN: 'hunter2' };
  Object.assign(process.env, values);
  t.teardown(() => {
    for (const name of Object.keys(values)) delete process.env[name];
  });
  const run = (...words: string[]) =>
    runCommandHere(['apply', '--server', world.origin, '-f', path, ...words]);
  t.strictSame(await run(), {
    status: 0,
    stdout: [
      '+ service shop.example.com',
      '    name: "Our shop"',
      '    check.kind: http',
      '    check.settings.headers: set',
      '    check.settings.token: set',
      '+ page acme',
      '    title: Acme',
      '    groups: [{"services":["shop.example.com","known"]}]',
      '2 created, 0 unchanged\n',
    ].join('\n'),
    stderr:
      'shop.example.com is not checked until its domain is verified: set the TXT record _upbeat.shop.example.com to upbeat-verify=1, or put that into https://shop.example.com/.well-known/upbeat-verify\n',
  });
  t.match(await run('--prune'), { status: 0, stdout: '2 unchanged\n' });
  writeFileSync(path, 'services:\n  - domain: shop.example.com\n\n  - domain: localhost\n');
  t.match(await run('--dry-run'), {
    status: 1,
    stderr: `${path}:4: services[1].domain: The domain needs at least two labels, such as example.com.\nNothing is changed.\n`,
  });
  writeFileSync(path, 'services:\n  - domain: shop.example.com\n');
  t.match(await run('--dry-run', '--json'), { status: 3, stdout: /"dry_run": true/ });
  process.env.UPBEAT_KEY = `${key}x`;
  t.match(await run(), { status: 1, stderr: /^upbeat: .*API key/ });
  delete process.env.UPBEAT_KEY;
  t.match(await run(), { status: 2, stderr: /UPBEAT_KEY/ });
  process.env.UPBEAT_KEY = key;
  t.match(await run('--account', 'ada'), { status: 2, stderr: /--account/ });
  const gone = ['apply', '--server', 'http://127.0.0.1:9', '-f', path];
  t.match(await runCommandHere(gone), { status: 1, stderr: /cannot be reached/ });
});

t.test(
  'a check of the API of Healthchecks may be listed as it was exported, and awaits no proof',
  async (t) => {
    const { world, apply, key } = await start(t);
    const headers = { 'X-Api-Key': key };
    const body = JSON.stringify({ name: 'Job', timeout: 3600 });
    t.equal((await fetch(`${world.origin}/api/v3/checks/`, { method: 'POST', headers, body })).status, 201);
    const job = {
      domain: 'job.account-1.alt',
      name: 'Job',
      check: { kind: 'heartbeat' },
      period: '1h',
      grace: '1h',
    };
    const answer = { dry_run: false, changes: [], unchanged: 1, unverified: [] };
    t.strictSame(await apply({ services: [job] }), { status: 200, json: answer });
    t.match(await apply({ services: [{ ...job, period: '2h' }] }), { status: 200, json: { unchanged: 0 } });
    const elsewhere = { ...job, domain: 'job.account-2.alt' };
    t.match(await apply({ services: [elsewhere] }), {
      status: 400,
      json: { errors: [{ code: 'domain_invalid' }] },
    });
  },
);
