import t from 'tap';
import { readImport } from '../../src/cli/import-formats.ts';

const PLAIN = { category: 'developer', kind: 'root', url: null, method: null, accept: null };

t.test('it reads CSV with any order of columns', async (t) => {
  const text =
    '\uFEFFName,Domain,kind,category\n"Shop, the big one",shop.example,health,ecommerce\n,bücher.de,,\nBad,localhost,,\n';
  t.same(readImport(text, 'list.csv'), {
    format: 'csv',
    services: [
      { ...PLAIN, domain: 'shop.example', name: 'Shop, the big one', kind: 'health', category: 'ecommerce' },
      { ...PLAIN, domain: 'xn--bcher-kva.de', name: 'xn--bcher-kva.de' },
    ],
    skipped: [{ entry: 'Bad', reason: 'domain "localhost" needs at least two labels, such as example.com' }],
  });
});

t.test('it reads our own YAML and JSON, with the check of a catalogue entry', async (t) => {
  const expected = {
    format: 'upbeat',
    services: [
      {
        ...PLAIN,
        domain: 'a.example',
        name: 'A',
        url: 'https://a.example/x',
        method: 'GET',
        accept: ['2xx', 401],
      },
      { ...PLAIN, domain: 'b.example', name: 'b.example', kind: 'heartbeat', category: 'ai' },
    ],
    skipped: [],
  };
  const services = [
    {
      domain: 'a.example',
      name: 'A',
      check: { url: 'https://a.example/x', method: 'GET', accept: ['2xx', 401] },
    },
    { domain: 'b.example', kind: 'heartbeat', category: 'ai' },
  ];
  t.same(readImport(JSON.stringify({ services }), 'x.json'), expected);
  t.same(readImport(JSON.stringify(services), 'x.json'), expected);
});

t.test("it reads Uptime Kuma's backup", async (t) => {
  const monitorList = [
    {
      name: 'Site',
      type: 'http',
      url: 'https://site.example/',
      method: 'GET',
      accepted_statuscodes: ['200-299'],
    },
    {
      name: 'Deep',
      type: 'keyword',
      url: 'https://site.example:8443/a?b',
      accepted_statuscodes: ['200', '204-205'],
    },
    { name: 'push.example', type: 'push' },
    { name: 'My box', type: 'push' },
    { name: 'Ping', type: 'ping', hostname: '10.0.0.1' },
  ];
  t.same(readImport(JSON.stringify({ version: '1.23', monitorList }), 'kuma.json'), {
    format: 'uptime-kuma',
    services: [
      { ...PLAIN, domain: 'site.example', name: 'Site', method: 'GET', accept: ['2xx'] },
      {
        ...PLAIN,
        domain: 'site.example',
        name: 'Deep',
        url: 'https://site.example:8443/a?b',
        accept: [200, 204, 205],
      },
      { ...PLAIN, domain: 'push.example', name: 'push.example', kind: 'heartbeat' },
    ],
    skipped: [
      {
        entry: 'My box',
        reason: 'domain "My box" must be a host name alone, without scheme, port or path',
      },
      { entry: 'Ping', reason: 'monitor type "ping" has no equal here' },
    ],
  });
});

t.test("it reads Gatus' configuration", async (t) => {
  const text = `
endpoints:
  - name: front
    group: ecommerce
    url: https://front.example/
    conditions: ["[STATUS] == 200", "[RESPONSE_TIME] < 300"]
  - name: api
    url: https://api.example/v1
    method: GET
    conditions: ["[STATUS] == any(200, 429)"]
  - name: dns
    url: 8.8.8.8
`;
  t.same(readImport(text, 'gatus.yaml'), {
    format: 'gatus',
    services: [
      { ...PLAIN, domain: 'front.example', name: 'front', category: 'ecommerce', accept: [200] },
      {
        ...PLAIN,
        domain: 'api.example',
        name: 'api',
        url: 'https://api.example/v1',
        method: 'GET',
        accept: [200, 429],
      },
    ],
    skipped: [{ entry: 'dns', reason: 'it has no address that can be read' }],
  });
});

t.test('it says what is wrong with a file that holds no list', async (t) => {
  t.throws(() => readImport('a: [', 'x.yaml'), {
    code: 'bad_import',
    message: /^x\.yaml is neither JSON nor YAML/,
  });
  t.throws(() => readImport('{"a":1}', 'x.json'), { code: 'bad_import', message: /holds no list/ });
  t.throws(() => readImport('a,b\n1,2\n', 'x.csv'), { code: 'bad_import', message: /column "domain"/ });
});
