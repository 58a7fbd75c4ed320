/** The headline of an owner's status page: what the owner reports, and what checks see. Pure. */
import type { PageStatus, PageVerdict } from '../../domain/status/outage-verdict.ts';
import type { LanguageTexts } from '../language/language.ts';

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
