/** Snippets with a badge in several markup languages. Names are escaped, so that they cannot become markup. */

import type { PictureTheme } from '../../domain/picture.ts';
import { escapeMarkup } from '../../language/phrase.ts';
import { type BadgeRequest, visibleLine } from '../../view/badge-url.ts';

/** Height of a badge of the style `compact` in pixels; its width is that of its text. */
const COMPACT_HEIGHT = 20;

export interface BadgePlace {
  /** Without a slash at its end. */
  readonly siteUrl: string;
  /** The service's name on badges and pages. */
  readonly page: string;
  readonly request: BadgeRequest;
  /** The signed address of its badge, which links to nothing, since strangers see no page of a private service. Absent: it has none. */
  readonly signed?: string;
}

/** URL of a badge, without default parameters. */
export function badgeUrl({ siteUrl, page, request, signed }: BadgePlace): string {
  const ending = { png: request.scale === '2' ? '@2x.png' : '', svg: '.svg', shields: '.json' }[
    request.format
  ];
  const query = badgeQuery(request);
  return `${signed ?? `${siteUrl}/api/badge/${encodeURIComponent(page)}`}${ending}${query === '' ? '' : `?${query}`}`;
}

/** The parameters of a badge except its format and scale, without those that are the default or have no effect. */
export function badgeQuery({ variant, window, measure, theme, style, label }: BadgeRequest): string {
  const query = new URLSearchParams();
  if (variant !== 'status') {
    query.set('variant', variant);
    query.set('window', window);
  }
  if (variant === 'latency' && measure !== 'median') query.set('measure', measure);
  if (theme !== 'light') query.set('theme', theme);
  if (style !== 'card') query.set('style', style);
  if (label !== '') query.set('label', label);
  return query.toString();
}

/**
 * Creates the snippets; `alt` is any text. `url` is that of the picture, for Shields that of the picture by Shields.
 */
export function badgeSnippets(place: BadgePlace, alt: string) {
  const { siteUrl, page, request } = place;
  const urlOf = (change: Partial<BadgeRequest>) => {
    const own = badgeUrl({ ...place, request: { ...request, ...change } });
    return request.format === 'shields'
      ? `https://img.shields.io/endpoint?url=${encodeURIComponent(own)}`
      : own;
  };
  // A PNG has a second picture for screens of high resolution; an SVG is sharp on every screen.
  const doubled = (theme: PictureTheme) =>
    request.format === 'png' ? `${urlOf({ theme, scale: '2' })} 2x` : null;
  const url = urlOf({});
  const link = place.signed === undefined ? `${siteUrl}/status/${encodeURIComponent(page)}` : null;
  const line = visibleLine(alt);
  const size =
    request.format === 'shields'
      ? ''
      : request.style === 'compact'
        ? ` height="${COMPACT_HEIGHT}"`
        : ' width="280" height="36"';
  const html = escapeMarkup;
  const linked = (picture: string) => (link === null ? picture : `<a href="${html(link)}">${picture}</a>`);
  const image = (theme: PictureTheme) => {
    const srcset = doubled(theme);
    const more = srcset === null ? '' : ` srcset="${html(srcset)}"`;
    return `<img src="${html(urlOf({ theme }))}"${more} alt="${html(line)}"${size}>`;
  };
  const dark = [urlOf({ theme: 'dark' }), doubled('dark') ?? []].flat().join(', ');
  const shown = `![${escapeMarkdown(line)}](${url})`;
  return {
    markdown: link === null ? shown : `[${shown}](${link})`,
    html: linked(image(request.theme)),
    /** HTML of a picture that follows the theme of the reader, also in a README on GitHub. */
    themes: linked(
      `<picture><source media="(prefers-color-scheme: dark)" srcset="${html(dark)}">${image('light')}</picture>`,
    ),
    // The value of an option is plain text on one line (reStructuredText, directives).
    restructured: `.. image:: ${url}\n   :alt: ${line}${link === null ? '' : `\n   :target: ${link}`}`,
    asciidoc: `image::${url}["${cleanAsciidoc(line)}"${link === null ? '' : `,link="${link}"`}]`,
    url,
  };
}

/** Escapes characters that end or change the text of a picture (CommonMark 0.31, 2.4; tables of GitHub). */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\[\]`*_<>&~|$]/g, '\\$&');
}

/** Removes special characters, because AsciiDoc has no reliable escape in quoted attributes. */
function cleanAsciidoc(text: string): string {
  return text.replace(/[\\"{}[\]]/g, '');
}
