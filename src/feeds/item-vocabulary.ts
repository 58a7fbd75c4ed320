/** The vocabulary of status pages in RSS and Atom, mapped to the statuses of the API. */
import type { FeedIncident, FeedMaintenance, FeedUpdate } from '../domain/incident/feed-entry.ts';
import { NOT_YET, STATE_SENTENCES, STATE_WORDS, type StateWord } from './state-words.ts';

export type WordMeaning =
  | { readonly kind: 'incident'; readonly status: FeedIncident['status'] }
  | { readonly kind: 'maintenance'; readonly state: FeedMaintenance['state'] }
  /** An update without a new state. */
  | { readonly kind: 'update' }
  /** Nothing is wrong, so there is no entry. */
  | { readonly kind: 'operational' };

const INVESTIGATING: WordMeaning = { kind: 'incident', status: 'investigating' };
const RUNNING: WordMeaning = { kind: 'maintenance', state: 'running' };
const DONE: WordMeaning = { kind: 'maintenance', state: 'done' };

const MEANINGS: Readonly<Record<StateWord, WordMeaning>> = {
  investigating: INVESTIGATING,
  trouble: INVESTIGATING,
  identified: { kind: 'incident', status: 'identified' },
  monitoring: { kind: 'incident', status: 'monitoring' },
  resolved: { kind: 'incident', status: 'resolved' },
  planned: { kind: 'maintenance', state: 'planned' },
  running: RUNNING,
  done: DONE,
  update: { kind: 'update' },
  operational: { kind: 'operational' },
};

/** The labels before texts, in lower case, by their meaning. */
const LABELS = new Map(
  STATE_WORDS.flatMap((words) => Object.entries(words)).flatMap(([word, labels]) =>
    labels.split(', ').map((label) => [label, MEANINGS[word as StateWord]] as const),
  ),
);

/** English labels that also occur at the beginning or end of titles, where others are parts of names. */
const TITLE_WORDS =
  'investigating|identified|monitoring|resolved|mitigated|completed|operational|degraded performance|' +
  'partial outage|major outage|under maintenance|informational';

/** Those that a dash separates from a title, and that are no names of parts, as Monitoring is. */
const LEADING_WORDS = 'investigating|identified|resolved|mitigated|completed';

/** Those of other languages: what is not ASCII is no part of an English name. */
const FOREIGN_WORDS = STATE_WORDS.slice(1)
  .flatMap(({ investigating, identified, monitoring, resolved }) => [
    investigating,
    identified,
    monitoring,
    resolved,
  ])
  .flatMap((labels) => labels?.split(', ') ?? [])
  .join('|');

const MARKS = `${TITLE_WORDS}|${FOREIGN_WORDS}`;

/** Those that only brackets tell from names. */
const BRACKETED_WORDS = 'fixed|watching|reported|recovered|closed|scheduled|in progress|cancell?ed';

const LEADING_MARK = new RegExp(
  `^(?:[[【](${MARKS}|${BRACKETED_WORDS}|update)[\\]】]|(${TITLE_WORDS}|update)\\s?:|(${FOREIGN_WORDS})\\s?[:：]|(${LEADING_WORDS}) [-–—] )\\s*`,
  'i',
);
const TRAILING_MARK = new RegExp(
  `\\s*(?:[[【](${MARKS}|${BRACKETED_WORDS})[\\]】]|[(（](${MARKS})[)）]|\\s[-–—|:]\\s(${MARKS}))$`,
  'i',
);

/** Pictures before a state, such as a green check mark. */
export const LEADING_SIGNS = /^(?:\p{Extended_Pictographic}|\uFE0F|\s)+(?=[\p{L}[【])/u;

const ENDS_IN_CHINESE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}][。！]?$/u;

/** The meaning of a label; null: it is not a label. */
export function meaningOf(label: string): WordMeaning | null {
  const folded = label
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_]+/g, ' ')
    .replaceAll("'", '’');
  return LABELS.get(folded.trim()) ?? null;
}

/** The status of an update. A planned or running maintenance is `identified` (decisions, Incidents). */
export function statusOf(meaning: WordMeaning | null): FeedUpdate['status'] | null {
  if (meaning?.kind === 'incident') return meaning.status;
  if (meaning?.kind === 'maintenance') return meaning.state === 'done' ? 'resolved' : 'identified';
  return meaning?.kind === 'operational' ? 'resolved' : null;
}

/** Orders what vendors publish within one minute, where an end may stand before what it ends: 1 for an end, else 0. */
export function endRank({ meaning }: { readonly meaning: WordMeaning | null }): number {
  return statusOf(meaning) === 'resolved' ? 1 : 0;
}

/** The meaning of a word in a maintenance: `Active` has begun, `Resolved` is done. Planned ones are `Identified` too. */
export function inMaintenance<T extends WordMeaning | null>(meaning: T): T | WordMeaning {
  if (meaning?.kind !== 'incident' || meaning.status === 'identified') return meaning;
  return meaning.status === 'resolved' ? DONE : RUNNING;
}

/** Splits a title from its state, such as `[RESOLVED]` before or ` - Investigating` after it. */
export function splitTitle(title: string): { readonly title: string; readonly meaning: WordMeaning | null } {
  const plain = title.replace(LEADING_SIGNS, '');
  const match = LEADING_MARK.exec(plain) ?? TRAILING_MARK.exec(plain);
  // Chinese and Japanese have no spaces: the end of such a title is that of a sentence.
  if (match === null)
    return { title, meaning: ENDS_IN_CHINESE.test(title) ? meaningOfSentence(title.slice(-12)) : null };
  const rest = plain.replace(match[0], '').trim();
  const word = match.slice(1).find((group) => group !== undefined) ?? '';
  return { title: rest === '' ? title : rest, meaning: meaningOf(word) };
}

/** Returns true if a text is only the state of a component. */
export function isPartState(text: string): boolean {
  return /^(?:status: )?(?:degraded performance|(?:partial|major|full) outage|under maintenance)$/i.test(
    text,
  );
}

/** The state in the sentences of a text; null: none is certain. */
export function meaningOfSentence(text: string): WordMeaning | null {
  const sentences = text.slice(0, 2_000).split(/[.!?]\s+|[。！？\n]/);
  const said = sentences.filter((sentence) => !NOT_YET.test(sentence));
  const state = STATE_SENTENCES.find(([pattern]) => said.some((sentence) => pattern.test(sentence)))?.[1];
  return state === undefined ? null : MEANINGS[state];
}

/** Partial outages are minor, as on the vendors' own pages. */
const SEVERITIES: readonly (readonly [RegExp, FeedIncident['severity']])[] = [
  [/\bcritical\b/i, 'critical'],
  [/\b(?:major|full|complete|total|severe|high|unavailable)\b/i, 'major'],
];

/**
 * Severity by labelled words (`Severity: critical`), the states of components (`API (Full outage)`) and the title
 * (`Major outage of …`); null if none of them contains one.
 */
export function severityOf(title: string, text: string): FeedIncident['severity'] | null {
  const said = [
    ...title.matchAll(/\b(?:critical|major|full|complete|total) (?:outage|disruption|incident)\b/gi),
    ...text.replaceAll('_', ' ').matchAll(/^(?:severity|impact): ?[a-z]{3,12}(?: outage)?$/gim),
    ...text.matchAll(/\((?:major|full|complete) outage\)$/gim),
    ...text.matchAll(/^(?:status: )?(?:major|full|complete|critical) (?:outage|disruption)$/gim),
  ].join('\n');
  return SEVERITIES.find(([pattern]) => pattern.test(said))?.[1] ?? null;
}
