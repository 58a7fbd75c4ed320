/** The settings: which there are, their defaults, and the file that explains them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import t from 'tap';
import { parse } from 'yaml';
import { SETTING_PATHS, SETTINGS } from '../../src/config/environment.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { CONFIG_SCHEMA } from '../../src/config/schema.ts';

const ROOT = join(import.meta.dirname, '../..');

const SHIPPED = join(ROOT, 'config/upbeat.yaml');

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
