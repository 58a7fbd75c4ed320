/** The commands of docs/api.md and docs/alerts.md against the program, and what is left of changes when the program is killed. */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { createApiKey } from '../../src/auth/api-keys.ts';
import { startNameServer } from '../support/name-server.ts';
import { install } from '../support/program.ts';

t.setTimeout(180_000);

const DOCS = ['api.md', 'alerts.md'].map((name) => join(import.meta.dirname, '../../docs', name));
const KEYS = 24;
const run = promisify(execFile);

const names = await startNameServer(() => ({ code: 3 }));
t.teardown(() => names.close());
const installation = await install([{ slug: 'github', domain: 'github.example' }], {
  checks: { nameservers: [names.address] },
  limits: { authenticatedPerMinute: 100_000, changesPerAccount: 100_000 },
});
t.teardown(() => installation.remove());
let program = await installation.start();
t.teardown(() => program.killHard());
const { siteUrl } = installation;
const key = await installation.withRegistry(async (registry) => {
  const scopes = ['read', 'write'] as const;
  const wanted = { account: 'ada', name: 'ci', expiresAt: null, now: Date.now(), scopes };
  return (await createApiKey(registry, wanted)).key;
});

t.test('the commands of the documentation do what it says', async (t) => {
  const text = DOCS.map((file) => readFileSync(file, 'utf8')).join('\n');
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
  const commands = blocks
    .filter((text) => !text.includes('export '))
    .flatMap((text) => text.split(/\n(?=curl )/))
    .map((text) => text.trim());
  t.ok(commands.length >= 8);
  const statuses: (readonly [command: string, status: number])[] = [];
  for (const command of commands) {
    const environment = { PATH: process.env.PATH ?? '', UPBEAT: siteUrl, UPBEAT_KEY: key };
    if (command.includes('curl -si')) {
      // It shows a header, which is there.
      await run('bash', ['-ec', command], { env: environment });
      continue;
    }
    const told = command.replace('curl -s', `curl -s -w '\\n%{http_code}'`);
    const { stdout } = await run('bash', ['-ec', told], { env: environment });
    const lines = stdout.split('\n');
    const status = Number(lines.pop());
    const body = lines.join('\n');
    if (body !== '') JSON.parse(body);
    const [, method = 'GET'] = /-X (\w+)/.exec(command) ?? [];
    const [, path = ''] = /\$UPBEAT(\/[^"?]*)/.exec(command) ?? [];
    statuses.push([`${method} ${path}`, status]);
  }
  t.same(statuses, [
    ['GET /api/v1/services', 200],
    ['GET /api/v1/status/github', 200],
    ['POST /api/v1/services', 201],
    ['POST /api/v1/services/shop-example-com/verify', 409],
    ['POST /api/v1/services', 201],
    ['PATCH /api/v1/services/shop-example-com', 200],
    ['DELETE /api/v1/services/shop-example-com', 204],
    ['POST /api/v1/keys', 201],
    ['POST /api/v1/pages', 201],
    ['POST /api/v1/channels', 201],
    ['POST /api/v1/rules', 201],
  ]);
});

t.test('a change is made once, although the program is killed and the client sends it again', async (t) => {
  const create = async (number: number) => {
    const response = await fetch(`${siteUrl}/api/v1/keys`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': `key-${number}`,
      },
      body: JSON.stringify({ name: `key-${number}`, scopes: ['read'] }),
    });
    return { status: response.status, body: await response.text() };
  };
  const numbers = Array.from({ length: KEYS }, (_, number) => number);
  const first = numbers.map((number) => create(number).catch(() => null));
  await Promise.race(first);
  await program.killHard();
  const before = await Promise.all(first);
  program = await installation.start();
  const after = await Promise.all(numbers.map(create));
  t.same(
    after.map(({ status }) => status),
    numbers.map(() => 201),
  );
  for (const [number, answer] of before.entries())
    if (answer !== null) t.equal(answer.body, after[number]?.body, 'what was answered stays');
  const made = await installation.withRegistry((registry) => registry.listKeys());
  const counts = numbers.map((number) => made.filter(({ name }) => name === `key-${number}`).length);
  t.same(
    counts,
    numbers.map(() => 1),
  );
});
