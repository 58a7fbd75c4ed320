/** FireHydrant: `/data/payload.json`, incidents of the last weeks with their timelines. A feed URL is the base of the host. */
import type { FeedEntry, FeedUpdate } from '../../domain/incident/feed-entry.ts';
import { buildIncident, buildMaintenance } from '../build-entry.ts';
import { type FeedKind, originOf } from '../feed-kind.ts';
import { meaningOf, statusOf } from '../item-vocabulary.ts';
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
  textsAt,
  timeAt,
} from '../json-shape.ts';
import { plainMarkdown, plainText } from '../plain-text.ts';

/** Others, which organizations name themselves, are minor. */
const SEVERITIES = { SEV1: 'critical', SEV2: 'major' } as const;

/** `➡️ **Resolved** — All clear.` */
const LABEL = /^[^\p{L}*]{0,10}\*\*([\p{L} ]{1,40})\*\*\s*[-–—:]\s*/u;

/** Reads pages of FireHydrant. */
export const firehydrant: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'payload',
      url: `${originOf(feedUrl ?? pageUrl)}/data/payload.json`,
      listsOnlyOpen: false,
      read(body) {
        const top = readJsonObject(body);
        requireObjects(top, 'components');
        return requireObjects(top, 'incidents').map((incident) => readIncident(incident, pageUrl));
      },
    },
  ],
};

/** Null: it has no identifier, or is a maintenance without a start. */
function readIncident(item: JsonObject, pageUrl: string): FeedEntry | null {
  const key = textAt(item, 'id');
  if (key === '') return null;
  const times = objectAt(item, 'timestamps');
  const startsAt = timeAt(times, 'started') ?? timeAt(times, 'detected');
  const endsAt = timeAt(times, 'resolved');
  const updates = updatesOf(item, endsAt);
  const base = {
    key,
    title: textAt(item, 'title'),
    sourceUrl: pageUrl,
    components: objectsAt(item, 'components').flatMap((part) => textsAt(part, 'name', 'id')),
    updates,
  };
  const severity = textAt(item, 'severitySlug');
  if (severity === 'MAINTENANCE')
    return startsAt === null
      ? null
      : buildMaintenance({ ...base, startsAt, endsAt, state: endsAt === null ? 'planned' : 'done' });
  const told = updates.at(-1)?.status ?? 'investigating';
  return buildIncident({
    ...base,
    severity: lookUp(SEVERITIES, severity) ?? 'minor',
    status: endsAt === null ? told : 'resolved',
    startedAt: startsAt,
    resolvedAt: endsAt,
  });
}

/** Oldest first. Events without a text change the status of those after them. */
function updatesOf(item: JsonObject, endsAt: number | null): FeedUpdate[] {
  const events = objectsAt(item, 'timeline').map((event) => ({
    ...event,
    at: member(event, 'occurredAt') ?? member(event, 'time'),
  }));
  let status: FeedUpdate['status'] = 'investigating';
  return readTimed(events, 'at', readEvent)
    .map((event) => {
      status = event.status ?? status;
      return { at: event.at, status, text: event.text };
    })
    .map((update, index, all) =>
      endsAt !== null && index === all.length - 1 ? { ...update, status: 'resolved' as const } : update,
    )
    .filter(({ text }) => text !== '');
}

function readEvent(event: JsonObject): {
  readonly status: FeedUpdate['status'] | null;
  readonly text: string;
} {
  const details = objectAt(event, 'details');
  const note = textAt(details, 'note') || textAt(objectAt(details, 'note'), 'note');
  const label = LABEL.exec(note.slice(0, 100));
  const milestone = textAt(objectAt(details, 'milestoneUpdate'), 'currentMilestone');
  return {
    status: statusOf(meaningOf(label?.[1] ?? milestone)),
    text: plainText(plainMarkdown(note.slice(label?.[0].length ?? 0))),
  };
}
