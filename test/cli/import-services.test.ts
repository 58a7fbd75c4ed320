/** What an import says of what it left out. */
import t from 'tap';
import { readImport } from '../../src/cli/import/read-import.ts';
import { describeSkipped } from '../../src/cli/import-services.ts';
import { systemClock } from '../../src/clock.ts';
import { setUp } from './command-world.ts';

t.test('it makes one line of thousands of equal reasons', async (t) => {
  const monitors = Array.from({ length: 9_900 }, (_, index) => ({ type: 'radius', name: `Topic ${index}` }));
  t.strictSame(describeSkipped(readImport(JSON.stringify({ monitorList: monitors }), 'x.json').skipped), [
    'left out: 9,900 entries, such as Topic 0: monitors of type radius have no equal here',
  ]);
});

t.setTimeout(300_000);

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
