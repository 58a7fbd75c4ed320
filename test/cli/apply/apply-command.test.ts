/** `upbeat apply` of the command line: plans, what it changes and what it refuses, over both registries. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { NEEDS_POSTGRES } from '../../support/postgres-server.ts';
import { createRegistry, usePostgres } from '../../support/run-servers.ts';
import { contentOf, DOCUMENT, setUp } from './apply-world.ts';

t.setTimeout(300_000);

t.test('it applies what services depend on in any order, and refuses circles', async (t) => {
  const { registry, file, apply } = await setUp(t);
  const write = (router: string[], parent = 'router.example.org') =>
    file('home.yaml', {
      services: [
        { domain: 'nas.example.org', dependsOn: [parent, 'github'] },
        { domain: 'switch.example.org', dependsOn: ['Router-Example-Org'] },
        { domain: 'router.example.org', ...(router.length === 0 ? {} : { dependsOn: router }) },
      ],
    });
  const parents = async () =>
    (await registry.loadServices())
      .map(({ service }) => `${service.slug}: ${service.dependsOn ?? ''}`)
      .sort();
  t.match(await apply('-f', write([])), { status: 0 });
  const stored = [
    'github: ',
    'nas-example-org: router-example-org,github',
    'router-example-org: ',
    'switch-example-org: router-example-org',
  ];
  t.strictSame(await parents(), stored);
  t.match(await apply('-f', write([]), '--dry-run'), { status: 0, stdout: /0 to create|3 unchanged/ });
  t.match(await apply('-f', write(['nas.example.org'], 'switch-example-org')), {
    status: 1,
    stderr: /router-example-org → nas-example-org → switch-example-org → router-example-org/,
  });
  t.match(await apply('-f', write([], 'nobody')), { status: 1, stderr: /services\[0\].*nobody is neither/ });
  t.strictSame(await parents(), stored);
});

async function tellsItsPlan(t: Test, postgresUrl: string | null): Promise<void> {
  const { registry, file, apply, installation } = await setUp(t, postgresUrl);
  const path = file('acme.yaml', DOCUMENT);
  const created = [
    '+ service shop.example.org',
    '    name: Shop',
    '    category: ecommerce',
    '    check.kind: http',
    '    check.settings.path: /health',
    '    check.interval: 1m',
    '+ service cron.example.org',
    '    check.kind: heartbeat',
    '    period: 1h',
    '+ page acme',
    '    title: Acme',
    '    groups: [{"name":"Web","services":["shop.example.org","github"]}]',
  ].join('\n');
  t.strictSame(await apply('-f', path, '--dry-run'), {
    status: 3,
    stdout: `${created}\n3 to create, 0 unchanged\n`,
    stderr: '',
  });
  t.same(await contentOf(registry), ['catalogue: github.example github GitHub root'], 'nothing is changed');
  t.same(await registry.listAccounts(), [], 'no account is made');
  const first = await installation.run('apply', '--account', 'ada', '-f', path);
  t.strictSame(first, { status: 0, stdout: `${created}\n3 created, 0 unchanged\n`, stderr: '' });
  const content = [
    'ada: cron.example.org cron-example-org cron.example.org heartbeat',
    'ada: shop.example.org shop-example-org Shop http',
    'catalogue: github.example github GitHub root',
    'ada: /p/acme Acme [Web: shop-example-org github]',
  ];
  t.same(await contentOf(registry), content);
  for (const words of [[], ['--dry-run'], ['--prune']])
    t.strictSame(await apply('-f', path, ...words), { status: 0, stdout: '3 unchanged\n', stderr: '' });
  const changed = file(
    'changed.yaml',
    DOCUMENT.replace('name: Shop', 'name: The Shop')
      .replace('kind: http, interval: 1m, settings: { path: /health }', 'kind: tcp, settings: { port: 443 }')
      .replace('shop.example.org, github', 'github, cron.example.org'),
  );
  const text = [
    '~ service shop.example.org',
    '    name: Shop -> "The Shop"',
    '    check.kind: http -> tcp',
    '    check.settings.port: default -> 443',
    '    check.settings.path: /health -> default',
    '    check.interval: 1m -> default',
    '~ page acme',
    '    groups: [{"name":"Web","services":["shop.example.org","github"]}] -> [{"name":"Web","services":["github","cron.example.org"]}]',
  ].join('\n');
  t.strictSame(await apply('-f', changed), {
    status: 0,
    stdout: `${text}\n2 changed, 1 unchanged\n`,
    stderr: '',
  });
  t.same(await contentOf(registry), [
    content[0],
    'ada: shop.example.org shop-example-org The Shop tcp',
    content[2],
    'ada: /p/acme Acme [Web: github cron-example-org]',
  ]);
  const { stdout, status } = await apply('-f', path, '--json', '--dry-run');
  t.equal(status, 3);
  t.match(JSON.parse(stdout), {
    dry_run: true,
    unchanged: 1,
    changes: [
      { action: 'change', type: 'service', key: 'shop.example.org', path: 'services.0' },
      { action: 'change', type: 'page', key: 'acme', path: 'pages.0' },
    ],
  });
}

async function prunes(t: Test, postgresUrl: string | null): Promise<void> {
  const { registry, file, apply, installation } = await setUp(t, postgresUrl);
  const hers = file('hers.yaml', {
    services: [{ domain: 'hers.example.org' }],
    pages: [{ slug: 'hers', title: 'Hers' }],
  });
  t.match(await installation.runHere('apply', '--account', 'grace', '-f', hers), { status: 0 });
  await apply('-f', file('acme.yaml', DOCUMENT));
  const services = file('services.yaml', {
    services: [{ domain: 'cron.example.org', check: { kind: 'heartbeat' } }],
  });
  t.strictSame(await apply('-f', services, '--prune'), {
    status: 0,
    stdout:
      '~ service cron.example.org\n    period: 1h -> default\n- service shop.example.org\n1 changed, 1 removed, 0 unchanged\n',
    stderr: '',
  });
  const left = [
    'ada: cron.example.org cron-example-org cron.example.org heartbeat',
    'catalogue: github.example github GitHub root',
    'grace: hers.example.org hers-example-org hers.example.org root',
  ];
  t.same(await contentOf(registry), [...left, 'ada: /p/acme Acme [Web:  github]', 'grace: /p/hers Hers []']);
  const nothing = file('nothing.yaml', { services: [], pages: [] });
  t.match(await apply('-f', nothing, '--prune'), {
    stdout: /^- service cron.example.org\n- page acme\n2 removed/,
  });
  t.same(await contentOf(registry), [...left.slice(1), 'grace: /p/hers Hers []']);
}

t.test('it tells its plan like a diff, makes it, and finds nothing to do afterwards', async (t) => {
  await t.test('SQLite', (t) => tellsItsPlan(t, null));
  await t.test('PostgreSQL', NEEDS_POSTGRES, async (t) => tellsItsPlan(t, await makeDatabase(t)));
});

t.test('with --prune it removes what is not listed, of its account alone', async (t) => {
  await t.test('SQLite', (t) => prunes(t, null));
  await t.test('PostgreSQL', NEEDS_POSTGRES, async (t) => prunes(t, await makeDatabase(t)));
});

let server: ReturnType<typeof usePostgres> | null = null;

async function makeDatabase(_: Test): Promise<string> {
  server ??= usePostgres(t);
  const name = `apply_${randomUUID().replaceAll('-', '')}`;
  const { url } = await server;
  await createRegistry({ url }, name);
  return url(name);
}

t.test('it keeps the password of a page out of every text, and notices another one', async (t) => {
  const { registry, folder, apply } = await setUp(t);
  const file = join(folder, 'page.yaml');
  const write = (password: string) =>
    writeFileSync(file, `pages:\n  - { slug: acme, title: Acme, access: password${password} }\n`);
  t.teardown(() => delete process.env.ACME_PASSWORD);
  const run = async () => {
    const { stdout, stderr } = await apply('-f', file);
    t.notMatch(stdout + stderr, /tulips/);
    return stdout + stderr;
  };
  write('');
  t.match(await run(), /page\.yaml:2: pages\[0\]\.password: Enter a password for the page/);
  write(`, password: "\${ACME_PASSWORD}"`);
  process.env.ACME_PASSWORD = 'tulips in the rain';
  t.match(await run(), /\+ page acme\n {4}title: Acme\n {4}access: password\n {4}password: set\n1 created/);
  const mark = async () => (await registry.findPage('acme'))?.passwordMark;
  const first = await mark();
  t.match(await run(), /1 unchanged/);
  write('');
  t.match(await run(), /1 unchanged/);
  t.equal(await mark(), first);
  write(`, password: "\${ACME_PASSWORD}"`);
  process.env.ACME_PASSWORD = 'other tulips in the rain';
  t.match(await run(), /~ page acme\n {4}password: changed\n/);
  t.not(await mark(), first);
});

t.test('two at once lead to the same, and neither fails', async (t) => {
  const { registry, file, installation } = await setUp(t);
  const services = Array.from({ length: 20 }, (_, index) => ({ domain: `s${index}.example.org` }));
  const path = file('many.yaml', { services, pages: [{ slug: 'acme', title: 'Acme' }] });
  const run = () => installation.run('apply', '--account', 'ada', '-f', path);
  for (const { status, stderr } of await Promise.all([run(), run()])) t.same([status, stderr], [0, '']);
  t.equal((await registry.loadServices()).length, 21);
  t.match(await run(), { stdout: '21 unchanged\n' });
});
