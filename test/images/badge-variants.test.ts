/** Badges in every variant, format, theme and state (decisions, Badge). */
import { Ajv } from 'ajv';
import fc from 'fast-check';
import t from 'tap';
import { SERVICE_STATUSES } from '../../src/domain/status.ts';
import { describeUptime, shieldsAnswer } from '../../src/images/badge-text.ts';
import { BADGE_COLOURS } from '../../src/render/colours.ts';
import { DEFAULT_BADGE, readBadgeRequest } from '../../src/view/badge-url.ts';
import { decodePng } from '../render/decode-png.ts';
import { pngChunks } from '../render/png-chunks.ts';
import { check, current, NOW, service } from '../site/site-world.ts';
import { anyText } from '../support/any-text.ts';
import { startBadges } from './badge-world.ts';

const MINUTE_MS = 60_000;
const github = service(1, 'github', { name: 'GitHub', domain: 'github.com' });

/** The rules of <https://shields.io/badges/endpoint-badge>, which refuses any other member. */
const isShields = new Ajv().compile({
  type: 'object',
  required: ['schemaVersion', 'label', 'message'],
  additionalProperties: false,
  properties: {
    schemaVersion: { const: 1 },
    label: { type: 'string' },
    message: { type: 'string', minLength: 1 },
    color: {
      anyOf: [
        { enum: ['brightgreen', 'green', 'yellowgreen', 'yellow', 'orange', 'red', 'blue', 'lightgrey'] },
        { type: 'string', pattern: '^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$' },
      ],
    },
    labelColor: { type: 'string' },
    isError: { type: 'boolean' },
    namedLogo: { type: 'string' },
    logoSvg: { type: 'string' },
    logoColor: { type: 'string' },
    logoWidth: { type: 'number' },
    logoSize: { type: 'string' },
    style: { type: 'string' },
    cacheSeconds: { type: 'integer', minimum: 300 },
  },
});
const titleOf = (body: string | Uint8Array) => /<title>([^<]*)<\/title>/.exec(String(Buffer.from(body)))?.[1];
const jsonOf = (body: string | Uint8Array) => JSON.parse(String(body)) as Record<string, unknown>;
const asOfOf = (png: string | Uint8Array) =>
  pngChunks(Buffer.from(png))
    .find(({ type }) => type === 'tEXt')
    ?.data.toString('latin1') ?? null;

/** Each state: what the samples and the last check say, and what becomes of it. */
const STATES = [
  {
    state: 'good',
    counts: { upCount: 9_997, slowCount: 1, downCount: 2, p50Ms: 184, p95Ms: 412 },
    checkedAgo: 1,
    uptime: { word: '99.98% up', status: 'up', said: 'up in 99.98% of the checks of the last 30 days' },
    latency: {
      word: 'median 184 ms',
      status: 'up',
      said: 'median response time 184 ms over the last 30 days',
    },
    ageText: null,
  },
  {
    state: 'fair',
    counts: { upCount: 970, downCount: 30, p50Ms: 3_001, p95Ms: 9_999 },
    checkedAgo: 10,
    uptime: { word: '97% up', status: 'slow', said: 'up in 97% of the checks of the last 30 days' },
    latency: {
      word: 'median 3,001 ms',
      status: 'slow',
      said: 'median response time 3,001 ms over the last 30 days',
    },
    ageText: null,
  },
  {
    state: 'bad and stale',
    counts: { upCount: 1, downCount: 7, p50Ms: 12_345, p95Ms: 60_000 },
    checkedAgo: 12,
    uptime: { word: '12.5% up', status: 'down', said: 'up in 12.5% of the checks of the last 30 days' },
    latency: {
      word: 'median 12.3 s',
      status: 'slow',
      said: 'median response time 12.3 s over the last 30 days',
    },
    ageText: '12 min ago',
  },
  {
    state: 'empty',
    counts: {},
    checkedAgo: 12,
    uptime: { word: 'No data', status: 'unknown', said: 'no data of the last 30 days' },
    latency: { word: 'No data', status: 'unknown', said: 'no data of the last 30 days' },
    ageText: null,
  },
] as const;

t.test('it says uptime and latency in every format, theme and state', async (t) => {
  for (const { state, counts, checkedAgo, ageText, ...expected } of STATES) {
    for (const variant of ['uptime', 'latency'] as const) {
      const { word, status, said } = expected[variant];
      const at = NOW - checkedAgo * MINUTE_MS;
      const asOf = word === 'No data' ? null : new Date(at).toISOString();
      for (const theme of ['light', 'dark'] as const) {
        const named = `${variant} ${theme} ${state}`;
        const badges = startBadges(t, [github]);
        await badges.fill(counts);
        await badges.status.put([current(1, check(at))]);
        const get = (format: string) =>
          badges.get(`/api/badge/github-com?variant=${variant}&theme=${theme}&format=${format}`);

        const png = await get('png');
        t.equal(png.headers['Content-Type'], 'image/png', named);
        const { width, height } = await decodePng(Buffer.from(png.body));
        t.same([width, height, png.body.length <= 4_096], [280, 36, true], named);
        t.equal(asOfOf(png.body), asOf === null ? null : `As of\0${asOf}`, named);

        const svg = await get('svg');
        t.match(svg.headers, {
          'Content-Type': 'image/svg+xml',
          'Content-Security-Policy': "default-src 'none'; sandbox",
        });
        const time = `${(asOf ?? '').slice(0, 16).replace('T', ' ')} UTC`;
        const timed =
          asOf === null
            ? ''
            : ageText === null
              ? `, as of ${time}`
              : `, not checked since ${time}, ${ageText}`;
        t.equal(titleOf(svg.body), `GitHub: ${said}${timed}`, named);

        const shields = await get('shields');
        t.equal(shields.headers['Content-Type'], 'application/json; charset=utf-8');
        const { pills, stale } = BADGE_COLOURS[theme];
        const colour = ageText === null ? pills[status].shape : stale.shape;
        t.same(
          jsonOf(shields.body),
          {
            schemaVersion: 1,
            label: 'GitHub, 30 d',
            message: ageText === null ? word : `${word} · ${ageText}`,
            color: `#${colour.toString(16).padStart(6, '0')}`,
            isError: ageText !== null || status === 'down' || status === 'unknown',
            cacheSeconds: 300,
          },
          named,
        );
        t.ok(isShields(jsonOf(shields.body)), JSON.stringify(isShields.errors));

        const text = { name: 'GitHub', fallback: 'github.com', status, theme, ageText };
        const figure = { word, window: '30 d' };
        t.same(
          badges.drawn,
          [
            { ...text, figure, ...(asOf === null ? {} : { asOf }) },
            { ...text, figure, format: 'svg', title: `GitHub: ${said}${timed}` },
          ],
          named,
        );
        for (const { headers } of [png, svg, shields])
          t.equal(headers['Cache-Control'], 'public, s-maxage=300, stale-while-revalidate=60');
      }
    }
  }
});

t.test('it says the status in every format, theme and state', async (t) => {
  const words = { up: 'Operational', slow: 'Slow', down: 'Down', unknown: 'Unknown' };
  for (const status of SERVICE_STATUSES) {
    for (const stale of status === 'unknown' ? [false] : [false, true]) {
      for (const theme of ['light', 'dark'] as const) {
        const named = `${status} ${theme} ${stale}`;
        const badges = startBadges(t, [github]);
        const at = NOW - (stale ? 3 * 3_600_000 : 1);
        if (status !== 'unknown') await badges.status.put([current(1, check(at, { status }))]);
        const get = (format: string) => badges.get(`/api/badge/github-com?theme=${theme}&format=${format}`);
        const ageText = stale ? 'as of 3 h ago' : null;
        const text = { name: 'GitHub', fallback: 'github.com', status, theme, ageText };
        const time = stale ? '2026-11-20 07:00 UTC' : '2026-11-20 09:59 UTC';
        const title = `GitHub: ${words[status]}, ${
          status === 'unknown'
            ? 'not checked yet'
            : stale
              ? `not checked since ${time}, 3 h ago`
              : `as of ${time}`
        }`;
        t.equal(asOfOf((await get('png')).body), null, 'the picture of the contract stays as it is');
        t.equal(titleOf((await get('svg')).body), title);
        t.same(badges.drawn, [text, { ...text, format: 'svg', title }], named);
        const { pills, stale: grey } = BADGE_COLOURS[theme];
        const shields = jsonOf((await get('shields')).body);
        t.same(
          shields,
          {
            schemaVersion: 1,
            label: 'GitHub',
            message: stale ? `${words[status]} · as of 3 h ago` : words[status],
            color: `#${(stale ? grey.shape : pills[status].shape).toString(16).padStart(6, '0')}`,
            isError: stale || status === 'down' || status === 'unknown',
            cacheSeconds: 300,
          },
          named,
        );
        t.ok(isShields(shields), JSON.stringify(isShields.errors));
      }
    }
  }
  t.equal((await startBadges(t, [github]).get('/api/badge/github-com?format=svg')).status, 200);
});

t.test('it takes the format from the ending, and refuses two that differ', async (t) => {
  const badges = startBadges(t, [github]);
  const typeOf = async (path: string) => (await badges.get(path)).headers['Content-Type'];
  const table: readonly (readonly [string, string])[] = [
    ['github-com', 'image/png'],
    ['github-com.png', 'image/png'],
    ['github-com.SVG', 'image/svg+xml'],
    ['github-com.json', 'application/json; charset=utf-8'],
    ['github-com.json?format=shields', 'application/json; charset=utf-8'],
    ['github-com.svg?format=svg&theme=dark', 'image/svg+xml'],
    ['GitHub.svg?variant=uptime&window=1y', 'image/svg+xml'],
  ];
  for (const [path, type] of table) t.equal(await typeOf(`/api/badge/${path}`), type, path);
  for (const path of [
    'github-com.svg?format=png',
    'github-com.png?format=shields',
    'github-com.json?format=svg',
  ]) {
    await t.rejects(badges.get(`/api/badge/${path}`), {
      code: 'invalid_parameter',
      members: { parameter: 'format' },
    });
  }
});

t.test('it shows the badge of the contract where nothing is asked for', async (t) => {
  t.same(readBadgeRequest('github-com', ''), { name: 'github-com', ...DEFAULT_BADGE });
  t.same(DEFAULT_BADGE, {
    theme: 'light',
    variant: 'status',
    window: '30d',
    measure: 'median',
    format: 'png',
    style: 'card',
    scale: '1',
    label: '',
  });
});

t.test('it refuses words that are not known with the parameter and the allowed values', async (t) => {
  const badges = startBadges(t, [github]);
  const allowed = {
    theme: ['light', 'dark'],
    variant: ['status', 'uptime', 'latency'],
    window: ['24h', '7d', '30d', '90d', '1y'],
    measure: ['median', 'p95'],
    format: ['png', 'svg', 'shields'],
    style: ['card', 'compact'],
    scale: ['1', '2'],
  };
  for (const [parameter, words] of Object.entries(allowed)) {
    for (const word of words) {
      const answer = await badges.get(`/api/badge/github-com?${parameter}=${word}`);
      t.equal(answer.status, 200, `${parameter}=${word}`);
    }
    for (const bad of ['', 'x', `${words[0]?.toUpperCase()}0`, `${words[0]}&${parameter}=${words[0]}`]) {
      await t.rejects(badges.get(`/api/badge/github-com?${parameter}=${bad}`), {
        code: 'invalid_parameter',
        members: { parameter, allowed: words },
      });
    }
  }
});

t.test('it asks the samples for each window, and for the 95th percentile where it is wanted', async (t) => {
  const badges = startBadges(t, [github]);
  await badges.fill({ upCount: 10, p50Ms: 100, p95Ms: 900 });
  const windows = { '24h': 1, '7d': 7, '30d': 30, '90d': 90, '1y': 365 };
  for (const window of Object.keys(windows))
    await badges.get(`/api/badge/github-com?variant=uptime&window=${window}`);
  t.same(
    badges.queries,
    Object.values(windows).map((days) => ({
      serviceId: 1,
      from: NOW - days * 86_400_000,
      to: NOW,
      stepMs: days * 86_400_000,
    })),
  );
  await badges.get('/api/badge/github-com?variant=latency&measure=p95&window=1y');
  t.equal(badges.queries.length, 5, 'what was read for one badge serves the other');
  t.same(badges.drawn.at(-1)?.figure, { word: 'p95 900 ms', window: '1 y' });
});

t.test('it shows no response time of a service that gave nothing but errors', async (t) => {
  const badges = startBadges(t, [github]);
  await badges.fill({ downCount: 10, p50Ms: 1, p95Ms: 2 });
  for (const measure of ['median', 'p95']) {
    const { body } = await badges.get(`/api/badge/github-com.json?variant=latency&measure=${measure}`);
    t.match(jsonOf(body), { message: 'No data', isError: true });
  }
  const { body } = await badges.get('/api/badge/github-com.json?variant=uptime');
  t.match(jsonOf(body), { message: '0% up', isError: true });
});

t.test('it never says more than there is: uptimes are rounded down', async () => {
  const times = { startAt: NOW - 30 * 86_400_000, endAt: NOW };
  const none = { slowCount: 0, suspectCount: 0, meanMs: null, p50Ms: null, p95Ms: null, p99Ms: null };
  const state = { lastCheckAt: NOW, staleAfterMs: 10 * MINUTE_MS, now: NOW };
  fc.assert(
    fc.property(fc.nat(2_000_000), fc.integer({ min: 0, max: 50 }), (upCount, downCount) => {
      const count = upCount + downCount;
      const uptimeRatio = count === 0 ? null : upCount / count;
      const bucket = { ...times, ...none, count, upCount, downCount, uptimeRatio };
      const caption = describeUptime({ bucket, readAt: NOW }, '30d', state);
      const { message } = shieldsAnswer('GitHub', caption, 'light');
      const said = Number(/^([0-9.]+)% up$/.exec(message)?.[1] ?? Number.NaN);
      if (count === 0) return message === 'No data';
      // In whole numbers, so that the test rounds nothing itself.
      const hundredths = Math.round(said * 100);
      return hundredths * count <= upCount * 10_000 && (hundredths + 1) * count > upCount * 10_000;
    }),
    { numRuns: 200 },
  );
});

t.test('it lets no name become markup or another line', async () => {
  const name = fc.oneof(
    fc.constantFrom('<script>alert(1)</script>', '"/><svg onload=alert(1)>', "x' y=\u0000\n&amp;", ']]>'),
    anyText({ maxLength: 60 }),
  );
  await fc.assert(
    fc.asyncProperty(name, fc.constantFrom('status', 'uptime', 'latency'), async (name, variant) => {
      const badges = startBadges(t, [{ ...github, name }]);
      const svg = String(
        Buffer.from((await badges.get(`/api/badge/github-com.svg?variant=${variant}`)).body),
      );
      const tags = [...svg.matchAll(/<\/?([a-z]+)/g)].map((match) => match[1]);
      const attributes = [
        ...svg
          .replace(/<title>[^<]*/, '')
          .replace(/"[^"]*"/g, '')
          .matchAll(/([^\s<>]+)=/g),
      ].map((match) => match[1]);
      const { label } = jsonOf((await badges.get(`/api/badge/github-com.json?variant=${variant}`)).body) as {
        readonly label: string;
      };
      return (
        tags.every((tag) => ['svg', 'title', 'rect', 'path'].includes(tag ?? '')) &&
        (svg.match(/</g) ?? []).length === tags.length &&
        attributes.every((attribute) => !(attribute ?? '').startsWith('on')) &&
        !/[\p{Cc}]/u.test(label)
      );
    }),
    { numRuns: 60 },
  );
});
