import t from 'tap';
import { checkOf, isEnabled, ownLabels, servicesOf } from '../../../src/cli/discover/found-service.ts';

const VARIABLE = '$'.concat('{UPBEAT_SECRETS_KEY}');
const WEB = {
  origin: 'docker://web',
  name: 'web',
  domain: 'docker.internal',
  check: { kind: 'docker', settings: { container: 'web' } },
};

function read(labels: Readonly<Record<string, unknown>>) {
  const notes: string[] = [];
  const services = servicesOf(WEB, ownLabels(labels), (text) => notes.push(text));
  return { services, notes };
}

t.test('without labels it is what its place suggests', async (t) => {
  t.same(read({ maintainer: 'somebody' }), {
    services: [
      { slug: 'web', domain: 'docker.internal', name: 'web', note: 'docker://web', check: WEB.check },
    ],
    notes: [],
  });
});

t.test('labels are members of a service', async (t) => {
  const { services, notes } = read({
    'upbeat.name': ' The shop ',
    'upbeat.note': 'Ask Ada.',
    'upbeat.category': 'ecommerce',
    'upbeat.paused': 'true',
    'upbeat.dependsOn': 'router, nas',
    'upbeat.url': 'http://grafana:3000/api/health?full=1',
    'upbeat.check.interval': '1m',
    'upbeat.check.accept': '2xx, 401',
    'upbeat.check.settings.method': 'POST',
    'upbeat.check.settings.headers': '["X-One: 1"]',
  });
  t.same(notes, []);
  t.same(services, [
    {
      slug: 'web',
      domain: 'grafana',
      name: 'The shop',
      category: 'ecommerce',
      paused: true,
      dependsOn: ['router', 'nas'],
      note: 'Ask Ada.\ndocker://web',
      check: {
        kind: 'http',
        interval: '1m',
        accept: ['2xx', 401],
        settings: {
          plain: true,
          port: 3000,
          path: '/api/health?full=1',
          method: 'POST',
          headers: ['X-One: 1'],
        },
      },
    },
  ]);
});

t.test('labels of several services each make one', async (t) => {
  const { services } = read({
    'upbeat.category': 'cloud',
    'upbeat.services.site.url': 'https://example.org/login',
    'upbeat.services.db.check.kind': 'postgres',
    'upbeat.services.db.domain': 'db.internal',
  });
  t.same(services, [
    {
      slug: 'web-site',
      domain: 'example.org',
      name: 'web site',
      category: 'cloud',
      note: 'docker://web#site',
      check: { kind: 'http', settings: { path: '/login' } },
    },
    {
      slug: 'web-db',
      domain: 'db.internal',
      name: 'web db',
      category: 'cloud',
      note: 'docker://web#db',
      check: { kind: 'postgres' },
    },
  ]);
});

t.test('labels that are not understood are noted and left out', async (t) => {
  const { services, notes } = read({
    'upbeat.colour': 'red',
    'upbeat.url': 'ftp://x',
    'upbeat.check.what': '1',
  });
  t.same(services[0]?.check, WEB.check);
  t.same(notes, [
    'docker://web: the label upbeat.colour is not known',
    'docker://web: the label upbeat.check.what is not known',
    'docker://web: the label upbeat.url is no http or https URL',
  ]);
});

t.test('a label names no variable of the environment, and no member that is none', async (t) => {
  const { services } = read({
    'upbeat.name': `x ${VARIABLE}`,
    'upbeat.url': `http://evil.example/${VARIABLE}`,
    'upbeat.__proto__': 'x',
    'upbeat.check.settings.__proto__': 'x',
  });
  t.equal(services[0]?.name, `x $${VARIABLE}`);
  t.notMatch(JSON.stringify(services), /[^$]\$\{UPBEAT/);
});

t.test('it says whether a thing is to be watched', async (t) => {
  const of = (labels: object) => isEnabled(ownLabels(labels));
  t.equal(of({}), null);
  t.equal(of({ other: 'x' }), null);
  t.equal(of({ 'upbeat.name': 'x' }), true);
  t.equal(of({ 'upbeat.enable': 'true' }), true);
  for (const word of ['false', 'No', 'off', '0'])
    t.equal(of({ 'upbeat.enable': word, 'upbeat.name': 'x' }), false);
});

t.test('it reads addresses', async (t) => {
  t.same(checkOf('https://[fd00::5]:8443/'), {
    domain: 'fd00::5',
    check: { kind: 'http', settings: { port: 8443 } },
  });
  t.equal(checkOf('unix:///run/x.sock'), null);
});
