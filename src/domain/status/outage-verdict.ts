/** Verdicts: what a visitor who cannot reach a service should conclude, and what a status page says on the whole. */
import type { OwnerSeverity } from '../incident/owner-incident.ts';
import type { VendorStatus } from '../incident/vendor-incident.ts';
import type { ServiceStatus } from '../status.ts';
import type { Scope } from './current.ts';

/** The answers, each with its sentence. They contain no text of vendors or owners but the name of a cause. */
const SENTENCES = {
  down: 'It is not just you: the service fails our checks.',
  partly_down: 'It is not just you: the service fails our checks from some regions, and works from others.',
  maintenance: 'The vendor announced that it works on the service now; our checks do not see it as down.',
  vendor_problem: 'The vendor reports a problem, though our checks do not see the service as down.',
  slow: 'The service answers our checks, but slowly.',
  up: 'The service answers our checks as usual, so the cause is probably on your side or between you and it.',
  unknown: 'We do not know: there is no recent check that could tell.',
} as const;

export type OutageVerdict = keyof typeof SENTENCES;

export const OUTAGE_VERDICTS: readonly OutageVerdict[] = [
  'down',
  'partly_down',
  'maintenance',
  'vendor_problem',
  'slow',
  'up',
  'unknown',
];

/** The known facts about a service. */
export interface OutageFacts {
  readonly status: ServiceStatus;
  /** True if the status is older than two intervals, or our own connection has been down since its last check. */
  readonly isOutdated: boolean;
  /** Null: it fails in no region, or one region checks it. */
  readonly scope: Scope | null;
  /** Null: the vendor's status page is not read. */
  readonly vendor: VendorStatus | null;
  /** Why it cannot be reached: the name of the cause, null for one that is not for everyone. Absent: it can, as far as that is known. */
  readonly unreached?: { readonly because: string | null };
}

/** The verdict, and a sentence for people. Our own checks count more than the vendor. */
export function judgeOutage({ status, isOutdated, scope, vendor, unreached }: OutageFacts): {
  readonly verdict: OutageVerdict;
  readonly sentence: string;
} {
  const verdict = verdictOf();
  if (verdict !== 'down' || unreached === undefined) return { verdict, sentence: SENTENCES[verdict] };
  const cause = unreached.because ?? 'something in front of it';
  return { verdict, sentence: `It is not just you: the service cannot be reached, because of ${cause}.` };

  function verdictOf(): OutageVerdict {
    const word = wordOf(vendor);
    if (status === 'unknown' || isOutdated) return word ?? 'unknown';
    if (status === 'down') return 'down';
    if (scope === 'partial') return 'partly_down';
    return word ?? status;
  }
}

function wordOf(vendor: VendorStatus | null): 'maintenance' | 'vendor_problem' | null {
  if (vendor === null || vendor === 'unknown' || vendor === 'operational') return null;
  return vendor === 'maintenance' ? 'maintenance' : 'vendor_problem';
}

/** The standing of a service on a page: `paused` and `maintenance` override the status of its last check. */
export type PageStanding = ServiceStatus | 'maintenance' | 'paused';

/** Statuses of a whole page, the worst first. */
export const PAGE_STATUSES = ['down', 'slow', 'maintenance', 'up', 'unknown'] as const;

export type PageStatus = (typeof PAGE_STATUSES)[number];

/** The owner's present posts on a page, apart from what checks see. */
interface OwnersWord {
  /** Severity of the worst open incident; null: none is open. */
  readonly reported: OwnerSeverity | null;
  /** True if announced maintenance is in progress. */
  readonly inMaintenance: boolean;
}

export interface PageVerdict extends OwnersWord {
  /** The worst status that checks see. */
  readonly status: PageStatus;
  /** The status whose colour and shape the page has: `status`, or worse by the word of the owner. */
  readonly look: PageStatus;
  readonly counts: Readonly<Record<PageStanding, number>>;
  /** Number of services that are not paused. */
  readonly watched: number;
}

/**
 * Returns the standing of a service. A paused one counts as paused whatever its last status; one that is down or slow during
 * an announced maintenance counts as in maintenance.
 */
export function standingOf(status: ServiceStatus, paused: boolean, inMaintenance: boolean): PageStanding {
  if (paused) return 'paused';
  return inMaintenance && (status === 'down' || status === 'slow') ? 'maintenance' : status;
}

const LOOKS: Readonly<Record<OwnerSeverity, PageStatus>> = { minor: 'slow', major: 'down', critical: 'down' };

/** The worst status of the services that are not paused, `unknown` if none was ever checked, beside the word of the owner. */
export function judgePage(
  standings: readonly PageStanding[],
  { reported, inMaintenance }: OwnersWord,
): PageVerdict {
  const counts = { up: 0, slow: 0, down: 0, unknown: 0, maintenance: 0, paused: 0 };
  for (const standing of standings) counts[standing]++;
  const statuses: ReadonlySet<PageStatus> = new Set(PAGE_STATUSES.filter((word) => counts[word] > 0));
  const looks = new Set(statuses);
  if (reported !== null) looks.add(LOOKS[reported]);
  if (inMaintenance) looks.add('maintenance');
  const worst = (words: ReadonlySet<PageStatus>) =>
    PAGE_STATUSES.find((word) => words.has(word)) ?? 'unknown';
  const watched = standings.length - counts.paused;
  return { status: worst(statuses), look: worst(looks), reported, inMaintenance, counts, watched };
}
