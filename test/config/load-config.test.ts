import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import t from 'tap';
import { parse } from 'yaml';
import { loadCatalogue } from '../../src/catalogue/watch-catalogue.ts';
import { ConfigError } from '../../src/config/config-error.ts';
import { SETTING_PATHS, SETTINGS } from '../../src/config/environment.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { changedSettings, findWarnings } from '../../src/config/resolve-config.ts';
import { CONFIG_SCHEMA } from '../../src/config/schema.ts';
import { propertyRuns } from '../support/property-runs.ts';

const ROOT = join(import.meta.dirname, '../..');
const SHIPPED = join(ROOT, 'config/upbeat.yaml');
const BAD = join(import.meta.dirname, 'bad');

const fromText = (text: string, env: Record<string, string> = {}) =>
  loadConfig({
    file: 'test.yaml',
    env,
    readFile: (path) => (path === 'test.yaml' ? text : readFileSync(path, 'utf8')),
  });

t.test('its schema is one of JSON Schema, which the program does not look at again', async (t) => {
  const ajv = new Ajv({ strict: false });
  t.ok(ajv.validateSchema(CONFIG_SCHEMA), ajv.errorsText());
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

t.test(
  'it ships a file that explains every setting and section, and says what a running program takes',
  async (t) => {
    const lines = readFileSync(SHIPPED, 'utf8').split('\n');
    // The comment lines above each key, with the key's path by its indentation.
    const comments = new Map<string, string>();
    const path: string[] = [];
    lines.forEach((line, index) => {
      const [, indent, key] = /^( *)([A-Za-z]+):/.exec(line) ?? [];
      if (indent === undefined || key === undefined) return;
      path.splice(indent.length / 2, path.length, key);
      comments.set(path.join('.'), lines[index - 1]?.trim() ?? '');
    });
    t.same(
      SETTINGS.map(({ path }) => comments.get(path.join('.'))),
      SETTINGS.map(
        ({ schema }) => `# ${schema.description}${schema.reloadable === true ? ' Taken at SIGHUP.' : ''}`,
      ),
    );
    t.equal([...comments.values()].filter((comment) => !comment.startsWith('# ')).length, 0);
  },
);

t.test('it knows exactly the settings that operators are promised', async (t) => {
  t.same(
    SETTING_PATHS,
    [
      'http.host http.port http.siteUrl http.trustedProxies http.securityContact',
      'about.operator about.website about.contact about.notice site.home site.access catalogue.file',
      'checks.interval checks.timeout checks.slowOver checks.confirmAfter checks.quorum checks.firstSpread checks.threads',
      'checks.concurrency checks.controlTargets checks.allowPrivate checks.trustedPrivate checks.ports checks.nameservers',
      'checks.ownersMayProbePrivate heartbeats.silence',
      'limits.anonymousPerMinute limits.authenticatedPerMinute limits.changesPerAccount limits.domainsPerAccount limits.minInterval limits.connectionsPerAddress',
      'incidents.feedInterval incidents.lookForMovedPages accounts.open accounts.trusted auth.providers',
      'alerts.smtp.host alerts.smtp.port alerts.smtp.user alerts.smtp.password alerts.smtp.from alerts.smtp.tls alerts.operator',
      'storage.dataDir storage.rawRetention storage.rollupRetention storage.incidentRetention',
      'storage.postgres.url storage.redis.url storage.influx.url storage.influx.token storage.influx.org',
      'storage.influx.bucket storage.influx.api node.name node.region node.roles secrets.key secrets.checksKey log.level log.format',
    ].flatMap((line) => line.split(' ')),
  );
});

t.test('it has the defaults that operators are promised', async (t) => {
  const config = loadConfig({ file: null, env: {} });
  t.same(config, {
    http: {
      host: '0.0.0.0',
      port: 8080,
      siteUrl: 'http://localhost:8080',
      trustedProxies: [],
      securityContact: null,
    },
    about: { operator: null, website: null, contact: null, notice: null },
    site: { home: 'services', access: 'public' },
    catalogue: { file: 'config/catalogue.yaml' },
    checks: {
      intervalMs: 300_000,
      timeoutMs: 10_000,
      slowOverMs: 3_000,
      confirmAfterMs: [2_000, 4_000],
      quorum: 'majority',
      firstSpreadMs: 60_000,
      threads: 'auto',
      concurrency: 256,
      controlTargets: [
        'https://www.google.com/generate_204',
        'https://www.cloudflare.com/cdn-cgi/trace',
        'https://www.apple.com/library/test/success.html',
      ],
      allowPrivate: [],
      trustedPrivate: ['private', 'shared', 'unique-local'],
      ports: [80, 443],
      nameservers: [],
      ownersMayProbePrivate: false,
    },
    heartbeats: { silenceMs: 600_000 },
    limits: {
      anonymousPerMinute: 15,
      authenticatedPerMinute: 60,
      changesPerAccount: 300,
      domainsPerAccount: 100,
      minIntervalMs: 30_000,
      connectionsPerAddress: 600,
    },
    incidents: { feedIntervalMs: 300_000, lookForMovedPages: false },
    accounts: { open: true, trusted: [] },
    auth: { providers: [] },
    alerts: {
      smtp: { host: null, port: null, user: null, password: null, from: null, tls: 'starttls' },
      operator: [],
    },
    storage: {
      dataDir: './data',
      rawRetentionMs: 90 * 86_400_000,
      rollupRetentionMs: 730 * 86_400_000,
      incidentRetentionMs: null,
      postgres: { url: null },
      redis: { url: null },
      influx: { url: null, token: null, org: null, bucket: null, api: 'v2' },
    },
    node: { name: null, region: 'local', roles: ['judge', 'probe', 'serve'] },
    secrets: { key: null, checksKey: null },
    log: { level: 'info', format: 'auto' },
  });
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

t.test('the URL of the site follows the port where nothing else is set', async (t) => {
  const urlOf = (text: string, env = {}) => fromText(text, env).http.siteUrl;
  t.equal(urlOf('http: { port: 9000 }'), 'http://localhost:9000');
  t.equal(urlOf('http: { port: 9000, siteUrl: null }', { UPBEAT_HTTP_PORT: '80' }), 'http://localhost');
  t.equal(urlOf('http: { port: 0 }'), 'http://localhost:8080');
  t.equal(urlOf('http: { port: 9000, siteUrl: "https://a.example/up/" }'), 'https://a.example/up');
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

t.test('it names the variable where the environment is wrong', async (t) => {
  t.throws(
    () =>
      fromText('log: { level: info }', {
        UPBEAT_HTTP_PROT: '1',
        UPBEAT_HTTP_PORT: 'eighty',
        UPBEAT_HTTP_HOST: '',
        UPBEAT_LOG_LEVEL: 'loud',
        UPBEAT_CHECKS_PORTS: '80,0',
      }),
    {
      message: [
        'UPBEAT_HTTP_PROT: is not a setting; did you mean UPBEAT_HTTP_PORT?',
        'checks.ports[1]: 0 is not a whole number from 1 to 65535 (UPBEAT_CHECKS_PORTS)',
        'http.host: must not be empty; write a host name or an address, without a port (UPBEAT_HTTP_HOST)',
        'http.port: "eighty" is not a whole number from 0 to 65535 (UPBEAT_HTTP_PORT)',
        'log.level: "loud" is not one of silent, error, warn, info, debug (UPBEAT_LOG_LEVEL)',
      ].join('\n'),
    },
  );
  t.throws(() => fromText('', { UPBEAT_HTTP_HOST: 'a', UPBEAT_HTTP_HOST_FILE: '/x' }), {
    message: 'UPBEAT_HTTP_HOST_FILE: stands beside UPBEAT_HTTP_HOST; set only one of them',
  });
  t.throws(() => fromText('', { UPBEAT_STORAGE_INFLUX_TOKEN_FILE: '/nowhere/at/all' }), {
    message: /^UPBEAT_STORAGE_INFLUX_TOKEN_FILE: cannot be read: ENOENT/,
  });
});

t.test("it takes Kubernetes' links to Services for no settings", async (t) => {
  const links = (service: string) => ({
    [`${service}_SERVICE_HOST`]: '10.0.0.1',
    [`${service}_SERVICE_PORT`]: '80',
    [`${service}_SERVICE_PORT_HTTP`]: '80',
    [`${service}_PORT`]: 'tcp://10.0.0.1:80',
    [`${service}_PORT_80_TCP`]: 'tcp://10.0.0.1:80',
    [`${service}_PORT_80_TCP_PROTO`]: 'tcp',
    [`${service}_PORT_80_TCP_PORT`]: '80',
    [`${service}_PORT_80_TCP_ADDR`]: '10.0.0.1',
  });
  const env = { ...links('UPBEAT'), ...links('UPBEAT_REDIS'), ...links('UPBEAT_HTTP') };
  t.equal(fromText('', env).http.port, 8_080);
  t.equal(fromText('', { ...env, UPBEAT_HTTP_PORT: '81' }).http.port, 81);
  t.throws(() => fromText('', { UPBEAT_PORT: 'tcp://10.0.0.1:80' }), {
    message: /^UPBEAT_PORT: is not a setting/,
  });
  t.throws(() => fromText('', { ...env, UPBEAT_PROT: '1' }), { message: /^UPBEAT_PROT: is not a setting/ });
});

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

t.test('it ends every bad file in a ConfigError, never in another error', async () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      try {
        fromText(text);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
      }
    }),
    { numRuns: propertyRuns(100) },
  );
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

t.test('it takes empty sections, wherever they stand, for their defaults', async (t) => {
  t.same(fromText('http:\nstorage:\n  redis:\n  influx:\nlog: {}\n'), fromText(''));
});

t.test('it warns of what is allowed and probably not wanted', async (t) => {
  t.same(findWarnings(fromText('')), []);
  // 10 s + 2 s + 10 s + 4 s + 10 s: the 36 s of the longest check.
  t.same(findWarnings(fromText('checks: { interval: 36s }')), []);
  t.same(
    findWarnings(
      fromText(`
        http: { trustedProxies: [10.0.0.0/8, 0.0.0.0/0] }
        checks: { interval: 35s, slowOver: 10s, ownersMayProbePrivate: true }
        alerts: { smtp: { host: mail.example.org, port: 465, from: upbeat@example.org } }
        storage: { rawRetention: 20d, rollupRetention: 30d, influx: { url: "http://127.0.0.1:8086" } }`),
    ).map(({ path, message }) => `${path}: ${message}`),
    [
      'http.trustedProxies: 0.0.0.0/0 trusts every client: any client can choose the address that rate limits count',
      'checks.interval: a check that fails can last 36s with its re-checks, longer than the interval of 35s; the service is then checked less often',
      'checks.slowOver: is not shorter than checks.timeout; nothing is ever slow',
      'alerts.smtp.port: is 465, where servers begin with TLS at once; set alerts.smtp.tls to implicit, or the port to 587',
      'storage.influx.org: is not set; InfluxDB 2 takes no samples without it (InfluxDB 1.8 and VictoriaMetrics need none): run upbeat doctor',
      'storage.rollupRetention: is shorter than the 90 days whose uptime pages show; the days before are missing there',
      'checks.ownersMayProbePrivate: lets the services of owners reach private addresses; it is meant for tests only',
    ],
  );
});

t.test('it says that a file cannot be read', async (t) => {
  t.throws(() => loadConfig({ file: '/nowhere/upbeat.yaml', env: {} }), {
    message: /^\/nowhere\/upbeat\.yaml: cannot be read: ENOENT/,
  });
});

t.test('it gives every setting a variable of its own', async (t) => {
  t.equal(new Set(SETTINGS.map(({ variable }) => variable)).size, SETTINGS.length);
  t.match(
    SETTINGS.map(({ variable }) => variable),
    { 0: 'UPBEAT_HTTP_HOST', 2: 'UPBEAT_HTTP_SITEURL' },
  );
  t.ok(SETTINGS.some(({ variable }) => variable === 'UPBEAT_STORAGE_REDIS_URL'));
});

t.test('an installation may be without public services', async (t) => {
  const { file } = loadConfig({ file: null, env: { UPBEAT_CATALOGUE_FILE: 'none' } }).catalogue;
  t.equal(file, join(ROOT, 'config/no-services.yaml'));
  t.same((await loadCatalogue(file)).services, []);
});
