/** What authors paste: right in each language of documents, whatever a service is called. */
import fc from 'fast-check';
import t from 'tap';
import { BADGE_STYLES, PICTURE_THEMES, PICTURE_WINDOWS } from '../../../src/domain/picture.ts';
import {
  BADGE_FORMATS,
  BADGE_MEASURES,
  BADGE_SCALES,
  BADGE_VARIANTS,
  type BadgeRequest,
  DEFAULT_BADGE,
  MAX_LABEL_LENGTH,
  readBadgeRequest,
  visibleLine,
} from '../../../src/view/badge-url.ts';
import { badgeSnippets, badgeUrl } from '../../../src/web/parts/badge-snippets.ts';
import { anyText } from '../../support/any-text.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const place = (change: Partial<BadgeRequest>) => ({
  siteUrl: 'https://upbeat.example',
  page: 'github-com',
  request: { ...DEFAULT_BADGE, ...change },
});
const BADGE = 'https://upbeat.example/api/badge/github-com';
const PAGE = 'https://upbeat.example/status/github-com';

t.test('it writes the snippet of each language', async (t) => {
  t.same(badgeSnippets(place({}), 'GitHub status'), {
    markdown: `[![GitHub status](${BADGE})](${PAGE})`,
    html: `<a href="${PAGE}"><img src="${BADGE}" srcset="${BADGE}@2x.png 2x" alt="GitHub status" width="280" height="36"></a>`,
    themes: `<a href="${PAGE}"><picture><source media="(prefers-color-scheme: dark)" srcset="${BADGE}?theme=dark, ${BADGE}@2x.png?theme=dark 2x"><img src="${BADGE}" srcset="${BADGE}@2x.png 2x" alt="GitHub status" width="280" height="36"></picture></a>`,
    restructured: `.. image:: ${BADGE}\n   :alt: GitHub status\n   :target: ${PAGE}`,
    asciidoc: `image::${BADGE}["GitHub status",link="${PAGE}"]`,
    url: BADGE,
  });
  const uptime = place({ variant: 'uptime', window: '90d', theme: 'dark', format: 'svg' });
  const url = `${BADGE}.svg?variant=uptime&window=90d&theme=dark`;
  t.match(badgeSnippets(uptime, 'x'), {
    url,
    markdown: `[![x](${url})](${PAGE})`,
    html: `<a href="${PAGE}"><img src="${url.replaceAll('&', '&amp;')}" alt="x" width="280" height="36"></a>`,
  });
  t.match(badgeSnippets(place({ style: 'compact', label: 'A & B', format: 'svg' }), 'x'), {
    html: `<a href="${PAGE}"><img src="${BADGE}.svg?style=compact&amp;label=A+%26+B" alt="x" height="20"></a>`,
  });
});

t.test('it shows the badge of a private service by its signed address, and links to nothing', async (t) => {
  const signed = 'https://upbeat.example/badge/3.abc';
  const alone = { ...place({ format: 'svg' }), signed };
  const image = `<img src="${signed}.svg" alt="NAS" width="280" height="36">`;
  t.same(badgeSnippets(alone, 'NAS'), {
    markdown: `![NAS](${signed}.svg)`,
    html: image,
    themes: `<picture><source media="(prefers-color-scheme: dark)" srcset="${signed}.svg?theme=dark">${image}</picture>`,
    restructured: `.. image:: ${signed}.svg\n   :alt: NAS`,
    asciidoc: `image::${signed}.svg["NAS"]`,
    url: `${signed}.svg`,
  });
});

t.test('it leads Shields to the endpoint, and names no size that Shields chooses', async (t) => {
  const url = `https://img.shields.io/endpoint?url=${encodeURIComponent(`${BADGE}.json?variant=latency&window=1y&measure=p95`)}`;
  const shields = badgeSnippets(
    place({ format: 'shields', variant: 'latency', window: '1y', measure: 'p95' }),
    'GitHub',
  );
  t.match(shields, {
    url,
    html: `<a href="${PAGE}"><img src="${url}" alt="GitHub"></a>`,
    markdown: `[![GitHub](${url})](${PAGE})`,
  });
});

t.test('it makes addresses that are read as what was chosen', async () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...BADGE_VARIANTS),
      fc.constantFrom(...PICTURE_WINDOWS),
      fc.constantFrom(...BADGE_MEASURES),
      fc.constantFrom(...PICTURE_THEMES),
      fc.constantFrom(...BADGE_FORMATS),
      fc.record({
        style: fc.constantFrom(...BADGE_STYLES),
        scale: fc.constantFrom(...BADGE_SCALES),
        label: anyText({ maxLength: MAX_LABEL_LENGTH }).map((text) => visibleLine(text)),
      }),
      (variant, window, measure, theme, format, look) => {
        const url = new URL(badgeUrl(place({ variant, window, measure, theme, format, ...look })));
        const read = readBadgeRequest(url.pathname.slice('/api/badge/'.length), url.search.slice(1));
        return (
          read.name === 'github-com' &&
          read.variant === variant &&
          read.theme === theme &&
          read.format === format &&
          read.style === look.style &&
          (format !== 'png' || read.scale === look.scale) &&
          read.label === look.label &&
          (variant === 'status' || read.window === window) &&
          (variant !== 'latency' || read.measure === measure)
        );
      },
    ),
  );
});

t.test('it lets no name end the text that it stands in', async () => {
  const name = fc.oneof(
    fc.constantFrom(
      '](https://evil.example)',
      '\\](x)',
      '"><script>alert(1)</script>',
      'a\n\n# heading',
      'a\n   :target: https://evil.example',
      '",link="https://evil.example',
      '\\"]',
      '{counter:x}',
      '`code` *bold* _it_ <b> | $x$',
      '\u202eright to left\u0000',
    ),
    anyText({ maxLength: 40 }),
    fc.string({ unit: fc.constantFrom(...'\\[]()<>`*_&"{}|\n :='), maxLength: 40 }),
  );
  fc.assert(
    fc.property(name, (alt) => {
      const { markdown, html, restructured, asciidoc } = badgeSnippets(place({}), alt);
      const text = (before: string, all: string, after: string) =>
        all.startsWith(before) && all.endsWith(after)
          ? all.slice(before.length, all.length - after.length)
          : null;
      const inMarkdown = text('[![', markdown, `](${BADGE})](${PAGE})`);
      const inHtml = text(
        `<a href="${PAGE}"><img src="${BADGE}" srcset="${BADGE}@2x.png 2x" alt="`,
        html,
        '" width="280" height="36"></a>',
      );
      const inRestructured = text(`.. image:: ${BADGE}\n   :alt: `, restructured, `\n   :target: ${PAGE}`);
      const inAsciidoc = text(`image::${BADGE}["`, asciidoc, `",link="${PAGE}"]`);
      return (
        // Every character that would end or change the text has a backslash of its own before it.
        /^(?:\\[\\[\]`*_<>&~|$]|[^\\[\]`*_<>&~|$\n])*$/u.test(inMarkdown ?? '\n') &&
        /^[^<>"'\n]*$/.test(inHtml ?? '\n') &&
        /^[^\n]*$/.test(inRestructured ?? '\n') &&
        /^[^\\"{}[\]\n]*$/.test(inAsciidoc ?? '\n') &&
        ![markdown, html, inRestructured ?? '', asciidoc].some((snippet) => /[\p{Cc}\p{Cf}]/u.test(snippet))
      );
    }),
    { numRuns: propertyRuns(150) },
  );
});
