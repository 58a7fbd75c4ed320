/** Snippets with a badge in several markup languages. Names are escaped, so that they cannot become markup. */

import { escapeMarkup } from '../../language/phrase.ts';
import type { BadgeRequest } from '../../view/badge-query.ts';

/** A badge of a service. */
export interface BadgePlace {
  /** Without a slash at its end. */
  readonly siteUrl: string;
  /** The service's name on badges and pages. */
  readonly page: string;
  readonly request: BadgeRequest;
}

/** URL of a badge, without default parameters. */
export function badgeUrl({ siteUrl, page, request }: BadgePlace): string {
  const ending = { png: '', svg: '.svg', shields: '.json' }[request.format];
  const query = badgeQuery(request);
  return `${siteUrl}/api/badge/${encodeURIComponent(page)}${ending}${query === '' ? '' : `?${query}`}`;
}

/** The parameters of a badge except its format, without those that are the default or have no effect. */
export function badgeQuery({ variant, window, measure, theme }: BadgeRequest): string {
  const query = new URLSearchParams();
  if (variant !== 'status') {
    query.set('variant', variant);
    query.set('window', window);
  }
  if (variant === 'latency' && measure !== 'median') query.set('measure', measure);
  if (theme !== 'light') query.set('theme', theme);
  return query.toString();
}

/**
 * Creates the snippets; `alt` is any text. `url` is that of the picture, for Shields that of the picture by Shields.
 */
export function badgeSnippets(place: BadgePlace, alt: string) {
  const { siteUrl, page, request } = place;
  const own = badgeUrl(place);
  const isShields = request.format === 'shields';
  const url = isShields ? `https://img.shields.io/endpoint?url=${encodeURIComponent(own)}` : own;
  const link = `${siteUrl}/status/${encodeURIComponent(page)}`;
  const line = oneLine(alt);
  const size = isShields ? '' : ' width="280" height="36"';
  const html = escapeMarkup;
  return {
    markdown: `[![${escapeMarkdown(line)}](${url})](${link})`,
    html: `<a href="${html(link)}"><img src="${html(url)}" alt="${html(line)}"${size}></a>`,
    // The value of an option is plain text on one line (reStructuredText, directives).
    restructured: `.. image:: ${url}\n   :alt: ${line}\n   :target: ${link}`,
    asciidoc: `image::${url}["${cleanAsciidoc(line)}",link="${link}"]`,
    url,
  };
}

/** The text on one line, without invisible characters. */
function oneLine(text: string): string {
  return text
    .replace(/\s+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu, '')
    .trim();
}

/** Escapes characters that end or change the text of a picture (CommonMark 0.31, 2.4; tables of GitHub). */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\[\]`*_<>&~|$]/g, '\\$&');
}

/** Removes special characters, because AsciiDoc has no reliable escape in quoted attributes. */
function cleanAsciidoc(text: string): string {
  return text.replace(/[\\"{}[\]]/g, '');
}
