/** `upbeat export`: what it writes applies to an empty installation, and to its own account without a change. */
import fc from 'fast-check';
import t from 'tap';
import { escapeVariables, fillVariables } from '../../../src/cli/apply/read-files.ts';
import { pngOf } from '../../support/pictures.ts';
import { everything, setUp } from './apply-world.ts';

t.setTimeout(300_000);

const pngUrl = `data:image/png;base64,${pngOf(32, 32).toString('base64')}`;

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
