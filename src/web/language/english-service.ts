/** What the page of one service says, in English. */
import type { Failure } from '../../domain/failure.ts';
import { describeCauseInSeconds } from '../../domain/failure-text.ts';
import { describeNote, describeOpening } from '../../domain/incident-text.ts';
import type { VendorStatus } from '../../domain/vendor-word.ts';
import { inSeconds } from './formats.ts';
import { type Moment, type Phrase, say } from './phrase.ts';

/** The words of the page of one service. */
export const englishService = {
  /** Behind the service's name. `lasted` is the time since then, shown as a length. */
  notChecked: 'has not been checked yet.',
  up: (since: Moment, lasted: Moment) => say`has been operational since ${since} (${lasted}).`,
  slow: (since: Moment, lasted: Moment, why: string | null) =>
    say`has been slow since ${since} (${lasted})${why === null ? '' : `: ${why}`}.`,
  down: (since: Moment, lasted: Moment, why: string | null) =>
    say`has been down since ${since} (${lasted})${why === null ? '' : `: ${why}`}.`,
  noHeartbeat: 'no heartbeat arrived',
  failure: (failure: Failure): string => describeCauseInSeconds(failure, (ms) => inSeconds(ms, '.')),
  /** An incident that our own checks opened: its title, and an entry of its timeline. */
  incidentTitle: describeOpening,
  incidentNote: describeNote,
  /** `word` is what the service said, as it said it. */
  reported: (word: string) => `it reports "${word}"`,
  ownReport: (took: string | null) =>
    took === null ? 'by its own report' : `by its own report, with answers in ${took}`,
  slowAnswer: (took: string) => `the last answer took ${took}`,
  /** Completes "The vendor's own status page ...". */
  vendor: {
    unknown: 'has not been read yet',
    operational: 'says that all is well',
    maintenance: 'speaks of maintenance',
    minor: 'speaks of a minor incident',
    major: 'speaks of a major incident',
    critical: 'speaks of a critical incident',
  } as Readonly<Record<VendorStatus, string>>,
  vendorSince: (said: string, since: Moment): Phrase => say`${said}, since ${since}`,
  vendorStale: (said: Phrase, ago: string): Phrase => say`${said}, ${ago} ago; it could not be read since`,
  vendorUnread: (said: Phrase): Phrase => say`${said} when it was last read`,
};
