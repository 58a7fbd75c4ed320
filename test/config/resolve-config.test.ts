/** What follows from settings, and what is allowed and probably not wanted. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadCatalogue } from '../../src/catalogue/watch-catalogue.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import {
  describeUnusualPort,
  findSmtpProblems,
  findWarnings,
  type SmtpSettings,
  smtpPort,
} from '../../src/config/resolve-config.ts';

const ROOT = join(import.meta.dirname, '../..');

const fromText = (text: string, env: Record<string, string> = {}) =>
  loadConfig({
    file: 'test.yaml',
    env,
    readFile: (path) => (path === 'test.yaml' ? text : readFileSync(path, 'utf8')),
  });

t.test('the URL of the site follows the port where nothing else is set', async (t) => {
  const urlOf = (text: string, env = {}) => fromText(text, env).http.siteUrl;
  t.equal(urlOf('http: { port: 9000 }'), 'http://localhost:9000');
  t.equal(urlOf('http: { port: 9000, siteUrl: null }', { UPBEAT_HTTP_PORT: '80' }), 'http://localhost');
  t.equal(urlOf('http: { port: 0 }'), 'http://localhost:8080');
  t.equal(urlOf('http: { port: 9000, siteUrl: "https://a.example/up/" }'), 'https://a.example/up');
});

t.test('it takes empty sections, wherever they stand, for their defaults', async (t) => {
  t.same(fromText('http:\nstorage:\n  redis:\n  influx:\nlog: {}\n'), fromText(''));
});

t.test('it warns of what is allowed and probably not wanted', async (t) => {
  t.same(findWarnings(fromText('')), []);
  // 10 s + 2 s + 10 s + 4 s + 10 s: the 36 s of the longest check.
  t.same(findWarnings(fromText('checks: { interval: 36s }')), []);
  const behindProxy = (more: string) =>
    findWarnings(fromText(`http: { siteUrl: "https://a.example"${more} }`));
  t.match(behindProxy(''), [{ path: 'http.trustedProxies', message: /^is empty, but a proxy/ }]);
  t.same(behindProxy(', trustedProxies: [127.0.0.1]'), []);
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

t.test('an installation may be without public services', async (t) => {
  const { file } = loadConfig({ file: null, env: { UPBEAT_CATALOGUE_FILE: 'none' } }).catalogue;
  t.equal(file, join(ROOT, 'config/no-services.yaml'));
  t.same((await loadCatalogue(file)).services, []);
});

const NONE: SmtpSettings = {
  host: null,
  port: null,
  user: null,
  password: null,
  from: null,
  tls: 'starttls',
};
const MAIL: SmtpSettings = { ...NONE, host: 'mail.example', from: 'up@example.org' };
const problemsOf = (smtp: SmtpSettings) => findSmtpProblems(smtp).map(({ parts }) => parts.join('.'));

t.test('it names each setting that lacks another, or is for nothing', async (t) => {
  t.same(problemsOf(NONE), []);
  t.same(problemsOf({ ...NONE, user: 'ada', port: 25 }), ['alerts.smtp.user', 'alerts.smtp.port']);
  t.same(problemsOf(MAIL), []);
  t.same(problemsOf({ ...MAIL, from: null, user: 'ada' }), ['alerts.smtp.from', 'alerts.smtp.password']);
  t.same(problemsOf({ ...MAIL, password: 'x' }), ['alerts.smtp.user']);
});

t.test('a password crosses no network in clear text', async (t) => {
  const plain = { ...MAIL, user: 'ada', password: 'x', tls: 'none' } as const;
  t.same(problemsOf(plain), ['alerts.smtp.tls']);
  for (const host of ['localhost', '127.0.0.1', '::1', 'LOCALHOST'])
    t.same(problemsOf({ ...plain, host }), [], host);
  for (const host of ['localhost.example', '1127.0.0.1'])
    t.same(problemsOf({ ...plain, host }), ['alerts.smtp.tls']);
  t.same(problemsOf({ ...plain, user: null, password: null }), []);
});

t.test('it takes the usual port, and names one where servers begin otherwise', async (t) => {
  t.same(
    (['starttls', 'implicit', 'none'] as const).map((tls) => smtpPort({ ...MAIL, tls })),
    [587, 465, 25],
  );
  t.equal(smtpPort({ ...MAIL, port: 2525, tls: 'none' }), 2525);
  t.match(describeUnusualPort({ ...MAIL, port: 465 }), /^is 465, .* implicit, or the port to 587$/);
  t.match(
    describeUnusualPort({ ...MAIL, port: 25, tls: 'implicit' }),
    /^is 25, .* starttls, or the port to 465$/,
  );
  for (const smtp of [MAIL, { ...MAIL, port: 2525 }, { ...NONE, port: 465 }])
    t.equal(describeUnusualPort(smtp), null);
});
