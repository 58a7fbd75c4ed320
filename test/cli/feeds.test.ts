/** `upbeat feeds probe`, and what `services verify` says of status pages, against pages on loopback. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { runCommandHere } from './run-command.ts';

const SUMMARY = readFileSync(new URL('../feeds/fixtures/instatus-summary.json', import.meta.url));
const server = createServer(({ url }, response) => {
  if (url === '/old') return void response.writeHead(301, { location: '/new/' }).end();
  const isSummary = url === '/summary.json' || url === '/new/summary.json';
  response.writeHead(isSummary || url === '/' || url === '/new/' ? 200 : 404);
  response.end(isSummary ? SUMMARY : '<!doctype html><title>Status</title>');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});

const folder = t.testdir({});
const config = join(folder, 'upbeat.yaml');
const catalogue = join(folder, 'catalogue.yaml');
writeFileSync(
  config,
  `storage: { dataDir: ${JSON.stringify(folder)} }
catalogue: { file: ${JSON.stringify(catalogue)} }
checks: { allowPrivate: [127.0.0.0/8], controlTargets: [] }
`,
);
const run = (...args: readonly string[]) => runCommandHere([...args, '--config', config]);

t.test('it shows what a page is made with and what it lists', async (t) => {
  const table = await run('feeds', 'probe', `${base}/`);
  t.equal(table.status, 0, table.stderr);
  t.match(table.stderr, `statusPage: { url: "${base}/", kind: instatus }`);
  t.match(table.stdout, /KIND +STATE +SEVERITY.*incident +identified +major.*Slow dashboard/s);
  const { stdout } = await run('feeds', 'probe', `${base}/`, '--json');
  t.match(JSON.parse(stdout), {
    moved_to: null,
    kind: 'instatus',
    feed_url: null,
    catalogue: /kind: instatus/,
    entries: [{ kind: 'maintenance' }, {}, {}],
  });
  const nothing = await run('feeds', 'probe', `${base}/gone`);
  t.equal(nothing.status, 1);
  t.match(nothing.stderr, /kind custom/);
  t.match(await run('feeds', 'probe', 'ftp://x'), { status: 1, stderr: /no http or https URL/ });
});

t.test('verify names pages that are of another kind, have moved or cannot be read', async (t) => {
  const service = (slug: string, page: string) =>
    `  - { slug: ${slug}, name: A, domain: ${slug}.example.com, category: cloud, check: { kind: root, url: "${base}/" }, statusPage: ${page} }\n`;
  writeFileSync(
    catalogue,
    `services:\n${service('right', `{ url: "${base}/", kind: instatus }`)}${service('shared', `{ url: "${base}/", kind: instatus }`)}${service('custom', `{ url: "${base}/", kind: custom }`)}${service('moved', `{ url: "${base}/old", kind: statuspage }`)}${service('dead', `{ url: "${base}/gone", kind: betterstack }`)}`,
  );
  const { stdout, stderr } = await run('services', 'verify', '--json');
  t.match(
    JSON.parse(stdout),
    [
      { slug: 'custom', status: 'page', problem: 'it is of kind instatus', advice: /kind: instatus/ },
      { slug: 'dead', problem: /HTTP 404/, advice: /kind: custom/ },
      {
        slug: 'moved',
        problem: 'it is of kind instatus',
        advice: `statusPage: { url: "${base}/new/", kind: instatus }`,
      },
    ],
    stderr,
  );
  t.equal(JSON.parse(stdout).length, 3);
});
