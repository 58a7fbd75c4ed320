/** The part that all views of an owner's status page share: their frame for the template, and its headline. Pure. */
import { ownerIncidentId } from '../../domain/incident/owner-incident.ts';
import { readableColours } from '../../domain/page-colour.ts';
import type { PageStanding, PageStatus, PageVerdict } from '../../domain/status/outage-verdict.ts';
import type { OwnedPage } from '../../domain/status-page.ts';
import type { HttpRequest } from '../../http/route.ts';
import { pageUrl, pathFor } from '../../view/page-address.ts';
import { picturePart } from '../../view/status-page-view.ts';
import type { ChosenLanguage, LanguageTexts } from '../language/language.ts';
import { STATUS_SHAPES } from '../parts/verdict.ts';

/** A shape for each standing, so that colour is not the only sign: an SVG path in a box of 10 by 10. */
const SHAPES: Readonly<Record<PageStanding, string>> = {
  ...STATUS_SHAPES,
  maintenance: 'M1 1h8v8H1z',
  paused: 'M1 1h3v8H1zM6 1h3v8H6z',
};

/** The frame of a page. `siteUrl` has no slash at its end. */
export function framePage(request: HttpRequest, siteUrl: string, page: OwnedPage, language: ChosenLanguage) {
  return {
    language,
    // Links to the rest of this site.
    home: request.atDomain === true ? siteUrl : '',
    page,
    shapes: SHAPES,
    url: pageUrl(siteUrl, page),
    logo:
      page.logo === null
        ? null
        : {
            ...page.logo,
            path: pathFor(request, page.slug, picturePart('logo', page.logo.mark)),
            ...shownSize(page.logo),
          },
    favicon:
      page.favicon === undefined
        ? null
        : {
            type: page.favicon.type,
            path: pathFor(request, page.slug, picturePart('favicon', page.favicon.mark)),
          },
    feed: pathFor(request, page.slug, 'incidents.atom'),
    brand: page.colour === undefined ? null : pathFor(request, page.slug, brandPart(page.colour)),
  };
}

/** The part of a page that shows one incident of the owner. */
export function postPart({ id }: { readonly id: number }): string {
  return `incidents/${ownerIncidentId(id)}`;
}

/** The displayed size of a logo in pixels: at most 240 by 64, and never larger than the logo. */
function shownSize({ width, height }: { readonly width: number; readonly height: number }) {
  const scale = Math.min(1, 240 / width, 64 / height);
  return {
    shownWidth: Math.max(1, Math.round(width * scale)),
    shownHeight: Math.max(1, Math.round(height * scale)),
  };
}

/** The name of the style of a brand colour within its page. It contains the colour, so that each has its own URL. */
function brandPart(colour: string): string {
  return `brand.css?v=${colour.slice(1)}`;
}

/** The style of a brand colour: the colour itself as an edge above the page, and readable ones for links in both themes. */
export function brandStyle(colour: string): string {
  const { light, dark } = readableColours(colour);
  const accent = (shade: string) => `{--link:${shade};--focus:${shade}}`;
  return [
    `:root,[data-theme=light]${accent(light)}`,
    `@media (prefers-color-scheme:dark){:root:not([data-theme=light])${accent(dark)}}`,
    `[data-theme=dark]${accent(dark)}`,
    `.own{border-top:6px solid ${colour}}`,
    '',
  ].join('\n');
}

/**
 * Returns the headline, and the status whose colour it has. `isCurrent`: checks are made now, so that what they saw last still
 * holds.
 */
export function describePage(
  verdict: PageVerdict,
  isCurrent: boolean,
  { texts: { statusPage } }: LanguageTexts,
): { readonly look: PageStatus; readonly text: string } {
  const { status, look, reported, inMaintenance, counts, watched } = verdict;
  const hasTrouble = status !== 'up' && status !== 'unknown';
  const said =
    reported !== null
      ? statusPage.incidentReported
      : // Which services are affected says more than that there is maintenance.
        inMaintenance && !hasTrouble
        ? statusPage.inMaintenance
        : null;
  const seen = statusPage.seen(verdict);
  const isFine = status === 'up' && counts.up === watched;
  const checks =
    !isCurrent && status !== 'unknown'
      ? statusPage.lastKnown(seen)
      : said !== null && isFine
        ? statusPage.checksPass
        : seen;
  return {
    look: said === null && !isCurrent ? 'unknown' : look,
    text: sentence(said === null ? [checks] : watched === 0 ? [said] : [said, checks]),
  };
}

function sentence(clauses: readonly string[]): string {
  const text = clauses.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
