/** `upbeat apply` of the command line: plans, what it changes and what it refuses, over both registries. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { applySchema, SCHEMA_FILE } from '../../src/cli/apply/apply-schema.ts';
import { escapeVariables, fillVariables } from '../../src/cli/apply/read-files.ts';
import { systemClock } from '../../src/clock.ts';
import type { ChannelKind } from '../../src/domain/alert/channel.ts';
import { DEFAULT_CHECK, type ProbedKind } from '../../src/domain/service.ts';
import { silentLog } from '../../src/log.ts';
import { openRegistryInProcess } from '../../src/store/registry/open-registry.ts';
import type { RegistryClient } from '../../src/store/registry/registry-client.ts';
import { makeCertificate } from '../support/certificates.ts';
import { icoOf, pngOf } from '../support/pictures.ts';
import { createDatabase, NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { install } from '../support/program.ts';
import { usePostgres } from '../support/run-servers.ts';

t.setTimeout(300_000);

/** An installation whose registry has the public service `github`. */
async function setUp(t: Test, postgresUrl: string | null = null) {
  const installation = await install([{ slug: 'github', name: 'GitHub', domain: 'github.example' }], {
    storage: postgresUrl === null ? {} : { postgres: { url: postgresUrl } },
  });
  t.teardown(() => installation.remove());
  const { folder } = installation;
  const dataDir = join(folder, 'data');
  const registry: RegistryClient = await openRegistryInProcess({
    ...{ dataDir, postgresUrl, log: silentLog, clock: systemClock },
    domainsPerAccount: Number.POSITIVE_INFINITY,
  });
  t.teardown(() => registry.close());
  const github = { slug: 'github', name: 'GitHub', domain: 'github.example', category: 'developer' } as const;
  await registry.putCatalogue([
    {
      ...github,
      origin: 'catalogue',
      accountId: null,
      verified: true,
      paused: false,
      check: DEFAULT_CHECK,
      statusPage: null,
    },
  ]);
  const file = (name: string, content: object | string): string => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : stringify(content));
    return path;
  };
  const apply = (...words: string[]) => installation.runHere('apply', '--account', 'ada', ...words);
  return { installation, registry, folder, file, apply };
}

/** What the accounts have, as `account: domain slug name kind`, and their pages. */
async function contentOf(registry: RegistryClient): Promise<string[]> {
  const accounts = await registry.listAccounts();
  const states = await registry.loadServices();
  const bySlug = new Map(states.map(({ service }) => [service.id, service.slug]));
  const nameOf = (id: number | null) => accounts.find((one) => one.id === id)?.name ?? 'catalogue';
  const services = states.map(
    ({ service: { accountId, domain, slug, name, check } }) =>
      `${nameOf(accountId)}: ${domain} ${slug} ${name} ${check.kind}`,
  );
  const pages = (await registry.listPages()).map(({ accountName, slug, title, groups }) => {
    const shown = groups.map(
      ({ name, services }) => `${name}: ${services.map((id) => bySlug.get(id)).join(' ')}`,
    );
    return `${accountName}: /p/${slug} ${title} [${shown.join('; ')}]`;
  });
  return [...services.sort(), ...pages];
}

const pngUrl = `data:image/png;base64,${pngOf(32, 32).toString('base64')}`;

const DOCUMENT = `# Secrets such as \${NOTHING} may stand in a comment.
services:
  - domain: shop.example.org
    name: Shop
    category: ecommerce
    check: { kind: http, interval: 1m, settings: { path: /health } }
  - domain: cron.example.org
    check: { kind: heartbeat }
    period: 1h
pages:
  - slug: acme
    title: Acme
    groups:
      - name: Web
        services: [shop.example.org, github]
`;

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
  await createDatabase(url('postgres'), name);
  return url(name);
}

t.test('it names every problem with file, line and member, and changes nothing', async (t) => {
  const { registry, file, apply, folder, installation } = await setUp(t);
  await installation.runHere('services', 'add', 'hers.example.org', '--account', 'grace');
  const one = file(
    'one.yaml',
    `services:
  - domain: shop.example.org
    name: \${SHOP_NAME}
  - domain: localhost
    check:
      kind: tcp
      settings:
        port: 22
`,
  );
  const two = file(
    'two.yaml',
    `services:
  - { domain: a.example.org, nme: A }
---
services:
  - domain: b.example.org
    check: { kind: http, settings: { assertions: [status is fine] } }
  - domain: B.example.org
pages:
  - slug: acme
    title: Acme
    groups:
      - services:
          - shop.example.org
          - hers.example.org
  - { slug: no, title: "", logo: missing.png }
checks: []
`,
  );
  t.strictSame(await apply('-f', one, '-f', two, '-f', join(folder, 'gone.yaml')), {
    status: 1,
    stdout: '',
    stderr: [
      `${one}:3: services[0].name: the environment has no variable SHOP_NAME`,
      `${two}:15: pages[1].logo: missing.png cannot be read: ENOENT: no such file or directory, open '${folder}/missing.png'`,
      `${join(folder, 'gone.yaml')}: cannot be read: ENOENT: no such file or directory, stat '${join(folder, 'gone.yaml')}'\n`,
    ].join('\n'),
  });
  process.env.SHOP_NAME = 'Shop';
  t.teardown(() => delete process.env.SHOP_NAME);
  const text = (await apply('-f', two)).stderr;
  t.match(text, `${two}:15: pages[1].logo: missing.png cannot be read`);
  writeFileSync(two, readFileSync(two, 'utf8').replace(', logo: missing.png', ''));
  t.strictSame(await apply('-f', one, '-f', two), {
    status: 1,
    stdout: '',
    stderr: [
      `${two}:16: checks: There is no member checks.`,
      `${one}:4: services[1].domain: The domain needs at least two labels, such as example.com.`,
      `${one}:8: services[1].check.settings.port: The setting port is 22, which is not among checks.ports: the operator can add it there.`,
      `${two}:2: services[0].nme: There is no member nme.`,
      `${two}:6: services[0].check.settings.assertions: The setting assertions has an error in line 1: there is no value that fits at "fine".`,
      `${two}:14: pages[0].groups[0].services[1]: There is no such service among the public ones and yours: hers.example.org.`,
      `${two}:15: pages[1].slug: An address is 3 to 60 lower-case letters and digits, with single dashes between them.`,
      `${two}:15: pages[1].title: A page needs a title.`,
      'Nothing is changed.\n',
    ].join('\n'),
  });
  const taken = file('taken.yaml', {
    services: [
      ...[{ domain: 'hers.example.org' }, { domain: 'c.github.example' }, { domain: 'd.example.org' }],
      { domain: 'D.example.org', name: 'GitHub' },
    ],
  });
  t.match(await apply('-f', taken), {
    status: 1,
    stderr: [
      `${taken}:3: services[1].domain: The domain c.github.example belongs to github.example of the public catalogue.`,
      `${taken}:5: services[3]: d.example.org is listed more than once.`,
      'Nothing is changed.\n',
    ].join('\n'),
  });
  const refused = file('refused.yaml', {
    services: [
      { domain: 'new.example.org' },
      { domain: 'hers.example.org' },
      { domain: 'd.example.org', name: 'GitHub' },
    ],
  });
  for (const words of [[], ['--dry-run']])
    t.strictSame(await apply('-f', refused, ...words), {
      status: 1,
      stdout: '',
      stderr: [
        `${refused}:3: services[1]: The domain hers.example.org is registered already.`,
        `${refused}:4: services[2]: The name GitHub equals or resembles GitHub of the public catalogue: choose another.`,
        'Nothing is changed.\n',
      ].join('\n'),
    });
  for (const [content, reason] of [
    ['services: [', /:1: unexpected end/],
    ['a: 1\na: 2', /:2: duplicated mapping key/],
    ['- a', /a document is a group with "services", "pages", "channels", "rules" and "maintenances"/],
    ['services: 7', /:1: services: The member services must be a list/],
  ] as const)
    t.match(await apply('-f', file('bad.yaml', content)), { status: 1, stderr: reason }, content);
  t.match(await apply(), { status: 2, stderr: /required option '-f, --file <file>'/ });
  t.same(await contentOf(registry), [
    'catalogue: github.example github GitHub root',
    'grace: hers.example.org hers-example-org hers.example.org root',
  ]);
  t.match(await registry.listAccounts(), [{ name: 'grace' }]);
});

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

t.test('it reads folders, several documents and pictures, and keeps credentials secret', async (t) => {
  const { registry, folder, apply } = await setUp(t);
  mkdirSync(join(folder, 'conf'));
  const write = (name: string, content: string | Buffer) =>
    writeFileSync(join(folder, 'conf', name), content);
  write('logo.png', pngOf(32, 32));
  write('icon.ico', icoOf(48, 48));
  write('pages.yml', 'pages:\n  - { slug: acme, title: Acme, logo: logo.png, favicon: icon.ico }\n');
  write('notes.txt', 'services: [');
  const variable = (name: string) => `\${${name}}`;
  const check = { kind: 'http', settings: { username: 'ada', password: variable('SHOP_PASSWORD') } };
  const headers = [`x-literal: $${variable('SHOP_PASSWORD')}`, `x-team: ${variable('SHOP_TEAM')}`];
  write('services.json', JSON.stringify({ services: [{ domain: 'shop.example.org', check }] }));
  write(
    'more.yaml',
    `# first\n---\nservices:\n  - domain: a.example.org\n---\nservices:\n${stringify([
      { domain: 'b.example.org', check: { kind: 'http', settings: { headers } } },
    ]).replace(/^/gm, '  ')}`,
  );
  Object.assign(process.env, { SHOP_PASSWORD: 'hunter2', SHOP_TEAM: 'blue' });
  t.teardown(() => {
    delete process.env.SHOP_PASSWORD;
    delete process.env.SHOP_TEAM;
  });
  const run = () => apply('-f', join(folder, 'conf'));
  t.strictSame(await run(), {
    status: 0,
    stdout: [
      '+ service a.example.org',
      '+ service b.example.org',
      '    check.kind: http',
      '    check.settings.headers: set',
      '+ service shop.example.org',
      '    check.kind: http',
      '    check.settings.username: set',
      '    check.settings.password: set',
      '+ page acme',
      '    title: Acme',
      `    logo: "picture ${(await registry.findPicture('acme', 'logo'))?.mark}"`,
      `    favicon: "picture ${(await registry.findPicture('acme', 'favicon'))?.mark}"`,
      '4 created, 0 unchanged\n',
    ].join('\n'),
    stderr: '',
  });
  t.match(await registry.findPicture('acme', 'logo'), { type: 'image/png', width: 32 });
  t.match(await registry.findPicture('acme', 'favicon'), { type: 'image/x-icon', width: 48 });
  const [, b, shop] = (await registry.loadServices()).slice(1).map(({ service }) => service);
  t.same(b?.check.settings, { headers: [`x-literal: ${variable('SHOP_PASSWORD')}`, 'x-team: blue'] });
  t.match(shop?.check.sealed, { password: /^check:v1:/ });
  t.notMatch(JSON.stringify(shop), /hunter2/);
  t.strictSame(await run(), { status: 0, stdout: '4 unchanged\n', stderr: '' });
  process.env.SHOP_PASSWORD = 'hunter3';
  const text = '~ service shop.example.org\n    check.settings.password: changed\n1 changed, 3 unchanged\n';
  t.strictSame(await run(), { status: 0, stdout: text, stderr: '' });
  t.match(await run(), { stdout: '4 unchanged\n' });
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

t.test('an export, applied to an empty installation, is exported as the same bytes', async (t) => {
  const [one, other] = [await setUp(t), await setUp(t)];
  const variable = (name: string) => `\${${name}}`;
  const text = `$${variable('X')} "é"\n# no comment`;
  const settings = { path: '/a', method: 'POST', body: text, plain: true };
  const secrets = { token: 'hunter2', secretHeaders: ['x-key: hunter4'] };
  const times = {
    interval: '30s',
    timeout: '5s',
    slowOver: '1s',
    confirmAfter: ['1s', '2s'],
    regions: ['local'],
  };
  const document = {
    services: [
      { domain: 'z.example.org', name: 'yes', category: 'ai', paused: true, publicDependencies: true },
      {
        domain: 'http.example.org',
        name: '1e3',
        check: { kind: 'http', ...times, settings: { ...settings, ...secrets } },
      },
      {
        domain: 'url.example.org',
        check: { url: 'https://url.example.org/x', method: 'GET', accept: ['2xx', 401] },
      },
      { domain: 'beat.example.org', check: { kind: 'heartbeat' }, period: '90s', grace: '1m' },
      {
        domain: 'cron.example.org',
        check: { kind: 'heartbeat' },
        schedule: '@daily',
        timezone: 'Europe/Berlin',
      },
      { domain: 'text.example.org', check: { kind: 'tcp', settings: { port: 443, banner: text } } },
      { domain: 'a-b.example.org' },
      { domain: 'a.b.example.org' },
    ],
    pages: [
      {
        ...{ slug: 'acme', title: 'Acme: all', text: 'One\n\n- two #3', logo: pngUrl },
        groups: [{ name: 'Web', services: ['z.example.org', 'github'] }, { services: ['beat.example.org'] }],
      },
      { slug: 'empty', title: 'Empty' },
    ],
  };
  t.match(await one.apply('-f', one.file('all.yaml', document)), { status: 0, stderr: '' });
  await one.installation.runHere('services', 'address', 'beat-example-org');
  const exporting = (where: typeof one, ...words: string[]) =>
    where.installation.runHere('export', '--account', 'ada', ...words);
  const exported = await exporting(one);
  t.match(exported, {
    status: 0,
    stderr: [
      'not exported: body of http.example.org; apply takes it from the variable HTTP_EXAMPLE_ORG_BODY',
      'not exported: token of http.example.org; apply takes it from the variable HTTP_EXAMPLE_ORG_TOKEN',
      'not exported: secretHeaders of http.example.org; apply takes it from the variable HTTP_EXAMPLE_ORG_SECRETHEADERS',
      'not exported: the heartbeat address of beat.example.org; "upbeat services address" makes a new one\n',
    ].join('\n'),
  });
  t.notMatch(exported.stdout, /hunter/);
  const values = {
    HTTP_EXAMPLE_ORG_BODY: text.slice(1),
    HTTP_EXAMPLE_ORG_TOKEN: 'hunter2',
    HTTP_EXAMPLE_ORG_SECRETHEADERS: 'x-key: hunter4',
  };
  Object.assign(process.env, values);
  t.teardown(() => {
    for (const name of Object.keys(values)) delete process.env[name];
  });
  t.match(await one.apply('-f', one.file('again.yaml', exported.stdout), '--prune'), {
    status: 0,
    stdout: '10 unchanged\n',
  });
  t.match(await other.apply('-f', other.file('all.yaml', exported.stdout)), { status: 0, stderr: '' });
  t.equal((await exporting(other)).stdout, exported.stdout);
  t.match(await exporting(other, '--account', 'nobody'), { status: 1, stderr: /There is no account nobody/ });
  const [words, variables] = [
    fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', '1', '"') }),
    { A: 'x', AA: 'y' },
  ];
  const read = (value: unknown) =>
    fillVariables(value, {
      environment: variables,
      budget: { values: 9 },
      fail() {},
      note() {},
      keep: () => false,
    });
  fc.assert(fc.property(words, (value) => read(escapeVariables(value)) === value));
});

/** An account with every kind of check and channel, each secret that they have, and everything else that an account has. */
function everything() {
  const { cert, key } = makeCertificate({ names: ['probe.example'], client: true });
  const http = {
    ...{ path: '/a', method: 'POST', body: 'secret-body', secretHeaders: ['x-a: secret-1', 'x-b: secret-2'] },
    ...{ username: 'ada', password: 'secret-pass', clientCertificate: cert, clientKey: key },
  };
  const settings: Readonly<Record<ProbedKind, object>> = {
    root: {},
    health: {},
    http,
    tcp: { port: 443 },
    tls: { port: 443, clientCertificate: cert, clientKey: key },
    dns: { record: 'A' },
    icmp: {},
    domain: { minDays: 30 },
    mongodb: { port: 443 },
    docker: { container: 'web', port: 443 },
    mqtt: { port: 443, username: 'secret-user', password: 'secret-pass', topic: 'a' },
    redis: { port: 443, username: 'secret-user', password: 'secret-pass' },
    mysql: { port: 443, username: 'secret-user', password: 'secret-pass', query: 'secret-query' },
    postgres: { port: 443, username: 'secret-user', password: 'secret-pass', query: 'secret-query' },
    ssh: { port: 443 },
    smtp: { port: 443, username: 'secret-user', password: 'secret-pass' },
    grpc: { clientCertificate: cert, clientKey: key },
    websocket: { send: 'secret-message', clientCertificate: cert, clientKey: key },
  };
  const [url, word] = ['https://hooks.example.com/secret/x', 'abcdef0123456789'];
  const whsec = `whsec_${'A'.repeat(43)}=`;
  const channels: Readonly<Record<ChannelKind, object>> = {
    email: { to: 'ops@example.com' },
    slack: { token: `xoxb-${word}`, channel: 'C0123456789' },
    discord: { url, forum: true },
    teams: { url },
    mattermost: { server: 'https://chat.example.com', token: word, channel: 'a'.repeat(26) },
    'google-chat': { url },
    telegram: { token: `123456:${word}`, chat: '-100123' },
    matrix: { server: 'https://matrix.example.com', room: '!a:example.com', token: word },
    ntfy: { topic: 'secret-topic', server: 'https://ntfy.example.com', token: word },
    gotify: { server: 'https://gotify.example.com', token: word },
    pushover: { user: 'u'.repeat(30), token: 't'.repeat(30), emergency: true },
    pagerduty: { key: 'k'.repeat(32), region: 'eu' },
    opsgenie: { key: word, region: 'eu' },
    webhook: { url: 'https://example.com/hook', secret: whsec },
  };
  return {
    services: [
      ...Object.entries(settings).map(([kind, given]) => ({
        domain: `${kind}.example.org`,
        check: { kind, ...(Object.keys(given).length === 0 ? {} : { settings: given }) },
      })),
      { domain: '1.example.org', check: { kind: 'http', settings: { token: 'secret-token' } } },
      { domain: 'beat.example.org', check: { kind: 'heartbeat' }, period: '1h' },
    ],
    pages: [{ slug: 'acme', title: 'Acme', access: 'password', password: 'a long secret-password' }],
    channels: [
      ...Object.entries(channels).map(([kind, given]) => ({ name: `Ops ${kind}`, kind, settings: given })),
      // Names of which variables have the same letters.
      ...['St\u00f6rung', 'St rung', '1'].map((name) => ({ name, kind: 'slack', settings: { url } })),
    ],
    rules: [{ name: 'Night: all', own: true, channels: ['Ops slack', '1'], repeat: '1h' }],
    maintenances: [
      { title: 'Upgrade', starts_at: '2026-11-24T22:00', duration: '90m', services: ['tcp.example.org'] },
    ],
  };
}

t.test('an export of an account applies to it without any variable, and changes nothing', async (t) => {
  const { apply, file, installation, registry } = await setUp(t);
  const document = everything();
  t.match(await apply('-f', file('all.yaml', document)), { status: 0, stderr: '' });
  const [account] = await registry.listAccounts();
  const stored = async () => ({
    channels: await registry.channelsOf(account?.id ?? 0),
    services: await registry.servicesOf(account?.id ?? 0),
  });
  const before = await stored();
  const exported = await installation.runHere('export', '--account', 'ada');
  t.notMatch(exported.stdout, /secret-|PRIVATE/);
  const variables = [...exported.stderr.matchAll(/from the variable (\S+)/g)].map(([, name]) => name);
  t.equal(new Set(variables).size, variables.length, 'no two secrets share a variable');
  const own = file('own.yaml', exported.stdout);
  const count = Object.values(document).flat().length;
  for (const words of [['--dry-run'], ['--prune'], []])
    t.strictSame(await apply('-f', own, ...words), {
      ...{ status: 0, stdout: `${count} unchanged\n`, stderr: '' },
    });
  t.strictSame(await stored(), before);

  const renamed = exported.stdout.replace(
    'domain: http.example.org',
    'domain: http.example.org\n    name: H',
  );
  t.match(await apply('-f', file('renamed.yaml', renamed)), {
    status: 0,
    stdout: /^~ service http.example.org\n {4}name/,
  });
  const { services } = await stored();
  const sealedOf = (list: typeof services) => list.find(({ domain }) => domain === 'http.example.org')?.check;
  t.strictSame(sealedOf(services), sealedOf(before.services), 'a change beside them keeps the secrets');

  const headers = 'HTTP_EXAMPLE_ORG_SECRETHEADERS';
  process.env[headers] = 'x-a: secret-1\nx-b: secret-2\n';
  t.teardown(() => void delete process.env[headers]);
  t.match(await apply('-f', own), {
    stdout: /^~ service http.example.org\n {4}name: H -> default\n1 changed/,
  });
});

t.test('a variable that is not set is named where there is no secret to keep', async (t) => {
  const { apply, file, installation } = await setUp(t);
  const { services, pages, channels } = everything();
  await apply('-f', file('all.yaml', { services, pages, channels }));
  const { stdout } = await installation.runHere('export', '--account', 'ada');
  const own = file('own.yaml', stdout);
  const other = await installation.runHere('apply', '--account', 'grace', '-f', own);
  t.equal(other.status, 1);
  const named = new Set(
    [...other.stderr.matchAll(/the environment has no variable (\w+)\./g)].map(([, name]) => name),
  );
  t.strictSame(named, new Set([...stdout.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name)));
  for (const line of [
    /own\.yaml:\d+: services\[\d+\]\.check\.settings\.secretHeaders: the environment has no variable HTTP_EXAMPLE_ORG_SECRETHEADERS\. The setting secretHeaders has no stored value to keep\./,
    /own\.yaml:\d+: channels\[\d+\]\.settings\.topic: the environment has no variable OPS_NTFY_TOPIC\. /,
    /own\.yaml:\d+: pages\[0\]\.password: the environment has no variable ACME_PASSWORD\. Enter a password for the page\./,
    /Nothing is changed\./,
  ])
    t.match(other.stderr, line);
  const moved = stdout
    .replace('server: https://gotify.example.com', 'server: https://elsewhere.example.com')
    .replace('domain: http.example.org', `domain: http.example.org\n    name: \${NAME_OF_HTTP}`);
  t.match(await apply('-f', file('moved.yaml', moved)), {
    status: 1,
    stderr: /services\[\d+\]\.name: the environment has no variable NAME_OF_HTTP/,
  });
  const away = file(
    'away.yaml',
    moved
      .replace(/\$\{NAME_OF_HTTP\}/, 'H')
      .replace(/\n( *)token: .*_1_EXAMPLE_ORG_TOKEN.*/, (line, indent) => `${line}\n${indent}plain: true`),
  );
  const refused = await apply('-f', away);
  t.match(
    refused.stderr,
    /channels\[\d+\]\.settings\.token: the environment has no variable OPS_GOTIFY_TOKEN\. .*must be entered again/,
  );
  t.match(
    refused.stderr,
    /settings\.token: the environment has no variable _1_EXAMPLE_ORG_TOKEN\. .*must be entered again/,
  );
});

t.test('its schema is published, and accepts what it reads', async (t) => {
  t.same(
    JSON.parse(readFileSync(SCHEMA_FILE, 'utf8')),
    JSON.parse(applySchema()),
    'npm run schema writes it',
  );
  const validate = new Ajv({ strict: false }).compile(JSON.parse(applySchema()));
  const isValid = (text: string) => validate(parse(text));
  t.ok(isValid(DOCUMENT), JSON.stringify(validate.errors));
  t.ok(isValid(stringify(everything())), JSON.stringify(validate.errors));
  t.ok(isValid(stringify({ pages: [{ slug: 'a', title: 'A', access: 'password', password: null }] })));
  for (const [value, accepted] of [
    ['null', true],
    ['7', false],
  ] as const)
    t.equal(isValid(`channels: [{ name: A, kind: ntfy, settings: { topic: ${value} } }]`), accepted, value);
  for (const [from, to] of [
    ['domain: shop', 'domian: shop'],
    ['kind: http', 'kind: htp'],
    ['path: /health', 'paht: /health'],
    ['pages:', 'page:'],
  ] as const)
    t.notOk(isValid(DOCUMENT.replace(from, to)), to);
});
