/** Badges at the addresses and with the parameters of Uptime Kuma. */
import fc from 'fast-check';
import t from 'tap';
import { drawBadge } from '../../src/render/badge.ts';
import { check, current, from, NOW, service, startApi } from '../site/site-world.ts';
import { anyText } from '../support/any-text.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { openSampleStore } from '../support/sample-store.ts';
import { samplesOf } from './badge-world.ts';

const DAY_MS = 86_400_000;
const CACHED = 'public, s-maxage=300, stale-while-revalidate=60';
const shop = service(1, 'shop', { name: 'Shop' });
const hidden = service(2, 'hidden', { visibility: 'private', accountId: 1, origin: 'owner' });

async function start(t: { teardown(task: () => unknown): void }, more: object = {}) {
  const samples = openSampleStore({ now: () => NOW });
  const world = await startApi({
    services: [shop, hidden],
    samples,
    renderBadge: async (picture) => drawBadge(picture),
    ...more,
  });
  t.teardown(world.close);
  t.teardown(() => samples.close());
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await world.get(`/api/badge/${path}`, headers);
    const [, title] = /<title>([^<]*)<\/title>/.exec(answer.text) ?? [];
    const fills = [...answer.text.matchAll(/<rect[^>]*fill="([^"]+)"/g)].map(([, fill]) => fill);
    return { answer, shown: [title, ...new Set(fills)] };
  };
  return { world, samples, read };
}

t.test('it answers with the words and colours of Uptime Kuma, or those of the address', async (t) => {
  const { world, samples, read } = await start(t);
  const certificateExpiresAt = NOW + 30.5 * DAY_MS;
  await world.status.put([current(1, check(NOW, { responseTimeMs: 42, certificateExpiresAt }))]);
  await samples.append(samplesOf({ upCount: 9, downCount: 1, p50Ms: 100, p95Ms: 200 }, NOW));
  const grey = '#555555';
  const table: readonly [path: string, ...shown: (string | undefined)[]][] = [
    ['shop/status', 'Status: Up', grey, '#66c20a'],
    ['shop-example/status?style=flat-square', 'Status: Up', grey, '#66c20a'],
    ['shop/status?label=Web&upLabel=Fine&upColor=0f0', 'Web: Fine', grey, '#00ff00'],
    ['shop/status?upColor=red&label=', 'Up', '#e05d44'],
    ['shop/status?upColor=%3Cscript%3E&value=0&x=1', 'Status: Up', grey, '#66c20a'],
    ['shop/uptime', 'Uptime (24h): 90.00%', grey, '#7fc20a'],
    ['shop/uptime/720', 'Uptime (720h): 90.00%', grey, '#7fc20a'],
    ['shop/uptime/30d?color=blue&labelColor=abcdef', 'Uptime (30d): 90.00%', '#abcdef', '#007ec6'],
    [
      'shop/uptime/24?labelPrefix=The+&labelSuffix=+hours&prefix=%7E&suffix=+%25',
      'The Uptime (24 hours): ~90.00 %',
      ...[grey, '#7fc20a'],
    ],
    ['shop/uptime/720?label=30&labelSuffix=d', '30: 90.00%', grey, '#7fc20a'],
    ['shop/uptime/12M', 'Uptime (12M): 90.00%', grey, '#7fc20a'],
    ['shop/ping', 'Avg. Ping (24h): 140ms', grey, '#007ec6'],
    ['shop/ping/1y', 'Avg. Ping (1y): 140ms', grey, '#007ec6'],
    ['shop/avg-response/24?labelSuffix=!', 'Avg. Response (24h)!: 140ms', grey, '#007ec6'],
    ['shop/response?suffix=+ms&labelPrefix=Web+', 'Web Response: 42 ms', grey, '#007ec6'],
    ['shop/cert-exp', 'Cert Exp.: 30 days', grey, '#66c20a'],
    ['shop/cert-exp?warnDays=40', 'Cert Exp.: 30 days', grey, '#eed202'],
    ['shop/cert-exp?warnDays=40&downDays=30&downColor=%23ABC', 'Cert Exp.: 30 days', grey, '#aabbcc'],
    ['shop/cert-exp?date=1', 'Cert Exp.: 2026-12-20', grey, '#66c20a'],
  ];
  for (const [path, ...shown] of table) {
    const { answer, ...got } = await read(path);
    t.strictSame(got.shown, shown, path);
    t.strictSame(
      ['content-type', 'cache-control', 'access-control-allow-origin'].map((name) =>
        answer.headers.get(name),
      ),
      ['image/svg+xml', CACHED, '*'],
    );
  }
  await world.status.put([current(1, check(NOW + 1, { status: 'slow', certificateExpiresAt: NOW - 1 }))]);
  t.strictSame((await read('shop/status')).shown, ['Status: Up', grey, '#66c20a'], 'what is slow is up');
  t.strictSame((await read('shop/cert-exp')).shown, ['Bad Cert', '#c2290a']);
  await world.status.put([current(1, check(NOW + 2, { status: 'down', responseTimeMs: null }))]);
  t.strictSame((await read('shop/status?downLabel=Away')).shown, ['Status: Away', grey, '#c2290a']);
  t.strictSame((await read('shop/response')).shown, ['N/A', '#999999']);
  const beat = check(NOW + 3, { source: 'heartbeat', responseTimeMs: 0 });
  await world.status.put([current(1, beat)]);
  t.strictSame((await read('shop/response')).shown, ['N/A', '#999999'], 'it reports no response time');
  await world.status.put([current(1, check(NOW + 4, { responseTimeMs: 0 }))]);
  t.equal((await read('shop/response')).shown[0], 'Response: 0ms');
  t.strictSame((await read('shop/cert-exp')).shown, ['No/Bad Cert', '#999999']);
});

t.test(
  'its share of good checks is that of our own badges, also where a fraction has no exact number',
  async (t) => {
    const { world, samples, read } = await start(t);
    await world.status.put([current(1, check(NOW))]);
    await samples.append(samplesOf({ upCount: 70, slowCount: 1, downCount: 54 }, NOW));
    t.equal((await read('shop/uptime')).shown[0], 'Uptime (24h): 56.80%');
    t.match((await read('shop.json?variant=uptime')).answer.json, { message: /^56\.8% up/ });
  },
);

t.test('it tells no private service from one that there is not', async (t) => {
  const { world, read } = await start(t);
  await world.status.put([current(2, check(NOW))]);
  for (const kind of ['status', 'uptime', 'ping/24', 'avg-response', 'response', 'cert-exp']) {
    const unknown = await read(`nobody/${kind}`);
    const known = await read(`hidden/${kind}`);
    t.strictSame(known.shown, ['N/A', '#999999'], kind);
    t.equal(known.answer.text, unknown.answer.text);
    const headersOf = ({ answer }: typeof known) =>
      [...answer.headers].filter(([name]) => !/^(?:date|x-ratelimit|x-request-id)/.test(name));
    t.strictSame(headersOf(known), headersOf(unknown));
  }
  const member = await read('hidden/status', world.makeKey({ scopes: ['read'] }));
  t.strictSame(member.shown, ['Status: Up', '#555555', '#66c20a']);
  t.equal(member.answer.headers.get('cache-control'), 'private, no-store');
});

t.test('it turns grey with the age of what is stale, and says N/A where nothing is known', async (t) => {
  const { world, read } = await start(t);
  t.strictSame((await read('shop/status')).shown, ['N/A', '#999999']);
  t.strictSame((await read('shop/uptime')).shown, ['N/A', '#999999']);
  await world.status.put([current(1, check(NOW))]);
  await world.clock.skip(12 * 60_000);
  t.strictSame((await read('shop/status')).shown, ['Status: Up · as of 12 min ago', '#555555', '#999999']);
});

t.test('it refuses durations, styles, texts and kinds that it does not know', async (t) => {
  const { read } = await start(t);
  const table: readonly [path: string, status: number, match: object][] = [
    ['shop/uptime/0', 400, { parameter: 'duration' }],
    ['shop/uptime/2y', 400, { parameter: 'duration' }],
    ['shop/uptime/8761', 400, { parameter: 'duration' }],
    ['shop/uptime/13M', 400, { parameter: 'duration' }],
    ['shop/uptime/all', 400, { parameter: 'duration' }],
    ['shop/status?style=x', 400, { parameter: 'style' }],
    ['shop/status?label=a&label=b', 400, { parameter: 'label' }],
    [`shop/status?label=${'x'.repeat(101)}`, 400, { parameter: 'label' }],
    ['shop/nothing', 404, { code: 'route_not_found' }],
    ['shop/status/24', 404, { code: 'route_not_found' }],
  ];
  let client = 0;
  for (const [path, status, json] of table) {
    const { answer } = await read(path, from(`10.0.0.${++client}`));
    t.match(answer, { status, json }, path);
  }
});

t.test('the tag of one duration does not read another one without a charge', async (t) => {
  const samples = openSampleStore({ now: () => NOW });
  t.teardown(() => samples.close());
  const lengths: number[] = [];
  const query: typeof samples.query = async (asked) => {
    lengths.push(asked.to - asked.from);
    return await samples.query(asked);
  };
  const { world, read } = await start(t, { samples: { ...samples, query }, anonymousPerMinute: 1 });
  await world.status.put([current(1, check(NOW))]);
  const known = { 'if-none-match': (await read('shop/uptime/1d')).answer.headers.get('etag') ?? '' };
  t.equal((await read('shop/uptime/1d', known)).answer.status, 304);
  for (const duration of ['2d', '3d'])
    t.equal((await read(`shop/uptime/${duration}`, known)).answer.status, 429, duration);
  t.strictSame(lengths, [DAY_MS]);
});

t.test('no text of an address is more than it draws or refuses', async (t) => {
  const { world, read } = await start(t, { anonymousPerMinute: 1_000_000 });
  await world.status.put([current(1, check(NOW, { certificateExpiresAt: NOW + DAY_MS }))]);
  const names = [
    'label',
    'labelPrefix',
    'prefix',
    'suffix',
    'upLabel',
    'upColor',
    'labelColor',
    'color',
    'warnDays',
  ];
  const kind = fc.constantFrom('status', 'uptime', 'ping/30d', 'response', 'cert-exp');
  const query = fc.dictionary(fc.constantFrom(...names), anyText({ maxLength: 110 }), { maxKeys: 5 });
  await fc.assert(
    fc.asyncProperty(kind, query, async (path, texts) => {
      const { answer } = await read(`shop/${path}?${new URLSearchParams(texts)}`);
      return answer.status === 200 || answer.status === 400;
    }),
    { numRuns: propertyRuns(50) },
  );
});

t.test('while past checks cannot be read, it says N/A', async (t) => {
  const { world, read } = await start(t);
  await world.status.put([current(1, check(NOW))]);
  world.faults.samples = Object.assign(new Error('the store is away'), { code: 'samples_away' });
  t.strictSame((await read('shop/uptime')).shown, ['N/A', '#999999']);
});
