/** Maintenance as calendars to subscribe to: of one service, and of a status page (RFC 5545). */

import { DAY_MS } from '../domain/durations.ts';
import { beginningOf, SHORT_TIMELINE } from '../domain/incident/incident.ts';
import { type OwnerMaintenance, ownerMaintenanceId } from '../domain/incident/owner-maintenance.ts';
import { formatStamp } from '../domain/incident/recurrence.ts';
import { fullName, titleWithName } from '../domain/service.ts';
import { describeFile, type OpenApiOperation, type OpenApiParameter, SLUG } from '../http/openapi.ts';
import type { HttpResponse, Route } from '../http/route.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import { pageUrl, redirectToDomain } from '../view/page-address.ts';
import type { ShownDirectory } from '../view/service-directory.ts';
import type { SiteSources } from '../view/site-sources.ts';
import {
  keepPrivate,
  nextOccurrences,
  type PageViewSources,
  pageRefused,
  readPageView,
} from '../view/status-page-view.ts';

/** The time for which past maintenance stays in a calendar, milliseconds. */
const PAST_MS = 30 * DAY_MS;
/** Maximum number of occurrences of one maintenance. */
const MAX_OCCURRENCES = 60;
/** Maximum number of events of a calendar, of which each maintenance has its share. */
const MAX_EVENTS = 500;
/** Maximum number of characters of all texts of a calendar. */
const MAX_CHARACTERS = 200_000;
/** Maximum number of maintenances of the vendor. */
const MAX_VENDORS = 50;

export interface CalendarSources extends SiteSources {
  readonly directory: ShownDirectory;
  readonly registry: PublicReads;
  /** Status pages of owners; null: this site has none. */
  readonly pages: (PageViewSources & { readonly pages: PublicReads }) | null;
}

export function calendarRoutes({
  directory,
  finder,
  registry,
  pages,
  siteUrl,
  now,
}: CalendarSources): Route[] {
  const { hostname } = new URL(siteUrl);
  const answer = (name: string, events: readonly CalendarEvent[]): HttpResponse => ({
    status: 200,
    headers: { 'Content-Type': CALENDAR_MEDIA_TYPE, 'Cache-Control': 'no-cache' },
    body: writeCalendar(name, events),
  });

  const eventsOf = async (
    all: readonly OwnerMaintenance[],
    name: string,
    url: string,
  ): Promise<CalendarEvent[]> => {
    const from = now() - PAST_MS;
    const share = Math.max(1, Math.min(MAX_OCCURRENCES, Math.floor(MAX_EVENTS / all.length)));
    const events = await Promise.all(
      all.map(async (post) => {
        const { cancelledAt, changes, durationMs } = post;
        const inForce = await nextOccurrences({ ...post, cancelledAt: null }, from, share);
        const skipped = changes.flatMap(({ startsAt, endsAt }) =>
          endsAt === null && startsAt > from
            ? [{ startsAt, endsAt: startsAt + durationMs, isSkipped: true }]
            : [],
        );
        return [...inForce.map((one) => ({ ...one, isSkipped: false })), ...skipped].map((one) => ({
          uid: `${ownerMaintenanceId(post.id)}-${Math.round(one.startsAt / 1_000)}@${hostname}`,
          sequence: post.revision - 1,
          title: titleWithName(post.title, name),
          text: post.plain,
          url,
          startsAt: one.startsAt,
          endsAt: one.endsAt,
          updatedAt: post.updatedAt,
          isCancelled: one.isSkipped || (cancelledAt !== null && one.startsAt >= cancelledAt),
        }));
      }),
    );
    const shown = events
      .flat()
      .sort((a, b) => a.startsAt - b.startsAt)
      .slice(0, MAX_EVENTS);
    const characters = Math.min(SHORT_TIMELINE.characters, Math.floor(MAX_CHARACTERS / shown.length));
    return shown.map((event) => ({ ...event, text: beginningOf(event.text, characters) }));
  };

  const ofService: Route = {
    path: '/status/:slug/calendar.ics',
    bucket: 'api',
    access: 'everyone',
    describe: () =>
      describeCalendar('getServiceCalendar', 'Maintenance of one service as a calendar', [
        SLUG('The domain with each dot replaced by a dash.', 'github-com'),
      ]),
    async handle(request) {
      const service = await finder.named(request);
      const name = fullName(service);
      const url = `${siteUrl}/status/${directory.pageName(service)}`;
      const [posts, planned] = await Promise.all([
        registry.maintenancesPostedOf(service.id, now()),
        registry.listMaintenances({ serviceId: service.id, limit: MAX_VENDORS, offset: 0 }),
      ]);
      const ofVendor = planned
        .filter(({ ownerId }) => ownerId === undefined)
        .map((one) => ({
          uid: `${one.id}@${hostname}`,
          sequence: 0,
          title: titleWithName(one.title, name),
          text: beginningOf(one.description),
          url,
          startsAt: one.startsAt,
          endsAt: one.endsAt,
          updatedAt: one.updates.at(-1)?.at ?? one.startsAt,
          isCancelled: false,
        }));
      return answer(name, [...(await eventsOf(posts, name, url)), ...ofVendor]);
    },
  };
  const ofPage = (sources: NonNullable<CalendarSources['pages']>): Route => ({
    path: '/p/:slug/calendar.ics',
    bucket: 'api',
    access: 'everyone',
    open: 'page',
    describe: () =>
      describeCalendar('getPageCalendar', 'Maintenance of a status page as a calendar', [
        SLUG('The page, in any case.', 'acme'),
      ]),
    async handle(request) {
      const view = await readPageView(request, sources);
      if (view === null) throw await pageRefused(request, sources);
      const { page, services } = view;
      const redirect = redirectToDomain(request, siteUrl, page, 'calendar.ics');
      if (redirect !== null) return redirect;
      const serviceIds = services.flatMap(({ service }) => service?.id ?? []);
      const query = { accountId: page.accountId, pageId: page.id, serviceIds };
      const posts = await sources.pages.maintenancesPostedOn(query, now());
      const events = await eventsOf(posts, page.title, pageUrl(siteUrl, page));
      return keepPrivate(page, answer(page.title, events));
    },
  });
  return [ofService, ...(pages === null ? [] : [ofPage(pages)])];
}

function describeCalendar(
  operationId: string,
  summary: string,
  parameters: readonly OpenApiParameter[],
): OpenApiOperation {
  return describeFile({
    operationId,
    tags: ['Incidents'],
    summary,
    description:
      'iCalendar (RFC 5545), from 30 days ago on, up to 60 occurrences of each. Ids never change; what was cancelled is marked as such.',
    parameters,
    mediaType: 'text/calendar',
    what: 'The calendar',
    missing: 'There is no such service or page.',
  });
}

/** Media type of what {@link writeCalendar} writes. */
const CALENDAR_MEDIA_TYPE = 'text/calendar; charset=utf-8';

interface CalendarEvent {
  /** Permanent and unique, such as `m3-1792137600@status.example.com`. */
  readonly uid: string;
  /** Grows with each change of the event, from 0. */
  readonly sequence: number;
  readonly title: string;
  /** Plain text with line breaks. */
  readonly text: string;
  readonly url: string;
  /** Epoch milliseconds. */
  readonly startsAt: number;
  /** Null: not known. */
  readonly endsAt: number | null;
  /** The time at which it was last changed, epoch milliseconds. */
  readonly updatedAt: number;
  /** It does not take place. */
  readonly isCancelled: boolean;
}

/** Lines have at most this many bytes, without their end (RFC 5545, 3.1). */
const MAX_LINE_BYTES = 75;

/** Writes a calendar. `name` is shown by readers. */
function writeCalendar(name: string, events: readonly CalendarEvent[]): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Upbeat//Maintenance//EN',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    `NAME:${escapeText(name)}`,
    `X-WR-CALNAME:${escapeText(name)}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
    'X-PUBLISHED-TTL:PT1H',
    ...events.flatMap(eventLines),
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join('');
}

function eventLines(event: CalendarEvent): string[] {
  const { uid, sequence, title, text, url, startsAt, endsAt, updatedAt, isCancelled } = event;
  return [
    'BEGIN:VEVENT',
    `UID:${escapeText(uid)}`,
    `SEQUENCE:${sequence}`,
    `DTSTAMP:${formatStamp(updatedAt)}`,
    `LAST-MODIFIED:${formatStamp(updatedAt)}`,
    `DTSTART:${formatStamp(startsAt)}`,
    ...(endsAt === null ? [] : [`DTEND:${formatStamp(endsAt)}`]),
    `SUMMARY:${escapeText(title)}`,
    ...(text === '' ? [] : [`DESCRIPTION:${escapeText(text)}`]),
    `URL:${new URL(url).href}`,
    `STATUS:${isCancelled ? 'CANCELLED' : 'CONFIRMED'}`,
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ];
}

/** Escapes a text (RFC 5545, 3.3.11). Other control characters are not allowed at all. */
function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
    .replaceAll(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n');
}

/** Breaks a line into parts of at most 75 bytes, never within a character. */
function fold(line: string): string {
  const parts: string[] = [];
  let part = '';
  let bytes = 0;
  for (const character of line) {
    const length = Buffer.byteLength(character);
    if (bytes + length > MAX_LINE_BYTES) {
      parts.push(part);
      part = ' ';
      bytes = 1;
    }
    part += character;
    bytes += length;
  }
  parts.push(part);
  return parts.join('\r\n');
}
