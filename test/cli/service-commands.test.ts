/** What the commands on services, keys and probes take from the command line and from the public list. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readCatalogue } from '../../src/catalogue/read-catalogue.ts';
import { readName } from '../../src/cli/accounts.ts';
import { whatToProbe } from '../../src/cli/probe.ts';
import { listCatalogueDomains } from '../../src/cli/service-commands.ts';
import { NO_MEMORY } from '../../src/domain/result.ts';
import { current, check as latestCheck, NOW, service } from '../site/site-world.ts';

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
  const registry = {
    loadServices: async () =>
      known.map((service) => ({
        service,
        current: current(service.id, latestCheck(NOW)),
        memory: NO_MEMORY,
        openIncident: null,
      })),
  };
  const empty = { loadServices: async () => [] };
  t.same(await listCatalogueDomains(empty, file), ['one.example', '127.0.0.1']);
  t.same(await listCatalogueDomains(registry, file), ['two.example', 'one.example', '127.0.0.1']);
  writeFileSync(file, 'services: [');
  t.same(
    await listCatalogueDomains(registry, file),
    ['two.example', 'one.example'],
    'a bad file adds nothing',
  );
  t.same(await listCatalogueDomains(registry, `${file}.gone`), ['two.example', 'one.example']);
});

t.test('it probes a listed domain as the engine would, and any other at its root', async (t) => {
  const listed = readCatalogue(FILE, 'list.yaml');
  const check = listed[1]?.check;
  const origin = 'catalogue';
  t.match(check, { url: 'http://127.0.0.1:9/', accept: [401] });
  t.same(whatToProbe(' 127.0.0.1', undefined, listed), { domain: '127.0.0.1', origin, check });
  t.same(whatToProbe('127.0.0.1', 'root', listed), { domain: '127.0.0.1', origin, check });
  t.match(whatToProbe('One.Example', undefined, listed), { domain: 'one.example', check: { kind: 'root' } });
  t.same(whatToProbe('one.example', 'health', listed), {
    domain: 'one.example',
    origin,
    check: { kind: 'health' },
  });
  t.same(whatToProbe('Other.Example', undefined, listed), {
    domain: 'other.example',
    origin,
    check: { kind: 'root' },
  });
  const refusal = { code: 'command_failed', message: /IP address/ };
  t.throws(() => whatToProbe('127.0.0.1', 'health', listed), refusal);
  t.throws(() => whatToProbe('127.0.0.1', undefined, []), refusal);
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
