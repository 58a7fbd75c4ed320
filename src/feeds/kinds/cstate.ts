/**
 * cState: `/index.json` (documented, version 2 of its API), the states of systems with their unresolved issues. Its
 * descriptions may contain raw line breaks, which JSON forbids.
 */
import type { FeedIncident } from '../../domain/incident/feed-entry.ts';
import { buildIncident, STATE_KEYS, unreportedOutages } from '../build-entry.ts';
import { FeedFormatError, type FeedKind, pageBase, safeLink } from '../feed-kind.ts';
import {
  type JsonObject,
  lookUp,
  member,
  objectsAt,
  readJsonObject,
  requireObjects,
  textAt,
  textListAt,
  timeAt,
  wordAt,
} from '../json-shape.ts';

/** Maximum length of the name of a system, with which each of its issues is read. */
const MAX_NAME_LENGTH = 100;

const SEVERITIES = { disrupted: 'minor', down: 'major' } as const;

/** Reads cState. */
export const cstate: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'index',
      url: `${pageBase(feedUrl ?? pageUrl).replace(/\/index\.json$/, '')}/index.json`,
      listsOnlyOpen: true,
      read(body, now) {
        const top = readJsonObject(body.map((byte) => Math.max(byte, 0x20)));
        if (textAt(top, 'cStateVersion') === '') throw new FeedFormatError('the document is not of cState');
        const systems = requireObjects(top, 'systems');
        const parts = systems.map((system) => ({
          id: nameOf(system),
          names: [nameOf(system), textAt(system, 'category')],
          severity: lookUp(SEVERITIES, wordAt(system, 'status')),
        }));
        const entries = issuesOf(systems).map((issue) => readIssue(issue, pageUrl));
        return [
          ...unreportedOutages({ pageUrl, parts, pageSeverity: null, title: null }, entries, now),
          ...entries,
        ];
      },
    },
  ],
};

function nameOf(system: JsonObject): string {
  return textAt(system, 'name').slice(0, MAX_NAME_LENGTH);
}

function issuesOf(systems: readonly JsonObject[]) {
  const found = new Map<string, { issue: JsonObject; systems: string[] }>();
  for (const system of systems)
    for (const issue of objectsAt(system, 'unresolvedIssues')) {
      const key = textAt(issue, 'filename') || textAt(issue, 'permalink');
      const known = found.get(key);
      if (known !== undefined) known.systems.push(nameOf(system));
      else if (key !== '') found.set(key, { issue, systems: [nameOf(system)] });
    }
  return [...found].map(([key, listed]) => ({ key, ...listed }));
}

/** Null: it is for information only. */
function readIssue(
  { key, issue, systems }: ReturnType<typeof issuesOf>[number],
  pageUrl: string,
): FeedIncident | null {
  if (isYes(issue, 'informational')) return null;
  const startedAt = timeAt(issue, 'createdAt');
  return buildIncident({
    key,
    ...(startedAt === null ? {} : { continues: STATE_KEYS }),
    title: textAt(issue, 'title'),
    sourceUrl: safeLink(member(issue, 'permalink'), pageUrl) ?? pageUrl,
    components: [...textListAt(issue, 'affected'), ...systems],
    updates: [],
    severity: lookUp(SEVERITIES, wordAt(issue, 'severity')) ?? 'minor',
    status: isYes(issue, 'resolved') ? 'resolved' : 'investigating',
    startedAt,
    resolvedAt: timeAt(issue, 'resolvedAt'),
  });
}

function isYes(issue: JsonObject, name: string): boolean {
  return member(issue, name) === true || textAt(issue, name) === 'true';
}
