/** What the commands on services and keys take from the command line and from the public list. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readName } from '../../src/cli/accounts.ts';
import { listCatalogueDomains } from '../../src/cli/service-commands.ts';
import { NO_MEMORY } from '../../src/domain/result.ts';
import { current, check as latestCheck, NOW, service } from '../site/site-world.ts';
import { install } from '../support/program.ts';

const FILE = `services:
  - { slug: one, name: One, domain: one.example, category: ai }
  - slug: local
    name: Local
    domain: 127.0.0.1
    category: ai
    check: { kind: root, url: "http://127.0.0.1:9/", accept: [401] }
`;

t.test('it keeps the domains of the public list from owners, before the first start too', async (t) => {
  const file = join(t.testdir({ 'list.yaml': FILE }), 'list.yaml');
  const known = [
    service(1, 'two', { domain: 'two.example' }),
    service(2, 'one', { domain: 'one.example' }),
    service(3, 'mine', { domain: 'mine.example', origin: 'owner', accountId: 1 }),
  ];
  const states = known.map((service) => ({
    ...{ service, current: current(service.id, latestCheck(NOW)), memory: NO_MEMORY, openIncident: null },
  }));
  t.same(await listCatalogueDomains([], file), ['one.example', '127.0.0.1']);
  t.same(await listCatalogueDomains(states, file), ['two.example', 'one.example', '127.0.0.1']);
  writeFileSync(file, 'services: [');
  t.same(await listCatalogueDomains(states, file), ['two.example', 'one.example'], 'a bad file adds nothing');
  t.same(await listCatalogueDomains(states, `${file}.gone`), ['two.example', 'one.example']);
});

t.test('it refuses names that say nothing', async (t) => {
  t.equal(readName('--account', ' ada '), 'ada');
  t.equal(readName('--name', 'x'.repeat(100)).length, 100);
  for (const text of ['', ' ', 'x'.repeat(101)])
    t.throws(() => readName('--name', text), {
      code: 'command_failed',
      message: '--name must have 1 to 100 characters',
    });
});

t.test('it sets the address of a check, and takes it back', async (t) => {
  const installation = await install([], { checks: { controlTargets: [] } });
  t.teardown(installation.remove);
  const run = (...words: string[]) => installation.runHere('services', ...words);
  const checkOf = (slug: string) =>
    installation.withRegistry(async (registry) => (await registry.findService(slug))?.check.url);
  const [first, second] = ['https://status.example.net:8443/ready', 'http://shop.example.com/'];
  t.match(await run('add', 'shop.example.com', '--account', 'ops', '--kind', 'http', '--url', first), {
    status: 0,
    stdout: 'shop-example-com\n',
  });
  t.equal(await checkOf('shop-example-com'), first);
  const refused = [
    [
      'ftp://shop.example.com/',
      'mailto:a@example.com',
      'shop.example.com',
      `https://shop.example.com/${'x'.repeat(2_100)}`,
    ],
  ].flat();
  for (const url of refused) {
    t.match(
      await run('add', 'b.example.com', '--account', 'ops', '--kind', 'http', '--url', url),
      { status: 2, stderr: /url/ },
      url,
    );
    t.match(await run('set', 'shop-example-com', '--url', url), { status: 2, stderr: /url/ }, url);
  }
  t.equal(await checkOf('shop-example-com'), first, 'what is refused changes nothing');
  t.equal(await checkOf('b-example-com'), undefined);
  t.match(await run('set', 'shop-example-com', '--url', second), { status: 0, stderr: /is changed/ });
  t.equal(await checkOf('shop-example-com'), second);
  t.match(await run('set', 'shop-example-com', '--name', 'Shop'), { status: 0 });
  t.equal(await checkOf('shop-example-com'), second, 'other changes keep it');
  t.match(await run('set', 'shop-example-com', '--url', 'default'), { status: 0 });
  t.equal(await checkOf('shop-example-com'), null);
});
