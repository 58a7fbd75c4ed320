/** The time that vendors of the catalogue take to report outages, as data for the endpoint and the page. */

import { createPromiseCache } from '../async/bounded-map.ts';
import { createConcurrencyLimiter } from '../async/concurrency-limiter.ts';
import { DAY_MS, MINUTE_MS } from '../domain/durations.ts';
import type { UnreadPeriod } from '../domain/incident/acknowledgement.ts';
import {
  type HonestyFigures,
  honestyFigures,
  rankVendors,
  type VendorOutage,
  vendorOutages,
} from '../domain/incident/honesty.ts';
import { feedIdOf, fullName, type Service } from '../domain/service.ts';
import type { IncidentStore } from '../store/ports/incidents.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import type { UnreadTime } from '../store/ports/vendors.ts';
import type { SiteSources } from './site-sources.ts';
import { intervalOf } from './staleness.ts';

export const HONESTY_WINDOWS = ['90d', '1y'] as const;

export type HonestyWindow = (typeof HONESTY_WINDOWS)[number];

const LENGTHS: Readonly<Record<HonestyWindow, number>> = { '90d': 90 * DAY_MS, '1y': 365 * DAY_MS };
/** The time for which figures are shown before they are computed again. */
const MAX_AGE_MS = 10 * MINUTE_MS;
/** Number of services whose incidents are read by one call, so that other reads of the registry come in between. */
const SERVICES_AT_ONCE = 32;
const MAX_READS = 4;

/** A vendor with at least one outage that counts. */
export interface HonestVendor extends HonestyFigures {
  /** 1 is the quickest; null: it has too few outages for a rank. */
  readonly rank: number | null;
  /** The shortest name among its services. */
  readonly name: string;
  /** The service of that name. */
  readonly service: Service;
  /** The status page. */
  readonly url: string;
  /** Time of the window in which the page could not be read, milliseconds. */
  readonly unreadMs: number;
  /** Since when it cannot be read, epoch milliseconds; null: it can. */
  readonly unreadSince: number | null;
  /** Newest first. */
  readonly entries: readonly VendorOutage<Service>[];
}

/** Vendors by rank, and the figures of all their outages together. Times are epoch milliseconds. */
export interface Honesty {
  readonly from: number;
  readonly to: number;
  readonly vendors: readonly HonestVendor[];
  readonly all: HonestyFigures;
}

export interface HonestySources extends Pick<SiteSources, 'directory' | 'vendorOf' | 'intervalMs' | 'now'> {
  readonly registry: IncidentStore & PublicReads;
}

/** Reads the figures of a window; they are at most ten minutes old, or older while the registry is unavailable. */
export type ReadHonesty = ReturnType<typeof createHonestyReader>;

/** Creates the reader, which endpoint and page share. */
export function createHonestyReader({ directory, vendorOf, intervalMs, registry, now }: HonestySources) {
  const cached = createPromiseCache<HonestyWindow, Honesty>({
    maxEntries: HONESTY_WINDOWS.length,
    maxAgeMs: MAX_AGE_MS,
    now,
    recover: (_, last) => last,
  });

  const compute = async (window: HonestyWindow): Promise<Honesty> => {
    const to = now();
    const from = to - LENGTHS[window];
    const services = directory
      .all()
      .filter(({ origin, statusPage }) => origin === 'catalogue' && feedIdOf(statusPage) !== null);
    const limit = createConcurrencyLimiter(MAX_READS);
    const parts = Array.from({ length: Math.ceil(services.length / SERVICES_AT_ONCE) }, (_, index) =>
      services.slice(index * SERVICES_AT_ONCE, (index + 1) * SERVICES_AT_ONCE).map(({ id }) => id),
    );
    const [unread, ...found] = await Promise.all([
      registry.unreadTimesSince(from),
      ...parts.map((ids) => limit(() => registry.incidentsOfServicesSince(ids, from))),
    ]);
    const byService = Map.groupBy(found.flat(), ({ serviceId }) => serviceId);
    const byPage = Map.groupBy(services, ({ statusPage }) => statusPage?.url ?? '');
    const vendors = [...byPage].flatMap(([url, ofPage]) => {
      const past = ofPage.map((service) => ({
        service,
        intervalMs: intervalOf(service, intervalMs),
        incidents: byService.get(service.id) ?? [],
      }));
      const times = unreadPeriods(ofPage, unread, vendorOf, to);
      const entries = vendorOutages(past, to, times);
      const named = ofPage.reduce((a, b) => (fullName(b).length < fullName(a).length ? b : a));
      if (entries.length === 0) return [];
      const unreadMs = times.reduce((sum, time) => sum + time.to - Math.max(time.from, from), 0);
      const unreadSince = times.find((time) => time.to === to)?.from ?? null;
      const about = { name: fullName(named), service: named, url, unreadMs, unreadSince, entries };
      return [{ ...about, ...honestyFigures(entries) }];
    });
    return {
      from,
      to,
      vendors: rankVendors(vendors),
      all: honestyFigures(vendors.flatMap(({ entries }) => entries)),
    };
  };

  return (window: HonestyWindow): Promise<Honesty> => cached(window, '', () => compute(window));
}

/** Reads the stored times of the page of a service that had not ended at `from`, epoch milliseconds. */
export async function readUnread(
  { statusPage }: Service,
  from: number,
  registry: PublicReads,
): Promise<readonly UnreadTime[]> {
  const feed = feedIdOf(statusPage);
  return feed === null ? [] : await registry.unreadTimesSince(from, feed);
}

/** The times in which the page of these services could not be read, in order and apart from each other, up to `now`. */
export function unreadPeriods(
  services: readonly Service[],
  unread: readonly UnreadTime[],
  vendorOf: SiteSources['vendorOf'],
  now: number,
): UnreadPeriod[] {
  const feeds = new Set<string | null>(services.map(({ statusPage }) => feedIdOf(statusPage)));
  const times = unread.filter(({ feed }) => feeds.has(feed)).map(({ from, to }) => ({ from, to: to ?? now }));
  for (const service of services) {
    const { stale, readAt } = vendorOf(service) ?? {};
    if (stale === true && readAt != null) times.push({ from: readAt, to: now });
  }
  const joined: UnreadPeriod[] = [];
  for (const { from, to: end } of times.sort((a, b) => a.from - b.from)) {
    // What was recorded before the clock was set back may be later than now.
    const time = { from, to: Math.min(end, now) };
    if (time.to <= time.from) continue;
    const last = joined.at(-1);
    if (last === undefined || time.from > last.to) joined.push(time);
    else joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, time.to) };
  }
  return joined;
}
