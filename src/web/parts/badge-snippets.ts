/** Snippets that show a badge, in each markup language. Names are escaped, so that they cannot become markup. */
import type { BadgeRequest } from '../../view/badge-query.ts';
import { escapeMarkup } from '../language/phrase.ts';

/** Which badge of which service. */
export interface BadgePlace {
  /** Without a slash at its end. */
  readonly siteUrl: string;
  /** The service's name on badges and pages. */
  readonly page: string;
  readonly request: BadgeRequest;
}

/** Address of a badge, with nothing but what differs from the defaults. */
export function badgeUrl({ siteUrl, page, request }: BadgePlace): string {
  const ending = { png: '', svg: '.svg', shields: '.json' }[request.format];
  const query = badgeQuery(request);
  return `${siteUrl}/api/badge/${encodeURIComponent(page)}${ending}${query === '' ? '' : `?${query}`}`;
}

/** The parameters of a badge beside its format, without those that are the default or have no effect. */
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

/** Makes the snippets; `alt` is any text. `url` is the address of the picture; for Shields, of the one that Shields draws. */
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
    // The value of an option is a line of plain text (reStructuredText, directives).
    restructured: `.. image:: ${url}\n   :alt: ${line}\n   :target: ${link}`,
    asciidoc: `image::${url}["${cleanAsciidoc(line)}",link="${link}"]`,
    url,
  };
}

/** Without breaks, and without characters that are not seen. */
function oneLine(text: string): string {
  return text
    .replace(/\s+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu, '')
    .trim();
}

/** Backslashes before whatever ends or changes the text of a picture (CommonMark 0.31, 2.4; tables of GitHub). */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\[\]`*_<>&~|$]/g, '\\$&');
}

/** AsciiDoc cannot escape in quoted attributes without exceptions: what it would read is left out. */
function cleanAsciidoc(text: string): string {
  return text.replace(/[\\"{}[\]]/g, '');
}
