/** Badges as SVG: nothing of a name ever becomes markup, and browsers see what the PNG shows. */
import fc from 'fast-check';
import t from 'tap';
import { type BadgePicture, PICTURE_THEMES } from '../../src/domain/picture.ts';
import { SERVICE_STATUSES } from '../../src/domain/status.ts';
import { drawBadge, layOutBadge } from '../../src/render/badge.ts';
import { anyText } from '../support/any-text.ts';
import { launchBrowser, NEEDS_BROWSER } from '../support/browser.ts';
import { propertyRuns } from '../support/property-runs.ts';

const base: BadgePicture = { name: 'GitHub', status: 'up', theme: 'light', ageText: null };
const svg = (change: Partial<BadgePicture>) =>
  Buffer.from(drawBadge({ ...base, format: 'svg', ...change })).toString();

/** The whole grammar of a badge: no other element, attribute or quote has a place in it. */
const GRAMMAR = new RegExp(
  [
    '^<svg xmlns="http://www\\.w3\\.org/2000/svg" width="([0-9]+)" height="(36|20)" viewBox="0 0 \\1 \\2" role="img" aria-label="([^"<>]*)">',
    '<title>([^"<>]*)</title>',
    '<rect width="\\1" height="\\2" rx="[48]" fill="#[0-9a-f]{6}"/>',
    '(?:<rect x="[0-9]+" y="[0-9]+" width="[0-9]+" height="[0-9]+" rx="[0-9]+" fill="#[0-9a-f]{6}"/>){2,3}',
    '(?:<path fill="#[0-9a-f]{6}" d="(?:[mlqz]|-?[0-9]*\\.?[0-9]+| )*"/>)+',
    '</svg>\n$',
  ].join(''),
);
const MARKUP = [
  '<script>alert(1)</script>',
  '"/><image href="https://evil.example/x.png"/>',
  "' onload='alert(1)",
  '&lt;&amp;&#60;',
  ']]><![CDATA[',
  '<?xml version="1.0"?>',
  '<!ENTITY x "y">&x;',
  '\u0000\u0007\u001b\ufffe\uffff\ud800',
  '--></title></svg><svg/onload=alert(1)>',
];

t.test('it says the title to readers of screens, and draws the letters as outlines', async (t) => {
  const title = 'GitHub: Operational, as of 2026-11-20 10:00 UTC';
  const text = svg({ title });
  const [, width, height, label, said] = GRAMMAR.exec(text) ?? [];
  t.same([width, height, label, said], ['280', '36', title, title]);
  t.equal(GRAMMAR.exec(svg({}))?.[4], 'GitHub', 'without a title the name stands for it');
  const compact = GRAMMAR.exec(svg({ style: 'compact', label: 'Payments' }));
  t.same([compact?.[2], compact?.[4]], ['20', 'Payments']);
  t.notMatch(text, /<text|font|style|href|url\(/, 'nothing is asked for from anywhere');
});

t.test('it lets no text become markup', async () => {
  const planted = fc.oneof(
    fc.constantFrom(...MARKUP),
    anyText({ maxLength: 40 }),
    fc.string({ unit: fc.constantFrom(...'<>&"\'/=! \n\u0000ab]['), maxLength: 40 }),
  );
  const status = fc.constantFrom(...SERVICE_STATUSES);
  const theme = fc.constantFrom(...PICTURE_THEMES);
  fc.assert(
    fc.property(
      planted,
      planted,
      planted,
      planted,
      status,
      theme,
      (name, title, word, ageText, status, theme) => {
        const figure = { word, window: word.slice(0, 6) };
        const shown = { name, title, status, theme, ageText, figure };
        return [svg(shown), svg({ ...shown, label: word, style: 'compact' })].every((text) => {
          const [, , , label = null, said = null] = GRAMMAR.exec(text) ?? [];
          return label === said && said !== null && unreference(said) === allowed(title);
        });
      },
    ),
    { numRuns: propertyRuns(100) },
  );
});

t.test('it shows in a browser what the PNG shows', { ...NEEDS_BROWSER, timeout: 240_000 }, async (t) => {
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const page = await browser.newPage();
  const cases: BadgePicture[] = PICTURE_THEMES.flatMap((theme) => [
    ...SERVICE_STATUSES.map((status) => ({ ...base, theme, status, name: MARKUP[0] ?? '' })),
    { ...base, theme, ageText: '12 min ago', figure: { word: '99.98 % up', window: '30 d' } },
    { ...base, theme, status: 'slow', name: 'Łódź ΩΨ Почта', figure: { word: 'p95 3.4 s', window: '1 y' } },
    { ...base, theme, style: 'compact', figure: { word: '99.98 % up', window: '30 d' } },
  ]);
  const pairs = cases.map((input) => [
    `data:image/png;base64,${Buffer.from(drawBadge(input)).toString('base64')}`,
    `data:image/svg+xml;base64,${Buffer.from(drawBadge({ ...input, format: 'svg', title: MARKUP.join(' ') })).toString('base64')}`,
  ]);
  const sizes = cases.map((input) => layOutBadge(input)).map(({ width, height }) => [width, height]);
  const differences = (await page.evaluate(
    `(${compareInPage})(${JSON.stringify(pairs)}, ${JSON.stringify(sizes)})`,
  )) as { readonly mean: number; readonly size: readonly number[] }[];
  for (const [index, { mean, size }] of differences.entries()) {
    t.same(size, sizes[index]);
    t.ok(mean < 2.5, `${JSON.stringify(cases[index])}: mean difference ${mean} of 255`);
    t.ok(mean > 0, 'they are drawn by different hands');
  }
});

/** Runs in the browser: the mean difference of two pictures over all channels, from 0 to 255. */
const compareInPage = `async (pairs, sizes) => {
  const pixelsOf = async (source, [width, height]) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    return { size: [image.naturalWidth, image.naturalHeight], data: context.getImageData(0, 0, width, height).data };
  };
  const answers = [];
  for (const [index, [first, second]] of pairs.entries()) {
    const [a, b] = [await pixelsOf(first, sizes[index]), await pixelsOf(second, sizes[index])];
    const sum = a.data.reduce((total, value, index) => total + Math.abs(value - b.data[index]), 0);
    answers.push({ mean: sum / a.data.length, size: b.size });
  }
  return answers;
}`;

/** What XML can hold of a text. */
function allowed(text: string): string {
  return [...text.toWellFormed()]
    .filter((character) => {
      const code = character.codePointAt(0) ?? 0;
      return code >= 32 ? code !== 0xfffe && code !== 0xffff : [9, 10, 13].includes(code);
    })
    .join('');
}

function unreference(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}
