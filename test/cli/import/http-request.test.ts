/** Requests of other programs as `http` checks. */
import t from 'tap';
import { ANY_STATUS, acceptCodes, readStatusList } from '../../../src/cli/import/http-request.ts';
import { readImport } from '../../../src/cli/import/read-import.ts';
import { describeLost } from '../../../src/cli/import-services.ts';
import { STATUS_CLASSES } from '../../../src/domain/service.ts';

/** What becomes of a monitor of Uptime Kuma at https://a.example/. */
function readMonitor(row: object) {
  const monitor = { name: 'A', url: 'https://a.example/', method: 'GET', ...row };
  return readImport(JSON.stringify({ monitorList: [monitor] }), 'kuma.json');
}

t.test('requests and expectations of Uptime Kuma become those of an http check', async (t) => {
  const rows: readonly (readonly [object, settings: object, secrets?: object])[] = [
    [{ type: 'keyword', keyword: 'ok' }, { assertions: ['body contains ok'] }],
    [
      { type: 'json-query', jsonPath: '$.status', expectedValue: 'ok' },
      { assertions: ['json $.status is ok'] },
    ],
    [
      { type: 'json-query', jsonPath: 'a[0].b', jsonPathOperator: '>', expectedValue: '3' },
      { assertions: ['json $.a[0].b above 3'] },
    ],
    [
      { type: 'json-query', jsonPath: 'n', jsonPathOperator: '>=', expectedValue: '3' },
      { assertions: ['json $.n above 2.999999'] },
    ],
    [
      { type: 'json-query', jsonPath: 'n', jsonPathOperator: '<=', expectedValue: '0.5' },
      { assertions: ['json $.n below 0.500001'] },
    ],
    [
      { type: 'http', headers: '{"Accept":"text/plain","Cookie":"a=1"}' },
      { headers: ['Accept: text/plain'] },
      { secretHeaders: ['Cookie: a=1'] },
    ],
    [
      { type: 'http', url: 'http://ada:p%40ss@a.example:81/x?y=1#z' },
      { path: '/x?y=1', plain: true, port: 81 },
      { username: 'ada', password: 'p@ss' },
    ],
    [
      { type: 'http', method: 'put', body: '{"a":"b c"}', httpBodyEncoding: 'form', maxredirects: 0 },
      { method: 'PUT', headers: ['Content-Type: application/x-www-form-urlencoded'] },
      { body: 'a=b+c' },
    ],
  ];
  for (const [row, settings, secrets = null] of rows) {
    const { services, skipped, notCarried } = readMonitor(row);
    const title = JSON.stringify(row);
    t.match(services, [{ kind: 'http', domain: 'a.example', url: null }], title);
    t.same(services[0]?.settings, settings, title);
    t.same(services[0]?.secrets, secrets, title);
    t.same([skipped, notCarried], [[], []], title);
  }
  const redirects: readonly (readonly [object, kind: string, settings: object | null])[] = [
    [{ type: 'http', maxredirects: 0 }, 'root', { followRedirects: false }],
    [{ type: 'http', maxredirects: '0' }, 'root', { followRedirects: false }],
    [{ type: 'keyword', keyword: 'a', maxredirects: 0 }, 'http', { followRedirects: false }],
    [{ type: 'http', method: 'POST' }, 'http', { followRedirects: true }],
  ];
  for (const [row, kind, settings] of redirects) {
    const { services, notCarried } = readMonitor(row);
    t.match(
      { services, notCarried },
      { services: [{ kind, settings }], notCarried: [] },
      JSON.stringify(row),
    );
  }
  const kept = readMonitor({ type: 'http' });
  t.match(
    kept.services,
    [{ kind: 'root', method: 'GET', settings: null }],
    'a plain request stays a plain check',
  );
});

t.test('it says of a request what it cannot carry over, and takes the rest', async (t) => {
  const rows: readonly (readonly [object, lost: string])[] = [
    [
      { type: 'json-query', jsonPath: '$count(items)', expectedValue: '3' },
      'jsonPath of A: "json $count(items) is 3" is no expectation that a check can have',
    ],
    [
      { type: 'json-query', jsonPath: 'n', jsonPathOperator: '>=', expectedValue: 'x' },
      'jsonPath of A: "json $.n >= x" is no expectation that a check can have',
    ],
    [
      { type: 'port', hostname: 'a.example', port: 993, smtpSecurity: 'secure', expiryNotification: true },
      'smtpSecurity of A: add a service of the kind "tls" for the certificate',
    ],
    [
      { type: 'port', hostname: 'a.example', port: 993, expectedTlsAlert: 'certificate_required' },
      'expectedTlsAlert of A: a port that refuses TLS counts as up',
    ],
    [
      { type: 'http', method: 'GET', body: '{}' },
      'body of A: the setting body must be one of POST, PUT, PATCH',
    ],
    [
      { type: 'http', method: 'TRACE', maxredirects: 0 },
      'method of A: the setting method must be one of GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE',
    ],
    [{ type: 'http', maxredirects: 20 }, 'maxredirects of A: up to 5 redirects are followed'],
    [{ type: 'http', headers: 'no json' }, 'headers of A: they are no object in JSON'],
    [{ type: 'http', headers: '{"Host":"b","X-A":"1"}' }, 'headers of A: a check cannot send "Host"'],
    [
      { type: 'http', authMethod: 'ntlm', basic_auth_user: 'ada' },
      'authMethod of A: checks sign in by basic authentication, a token, a certificate or headers alone',
    ],
    [
      { type: 'http', basic_auth_user: 'a:b', basic_auth_pass: 'hunter2' },
      'basic authentication of A: the setting username must be a name without a colon',
    ],
  ];
  for (const [row, expected] of rows) {
    const { services, notCarried } = readMonitor(row);
    const lines = describeLost(notCarried);
    t.ok(lines.includes(`not carried over: ${expected}`), `${expected}\n${lines.join('\n')}`);
    t.equal(services.length, 1, expected);
    t.notMatch(lines.join(), /hunter2/);
  }
});

t.test('it reads codes, classes and ranges, and names what is none', async (t) => {
  const read = (...values: unknown[]) => readStatusList(values, 'codes');
  t.same(read('200-299', '3XX', 404, ' 418 '), {
    accept: ['2xx', '3xx', 404, 418],
    expectations: [],
    lost: [],
  });
  t.match(read('299-200', 'ok', '0xx', '99', '2xx'), {
    accept: ['2xx'],
    lost: [{ field: 'codes', reason: /299-200/ }, { reason: /ok/ }, { reason: /0xx/ }, { reason: /99/ }],
  });
  t.match(read('ok'), { accept: null, lost: [{}] });
});

t.test('codes that need too many rules are a class without those that it lacks', async (t) => {
  const odd = new Set([...ANY_STATUS].filter((code) => code < 300 && code >= 200 && code % 2 === 1));
  t.equal(acceptCodes(odd, 'codes').accept?.length, 50);
  const most = new Set([...odd, 302]);
  const { accept, expectations, lost } = acceptCodes(most, 'codes');
  t.same(accept, ['2xx', '3xx']);
  t.equal(expectations.length, 50 + 99);
  t.same(expectations[0], { field: 'codes', line: 'status is not 200' });
  t.same(lost, []);
});

t.test('without a good code, every response is taken, and the field is lost', async (t) => {
  t.same(acceptCodes(new Set(), 'codes'), {
    accept: STATUS_CLASSES,
    expectations: [],
    lost: [{ field: 'codes', reason: 'no status code meets it' }],
  });
});
