/** The commands on services and pages as an operator runs them. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';
import { startNameServer } from '../support/name-server.ts';
import { setUp } from './command-world.ts';

t.setTimeout(300_000);

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

t.test('it prints the heartbeat address of a service once, and ends it', async (t) => {
  const { run } = await setUp(t);
  await run('services', 'add', 'job.example.com', '--account', 'ada', '--kind', 'heartbeat');
  const first = await run('services', 'address', 'job-example-com');
  t.match(first, { status: 0, stdout: /^https?:\/\/\S+\/beat\/[\w-]{36}\n$/, stderr: /only this once/ });
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
