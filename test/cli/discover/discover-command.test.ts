/** `upbeat discover` against doubles of the APIs of Docker, Kubernetes and Traefik. */

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  discoverDocker,
  discoverKubernetes,
  discoverTraefik,
  withGone,
  withOwnSlugs,
} from '../../../src/cli/discover/discover-command.ts';
import { listenOn } from '../../support/loopback.ts';
import { install } from '../../support/program.ts';

type Documents = Readonly<Record<string, unknown>>;

const listener = (documents: () => Documents) =>
  createServer(({ url = '' }, response) => {
    const found = documents()[url];
    response.writeHead(found === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(found ?? {}));
  });

async function serve(t: Test, documents: Documents): Promise<string> {
  const { port, close } = await listenOn(listener(() => documents));
  t.teardown(close);
  return `http://127.0.0.1:${port}`;
}

async function serveSocket(t: Test, documents: () => Documents): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-discover-'));
  const socket = join(folder, 'docker.sock');
  const server = listener(documents).listen(socket);
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  return socket;
}

const CONTAINERS = '/containers/json?all=true';
const container = (name: string, Labels: object = {}) => ({ Names: [`/other/${name}`, `/${name}`], Labels });
const quiet = () => {};

t.test('it finds containers with labels, and all of them if asked', async (t) => {
  const socket = await serveSocket(t, () => ({
    [CONTAINERS]: [
      container('web', { 'upbeat.enable': 'true' }),
      container('plain'),
      container('hidden', { 'upbeat.enable': 'false', 'upbeat.name': 'x' }),
      container('api', { 'upbeat.url': 'http://api.internal:8000/health' }),
    ],
  }));
  const host = 'nas.local';
  const found = await discoverDocker({ socket, host, all: false }, quiet);
  t.match(found, [
    { slug: 'api', domain: 'api.internal', note: 'docker://api', check: { kind: 'http' } },
    {
      slug: 'web',
      domain: 'nas.local',
      note: 'docker://web',
      check: { kind: 'docker', settings: { container: 'web', socket } },
    },
  ]);
  t.equal(found.length, 2);
  const all = await discoverDocker({ socket, host, all: true }, quiet);
  t.same(
    all.map(({ slug }) => slug),
    ['api', 'plain', 'web'],
  );
});

t.test('it says what is wrong with a socket or an API', async (t) => {
  await t.rejects(discoverDocker({ socket: '/nowhere/docker.sock', host: 'x', all: true }, quiet), {
    message: '/nowhere/docker.sock cannot be reached (ENOENT)',
  });
  const api = await serve(t, {});
  await t.rejects(discoverTraefik(api, quiet), {
    message: /answers \/api\/http\/routers.* with status 404$/,
  });
});

t.test('it finds the hosts and paths of ingresses', async (t) => {
  const ingress = (name: string, spec: object, annotations: object = {}) => ({
    metadata: { name, namespace: 'shop', annotations },
    spec,
  });
  const rule = (host: string | undefined, ...paths: readonly string[]) => ({
    host,
    http: { paths: paths.map((path) => ({ path })) },
  });
  const api = await serve(t, {
    '/apis/networking.k8s.io/v1/ingresses': {
      items: [
        ingress(
          'shop',
          {
            tls: [{ hosts: ['shop.example'] }],
            rules: [
              rule('shop.example', '/', '/api(/|$)(.*)'),
              rule('*.shop.example', '/'),
              rule(undefined, '/'),
            ],
          },
          { 'upbeat.check.interval': '1m' },
        ),
        ingress('plain', { rules: [{ host: 'plain.example' }] }),
        ingress('left-out', { rules: [rule('no.example', '/')] }, { 'upbeat.enable': 'false' }),
      ],
    },
  });
  t.same(await discoverKubernetes({ api }, quiet), [
    {
      slug: 'plain-example',
      domain: 'plain.example',
      name: 'plain.example',
      note: 'kubernetes://shop/plain/plain.example/',
      check: { kind: 'http', settings: { plain: true } },
    },
    {
      slug: 'shop-example',
      domain: 'shop.example',
      name: 'shop.example',
      note: 'kubernetes://shop/shop/shop.example/',
      check: { kind: 'http', settings: {}, interval: '1m' },
    },
    {
      slug: 'shop-example-api',
      domain: 'shop.example',
      name: 'shop.example/api',
      note: 'kubernetes://shop/shop/shop.example/api',
      check: { kind: 'http', settings: { path: '/api' }, interval: '1m' },
    },
  ]);
  await t.rejects(discoverKubernetes({ api, namespace: 'other' }, quiet), /namespaces\/other\/ingresses/);
});

t.test('it finds the hosts of routers', async (t) => {
  const api = await serve(t, {
    '/api/http/routers?per_page=10000': [
      { name: 'api@internal', provider: 'internal', rule: 'PathPrefix(`/api`)' },
      { name: 'wiki@docker', provider: 'docker', rule: 'Host(`wiki.example`) && PathPrefix(`/w`)', tls: {} },
      { name: 'two@file', provider: 'file', rule: 'Host(`b.example`, `c.example`) && !Host(`x.example`)' },
      { name: 'any@file', provider: 'file', rule: 'HostRegexp(`.+`)' },
    ],
    '/api/tcp/routers?per_page=10000': [
      { name: 'mail@file', provider: 'file', rule: 'HostSNI(`mail.example`)' },
      { name: 'all@file', provider: 'file', rule: 'HostSNI(`*`)' },
    ],
  });
  t.same(
    (await discoverTraefik(api, quiet)).map(({ slug, domain, check }) => [slug, domain, check]),
    [
      ['b-example', 'b.example', { kind: 'http', settings: { plain: true } }],
      ['c-example', 'c.example', { kind: 'http', settings: { plain: true } }],
      ['mail-example-tls', 'mail.example', { kind: 'tls' }],
      ['wiki-example-w', 'wiki.example', { kind: 'http', settings: { path: '/w' } }],
    ],
  );
});

t.test('what is gone is paused until it is back, and equal slugs get numbers', async (t) => {
  const of = (slug: string) => ({ slug, domain: 'x.example' });
  const known = new Map();
  t.same(withGone([of('a'), of('b')], known), [of('a'), of('b')]);
  t.same(withGone([of('b')], known), [of('b'), { ...of('a'), paused: true }]);
  t.same(withGone([of('a'), of('b')], known), [of('a'), of('b')]);
  t.same(
    withOwnSlugs([of('a'), of('a'), of('a-2')]).map(({ slug }) => slug),
    ['a', 'a-2', 'a-2-2'],
  );
});

t.test('the commands say what they need, and print a file', async (t) => {
  const installation = await install([]);
  t.teardown(() => installation.remove());
  const socket = await serveSocket(t, () => ({
    [CONTAINERS]: [container('web', { 'upbeat.enable': 'yes' })],
  }));
  const run = (...words: string[]) => installation.runHere('discover', ...words);
  t.match(await run('docker', '--watch'), {
    status: 2,
    stderr: /--watch needs --account, --account-id or --server/,
  });
  t.match(await run('traefik', '--watch', '--account', 'ada', '--every', '0s'), {
    status: 2,
    stderr: /--every takes a duration from 1s on/,
  });
  await installation.makeKey('ada');
  t.match(await installation.runHere('accounts', 'trust', 'ada'), { status: 0 });
  const { stdout } = await run('docker', '--socket', socket);
  const file = join(installation.folder, 'found.yaml');
  writeFileSync(file, stdout);
  t.match(await installation.runHere('apply', '--account', 'ada', '-f', file), {
    status: 0,
    stdout: /slug: web[\s\S]*check\.kind: docker[\s\S]*1 created/,
  });
});
