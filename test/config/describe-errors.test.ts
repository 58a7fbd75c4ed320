/** Problems of files: with their path, and without a secret. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ConfigError } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load-config.ts';

const BAD = join(import.meta.dirname, 'bad');

const fromText = (text: string, env: Record<string, string> = {}) =>
  loadConfig({
    file: 'test.yaml',
    env,
    readFile: (path) => (path === 'test.yaml' ? text : readFileSync(path, 'utf8')),
  });

t.test('it reports every problem of a bad file, with its path', async (t) => {
  for (const name of readdirSync(BAD).filter((file) => file.endsWith('.yaml'))) {
    const expected = readFileSync(join(BAD, name.replace(/\.yaml$/, '.txt')), 'utf8').trimEnd();
    try {
      fromText(readFileSync(join(BAD, name), 'utf8'));
      t.fail(`${name} was taken`);
    } catch (error) {
      t.equal((error as Error).message, expected, name);
    }
  }
});

t.test('it never shows a secret', async (t) => {
  const provider = '{ id: x, kind: github, clientId: a, clientSecret: [hunter2] }';
  const cases: readonly (readonly [text: string, env?: Record<string, string>])[] = [
    ['storage: { influx: { token: [hunter2] }, redis: { url: "http://:hunter2@x" } }'],
    ['storage: { influx: { url: "http://x", api: v1, token: hunter2 } }'],
    [`auth: { providers: [${provider}, hunter2] }`],
    ['auth: { providers: { clientSecret: hunter2 } }'],
    ['auth: [{ clientSecret: hunter2 }]'],
    ['storage: { redis: "redis://me:hunter2@x" }'],
    ['storage: { postgres: { url: "mysql://me:hunter2@x" } }'],
    ['storage: { influx: hunter2 }'],
    ['storage: hunter2'],
    ['storage: { influx: { url: "ftp://me:hunter2@x" } }'],
    ['http: { siteUrl: "https://me:hunter2@x" }'],
    ['checks: { controlTargets: ["https://x", "ftp://hunter2@x"] }'],
    ['', { UPBEAT_AUTH_PROVIDERS: '[{ id: x, clientSecret: hunter2' }],
    ['', { UPBEAT_AUTH_PROVIDERS: 'clientSecret: hunter2' }],
    ['', { UPBEAT_STORAGE_REDIS_URL: 'hunter2@x' }],
  ];
  for (const [text, env] of cases) {
    try {
      fromText(text, env);
      t.fail(`${text} was taken`);
    } catch (error) {
      t.ok(error instanceof ConfigError);
      t.notMatch((error as Error).message, 'hunter2');
    }
  }
});
