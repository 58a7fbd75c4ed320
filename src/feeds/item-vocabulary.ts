/** The words that RSS and Atom feeds of status pages use, in the contract's words. */
import type { FeedIncident, FeedMaintenance } from '../domain/feed-entry.ts';

/** What a word says of an entry. */
export type WordMeaning =
  | { readonly kind: 'incident'; readonly status: FeedIncident['status'] }
  | { readonly kind: 'maintenance'; readonly state: FeedMaintenance['state'] }
  /** Another word of a state that was told before. */
  | { readonly kind: 'update' }
  /** Nothing is wrong: there is no entry. */
  | { readonly kind: 'operational' };

const INVESTIGATING: WordMeaning = { kind: 'incident', status: 'investigating' };
const IDENTIFIED: WordMeaning = { kind: 'incident', status: 'identified' };
const MONITORING: WordMeaning = { kind: 'incident', status: 'monitoring' };
const RESOLVED: WordMeaning = { kind: 'incident', status: 'resolved' };
const PLANNED: WordMeaning = { kind: 'maintenance', state: 'planned' };
const RUNNING: WordMeaning = { kind: 'maintenance', state: 'running' };
const DONE: WordMeaning = { kind: 'maintenance', state: 'done' };
const UPDATE: WordMeaning = { kind: 'update' };
const OPERATIONAL: WordMeaning = { kind: 'operational' };

/** By the words that stand as a label before a text, in lower case. */
const LABELS: ReadonlyMap<string, WordMeaning> = new Map<string, WordMeaning>([
  ['investigating', INVESTIGATING],
  ['new', INVESTIGATING],
  ['open', INVESTIGATING],
  ['active', INVESTIGATING],
  ['ongoing', INVESTIGATING],
  ['degraded', INVESTIGATING],
  ['degraded performance', INVESTIGATING],
  ['partial outage', INVESTIGATING],
  ['major outage', INVESTIGATING],
  ['full outage', INVESTIGATING],
  ['outage', INVESTIGATING],
  ['service disruption', INVESTIGATING],
  ['service outage', INVESTIGATING],
  ['down', INVESTIGATING],
  ['minor outage', INVESTIGATING],
  ['unavailable', INVESTIGATING],
  // Microsoft's.
  ['service degradation', INVESTIGATING],
  ['service interruption', INVESTIGATING],
  ['restoring service', MONITORING],
  ['extended recovery', MONITORING],
  ['service restored', RESOLVED],
  ['false positive', RESOLVED],
  ['post-incident report published', RESOLVED],
  ['identified', IDENTIFIED],
  ['issue identified', IDENTIFIED],
  ['monitoring', MONITORING],
  ['recovering', MONITORING],
  ['resolved', RESOLVED],
  ['mitigated', RESOLVED],
  ['fixed', RESOLVED],
  ['recovered', RESOLVED],
  ['closed', RESOLVED],
  ['postmortem', RESOLVED],
  ['post-mortem', RESOLVED],
  ['false alarm', RESOLVED],
  ['scheduled', PLANNED],
  ['planned', PLANNED],
  ['upcoming', PLANNED],
  ['in progress', RUNNING],
  ['verifying', RUNNING],
  ['under maintenance', RUNNING],
  ['maintenance in progress', RUNNING],
  ['maintenance', RUNNING],
  ['completed', DONE],
  ['complete', DONE],
  ['cancelled', DONE],
  ['canceled', DONE],
  ['update', UPDATE],
  ['updated', UPDATE],
  ['operational', OPERATIONAL],
  ['available', OPERATIONAL],
  ['up', OPERATIONAL],
  ['no issues', OPERATIONAL],
  ['all systems operational', OPERATIONAL],
]);

/** Words whose meaning is plain without a text behind them and at the end of a title. */
const TITLE_WORDS = [
  'investigating',
  'identified',
  'monitoring',
  'resolved',
  'mitigated',
  'completed',
  'operational',
  'degraded performance',
  'partial outage',
  'major outage',
  'under maintenance',
].join('|');

const LEADING_MARK = new RegExp(`^(?:\\[(${TITLE_WORDS}|update)\\]|(${TITLE_WORDS}|update):)\\s*`, 'i');
const TRAILING_MARK = new RegExp(
  `\\s*(?:\\[(${TITLE_WORDS})\\]|\\((${TITLE_WORDS})\\)|\\s[-–—|:]\\s(${TITLE_WORDS}))$`,
  'i',
);

/** What a label means; null: it is none. */
export function meaningOf(label: string): WordMeaning | null {
  return (
    LABELS.get(
      label
        .toLowerCase()
        .replace(/[\s_]+/g, ' ')
        .trim(),
    ) ?? null
  );
}

/** A title without the state that it carries, such as `[RESOLVED]` before or ` - Investigating` behind it. */
export function splitTitle(title: string): { readonly title: string; readonly meaning: WordMeaning | null } {
  const match = LEADING_MARK.exec(title) ?? TRAILING_MARK.exec(title);
  if (match === null) return { title, meaning: null };
  const rest = title.replace(match[0], '').trim();
  const word = match.slice(1).find((group) => group !== undefined) ?? '';
  return { title: rest === '' ? title : rest, meaning: meaningOf(word) };
}

/** Whether a text is the state of a part of a page and nothing else. */
export function isPartState(text: string): boolean {
  return /^(?:status: )?(?:degraded performance|(?:partial|major|full) outage|under maintenance)$/i.test(
    text,
  );
}

/** Sentences that tell a state where no label does; the furthest state that is told counts. */
const SENTENCES: readonly (readonly [RegExp, WordMeaning])[] = [
  [/\b(?:has|have) (?:now )?(?:been )?(?:fully |completely )?(?:resolved|mitigated|recovered)\b/i, RESOLVED],
  [/\b(?:issue|incident|problem|outage) (?:is|was) (?:now )?(?:fully )?(?:resolved|fixed|over)\b/i, RESOLVED],
  [/\b(?:we are|we're|are now|will continue to|continue to) monitor(?:ing)?\b/i, MONITORING],
  [/(?<!\b(?:may|might|could) )\b(?:has|have) (?:now )?(?:been )?identified\b/i, IDENTIFIED],
  [/\b(?:we are|we're|currently|are still) investigating\b/i, INVESTIGATING],
];

/** The state that a text tells in a sentence; null: none that is certain. */
export function meaningOfSentence(text: string): WordMeaning | null {
  const head = text.slice(0, 2_000);
  return SENTENCES.find(([pattern]) => pattern.test(head))?.[1] ?? null;
}

/** From mild to grave. Partial outages are minor, as the vendors of such pages count them. */
const SEVERITIES: readonly (readonly [RegExp, FeedIncident['severity']])[] = [
  [/\bcritical\b/i, 'critical'],
  [/\b(?:major|full|complete|total|severe|high|unavailable)\b/i, 'major'],
];

/**
 * Weight of an entry by labelled words (`Severity: critical`), the states of parts (`API (Full outage)`) and the title
 * (`Major outage of …`); null where none of them says.
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
