import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { parse } from 'yaml';
import { ConfigError } from '../../src/config/config-error.ts';
import { loadConfig, SETTING_PATHS } from '../../src/config/load-config.ts';
import { changedSettings } from '../../src/config/resolve-config.ts';

const ROOT = join(import.meta.dirname, '../..');
const SHIPPED = join(ROOT, 'config/upbeat.yaml');
const BAD = join(import.meta.dirname, 'bad');

const fromText = (text: string, env: Record<string, string> = {}) =>
  loadConfig({
    file: 'test.yaml',
    env,
    readFile: (path) => (path === 'test.yaml' ? text : readFileSync(path, 'utf8')),
  });

t.test('it ships a file that names every setting with its default', async (t) => {
  t.same(loadConfig({ file: SHIPPED, env: {} }), loadConfig({ file: null, env: {} }));
  const tree = parse(readFileSync(SHIPPED, 'utf8')) as Record<string, unknown>;
  const has = (path: string) =>
    path
      .split('.')
      .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], tree) !== undefined;
  t.same(
    SETTING_PATHS.filter((path) => !has(path)),
    [],
  );
});

t.test('it has the defaults that operators are promised', async (t) => {
  const config = loadConfig({ file: null, env: {} });
  t.match(config, {
    http: { host: '0.0.0.0', port: 8080, siteUrl: 'http://localhost:8080', trustedProxies: [] },
    catalogue: { file: 'config/catalogue.yaml' },
    checks: {
      intervalMs: 300_000,
      timeoutMs: 10_000,
      slowOverMs: 3_000,
      confirmAfterMs: [2_000, 4_000],
      firstSpreadMs: 60_000,
      threads: 'auto',
      concurrency: 256,
      allowPrivate: [],
      ports: [80, 443],
      nameservers: [],
      ownersMayProbePrivate: false,
    },
    heartbeats: { silenceMs: 600_000 },
    limits: { anonymousPerMinute: 15, authenticatedPerMinute: 60, domainsPerAccount: 100 },
    incidents: { feedIntervalMs: 300_000 },
    auth: { providers: [] },
    storage: {
      dataDir: './data',
      rawRetentionMs: 90 * 86_400_000,
      rollupRetentionMs: 730 * 86_400_000,
      redis: { url: null },
      influx: { url: null, token: null, org: null, bucket: null, api: 'v2' },
    },
    log: { level: 'info', format: 'auto' },
  });
  t.equal(config.checks.controlTargets.length, 3);
});

t.test(
  'it lets the environment beat the file, and a file named by the environment stand for its content',
  async (t) => {
    const secret = join(t.testdir({ token: 's3cret\n' }), 'token');
    const config = fromText('http: { port: 1, host: 127.0.0.1 }\nchecks: { interval: 10s }\n', {
      UPBEAT_HTTP_PORT: '9000',
      UPBEAT_HTTP_SITEURL: 'https://up.example/',
      UPBEAT_CHECKS_CONFIRMAFTER: '1s, 500ms',
      UPBEAT_CHECKS_PORTS: '[80, 8080]',
      UPBEAT_CHECKS_THREADS: '4',
      UPBEAT_CHECKS_ALLOWPRIVATE: '127.0.0.0/8,::1',
      UPBEAT_CHECKS_CONTROLTARGETS: '',
      UPBEAT_CHECKS_OWNERSMAYPROBEPRIVATE: 'true',
      UPBEAT_STORAGE_INFLUX_TOKEN_FILE: secret,
      UPBEAT_TEST_ANYTHING: 'is not ours to judge',
    });
    t.match(config, {
      http: { port: 9000, host: '127.0.0.1', siteUrl: 'https://up.example' },
      checks: {
        intervalMs: 10_000,
        confirmAfterMs: [1_000, 500],
        ports: [80, 8080],
        threads: 4,
        allowPrivate: ['127.0.0.0/8', '::1'],
        controlTargets: [],
        ownersMayProbePrivate: true,
      },
      storage: { influx: { token: 's3cret' } },
    });
  },
);

t.test('it tells every problem of a bad file, with its path', async (t) => {
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

t.test('it names the variable where the environment is wrong', async (t) => {
  t.throws(
    () => fromText('', { UPBEAT_HTTP_PROT: '1', UPBEAT_HTTP_PORT: 'eighty', UPBEAT_LOG_LEVEL: 'loud' }),
    {
      message: [
        'UPBEAT_HTTP_PROT: is no setting; did you mean UPBEAT_HTTP_PORT?',
        'http.port (UPBEAT_HTTP_PORT): "eighty" is not a whole number from 0 to 65535',
        'log.level (UPBEAT_LOG_LEVEL): "loud" is not one of silent, error, warn, info, debug',
      ].join('\n'),
    },
  );
  t.throws(() => fromText('', { UPBEAT_HTTP_HOST: 'a', UPBEAT_HTTP_HOST_FILE: '/x' }), {
    message: 'UPBEAT_HTTP_HOST_FILE: stands beside UPBEAT_HTTP_HOST; set only one of them',
  });
});

t.test('it never shows a secret', async (t) => {
  try {
    fromText('storage: { influx: { token: [hunter2] }, redis: { url: "http://:hunter2@x" } }');
    t.fail('it was taken');
  } catch (error) {
    t.notMatch((error as Error).message, 'hunter2');
  }
});

t.test('it ends every bad file in a ConfigError, never in another error', async () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      try {
        fromText(text);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
      }
    }),
    { numRuns: 300 },
  );
});

t.test('it knows which settings changed and which of them need a restart', async (t) => {
  const before = fromText('');
  const after = fromText('limits: { anonymousPerMinute: 20 }\nchecks: { interval: 1m, confirmAfter: [] }');
  t.same(changedSettings(before, after), [
    { path: 'checks.interval', reloadable: false },
    { path: 'checks.confirmAfter', reloadable: false },
    { path: 'limits.anonymousPerMinute', reloadable: true },
  ]);
  t.same(changedSettings(before, before), []);
});
