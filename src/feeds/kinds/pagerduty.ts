/**
 * PagerDuty's status pages: `/api/posts`, incidents and maintenance by identifiers of states and services, whose names are
 * in `/api/post_enums` and `/api/services`. Each page has words of its own. A feed URL is the base of the host.
 */
import type { FeedEntry, FeedIncident, FeedUpdate } from '../../domain/incident/feed-entry.ts';
import { buildIncident, buildMaintenance, withLastStatus, worstSeverity } from '../build-entry.ts';
import { type FeedKind, originOf, safeLink } from '../feed-kind.ts';
import { meaningOf, statusOf, type WordMeaning } from '../item-vocabulary.ts';
import {
  type JsonObject,
  limitedNames,
  lookUp,
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

/** Of incidents and of their impacts; others are minor. */
const SEVERITIES = { critical: 'critical', major: 'major', major_outage: 'major', outage: 'major' } as const;

const MAX_IMPACTS = 100;
const MAX_NAME_LENGTH = 100;

/** The names that posts refer to, by identifier. */
type Names = ReadonlyMap<string, string>;

/** Reads PagerDuty's status pages. */
export const pagerduty: FeedKind = {
  addresses({ pageUrl, feedUrl }) {
    const origin = originOf(feedUrl ?? pageUrl);
    let words: Names = new Map();
    let services: Names = new Map();
    const reference = (name: string, list: string, keep: (names: Names) => void) => ({
      name: name.replaceAll('_', '-'),
      url: `${origin}/api/${name}`,
      listsOnlyOpen: true,
      isReference: true as const,
      read(body: Uint8Array) {
        keep(namesIn(requireObjects(readJsonObject(body), list)));
        return [];
      },
    });
    return [
      reference('post_enums', 'post_enums', (names) => {
        words = names;
      }),
      reference('services', 'services', (names) => {
        services = names;
      }),
      {
        name: 'posts',
        url: `${origin}/api/posts?is_featured=true&limit=500`,
        listsOnlyOpen: true,
        read(body) {
          const page = { words, nameOf: limitedNames(services), origin, pageUrl };
          return requireObjects(readJsonObject(body), 'posts').map((post) => readPost(post, page));
        },
      },
    ];
  },
};

function namesIn(list: readonly JsonObject[]): Names {
  return new Map(
    list.map((one) => [
      textAt(one, 'id'),
      (textAt(one, 'display_name') || textAt(one, 'name')).slice(0, MAX_NAME_LENGTH),
    ]),
  );
}

interface Page {
  readonly words: Names;
  readonly nameOf: (id: string) => string;
  readonly origin: string;
  readonly pageUrl: string;
}

/** Null: it has no identifier, or is a maintenance without a start. */
function readPost(post: JsonObject, page: Page): FeedEntry | null {
  const key = textAt(post, 'id');
  const latest = objectAt(post, 'latest_update');
  if (key === '' || key.length > MAX_NAME_LENGTH) return null;
  const known = new Set(objectsAt(post, 'updates').map((update) => textAt(update, 'id')));
  const isNew = latest !== null && !known.has(textAt(latest, 'id'));
  const told = [...objectsAt(post, 'updates'), ...(isNew ? [latest] : [])];
  const timed = readTimed(told, 'reported_at', (update) => ({
    meaning: meaningOf(wordOf(update, 'status_id', page)),
    text: plainText(textAt(update, 'message')),
  }));
  const meaning = meaningOf(wordOf(latest, 'status_id', page));
  const impacts = objectsAt(latest, 'impacts').slice(0, MAX_IMPACTS);
  const base = {
    key,
    title: textAt(post, 'title'),
    sourceUrl:
      safeLink(`${page.origin}/posts/details/${encodeURIComponent(key.toWellFormed())}`, page.pageUrl) ??
      page.pageUrl,
    components: impacts.flatMap((impact) => {
      const id = textAt(impact, 'service_id');
      return [page.nameOf(id), id];
    }),
    updates: updatesOf(timed, statusOf(meaning)),
  };
  const startsAt = timeAt(post, 'starts_at');
  const endsAt = timeAt(post, 'ends_at');
  if (wordAt(post, 'post_type') === 'maintenance')
    return startsAt === null
      ? null
      : buildMaintenance({
          ...base,
          startsAt,
          endsAt,
          state:
            meaning?.kind === 'maintenance'
              ? meaning.state
              : statusOf(meaning) === 'resolved'
                ? 'done'
                : 'planned',
        });
  return buildIncident({
    ...base,
    severity: severityOf([latest, ...impacts], page),
    status: statusOf(meaning) ?? 'investigating',
    startedAt: startsAt ?? timeAt(post, 'first_update_at') ?? timed[0]?.at ?? null,
    resolvedAt: endsAt,
  });
}

function updatesOf(
  timed: readonly { readonly at: number; readonly meaning: WordMeaning | null; readonly text: string }[],
  status: FeedUpdate['status'] | null,
): readonly FeedUpdate[] {
  let before: FeedUpdate['status'] = 'investigating';
  const updates = timed.map(({ at, meaning, text }): FeedUpdate => {
    before = statusOf(meaning) ?? before;
    return { at, status: before, text };
  });
  return status === null ? updates : withLastStatus(updates, status);
}

function wordOf(update: JsonObject | null, name: 'status_id' | 'severity_id', { words }: Page): string {
  return words.get(textAt(update, name)) ?? '';
}

function severityOf(told: readonly (JsonObject | null)[], page: Page): FeedIncident['severity'] {
  const words = told.map((one) => wordOf(one, 'severity_id', page).toLowerCase().replaceAll(' ', '_'));
  return worstSeverity(words.map((word) => lookUp(SEVERITIES, word) ?? 'minor'));
}
