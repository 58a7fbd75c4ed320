/** The commands as an operator runs them, beside a registry with what strangers wrote. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { systemClock } from '../../src/clock.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { silentLog } from '../../src/log.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import { openRegistry } from '../../src/store/registry/open-registry.ts';
import { freePort } from '../support/free-port.ts';
import { startNameServer } from '../support/name-server.ts';
import { install } from '../support/program.ts';
import { type CommandResult, runCommandHere } from './run-command.ts';

t.setTimeout(300_000);
/** Writes the clipboard, begins a row of its own, and turns the text around. */
const EVIL = '=HYPERLINK("x")\u001b]52;c;aGk=\u0007\nforged\u202e\u009b31m';
const OBEYED = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

async function setUp(t: Test, settings: object = {}) {
  const installation = await install([], settings);
  t.teardown(() => installation.remove());
  const withRegistry = async <T>(work: (registry: Registry) => Promise<T>): Promise<T> => {
    const dataDir = join(installation.folder, 'data');
    const registry = await openRegistry({ dataDir, clock: systemClock, log: silentLog });
    try {
      return await work(registry);
    } finally {
      await registry.close();
    }
  };
  const write = (name: string, text: string): string => {
    const file = join(installation.folder, name);
    writeFileSync(file, text);
    return file;
  };
  const config = join(installation.folder, 'upbeat.yaml');
  const run = (...args: readonly string[]) => runCommandHere([...args, '--config', config]);
  return { run, withRegistry, write };
}

t.test('it shows names of strangers without what a terminal obeys', async (t) => {
  const { run, withRegistry, write } = await setUp(t);
  await withRegistry(async (registry) => {
    const { id: accountId } = await registry.ensureAccount(EVIL, 1);
    await registry.createKey({
      ...{ accountId, name: EVIL, prefix: 'upb_abcd', sha256: new Uint8Array(32) },
      ...{ createdAt: 1, expiresAt: null },
    });
    const [service] = await registry.addServices([
      {
        ...{ name: EVIL, domain: 'shop.example.com', category: 'developer', origin: 'owner', accountId },
        ...{ verified: true, paused: false, check: DEFAULT_CHECK, statusPage: null },
      },
    ]);
    t.match(service, { slug: 'shop-example-com' });
    await registry.addPage({ accountId, slug: 'acme', title: EVIL, text: EVIL, groups: [], now: 1 });
  });
  const file = write('evil.json', JSON.stringify([{ domain: EVIL, name: EVIL }]));
  const outputs: CommandResult[] = [];
  for (const words of [
    ['keys', 'list'],
    ['keys', 'list', '--json'],
    ['accounts', 'list'],
    ['services', 'list', '--json'],
    ['services', 'export', '--format', 'csv'],
    ['services', 'export', '--format', 'yaml'],
    ['services', 'export', '--format', 'json'],
    ['pages', 'list'],
    ['services', 'import', file],
    ['services', 'remove', EVIL],
    ['services', 'set', 'x', '--kind', EVIL],
    [EVIL],
  ])
    outputs.push(await run(...words));
  for (const [index, { stdout, stderr }] of outputs.entries()) {
    t.notMatch(stdout, OBEYED, `standard output of ${index}`);
    t.notMatch(stderr, OBEYED, `standard error of ${index}`);
    // The last two repeat the operator's own words.
    if (index < 10) t.notMatch(stdout + stderr, /^forged/m, `no line is forged in ${index}`);
  }
  const [keys, keysJson, accounts, services, csv, yaml, json] = outputs.map(({ stdout }) => stdout);
  t.equal(keys?.trim().split('\n').length, 2, 'a row is a line');
  t.match(accounts, 'forged');
  for (const text of [keysJson, services]) t.match(JSON.parse(text ?? ''), [{ name: EVIL }]);
  t.match(csv, `,"'=HYPERLINK(""x"")`, 'a spreadsheet computes nothing');
  for (const [name, text] of [
    ['list.csv', csv],
    ['list.yaml', yaml],
    ['list.json', json],
  ] as const) {
    const { stdout } = await run(
      'services',
      'import',
      write(name, text ?? ''),
      '--account-id',
      '1',
      '--json',
    );
    t.match(JSON.parse(stdout), { added: [], unchanged: ['shop-example-com'], skipped: [] }, name);
  }
});

t.test('it says by its status whether the words or the world were wrong', async (t) => {
  const { run, write } = await setUp(t);
  const table: readonly [number, readonly string[]][] = [
    [2, ['keys', 'revoke', 'abc']],
    [2, ['keys', 'revoke', '1.5']],
    [2, ['keys', 'revoke', '0x1']],
    [1, ['keys', 'revoke', '999']],
    [2, ['keys', 'create', '--name', 'laptop']],
    [2, ['keys', 'create', '--name', 'laptop', '--account', 'ada', '--account-id', '1']],
    [2, ['keys', 'create', '--name', ' ', '--account', 'ada']],
    [2, ['keys', 'create', '--name', 'laptop', '--account', 'ada', '--scope', 'all']],
    [2, ['keys', 'create', '--name', 'laptop', '--account-id', 'ada']],
    [1, ['keys', 'create', '--name', 'laptop', '--account-id', '7']],
    [2, ['services', 'set', 'shop']],
    [2, ['services', 'set', 'shop', '--period', 'often']],
    [1, ['services', 'set', 'shop', '--paused']],
    [2, ['services', 'add']],
    [1, ['services', 'add', 'localhost', '--account', 'ada']],
    [2, ['services', 'export', '--format', 'xml']],
    [1, ['services', 'import', '/nowhere.csv']],
    [1, ['services', 'import', write('bad.csv', 'a,b\n')]],
    [1, ['services', 'remove', 'shop']],
    [2, ['pages', 'add', 'Not A Slug', '--account', 'ada', '--title', 'x']],
    [1, ['pages', 'remove', 'acme']],
    [1, ['pages', 'domain', 'acme', 'status.example.com']],
    [2, ['pages', 'domain', 'acme', 'co.uk']],
    [2, ['pages']],
    [2, ['probe']],
    [2, ['doctor', '--colour']],
  ];
  for (const [expected, words] of table) {
    const { status, stdout, stderr } = await run(...words);
    t.equal(status, expected, words.join(' '));
    t.equal(stdout, '', `${words.join(' ')}: nothing on standard output`);
    t.not(stderr, '', words.join(' '));
  }
  t.match((await run('services', 'set', 'shop')).stderr, /name what is to change/);
  for (const lifetime of ['soon', '0d', '90', '1001y']) {
    const wrong = await run('keys', 'create', '--account', 'ada', '--name', 'laptop', '--expires', lifetime);
    t.match(wrong, { status: 2, stdout: '', stderr: /90d/ }, lifetime);
  }
  t.equal((await run('keys', 'list', '--json')).stdout.trim(), '[]', 'no key was made');
});

t.test(
  'it makes keys for accounts by name or number, and warns where a person signs in',

  async (t) => {
    const { run, withRegistry } = await setUp(t);
    await withRegistry((registry) =>
      registry.ensureIdentity({ provider: 'github', subject: '42', name: 'ops' }, 1),
    );
    const create = (...words: string[]) => run('keys', 'create', '--name', 'laptop', ...words);
    const KEY = /^upb_[0-9A-Za-z]{38}\n$/;
    const [own, signedIn, byNumber] = [
      await create('--account', 'Ada'),
      await create('--account', 'ops'),
      await create('--account-id', '1'),
    ];
    t.match(own, { status: 0, stdout: KEY, stderr: '' });
    t.match(signedIn, {
      status: 0,
      stdout: KEY,
      stderr: /^warning: account "ops" \(number 1\) belongs to a person/,
    });
    t.match(byNumber, { status: 0, stdout: KEY, stderr: '' }, 'a number says that it is meant');
    t.match(await create('--account', 'ada'), { status: 0, stderr: /there is "Ada" \(number 2\) too/ });
    t.match(await create('--account', 'ada'), { status: 0, stderr: '' }, 'and it is new only once');
    t.match(JSON.parse((await run('accounts', 'list', '--json')).stdout), [
      { id: 1, account: 'ops', signs_in_by: 'github', keys: 2, services: 0 },
      { id: 2, account: 'Ada', signs_in_by: null, keys: 1, services: 0 },
      { id: 3, account: 'ada', signs_in_by: null, keys: 2, services: 0 },
    ]);
    t.match(await run('services', 'add', 'shop.example.com', '--account', 'ops'), {
      ...{ status: 0, stdout: 'shop-example-com\n', stderr: /belongs to a person/ },
    });
  },
);

t.test('it names accounts whose names are close to one that is not there', async (t) => {
  const { run } = await setUp(t);
  const page = ['pages', 'add', 'acme', '--title', 'Acme', '--account'];
  t.match(await run(...page, 'acme'), { status: 0 }, 'the first account of all');
  t.match(await run('keys', 'create', '--account', 'acme labs', '--name', 'x'), { status: 0, stderr: '' });
  const lists = [['export'], ['rules', 'list'], ['accounts', 'setup-link'], ['maintenances', 'list']];
  for (const words of [['pages', 'add', 'more', '--title', 'More'], ...lists])
    t.match(
      await run(...words, '--account', 'acem'),
      { status: 1, stdout: '', stderr: /no account acem\. Did you mean "acme" \(number 1\)\?/ },
      words.join(' '),
    );
  t.match(await run('export', '--account', 'Acme  Labs'), {
    status: 1,
    stderr: /mean "acme labs" \(number 2\)/,
  });
  t.match(await run('export', '--account', 'nobody'), {
    status: 1,
    stderr: /no account nobody\. "upbeat accounts list"/,
  });
  t.match(await run('keys', 'create', '--account', 'acme lab', '--name', 'x'), {
    ...{ status: 0, stderr: /account "acme lab" \(number 3\) is new; there is "acme labs" \(number 2\) too/ },
  });
});

t.test('it leaves no account behind where a command is refused', async (t) => {
  const { run, withRegistry, write } = await setUp(t);
  t.match(await run('services', 'add', 'taken.example.org', '--account', 'ada'), { status: 0 });
  t.match(await run('pages', 'add', 'taken', '--title', 'Taken', '--account', 'ada'), { status: 0 });
  const accounts = await withRegistry((registry) => registry.listAccounts());
  const document = write(
    'document.yaml',
    'services: [{ domain: new.example.org }, { domain: taken.example.org }]',
  );
  const list = write('list.csv', 'domain,name\ntaken.example.org,taken.example.org\n');
  for (const [words, said] of [
    [['services', 'add', 'taken.example.org'], /registered already/],
    [['services', 'add', 'new.example.org', '--setting', 'port=x'], /setting/],
    [
      ['services', 'add', 'new.example.org', '--url', 'http://[::1]/'],
      /The URL leads to ::1, which is not public/,
    ],
    [['services', 'import', list], /registered by another account/],
    [['pages', 'add', 'newer', '--title', 'New'], /no account Ada\. Did you mean "ada" \(number 1\)\?/],
    [['channels', 'add', '--name', 'Ops', '--kind', 'ntfy', '--setting', 'topic=abc'], /Did you mean "ada"/],
    [['keys', 'create', '--name', ' '], /name/],
    [['keys', 'create', '--name', 'laptop', '--expires', 'soon'], /expires/],
    [['apply', '--file', document], /registered already/],
  ] as const) {
    const outcome = await run(...words, '--account', 'Ada');
    t.match(outcome.stderr, said, words.join(' '));
    t.not(outcome.status, 0, words.join(' '));
    t.notMatch(outcome.stderr, 'is new', 'no account is told of that is not there');
    t.same(await withRegistry((registry) => registry.listAccounts()), accounts, words.join(' '));
  }
});

t.test('it brings every monitor of a host over, once', async (t) => {
  const { run, write } = await setUp(t);
  const at = { hostname: 'shop.example.com' };
  const monitorList = [
    { type: 'http', name: 'Shop', url: 'https://shop.example.com/' },
    { type: 'http', name: 'API', url: 'https://shop.example.com/api/health' },
    { type: 'keyword', name: 'Login', url: 'https://shop.example.com/login', keyword: 'Sign in' },
    { type: 'port', name: 'Port', ...at, port: 443 },
    { type: 'ping', name: 'shop.example.com', ...at },
    { type: 'dns', name: 'Shop', ...at, dns_resolve_type: 'A' },
    { type: 'push', name: 'shop.example.com', interval: 60 },
  ];
  const file = write('kuma.json', JSON.stringify({ version: '1.23.13', monitorList }));
  const first = await run('services', 'import', file, '--account', 'ada');
  t.match(first, { status: 0, stdout: `${file} (uptime-kuma): 7 added, 0 left out\n` });
  const listed = JSON.parse((await run('services', 'list', '--json')).stdout) as {
    slug: string;
    kind: string;
  }[];
  t.strictSame(
    listed.map(({ slug, kind }) => [slug, kind]),
    [
      ['shop-example-com', 'root'],
      ['shop-example-com-api', 'root'],
      ['shop-example-com-heartbeat', 'heartbeat'],
      ['shop-example-com-icmp', 'icmp'],
      ['shop-example-com-login', 'http'],
      ['shop-example-com-port', 'tcp'],
      ['shop-example-com-shop', 'dns'],
    ],
  );
  const there = '0 added, 7 there already, 0 left out\n';
  const again = await run('services', 'import', file, '--account', 'ada');
  t.match(again, { status: 0, stdout: `${file} (uptime-kuma): ${there}` });
  for (const format of ['csv', 'yaml', 'json']) {
    const own = write(`own.${format}`, (await run('services', 'export', '--format', format)).stdout);
    t.match(await run('services', 'import', own, '--account', 'ada'), {
      status: 0,
      stdout: `${own} (${format === 'csv' ? 'csv' : 'upbeat'}): ${there}`,
    });
  }
  const slug = 'shop-example-com-certificate';
  const add = ['services', 'add', 'shop.example.com', '--account', 'ada'];
  t.match(await run(...add), { status: 1, stderr: /registered already/ });
  t.match(await run(...add, '--kind', 'icmp'), { status: 1, stderr: /such as shop-example-com-icmp-2/ });
  t.match(await run(...add, '--kind', 'tls', '--slug', slug), { status: 0, stdout: `${slug}\n` });
});

t.test(
  'it imports once, beyond the limit of an account, and says the rest in few lines',

  async (t) => {
    const { run, write } = await setUp(t, { limits: { domainsPerAccount: 3 } });
    const monitorList = [
      ...Array.from({ length: 600 }, (_, index) => ({
        ...{
          type: 'http',
          name: `Site ${index}`,
          url: `https://site-${index}.example.com/`,
          proxyId: 3,
        },
      })),
      ...Array.from({ length: 300 }, (_, index) => ({ type: 'rabbitmq', name: `Topic ${index}` })),
      { type: 'http', name: 'Again', url: 'https://site-0.example.com/other' },
    ];
    const file = write('kuma.json', JSON.stringify({ version: '1.23.13', monitorList }));
    const stderr = [
      'not carried over: proxyId of 600 entries, such as Site 0: checks use no proxy',
      'left out: 300 entries, such as Topic 0: monitors of type rabbitmq have no equal here',
    ];
    // By this clock each look at it is a second later.
    const { monotonic } = systemClock;
    let looks = 0;
    systemClock.monotonic = () => monotonic() + 1_000 * looks++;
    t.teardown(() => Object.assign(systemClock, { monotonic }));
    const first = await run('services', 'import', file, '--account', 'ada');
    systemClock.monotonic = monotonic;
    t.match(
      first.stderr,
      /^200 of 601 services\n400 of 601 services\n600 of 601 services$/m,
      'what takes seconds shows how far it is',
    );
    const told = first.stderr
      .split('\n')
      .filter((line) => line !== '' && !/^[\d,]+ of 601 services$/.test(line));
    t.match(first, { status: 1, stdout: `${file} (uptime-kuma): 601 added, 300 left out\n` });
    t.strictSame(told, stderr);
    const second = await run('services', 'import', file, '--account', 'ada');
    t.match(second, {
      status: 1,
      stdout: `${file} (uptime-kuma): 0 added, 601 there already, 300 left out\n`,
    });
    t.strictSame(second.stderr.trim().split('\n'), stderr);
    t.match((await run('services', 'list')).stdout, /^site-0-example-com-again /m);

    const clean = write('clean.csv', 'domain,name\nsite-1.example.com,Site 1\nnew.example.com,New\n');
    t.match(await run('services', 'import', clean, '--account', 'ada'), {
      ...{ status: 0, stdout: `${clean} (csv): 1 added, 1 there already, 0 left out\n`, stderr: '' },
    });
    const other = write('other.csv', 'domain,name\nsite-1.example.com,Another\nsite-2.example.com,Site 2\n');
    t.match(await run('services', 'import', other, '--account', 'ada'), {
      status: 1,
      stderr: 'left out: Another: it is registered already, with another name; it stays as it is\n',
    });
    t.match(await run('services', 'import', other, '--account', 'eve'), {
      status: 1,
      stderr:
        'left out: 2 entries, such as Another: domain "site-1.example.com" is registered by another account\n',
    });
    const exported = await run('services', 'export', '--format', 'json');
    t.equal((JSON.parse(exported.stdout) as { services: unknown[] }).services.length, 602);
  },
);

t.test('it keeps in an export all that an import can say', async (t) => {
  const { run, write } = await setUp(t);
  const services = [
    {
      ...{
        domain: 'a.example.com',
        name: "'=A",
        category: 'ai',
        kind: 'root',
        url: 'https://a.example.com/x?y=1',
      },
      ...{ method: 'GET', accept: ['2xx', 401], paused: true },
    },
    {
      ...{ domain: 'b.example.com', name: '-1', category: 'vpn', kind: 'heartbeat', period: '90s' },
      ...{ grace: '1h', public_dependencies: true },
    },
    {
      ...{ domain: 'c.example.com', name: 'c.example.com', category: 'developer', kind: 'heartbeat' },
      ...{ schedule: '30 3 * * 1-5', timezone: 'Europe/Berlin' },
    },
    {
      ...{ domain: 'd.example.com', name: 'C', category: 'cloud', kind: 'tcp' },
      settings: { port: 443, banner: '=220 "x", y' },
    },
  ];
  t.match(await run('services', 'import', write('in.json', JSON.stringify({ services }))), {
    status: 0,
    stderr: '',
  });
  for (const format of ['csv', 'yaml', 'json']) {
    const { stdout } = await run('services', 'export', '--format', format);
    const again = await run('services', 'import', write(`out.${format}`, stdout), '--json');
    t.match(JSON.parse(again.stdout), {
      added: [],
      unchanged: ['a-example-com', 'b-example-com', 'c-example-com', 'd-example-com'],
      skipped: [],
    });
    if (format === 'json') t.strictSame(JSON.parse(stdout), { services });
  }
});

t.test('it registers and changes checks with settings, by the same rules as a form', async (t) => {
  const { run, write } = await setUp(t);
  const add = ['services', 'add', 'db.example.com', '--account', 'ops', '--kind', 'tcp'];
  const steps: readonly (readonly [args: readonly string[], status: number, said: RegExp])[] = [
    [add, 2, /The setting port is missing/],
    [[...add, '--setting', 'port'], 2, /"port" is not a setting: expected NAME=VALUE/],
    [[...add, '--setting', 'port=5432'], 2, /5432, which is not among checks\.ports/],
    [[...add, '--setting', 'port=443', '--setting-file', `banner=${write('banner', '220 \n')}`], 0, /^$/],
    [['services', 'set', 'db-example-com', '--setting', 'port=0'], 2, /port must be at least 1/],
    [['services', 'set', 'db-example-com', '--setting', 'port=80'], 0, /is changed/],
    [['services', 'set', 'db-example-com', '--setting-file', 'banner=nowhere'], 1, /nowhere cannot be read/],
  ];
  for (const [args, status, said] of steps)
    t.match(await run(...args), { status, stderr: said }, args.join(' '));
  const exported = await run('services', 'export', '--format', 'json');
  const settings = { port: 80, banner: '220 ' };
  t.match(JSON.parse(exported.stdout), { services: [{ kind: 'tcp', settings }] });
  t.match(await run('services', 'set', 'db-example-com', '--kind', 'tls'), { status: 0 });
  const [service] = JSON.parse((await run('services', 'export', '--format', 'json')).stdout).services;
  t.strictSame([service.kind, service.settings], ['tls', undefined], 'settings of another kind are dropped');
});

t.test('the example of a port in the documentation works as it stands', async (t) => {
  const text = readFileSync(new URL('../../docs/checks.md', import.meta.url), 'utf8');
  const [, settings = '', commands = ''] =
    /\n```yaml\n(checks: .*)\n```\n\n```sh\n((?:npx upbeat services .*\n)+)```/.exec(text) ?? [];
  const { run } = await setUp(t, parse(settings));
  for (const line of commands.trim().split('\n')) {
    const words = [...line.matchAll(/'([^']*)'|(\S+?)(?:'([^']*)')?(?= |$)/g)];
    const [, , ...args] = words.map(([, quoted, bare = '', end = '']) => quoted ?? bare + end);
    t.match(await run(...args), { status: 0 }, line);
  }
  const exported = await run('services', 'export', '--format', 'json');
  t.match(JSON.parse(exported.stdout), {
    services: [{ domain: 'db.example.com', kind: 'tcp', settings: { port: 5432, banner: '220 ' } }],
  });
});

t.test('it probes, and calls nothing down while this machine is offline', async (t) => {
  const site = createServer((_request, response) => response.writeHead(204).end());
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  t.teardown(() => site.close());
  const open = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  const closed = `http://127.0.0.1:${await freePort()}/`;
  const catalogue = (url: string) =>
    `services: [{ slug: shop, name: Shop, domain: shop.example.com, category: ai, check: { kind: root, url: "${url}" } }]`;
  const probe = async (url: string, controlTargets: readonly string[]) => {
    const { run, write } = await setUp(t, { checks: { controlTargets } });
    write('catalogue.yaml', catalogue(url));
    const text = await run('probe', 'shop.example.com');
    const json = await run('probe', 'shop.example.com', '--json');
    return { status: text.status, text: text.stdout, json: JSON.parse(json.stdout) };
  };
  const up = await probe(open, [open]);
  const down = await probe(closed, [open]);
  const offline = await probe(closed, [closed]);
  const unasked = await probe(closed, []);
  t.match(up, {
    status: 0,
    json: { status: 'up', status_code: 204, suspect: null, timing: { dns_ms: null } },
  });
  t.match(down, {
    status: 1,
    text: /is down: refused/,
    json: { status: 'down', failure: { class: 'refused' } },
  });
  t.match(offline, {
    status: 1,
    text: /seems to be offline/,
    json: { status: 'unknown', suspect: 'offline' },
  });
  t.notMatch(offline.text, /is down/);
  t.match(
    unasked,
    { status: 1, text: /is down/ },
    'where nothing can be asked, the failure is the service’s',
  );
  const names: string[] = [];
  JSON.stringify(up.json, (name, value) => {
    if (name !== '') names.push(name);
    if (typeof value === 'number') t.match(String(value), /^-?\d+(?:\.\d)?$/, `${name} is ${value}`);
    return value;
  });
  for (const name of names) t.match(name, /^[a-z][a-z0-9_]*$/);
});

t.test('it prints the heartbeat address of a service once, and ends it', async (t) => {
  const { run } = await setUp(t);
  await run('services', 'add', 'job.example.com', '--account', 'ada', '--kind', 'heartbeat');
  const first = await run('services', 'address', 'job-example-com');
  t.match(first, { status: 0, stdout: /^https?:\/\/\S+\/beat\/[\w-]{22}\n$/, stderr: /only this once/ });
  const second = await run('services', 'address', 'job-example-com', '--json');
  t.match(JSON.parse(second.stdout), { slug: 'job-example-com', address: /\/beat\// });
  t.not(JSON.parse(second.stdout).address, first.stdout.trim());
  t.match(await run('services', 'address', 'job-example-com', '--remove'), { status: 0, stdout: '' });
  t.match(await run('services', 'address', 'nobody'), { status: 1, stderr: /No account has a service/ });
});

t.test('it prints the signed address of the badge of a private service, and renews it', async (t) => {
  const { run } = await setUp(t);
  await run('services', 'add', 'job.example.com', '--account', 'ada', '--visibility', 'private');
  t.match(await run('services', 'badge', 'job-example-com'), { status: 1, stderr: /the key of secrets/ });
  // Whatever is encrypted first makes the key.
  const signIn = ['--setting', 'username=ada', '--setting', 'password=hunter2'];
  await run('services', 'add', 'api.example.com', '--account', 'ada', '--kind', 'http', ...signIn);
  const first = await run('services', 'badge', 'job-example-com');
  t.match(first, { status: 0, stdout: /^https?:\/\/\S+\/badge\/[\w-]{40}\n$/, stderr: '' });
  t.equal((await run('services', 'badge', 'job-example-com')).stdout, first.stdout, 'it stays the same');
  const renewed = await run('services', 'badge', 'job-example-com', '--renew', '--json');
  t.match(JSON.parse(renewed.stdout), { slug: 'job-example-com', address: /\/badge\/[\w-]{40}$/ });
  t.not(JSON.parse(renewed.stdout).address, first.stdout.trim());
  await run('services', 'set', 'job-example-com', '--visibility', 'public');
  t.match(await run('services', 'badge', 'job-example-com'), { status: 1, stderr: /is not private/ });
});

t.test('it sets the note of a service, which exports and imports keep', async (t) => {
  const { run, write } = await setUp(t);
  const note = async () => JSON.parse((await run('services', 'list', '--json')).stdout)[0]?.note;
  await run('services', 'add', 'job.example.com', '--account', 'ada', '--note', 'Ask Ada');
  t.equal(await note(), 'Ask Ada');
  const csv = write('list.csv', (await run('services', 'export')).stdout);
  t.match(await run('services', 'set', 'job-example-com', '--note', 'x'.repeat(501)), {
    status: 2,
    stderr: /note/,
  });
  t.match(await run('services', 'set', 'job-example-com', '--note', ''), { status: 0 });
  t.equal(await note(), undefined);
  t.match(await run('services', 'import', csv, '--account', 'ada'), { status: 1, stderr: /another note/ });
  await run('services', 'remove', 'job-example-com');
  t.match(await run('services', 'import', csv, '--account', 'ada'), { status: 0 });
  t.match((await run('export', '--account', 'ada')).stdout, /note: Ask Ada/);
});

t.test('it sets who sees a service, which exports and imports keep', async (t) => {
  const { run, write } = await setUp(t);
  const seen = async () => JSON.parse((await run('services', 'list', '--json')).stdout)[0]?.visibility;
  await run('services', 'add', 'job.example.com', '--account', 'ada');
  t.equal(await seen(), 'public');
  t.match(await run('services', 'set', 'job-example-com', '--visibility', 'secret'), { status: 2 });
  await run('services', 'set', 'job-example-com', '--visibility', 'private');
  t.equal(await seen(), 'private');
  const csv = write('list.csv', (await run('services', 'export')).stdout);
  t.match((await run('export', '--account', 'ada')).stdout, /visibility: private/);
  await run('services', 'set', 'job-example-com', '--visibility', 'unlisted');
  t.match(await run('services', 'import', csv, '--account', 'ada'), {
    status: 1,
    stderr: /another visibility/,
  });
  await run('services', 'remove', 'job-example-com');
  t.match(await run('services', 'import', csv, '--account', 'ada'), { status: 0 });
  t.equal(await seen(), 'private');
});

t.test('it sets what a service depends on, which exports and imports keep in any order', async (t) => {
  const { run, write } = await setUp(t);
  for (const name of ['job', 'router', 'switch'])
    await run('services', 'add', `${name}.example.com`, '--account', 'ada');
  const set = (slug: string, ...parents: string[]) =>
    run('services', 'set', `${slug}-example-com`, ...parents.flatMap((name) => ['--depends-on', name]));
  t.match(await set('job', 'switch.example.com', 'router-example-com'), { status: 0 });
  t.match(await set('switch', 'router-example-com'), { status: 0 });
  t.match(await set('router', 'job-example-com'), {
    status: 1,
    stderr: /router-example-com → job-example-com → router-example-com/,
  });
  t.match(await set('router', 'nobody'), {
    status: 1,
    stderr: /nobody is neither/,
  });
  const csv = write('list.csv', (await run('services', 'export')).stdout);
  const before = (await run('export', '--account', 'ada')).stdout;
  t.match(before, /dependsOn:\n +- switch-example-com\n +- router-example-com\n/);
  t.match(await set('switch', 'default'), { status: 0 });
  t.match(await run('services', 'import', csv, '--account', 'ada'), {
    status: 1,
    stderr: /another dependsOn/,
  });
  for (const name of ['router', 'switch', 'job']) await run('services', 'remove', `${name}-example-com`);
  t.match(await run('services', 'import', csv, '--account', 'ada'), { status: 0 });
  t.equal((await run('export', '--account', 'ada')).stdout, before);
});

t.test('it sets who sees a page, with the password in a file', async (t) => {
  const { run, withRegistry, write } = await setUp(t);
  const file = write('password', 'tulips in the rain\n');
  const add = ['pages', 'add', 'acme', '--account', 'ada', '--title', 'Acme'];
  t.match(await run(...add, '--access', 'password'), { status: 2, stderr: /Enter a password/ });
  t.match(await run(...add, '--access', 'password', '--password-file', file), { status: 0 });
  const access = async () => (await withRegistry((registry) => registry.findPage('acme')))?.access;
  t.equal(await access(), 'password');
  t.match(await run('pages', 'access', 'acme', 'members'), { status: 0, stderr: /acme: access members/ });
  t.equal(await access(), 'members');
  t.match(await run('pages', 'access', 'acme', 'password'), { status: 2, stderr: /Enter a password/ });
  t.match(await run('pages', 'access', 'acme', 'everyone'), { status: 2 });
  t.match(JSON.parse((await run('pages', 'list', '--json')).stdout), [{ access: 'members' }]);
  t.match(await run('pages', 'access', 'nobody', 'public'), { status: 1 });
});

t.test('it sets the domain of a page, verifies it by its TXT record, and takes it back', async (t) => {
  const texts: string[] = [];
  const names = await startNameServer(({ type }) => (type === 'TXT' ? { texts } : { code: 3 }));
  t.teardown(() => names.close());
  const { run, withRegistry } = await setUp(t, { checks: { nameservers: [names.address] } });
  await run('pages', 'add', 'acme', '--account', 'ada', '--title', 'Acme');
  const { stdout } = await run('pages', 'domain', 'ACME', 'Status.Example.com');
  t.match(stdout, /^TXT record _upbeat\.status\.example\.com\n/);
  const word = /upbeat-verify=\w+/.exec(stdout)?.[0] ?? '';
  t.match(await run('pages', 'domain', 'acme'), { status: 1, stderr: /no TXT record/ });
  texts.push(word);
  t.match(await run('pages', 'domain', 'acme'), { status: 0, stderr: /status\.example\.com is verified/ });
  const shown = await run('pages', 'domain', 'acme', 'status.example.com', '--json');
  const verification = { verified: true, txt_record: { value: word }, file: { content: word } };
  t.match(JSON.parse(shown.stdout), { slug: 'acme', custom_domain: { verification } });
  const [page] = JSON.parse((await run('pages', 'list', '--json')).stdout);
  t.match(page.url, /^https?:\/\/status\.example\.com(:\d+)?\/$/);
  t.match(await withRegistry((registry) => registry.provedPageDomains()), [{ slug: 'acme' }]);
  t.match(await run('pages', 'domain', 'acme', 'none'), { status: 0, stderr: /no custom domain/ });
  const none = await run('pages', 'domain', 'acme', 'none', '--json');
  t.same(JSON.parse(none.stdout), { slug: 'acme', custom_domain: null });
  t.same(await withRegistry((registry) => registry.provedPageDomains()), []);
});

t.test('it links people to accounts and merges accounts, after a plan', async (t) => {
  const { run, withRegistry } = await setUp(t, { limits: { domainsPerAccount: 1 } });
  await run('services', 'add', 'shop.example.com', '--account', 'ops');
  await run('services', 'add', 'blog.example.com', '--account', 'acme');
  await run('services', 'add', 'old.example.com', '--account', '7');
  const linked = await run('accounts', 'link', 'ops', 'github', '42');
  t.match(linked, {
    status: 0,
    stderr: /no provider "github"\n.*42 \(person 1\) is an owner of "ops" \(number 1\)/,
  });
  t.match(await run('accounts', 'link', '2', '--person', '1'), { status: 0, stderr: /owner of "acme"/ });
  t.match(await run('accounts', 'link', '7', '--person', '1'), {
    status: 0,
    stderr: /owner of "7" \(number 3\)/,
  });
  for (const words of [['ops'], ['ops', 'github'], ['ops', 'github', '42', '--person', '1']])
    t.match(await run('accounts', 'link', ...words), { status: 2, stderr: /PROVIDER SUBJECT, or --person/ });
  t.match(await run('accounts', 'link', 'nobody', 'github', '42'), {
    status: 1,
    stderr: /no account nobody/,
  });
  t.match(await run('accounts', 'link', 'ops', '--person', '9'), { status: 1, stderr: /no person 9/ });
  const list = async () => JSON.parse((await run('accounts', 'list', '--json')).stdout);
  const before = await list();
  t.match(before, [
    {
      account: 'ops',
      signs_in_by: 'github',
      members: [{ person: 1, name: '42', role: 'owner', providers: ['github'] }],
    },
    { account: 'acme' },
    { account: '7' },
  ]);
  t.match((await run('accounts', 'list')).stdout, /ops +github +42 \(owner\) +0 +1/);

  const plan = await run('accounts', 'merge', 'ops', 'acme', '--dry-run');
  t.match(plan, {
    status: 0,
    stdout:
      /^would merge "ops" \(number 1\) into "acme" \(number 2\)\n {2}services 1, .*\n {2}member 42 \(person 1\): stays owner\n {2}services: 2, over the limit of 1/,
  });
  t.same(await list(), before, 'a plan changes nothing');
  const merged = await run('accounts', 'merge', 'ops', 'acme', '--json');
  t.match(JSON.parse(merged.stdout), {
    merged: true,
    into: { id: 2, account: 'acme' },
    moved: { services: 1 },
    exceeded: [{ kind: 'services', count: 2, max: 1 }],
  });
  t.match(await list(), [{ account: 'acme', services: 2 }, { account: '7' }]);
  t.match(await run('accounts', 'merge', 'ops', 'acme'), { status: 1, stderr: /no account ops/ });
  t.match(await run('accounts', 'merge', 'acme', '2'), { status: 1, stderr: /into itself/ });
  const states = await withRegistry((registry) => registry.loadServices());
  t.same(
    states.map(({ service }) => service.accountId),
    [2, 2, 3],
  );
});

t.test('it trusts an account and ends that, and says who gave it', async (t) => {
  const { run } = await setUp(t);
  for (const account of ['home', '1', 'other'])
    await run('keys', 'create', '--account', account, '--name', 'k');
  const add = (host: string, account: string) => run('services', 'add', host, '--account', account);
  t.match(await add('192.168.1.5', 'home'), { status: 1, stderr: /must not be an IP address/ });
  t.match(await run('accounts', 'trust', '1'), {
    status: 1,
    stderr: /number of "home" and the name of number 2/,
  });
  t.match(await run('accounts', 'trust', 'nobody'), { status: 1, stderr: /no account nobody/ });
  t.match(await run('accounts', 'trust', 'home'), {
    status: 0,
    stderr: /"home" \(number 1\) is trusted: it needs no proof/,
  });
  const list = async () => JSON.parse((await run('accounts', 'list', '--json')).stdout);
  t.match(await list(), [
    { account: 'home', trusted: { since: /^2\d{3}-/, by: /^command:./ } },
    { trusted: null },
    { trusted: null },
  ]);
  t.match((await run('accounts', 'list')).stdout, /since 2\d{3}-\d\d-\d\d by command of /);
  for (const [host, slug] of [
    ['192.168.1.5', '192-168-1-5'],
    ['nas', 'nas'],
    ['grafana.internal.', 'grafana-internal'],
    ['[FD00::5]', 'fd00--5'],
  ] as const)
    t.match(await add(host, 'home'), { status: 0, stdout: `${slug}\n` }, host);
  for (const host of ['127.0.0.1', '0x7f.1', '::1', '169.254.169.254', '[::ffff:a9fe:a9fe]', '0.0.0.0'])
    t.match(await add(host, 'home'), { status: 1, stderr: /which is not public/ }, host);
  t.match(await add('192.168.1.5', 'other'), { status: 1, stderr: /must not be an IP address/ });
  t.match(JSON.parse((await run('accounts', 'trust', 'home', '--off', '--json')).stdout), { trusted: null });
  t.match(await add('10.0.0.1', 'home'), { status: 1, stderr: /must not be an IP address/ });
});
