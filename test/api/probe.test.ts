/** `/probe`: one check now, by the names of blackbox_exporter. */
import fc from 'fast-check';
import t from 'tap';
import type { CheckTarget } from '../../src/domain/check-target.ts';
import type { Attempt } from '../../src/domain/result.ts';
import { from, NOW, startApi } from '../site/site-world.ts';
import { anyText } from '../support/any-text.ts';
import { goodAttempt } from '../support/attempts.ts';
import { propertyRuns } from '../support/property-runs.ts';

const TIMING = { dnsMs: 2, connectMs: 10.5, tlsMs: 21, firstByteMs: 100, totalMs: 133.5 };

async function start(t: { teardown(task: () => unknown): void }, changes: Partial<Attempt> = {}) {
  const tried: { readonly target: CheckTarget; readonly timeoutMs: number }[] = [];
  const attempt = goodAttempt({ timing: TIMING, certificateExpiresAt: NOW, ...changes });
  const world = await startApi({
    async tryCheck(target, timeoutMs) {
      tried.push({ target, timeoutMs });
      return attempt;
    },
  });
  t.teardown(world.close);
  // What is limited for one account is not for the next.
  let accountId = 0;
  const probe = (query: string, headers: Record<string, string> = {}) => {
    accountId += 1;
    return world.get(`/probe?${query}`, { ...world.makeKey({ accountId, scopes: ['write'] }), ...headers });
  };
  const samplesOf = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return { world, tried, probe, samplesOf };
}

t.test('it writes what it measures by the names of the exporter', async (t) => {
  const { probe, samplesOf } = await start(t);
  const answer = await probe('target=https://example.com/&module=http_2xx');
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  t.equal(answer.headers.get('cache-control'), 'no-store');
  t.equal(answer.headers.get('access-control-allow-origin'), null, 'it is not for pages of other sites');
  t.strictSame(samplesOf(answer.text), [
    'probe_dns_lookup_time_seconds 0.002',
    'probe_duration_seconds 0',
    'probe_failed_due_to_regex 0',
    'probe_http_duration_seconds{phase="connect"} 0.0105',
    'probe_http_duration_seconds{phase="processing"} 0.1',
    'probe_http_duration_seconds{phase="resolve"} 0.002',
    'probe_http_duration_seconds{phase="tls"} 0.021',
    'probe_http_ssl 1',
    'probe_http_status_code 200',
    `probe_ssl_earliest_cert_expiry ${NOW / 1_000}`,
    'probe_success 1',
  ]);
  t.equal(answer.text.match(/^# TYPE \w+ gauge$/gm)?.length, 8);
  const ping = await probe('target=example.com&module=icmp');
  t.match(samplesOf(ping.text), [
    'probe_dns_lookup_time_seconds 0.002',
    /^probe_duration_seconds /,
    'probe_icmp_duration_seconds{phase="resolve"} 0.002',
    'probe_icmp_duration_seconds{phase="rtt"} 0.1',
  ]);
});

t.test('a failed check has status 200 and no success, nor has the answer of a bot wall', async (t) => {
  const failure = { class: 'http', phase: 'first_byte', cause: { code: 'status', statusCode: 503 } } as const;
  const table: readonly Partial<Attempt>[] = [
    { failure: failure as unknown as Attempt['failure'], statusCode: 503 },
    { blocked: true, statusCode: 403 },
  ];
  for (const changes of table) {
    const { probe, samplesOf } = await start(t, changes);
    const answer = await probe('target=example.com');
    t.equal(answer.status, 200);
    t.match(samplesOf(answer.text).slice(-4), [
      /ssl 1/,
      `probe_http_status_code ${changes.statusCode}`,
      /expiry/,
      'probe_success 0',
    ]);
  }
});

t.test('a fault of this program says nothing about the target', async (t) => {
  const { probe } = await start(t, { suspect: 'own_fault' });
  t.match(await probe('target=example.com'), { status: 503, json: { code: 'unavailable' } });
});

t.test('modules become kinds of checks, and targets have a scheme or none', async (t) => {
  const { probe, tried } = await start(t);
  const web = { kind: 'http', accept: ['2xx'] };
  const table: readonly [query: string, domain: string, check: object][] = [
    ['target=example.com', 'example.com', { ...web, settings: { path: '/', plain: true } }],
    ['target=https://example.com/a?b=c%26d&module=', 'example.com', { ...web, settings: { path: '/a?b=c' } }],
    [
      'target=https%3A%2F%2Fu:p%2540@example.com:8443%2Fa%3Fb%3Dc%26d&module=http_2xx&debug=true',
      'example.com',
      { ...web, settings: { path: '/a?b=c&d', port: 8443, username: 'u', password: 'p@' } },
    ],
    ['target=https://token@example.com', 'example.com', { settings: { path: '/', username: 'token' } }],
    [
      'target=http://example.com:8080&module=http_post_2xx',
      'example.com',
      {
        ...web,
        settings: { path: '/', plain: true, port: 8080, method: 'POST', followRedirects: true },
      },
    ],
    ['target=example.com:5432&module=tcp_connect', 'example.com', { kind: 'tcp', settings: { port: 5432 } }],
    ['target=tcp://example.com:22&module=ssh_banner', 'example.com', { kind: 'ssh', settings: { port: 22 } }],
    ['target=example.com&module=tls_connect', 'example.com', { kind: 'tls' }],
    ['target=example.com:25&module=smtp_starttls', 'example.com', { kind: 'smtp' }],
    ['target=example.com:9090&module=grpc_plain', 'example.com', { kind: 'grpc' }],
    ['target=example.com&module=icmp', 'example.com', { kind: 'icmp' }],
    ['target=example.com&module=dns', 'example.com', { kind: 'dns' }],
    ['target=1.1.1.1:5353&module=dns', 'example.com', { kind: 'dns', settings: { port: 5353 } }],
  ];
  for (const [query, domain, check] of table) {
    const answer = await probe(query);
    t.equal(answer.status, 200, `${query}: ${answer.text}`);
    t.match(tried.at(-1)?.target, { domain, origin: 'owner', check }, query);
  }
});

t.test('it refuses what it cannot try, and says why', async (t) => {
  const { probe, tried } = await start(t);
  const table: readonly [query: string, parameter: string, detail: RegExp][] = [
    ['target=example.com&module=nope', 'module', /http_2xx, http_post_2xx, tcp_connect/],
    ['target=example.com&module=__proto__', 'module', /not known/],
    ['module=http_2xx', 'target', /missing/],
    ['target=example.com&module=tcp_connect', 'target', /not a target of tcp_connect/],
    ['target=http://[::1&module=http_2xx', 'target', /not a target/],
    ['target=ftp://example.com/&module=http_2xx', 'target', /not a target/],
    ['target=file:///etc/passwd', 'target', /not a target/],
    ['target=https://:secret@example.com', 'target', /username/],
    ['target=https://example.com&hostname=other.example', 'hostname', /not possible/],
    ['target=10.0.0.1&module=icmp', 'target', /refused/],
    ['target=nas&module=icmp', 'target', /refused/],
    [`target=http://example.com/${'x'.repeat(2_001)}`, 'target', /refused/],
  ];
  for (const [query, parameter, detail] of table) {
    const { status, json } = await probe(query);
    t.match({ status, json }, { status: 400, json: { parameter, detail } }, query.slice(0, 60));
  }
  t.equal(tried.length, 0);
});

t.test('no target is more than it can try or refuse', async (t) => {
  const { probe } = await start(t);
  const target = fc.oneof(
    anyText({ maxLength: 40 }),
    fc.webUrl(),
    fc
      .tuple(
        fc.constantFrom('', 'http://', 'tcp://', '['),
        fc.domain(),
        fc.constantFrom('', ':1', ':99999', ']:1'),
      )
      .map((parts) => parts.join('')),
  );
  const module = fc.constantFrom(
    'http_2xx',
    'http_post_2xx',
    'tcp_connect',
    'icmp',
    'dns',
    'grpc',
    'tls_connect',
  );
  await fc.assert(
    fc.asyncProperty(target, module, async (text, name) => {
      const { status } = await probe(`target=${encodeURIComponent(text)}&module=${name}`);
      return status === 200 || status === 400;
    }),
    { numRuns: propertyRuns(100) },
  );
});

t.test('a check ends before the scrape does', async (t) => {
  const { probe, tried } = await start(t);
  const table: readonly [header: string, timeoutMs: number][] = [
    ['3', 2_500],
    ['0.2', 100],
    ['120', 8_000],
    ['x', 8_000],
    ['-1', 8_000],
  ];
  for (const [header, timeoutMs] of table) {
    await probe('target=example.com', { 'x-prometheus-scrape-timeout-seconds': header });
    t.equal(tried.at(-1)?.timeoutMs, timeoutMs, header);
  }
});

t.test('it needs a key to write, also as a password, and has the limit of trials', async (t) => {
  const { world } = await start(t);
  const read = (headers: Record<string, string>) => world.get('/probe?target=example.com', headers);
  t.match(await read(from('10.0.0.1')), { status: 401, json: { code: 'invalid_key' } });
  t.match(await read(world.makeKey({ scopes: ['read', 'heartbeat'] })), { status: 403 });
  const key = world.makeKey({ accountId: 9, scopes: ['write'] });
  const text = key.authorization?.replace('Bearer ', '');
  const basic = (password = '') => `Basic ${Buffer.from(`prometheus:${password}`).toString('base64')}`;
  t.match(await read({ authorization: basic(text) }), { status: 200 });
  t.match(await read({ authorization: basic('secret') }), { status: 401 });
  const listing = await world.get('/api/v1/webhooks', { authorization: basic(text) });
  t.equal(listing.status, 401, 'no other route takes a password');
  for (let count = 1; count < 10; count++) await read(key);
  const refused = await read(key);
  t.match(refused, { status: 429, json: { code: 'rate_limited' } });
  t.match(refused.headers.get('retry-after'), /^\d+$/);
});
