/**
 * Microsoft 365: `/api/posts/m365Consumer` of status.cloud.microsoft, one post for each service, whose text names start and end of an
 * incident. Other lists of that host (`/api/posts/mac`) have the same posts, or a single one. Older pages list services with `IsUp`.
 */
import type { FeedIncident } from '../../domain/incident/feed-entry.ts';
import { buildIncident, unreportedOutages } from '../build-entry.ts';
import { FeedFormatError, type FeedKind, originOf } from '../feed-kind.ts';
import { meaningOf, statusOf } from '../item-vocabulary.ts';
import {
  type JsonObject,
  member,
  objectsAt,
  objectsOf,
  readJson,
  textAt,
  textsAt,
  timeAt,
  wordAt,
} from '../json-shape.ts';
import { boundText, plainText } from '../plain-text.ts';
import { readMonthFirst } from '../read-time.ts';

/** Reads Microsoft 365. */
export const microsoft365: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'posts',
      url: feedUrl ?? `${originOf(pageUrl)}/api/posts/m365Consumer`,
      listsOnlyOpen: true,
      read(body, now) {
        const posts = requirePosts(body);
        const states = { pageUrl, parts: posts.map(partOf), pageSeverity: null, title: null };
        return [
          ...unreportedOutages(states, [], now),
          ...posts.filter(hasStatus).map((post) => readPost(post, pageUrl)),
        ];
      },
    },
  ],
};

/** A post says what its service is: in words, or only whether it is up. */
function requirePosts(body: Uint8Array): JsonObject[] {
  const top = readJson(body);
  const posts = [...objectsOf(Array.isArray(top) ? top : [top]), ...objectsAt(top, 'Services')].filter(
    (post) => hasStatus(post) || typeof member(post, 'IsUp') === 'boolean',
  );
  if (posts.length === 0) throw new FeedFormatError('the document has no posts');
  return posts;
}

function hasStatus(post: JsonObject): boolean {
  return textAt(post, 'Status') !== '' && textAt(post, 'LastUpdatedTime') !== '';
}

function partOf(post: JsonObject) {
  return {
    id: textAt(post, 'Id'),
    names: textsAt(post, 'Name', 'Id'),
    severity: member(post, 'IsUp') === false ? ('minor' as const) : null,
  };
}

/** Null: all is well, or what is over has no start. */
function readPost(post: JsonObject, pageUrl: string): FeedIncident | null {
  const title = textAt(post, 'Title');
  const meaning = meaningOf(textAt(post, 'Status').slice(0, 100));
  if (meaning?.kind === 'operational' || (meaning === null && title === '')) return null;
  const status = statusOf(meaning) ?? 'investigating';
  const text = boundText(plainText(textAt(post, 'Message')));
  const startedAt = toldTime(text, 'Start time');
  if (status === 'resolved' && startedAt === null) return null;
  const service = textAt(post, 'ServiceWorkloadName') || textAt(post, 'ServiceDisplayName') || 'post';
  const at = timeAt(post, 'LastUpdatedTime');
  return buildIncident({
    // Titles change during an incident: what is not possible was not possible.
    key: startedAt === null ? service : `${service} ${new Date(startedAt).toISOString()}`,
    ...(startedAt === null ? {} : { continues: [service] }),
    title,
    sourceUrl: pageUrl,
    components: textsAt(post, 'ServiceDisplayName', 'ServiceWorkloadName'),
    updates: at === null ? [] : [{ at, status, text }],
    severity: wordAt(post, 'Status') === 'service_interruption' ? 'major' : 'minor',
    status,
    startedAt,
    resolvedAt: toldTime(text, 'End time'),
  });
}

/** `Start time: Thursday, September 3, 2026, at 6:57 AM UTC`; null: the text has no such line. */
function toldTime(text: string, label: 'Start time' | 'End time'): number | null {
  const line = text.split('\n').find((one) => one.startsWith(`${label}:`));
  return line === undefined ? null : readMonthFirst(line.slice(label.length + 1).trim());
}
