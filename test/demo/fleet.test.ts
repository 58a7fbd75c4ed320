import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import t, { type Test } from 'tap';
import { DEMO_TIMING } from '../../demo/demo.ts';
import { startFleet } from '../../demo/fleet.ts';
import { type Behaviour, type DemoService, failing, good, healthy } from '../../demo/script.ts';
import { TEST_CA_FILE } from '../support/certificates.ts';

const ca = readFileSync(TEST_CA_FILE);
const timing = { ...DEMO_TIMING, slowOverMs: 100, timeoutMs: 300 };

interface Seen {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly ms: number;
}

/** One request on a connection of its own; rejects where no HTTP answer arrives within 2 s. */
function ask(url: string, method = 'GET', path = ''): Promise<Seen> {
  const startedAt = performance.now();
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(new URL(path, url), { method, ca, agent: false, timeout: 2_000 }, (response) => {
      const ms = performance.now() - startedAt;
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, ms }),
      );
    });
    request.on('timeout', () => request.destroy(Object.assign(new Error('no answer'), { code: 'TIMEOUT' })));
    request.on('error', reject);
    request.end();
  });
}

const refusal = (url: string) =>
  ask(url).then(
    ({ status }) => status,
    ({ code }) => code,
  );

let count = 0;
function service(behaviour: Behaviour, details: Partial<DemoService> = {}): DemoService {
  const slug = `service-${++count}`;
  return {
    slug,
    name: slug,
    domain: `${slug}.demo.test`,
    category: 'developer',
    transport: 'http',
    host: '127.0.0.1',
    certificate: 'good',
    check: {},
    story: '',
    steps: [{ at: 0, behaviour }],
    ...details,
  };
}

async function start(
  t: Test,
  services: readonly DemoService[],
  outages: { from: number; to: number }[] = [],
) {
  const fleet = await startFleet({ periodMs: 1_000_000, services, outages, vendors: [] }, timing);
  t.teardown(() => fleet.close());
  return { fleet, url: (index: number) => fleet.urls.get(services[index]?.slug ?? '') ?? '' };
}

t.test('it answers as each behaviour says', async (t) => {
  const { url, fleet } = await start(t, [
    service(good(5)),
    service(good('slow'), { transport: 'https' }),
    service(failing(503)),
    service(good(1, { headStatus: 405 })),
    service(good(1, { redirects: 2 })),
    service(good(1, { redirects: 'endless' })),
    service(healthy('degraded', 'slow'), { check: { kind: 'health' } }),
    service(good(1, { health: { status: 404, word: null } })),
    service({ kind: 'stumble', latency: 1, everyMs: 60_000 }),
    service(good(1, { status: 403, headers: { 'cf-mitigated': 'challenge' } })),
  ]);
  t.match(await ask(url(0)), { status: 200, body: /<h1>service/ });
  const slow = await ask(url(1));
  t.ok(slow.ms > 195, `${slow.ms} ms is slow`);
  t.equal((await ask(url(2))).status, 503);
  t.same([(await ask(url(3), 'HEAD')).status, (await ask(url(3))).status], [405, 200]);
  t.match(await ask(url(4)), { status: 302, headers: { location: '/hop/1' } });
  t.same(
    [(await ask(url(4), 'GET', '/hop/1')).status, (await ask(url(4), 'GET', '/hop/2')).status],
    [302, 200],
  );
  t.match(await ask(url(5), 'GET', '/hop/99'), { status: 302, headers: { location: '/hop/100' } });
  t.match(await ask(url(6)), { status: 200, body: '{"status":"degraded"}' });
  t.same([(await ask(url(7), 'GET', '/api/health')).status, (await ask(url(7))).status], [404, 200]);
  t.same(
    [(await ask(url(8))).status, (await ask(url(8))).status, (await ask(url(8))).status],
    [503, 200, 200],
  );
  t.match(await ask(url(9)), { status: 403, headers: { 'cf-mitigated': 'challenge' } });
  t.same(
    await Promise.all(fleet.controlUrls.map(async (control) => (await ask(control)).status)),
    [204, 204],
  );
  t.equal(fleet.requests, 18);
});

t.test('it fails without an HTTP answer in every way', async (t) => {
  const untrusted = (certificate: DemoService['certificate']) =>
    service({ kind: 'untrusted' }, { transport: 'https', certificate });
  const { url } = await start(t, [
    service({ kind: 'reset' }),
    service({ kind: 'garbage' }),
    service({ kind: 'hang' }),
    untrusted('expired'),
    untrusted('wrong-name'),
    untrusted('self-signed'),
    service(good(1), { transport: 'https', certificate: 'ends-soon' }),
  ]);
  t.same(await Promise.all([0, 1, 2, 3, 4, 5, 6].map((index) => refusal(url(index)))), [
    'ECONNRESET',
    'HPE_INVALID_CONSTANT',
    'TIMEOUT',
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    200,
  ]);
});

t.test(
  'it follows the script: a port that closes, a certificate that ends, a prober that is cut off',
  async (t) => {
    const { fleet, url } = await start(
      t,
      [
        service(good(1), {
          steps: [
            { at: 0, behaviour: good(1) },
            { at: 100_000, behaviour: { kind: 'refuse' } },
            { at: 200_000, behaviour: good(1) },
          ],
        }),
        service(good(1), {
          transport: 'https',
          steps: [
            { at: 0, behaviour: good(1) },
            { at: 100_000, behaviour: { kind: 'lapsed' } },
            { at: 200_000, behaviour: good(1) },
          ],
        }),
      ],
      [{ from: 300_000, to: 400_000 }],
    );
    const scene = async (elapsedMs: number, wanted: readonly unknown[]) => {
      fleet.begin(Date.now() - elapsedMs);
      const control = fleet.controlUrls[0] ?? '';
      let seen: unknown[] = [];
      for (let tries = 0; tries < 100; tries++) {
        seen = await Promise.all([refusal(url(0)), refusal(url(1)), refusal(control)]);
        if (JSON.stringify(seen) === JSON.stringify(wanted)) break;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      t.same(seen, wanted, `at ${elapsedMs / 1_000} s`);
    };
    await scene(-1_000, [200, 200, 204]);
    // The certificate of the play so far ends 1 to 2 s from now.
    await scene(99_000, ['ECONNREFUSED', 'CERT_HAS_EXPIRED', 204]);
    await scene(210_000, [200, 200, 204]);
    await scene(310_000, ['ECONNRESET', 'ECONNRESET', 'ECONNRESET']);
    await scene(410_000, [200, 200, 204]);
  },
);
