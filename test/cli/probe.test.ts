/** `upbeat probe`. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { readCatalogue } from '../../src/catalogue/read-catalogue.ts';
import { whatToProbe } from '../../src/cli/probe.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { freePort } from '../support/free-port.ts';
import { setUp } from './command-world.ts';

t.setTimeout(300_000);

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

const FILE = `services:
  - { slug: one, name: One, domain: one.example, category: ai }
  - slug: local
    name: Local
    domain: 127.0.0.1
    category: ai
    check: { kind: root, url: "http://127.0.0.1:9/", accept: [401] }
`;

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
  const owned = { slug: 'db', domain: 'db.example', origin: 'owner', accountId: 3 } as const;
  const check443 = { ...DEFAULT_CHECK, kind: 'tls', settings: { port: 443 } } as const;
  const all = [
    ...listed,
    { ...owned, domain: 'one.example', check: check443 },
    { ...owned, check: check443 },
  ];
  const found = { domain: 'db.example', origin: 'owner', accountId: 3, check: check443 };
  t.same(whatToProbe('DB.example', undefined, all), found, 'of an owner, by its domain');
  t.same(whatToProbe('db', 'tls', [{ ...owned, check: check443 }]), found, 'by its slug');
  t.match(whatToProbe('one.example', undefined, all), { origin }, 'the catalogue comes first');
  t.match(whatToProbe('one.example', 'tls', all), { origin: 'owner', accountId: 3 });
  const refusal = { code: 'command_failed', message: /IP address/ };
  t.throws(() => whatToProbe('127.0.0.1', 'health', listed), refusal);
  t.throws(() => whatToProbe('127.0.0.1', undefined, []), refusal);
});
