/** Okta: the page for people contains its incidents as JSON, records of Salesforce. Nothing else is public: the page has no feed. */
import type { FeedIncident } from '../../domain/incident/feed-entry.ts';
import { buildIncident } from '../build-entry.ts';
import { decodeText, FeedFormatError, type FeedKind } from '../feed-kind.ts';
import { meaningOf, statusOf } from '../item-vocabulary.ts';
import {
  type JsonObject,
  lookUp,
  numberAt,
  objectsOf,
  readJson,
  textAt,
  timeAt,
  wordAt,
} from '../json-shape.ts';
import { plainText } from '../plain-text.ts';

const START = '[{"attributes":{"type":"Incident__c"';

/** Of the categories; others are minor. */
const SEVERITIES = { major_service_disruption: 'critical', service_disruption: 'major' } as const;

const MINUTE_MS = 60_000;

/** Reads Okta's status. */
export const okta: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'page',
      url: feedUrl ?? pageUrl,
      listsOnlyOpen: false,
      read(body) {
        const list = listAt(decodeText(body), START);
        if (list === null) throw new FeedFormatError('the page contains no incidents of Okta');
        return objectsOf(list).map((record) => readIncident(record, pageUrl));
      },
    },
  ],
};

/** Null: it has no identifier. */
function readIncident(record: JsonObject, pageUrl: string): FeedIncident | null {
  const key = textAt(record, 'Id') || textAt(record, 'Name');
  if (key === '') return null;
  const status = statusOf(meaningOf(textAt(record, 'Status__c'))) ?? 'investigating';
  const startedAt = timeAt(record, 'Start_Time__c') ?? timeAt(record, 'CreatedDate');
  const minutes = numberAt(record, 'Duration__c');
  const endedAt = startedAt === null || minutes === null ? null : startedAt + minutes * MINUTE_MS;
  const at = timeAt(record, 'Last_Updated__c') ?? startedAt;
  const text = plainText(textAt(record, 'Log__c'));
  return buildIncident({
    key,
    title: textAt(record, 'Incident_Title__c'),
    sourceUrl: pageUrl,
    components: [
      ...textAt(record, 'Okta_Sub_Service__c').split(';'),
      ...textAt(record, 'Impacted_Cells__c').split(';'),
    ],
    // The text is that of the last change, which may be a review long after the end.
    updates:
      at === null || text === ''
        ? []
        : [{ at: endedAt !== null && status === 'resolved' ? Math.min(at, endedAt) : at, status, text }],
    severity: lookUp(SEVERITIES, wordAt(record, 'Category__c')) ?? 'minor',
    status,
    startedAt,
    resolvedAt: endedAt ?? at,
  });
}

/**
 * The list in `text` that begins with `start`, whose first sign is its bracket; null: there is none. Throws FeedFormatError if it is not
 * JSON. Takes linear time.
 */
function listAt(text: string, start: string): unknown[] | null {
  const from = text.indexOf(start);
  if (from === -1) return null;
  let depth = 0;
  let isQuoted = false;
  for (let index = from; index < text.length; index++) {
    const sign = text[index];
    if (isQuoted) {
      if (sign === '\\') index++;
      else if (sign === '"') isQuoted = false;
    } else if (sign === '"') isQuoted = true;
    else if (sign === '[' || sign === '{') depth++;
    else if ((sign === ']' || sign === '}') && --depth === 0) {
      const list = readJson(Buffer.from(text.slice(from, index + 1)));
      return Array.isArray(list) ? list : null;
    }
  }
  return null;
}
