/** The vocabulary of status pages in RSS and Atom, mapped to the statuses of the API. */
import type { FeedIncident, FeedMaintenance } from '../domain/feed-entry.ts';

/** The meaning of a word. */
export type WordMeaning =
  | { readonly kind: 'incident'; readonly status: FeedIncident['status'] }
  | { readonly kind: 'maintenance'; readonly state: FeedMaintenance['state'] }
  /** An update without a new state. */
  | { readonly kind: 'update' }
  /** Nothing is wrong, so there is no entry. */
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

/** The labels before texts, in lower case, by their meaning. */
const LABELS = new Map<string, WordMeaning>();
for (const [meaning, labels] of [
  [
    INVESTIGATING,
    'investigating, new, open, active, ongoing, degraded, degraded performance, down, unavailable',
  ],
  [INVESTIGATING, 'outage, minor outage, partial outage, major outage, full outage, service outage'],
  [INVESTIGATING, 'service disruption, service degradation, service interruption'],
  [IDENTIFIED, 'identified, issue identified'],
  [MONITORING, 'monitoring, recovering, restoring service, extended recovery'],
  [RESOLVED, 'resolved, mitigated, fixed, recovered, closed, postmortem, post-mortem, false alarm'],
  [RESOLVED, 'service restored, false positive, post-incident report published'],
  [PLANNED, 'scheduled, planned, upcoming'],
  [RUNNING, 'in progress, verifying, under maintenance, maintenance in progress, maintenance'],
  [DONE, 'completed, complete, cancelled, canceled'],
  [UPDATE, 'update, updated'],
  [OPERATIONAL, 'operational, available, up, no issues, all systems operational'],
] as const)
  for (const label of labels.split(', ')) LABELS.set(label, meaning);

/** Labels that also occur at the beginning or end of titles. */
const TITLE_WORDS =
  'investigating|identified|monitoring|resolved|mitigated|completed|operational|degraded performance|' +
  'partial outage|major outage|under maintenance';

const LEADING_MARK = new RegExp(`^(?:\\[(${TITLE_WORDS}|update)\\]|(${TITLE_WORDS}|update):)\\s*`, 'i');
const TRAILING_MARK = new RegExp(
  `\\s*(?:\\[(${TITLE_WORDS})\\]|\\((${TITLE_WORDS})\\)|\\s[-–—|:]\\s(${TITLE_WORDS}))$`,
  'i',
);

/** The meaning of a label; null: it is not a label. */
export function meaningOf(label: string): WordMeaning | null {
  const folded = label.toLowerCase().replace(/[\s_]+/g, ' ');
  return LABELS.get(folded.trim()) ?? null;
}

/** Splits a title from its state, such as `[RESOLVED]` before or ` - Investigating` after it. */
export function splitTitle(title: string): { readonly title: string; readonly meaning: WordMeaning | null } {
  const match = LEADING_MARK.exec(title) ?? TRAILING_MARK.exec(title);
  if (match === null) return { title, meaning: null };
  const rest = title.replace(match[0], '').trim();
  const word = match.slice(1).find((group) => group !== undefined) ?? '';
  return { title: rest === '' ? title : rest, meaning: meaningOf(word) };
}

/** Whether a text is only the state of a component. */
export function isPartState(text: string): boolean {
  return /^(?:status: )?(?:degraded performance|(?:partial|major|full) outage|under maintenance)$/i.test(
    text,
  );
}

/** Sentences with a state, for texts without a label. The first match counts, so the latest state comes first. */
const SENTENCES: readonly (readonly [RegExp, WordMeaning])[] = [
  [/\b(?:has|have) (?:now )?(?:been )?(?:fully |completely )?(?:resolved|mitigated|recovered)\b/i, RESOLVED],
  [/\b(?:issue|incident|problem|outage) (?:is|was) (?:now )?(?:fully )?(?:resolved|fixed|over)\b/i, RESOLVED],
  [/\b(?:we are|we're|are now|will continue to|continue to) monitor(?:ing)?\b/i, MONITORING],
  [/(?<!\b(?:may|might|could) )\b(?:has|have) (?:now )?(?:been )?identified\b/i, IDENTIFIED],
  [/\b(?:we are|we're|currently|are still) investigating\b/i, INVESTIGATING],
];

/** The state in the sentences of a text; null: none is certain. */
export function meaningOfSentence(text: string): WordMeaning | null {
  const head = text.slice(0, 2_000);
  return SENTENCES.find(([pattern]) => pattern.test(head))?.[1] ?? null;
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
