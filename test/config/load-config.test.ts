/** Files of settings: which values count, and which changes need a restart. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadConfig } from '../../src/config/load-config.ts';
import { changedSettings } from '../../src/config/resolve-config.ts';

const fromText = (text: string, env: Record<string, string> = {}) =>
  loadConfig({
    file: 'test.yaml',
    env,
    readFile: (path) => (path === 'test.yaml' ? text : readFileSync(path, 'utf8')),
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
      UPBEAT_CHECKS_QUORUM: '2',
      UPBEAT_CHECKS_ALLOWPRIVATE: '127.0.0.0/8,::1',
      UPBEAT_CHECKS_CONTROLTARGETS: '',
      UPBEAT_CHECKS_OWNERSMAYPROBEPRIVATE: 'true',
      UPBEAT_STORAGE_INFLUX_URL: 'http://samples.example/influx',
      UPBEAT_STORAGE_INFLUX_TOKEN_FILE: secret,
      UPBEAT_STORAGE_POSTGRES_URL: 'postgres://upbeat@db.example/upbeat',
      UPBEAT_STORAGE_REDIS_URL: 'redis://cache.example',
      UPBEAT_NODE_NAME: 'eu-1',
      UPBEAT_NODE_ROLES: 'probe, serve',
      UPBEAT_TEST_ANYTHING: 'is not ours to judge',
    });
    t.match(config, {
      http: { port: 9000, host: '127.0.0.1', siteUrl: 'https://up.example' },
      checks: {
        intervalMs: 10_000,
        confirmAfterMs: [1_000, 500],
        ports: [80, 8080],
        threads: 4,
        quorum: 2,
        allowPrivate: ['127.0.0.0/8', '::1/128'],
        controlTargets: [],
        ownersMayProbePrivate: true,
      },
      storage: { influx: { token: 's3cret' } },
      node: { name: 'eu-1', region: 'local', roles: ['probe', 'serve'] },
    });
  },
);

t.test('the parser writes nothing of a file to standard error', async (t) => {
  const warnings: string[] = [];
  const note = ({ message }: Error) => void warnings.push(message);
  process.on('warning', note);
  t.teardown(() => void process.off('warning', note));
  for (const text of [
    '? { clientSecret: hunter2 }\n: x',
    'storage: !secret hunter2',
    'http: !!js/function hunter2',
  ])
    t.throws(() => fromText(text));
  // Warnings are emitted in the next turn.
  await new Promise((resolve) => setImmediate(resolve));
  t.same(warnings, []);
});

t.test('it knows which settings changed and which of them need a restart', async (t) => {
  const before = fromText('');
  const after = fromText(`
    http: { port: 1, trustedProxies: [10.0.0.1] }
    catalogue: { file: other.yaml }
    checks: { interval: 1m, confirmAfter: [] }
    limits: { anonymousPerMinute: 20, authenticatedPerMinute: 70, changesPerAccount: 9, domainsPerAccount: 1 }
    storage: { redis: { url: "redis://x" } }
    log: { level: debug, format: json }`);
  t.same(changedSettings(before, after), [
    { path: 'http.port', reloadable: false },
    { path: 'http.siteUrl', reloadable: false },
    { path: 'http.trustedProxies', reloadable: false },
    { path: 'catalogue.file', reloadable: false },
    { path: 'checks.interval', reloadable: false },
    { path: 'checks.confirmAfter', reloadable: false },
    { path: 'limits.anonymousPerMinute', reloadable: true },
    { path: 'limits.authenticatedPerMinute', reloadable: true },
    { path: 'limits.changesPerAccount', reloadable: true },
    { path: 'limits.domainsPerAccount', reloadable: false },
    { path: 'storage.redis.url', reloadable: false },
    { path: 'log.level', reloadable: false },
    { path: 'log.format', reloadable: false },
  ]);
  t.same(changedSettings(before, fromText('checks: { interval: 300s }')), []);
});

t.test('it says that a file cannot be read', async (t) => {
  t.throws(() => loadConfig({ file: '/nowhere/upbeat.yaml', env: {} }), {
    message: /^\/nowhere\/upbeat\.yaml: cannot be read: ENOENT/,
  });
});
