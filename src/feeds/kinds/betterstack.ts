/**
 * Better Stack: `/index.json` (JSON:API), whose `included` list contains reports, their updates and the page's resources. Monitors set
 * the state of a resource before a report is written. A feed URL is the base of the host that serves `/index.json`.
 */
import type { FeedEntry, FeedIncident, FeedUpdate } from '../../domain/incident/feed-entry.ts';
import {
  buildIncident,
  buildMaintenance,
  STATE_KEYS,
  unreportedOutages,
  withLastStatus,
} from '../build-entry.ts';
import { FeedFormatError, type FeedKind, pageBase } from '../feed-kind.ts';
import {
  type JsonObject,
  lookUp,
  member,
  objectAt,
  objectsAt,
  readJsonObject,
  readTimed,
  requireObjects,
  textAt,
  timeAt,
  wordAt,
} from '../json-shape.ts';
import { plainText } from '../plain-text.ts';

const SEVERITIES: Readonly<Record<string, 'minor' | 'major'>> = { degraded: 'minor', downtime: 'major' };

const OVER = new Set(['resolved', 'operational']);

/** Resources of one report or update. */
const MAX_AFFECTED = 1_000;

/** Reads Better Stack. */
export const betterstack: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'index',
      url: `${pageBase(feedUrl ?? pageUrl).replace(/\/index\.json$/, '')}/index.json`,
      listsOnlyOpen: false,
      read(body, now) {
        const page = readPage(body, pageUrl);
        const reports = page.included.filter((item) => typeOf(item) === 'status_report' && idOf(item) !== '');
        const found = reports.map((report) => readReport(report, page)).filter((entry) => entry !== null);
        return [...unreportedOutages(statesOf(page), found, now), ...found];
      },
    },
  ],
};

type StatusPage = ReturnType<typeof readPage>;

function readPage(body: Uint8Array, pageUrl: string) {
  const top = readJsonObject(body);
  const data = member(top, 'data');
  if (textAt(data, 'type') !== 'status_page')
    throw new FeedFormatError('the document is not of a status page');
  const included = requireObjects(top, 'included');
  return {
    pageUrl,
    pageState: wordAt(member(data, 'attributes'), 'aggregate_state'),
    included,
    byId: new Map(included.map((item) => [`${typeOf(item)} ${idOf(item)}`, item])),
  };
}

function statesOf(page: StatusPage) {
  const parts = page.included.filter((item) => typeOf(item) === 'status_page_resource');
  return {
    pageUrl: page.pageUrl,
    parts: parts.map((part) => ({
      id: idOf(part),
      names: namesOf(idOf(part), page),
      severity: lookUp(SEVERITIES, wordAt(member(part, 'attributes'), 'status')),
    })),
    pageSeverity: lookUp(SEVERITIES, page.pageState),
    title: null,
  };
}

function readReport(report: JsonObject, page: StatusPage): FeedEntry | null {
  const attributes = member(report, 'attributes');
  const linked = takeUpdates(report, page);
  const affected = [attributes, ...linked].flatMap(affectedBy);
  const aggregate = wordAt(attributes, 'aggregate_state');
  const startsAt = timeAt(attributes, 'starts_at');
  const endsAt = timeAt(attributes, 'ends_at');
  const base = {
    key: idOf(report),
    title: textAt(attributes, 'title'),
    sourceUrl: page.pageUrl,
    components: affected.flatMap((one) => namesOf(textAt(one, 'status_page_resource_id'), page)),
  };
  if (wordAt(attributes, 'report_type') === 'maintenance' || aggregate === 'maintenance') {
    if (startsAt === null) return null;
    // The state is `maintenance` from the announcement on; until the end, the times tell whether it is running.
    const state = OVER.has(aggregate) ? 'done' : 'planned';
    const planned = timedTexts(linked).map(({ at, text }) => ({ at, status: 'identified' as const, text }));
    // The newest update of a maintenance that is over reports its end.
    const updates = state === 'done' ? withLastStatus(planned, 'resolved') : planned;
    return buildMaintenance({ ...base, updates, startsAt, endsAt, state });
  }
  const over = OVER.has(aggregate);
  const updates = incidentUpdates(linked, over);
  return buildIncident({
    ...base,
    continues: STATE_KEYS,
    updates,
    severity: worstOf([aggregate, ...affected.map((one) => wordAt(one, 'status'))]),
    status: over ? 'resolved' : 'investigating',
    startedAt: startsAt,
    // `ends_at` is often null although the report is resolved.
    resolvedAt: endsAt ?? updates.at(-1)?.at ?? null,
  });
}

/**
 * The attributes of a report's updates, which are removed from `byId`: a document in which all reports link to all
 * updates must not grow to their product.
 */
function takeUpdates(report: JsonObject, { byId }: StatusPage): JsonObject[] {
  const updates = member(member(report, 'relationships'), 'status_updates');
  return objectsAt(updates, 'data').flatMap((link) => {
    const name = `status_update ${idOf(link)}`;
    const attributes = objectAt(byId.get(name), 'attributes');
    return byId.delete(name) && attributes !== null ? [attributes] : [];
  });
}

function affectedBy(attributes: unknown): JsonObject[] {
  return objectsAt(attributes, 'affected_resources').slice(0, MAX_AFFECTED);
}

/** An update in which all parts have recovered is the end; so is the newest one of a report that is over. */
function incidentUpdates(linked: readonly JsonObject[], over: boolean): readonly FeedUpdate[] {
  const updates = timedTexts(linked).map(({ at, text, affected }): FeedUpdate => {
    const recovered = affected.length > 0 && affected.every((one) => OVER.has(wordAt(one, 'status')));
    return { at, status: recovered ? 'resolved' : 'investigating', text };
  });
  return withLastStatus(updates, over ? 'resolved' : 'investigating');
}

function timedTexts(linked: readonly JsonObject[]) {
  return readTimed(linked, 'published_at', (attributes) => ({
    text: plainText(textAt(attributes, 'message')),
    affected: affectedBy(attributes),
  }));
}

/** The name, identifier and section of a resource. */
function namesOf(resourceId: string, { byId }: StatusPage): string[] {
  const attributes = member(byId.get(`status_page_resource ${resourceId}`), 'attributes');
  const section = byId.get(`status_page_section ${textAt(attributes, 'status_page_section_id')}`);
  const sectionName = textAt(member(section, 'attributes'), 'name');
  return [textAt(attributes, 'public_name'), resourceId, sectionName];
}

function worstOf(words: readonly string[]): FeedIncident['severity'] {
  return words.some((word) => lookUp(SEVERITIES, word) === 'major') ? 'major' : 'minor';
}

function typeOf(item: JsonObject): string {
  return textAt(item, 'type');
}

function idOf(item: JsonObject): string {
  return textAt(item, 'id');
}
