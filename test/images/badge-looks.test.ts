/** Badges at twice the pixels, in the compact style, and with a label. */
import fc from 'fast-check';
import t from 'tap';
import { silentLog } from '../../src/log.ts';
import { drawBadge, drawBadgePixels, layOutBadge } from '../../src/render/badge.ts';
import { createRenderer } from '../../src/render/renderer.ts';
import { MAX_LABEL_LENGTH, readBadgeRequest } from '../../src/view/badge-url.ts';
import { decodePng } from '../render/decode-png.ts';
import { check, current, NOW, service } from '../site/site-world.ts';
import { anyText } from '../support/any-text.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { startBadges } from './badge-world.ts';

const github = service(1, 'github', { name: 'GitHub', domain: 'github.com' });
const titleOf = (body: string | Uint8Array) => /<title>([^<]*)<\/title>/.exec(String(Buffer.from(body)))?.[1];

async function world() {
  const badges = startBadges(t, [github]);
  await badges.status.put([current(1, check(NOW))]);
  return badges;
}

t.test('it has twice the pixels by scale=2 and by a name that ends with @2x', async (t) => {
  const badges = await world();
  const sizeOf = async (path: string) => {
    const { headers, body } = await badges.get(`/api/badge/${path}`);
    const { width, height } = await decodePng(Buffer.from(body));
    return [headers['Content-Type'], width, height];
  };
  for (const path of [
    'github-com?scale=2',
    'github-com@2x',
    'github-com@2x.png',
    'github-com@2X.PNG?scale=2',
    'github-com@2x.png?format=png&theme=dark',
  ]) {
    t.same(await sizeOf(path), ['image/png', 560, 72], path);
  }
  t.same(await sizeOf('github-com?scale=1'), ['image/png', 280, 36]);
  const plain = await badges.get('/api/badge/github-com.svg');
  for (const path of ['github-com.svg?scale=2', 'github-com@2x.svg'])
    t.equal((await badges.get(`/api/badge/${path}`)).etag, plain.etag, 'an SVG has any scale');
  await t.rejects(badges.get('/api/badge/github-com@2x.png?scale=1'), {
    code: 'invalid_parameter',
    members: { parameter: 'scale' },
  });
  await t.rejects(badges.get('/api/badge/github-com@3x.png'), { code: 'service_not_found' });
});

t.test('it is 20 pixels high in the compact style, and as wide as its text', async (t) => {
  const badges = await world();
  await badges.fill({ upCount: 9_998, downCount: 2 });
  const pixels = async (query: string) => {
    const { body } = await badges.get(`/api/badge/github-com?${query}`);
    const { width, height } = await decodePng(Buffer.from(body));
    return { width, height };
  };
  const status = await pixels('style=compact');
  t.same(await pixels('style=compact&scale=2'), { width: 2 * status.width, height: 40 });
  const uptime = await pixels('style=compact&variant=uptime');
  t.same([status.height, uptime.height], [20, 20]);
  t.ok(status.width > 100 && status.width < uptime.width && uptime.width < 280);
  const svg = String(Buffer.from((await badges.get('/api/badge/github-com.svg?style=compact')).body));
  t.match(svg, `width="${status.width}" height="20"`);
});

t.test('it shows a label in place of the name, in each format', async (t) => {
  const badges = await world();
  const label = encodeURIComponent('Payments <b>&"\u202e');
  t.match(await badges.get(`/api/badge/github-com?label=${label}`), { status: 200 });
  t.match(badges.drawn.at(-1), { name: 'GitHub', fallback: 'github.com', label: 'Payments <b>&"' });
  const { body } = await badges.get(`/api/badge/github-com.svg?label=${label}`);
  t.equal(titleOf(body), 'Payments &#60;b&#62;&#38;&#34;: Operational, as of 2026-11-20 10:00 UTC');
  const shields = await badges.get(`/api/badge/github-com.json?label=${label}`);
  t.match(JSON.parse(String(shields.body)), { label: 'Payments <b>&"', message: 'Operational' });

  const plain = await badges.get('/api/badge/github-com');
  for (const empty of ['', '%20', '%00%E2%80%8F'])
    t.equal((await badges.get(`/api/badge/github-com?label=${empty}`)).etag, plain.etag, `label=${empty}`);
  const lines = (label: string) =>
    layOutBadge({
      name: 'GitHub',
      fallback: 'github.com',
      label,
      status: 'up',
      theme: 'light',
      ageText: null,
    })
      .lines.map(({ text }) => text)
      .at(-1);
  t.same(
    ['Zahlungen', '支付', 'Pay 支付', '🚀'].map(lines),
    ['Zahlungen', 'github.com', 'Pay', 'github.com'],
    'the domain is shown where the fonts lack the script of the label',
  );
  await t.rejects(badges.get(`/api/badge/github-com?label=${'x'.repeat(MAX_LABEL_LENGTH + 1)}`), {
    code: 'invalid_parameter',
    message: 'Parameter "label" is longer than 100 characters.',
    members: { parameter: 'label' },
  });
});

t.test('it draws any label in any look, without an invisible character', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyText({ maxLength: MAX_LABEL_LENGTH }),
      fc.constantFrom('card', 'compact'),
      fc.constantFrom(1, 2),
      async (text, style, scale) => {
        const query = new URLSearchParams({ label: text.toWellFormed().slice(0, MAX_LABEL_LENGTH) });
        const { label } = readBadgeRequest('github-com', query.toString());
        const look = {
          style,
          ...(scale === 1 ? {} : { scale }),
          ...(label === '' ? {} : { label }),
        } as const;
        const base = { name: 'GitHub', status: 'up', theme: 'dark', ageText: null, ...look } as const;
        const { width, height } = drawBadgePixels(base);
        const figure = { word: 'median 1.2 s', window: '30 d' };
        const { lines } = layOutBadge({ ...base, figure }, scale);
        return (
          !/[\p{Cc}\p{Cf}\n]/u.test(label) &&
          (style === 'card' ? width === 280 * scale : width <= 450 * scale) &&
          height === (style === 'card' ? 36 : 20) * scale &&
          drawBadge({ ...base, figure }).length <= 4_096 * scale &&
          lines.every(({ x }) => x >= 0)
        );
      },
    ),
    { numRuns: propertyRuns(40) },
  );
});

t.test('badges with labels displace no others from the caches', { timeout: 120_000 }, async (t) => {
  const badges = await world();
  await badges.get('/api/badge/github-com.svg');
  for (let index = 0; index < 4_100; index++) {
    // Shields draws nothing, which saves the time of the drawing.
    await badges.get(`/api/badge/github-com.json?label=${index}`);
  }
  await badges.get('/api/badge/github-com.svg?label=0');
  const count = badges.drawn.length;
  await badges.get('/api/badge/github-com.svg');
  await badges.get('/api/badge/github-com.svg?label=0');
  t.equal(badges.drawn.length, count, 'both are in the cache');

  const renderer = createRenderer({ log: silentLog, maxBadges: 1 });
  t.teardown(() => renderer.close());
  const picture = { name: 'GitHub', status: 'up', theme: 'light', ageText: null } as const;
  const plain = renderer.badge(picture);
  await renderer.badge({ ...picture, label: 'Payments' });
  t.equal(renderer.badge(picture), plain);
  t.not(renderer.badge({ ...picture, style: 'compact' }), plain);
  await plain;
});
