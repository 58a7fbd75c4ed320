/** Times in which the status page of a vendor could not be read: outages of these times say nothing of the vendor. */
import type { UnreadPeriod } from '../domain/incident/acknowledgement.ts';
import { feedIdOf, type Service } from '../domain/service.ts';
import type { UnreadTime, VendorStore } from '../store/ports/vendors.ts';
import type { SiteSources } from './site-sources.ts';

/** Reads the stored times of the page of a service that had not ended at `from`, epoch milliseconds. */
export async function readUnread(
  { statusPage }: Pick<Service, 'statusPage'>,
  from: number,
  registry: Pick<VendorStore, 'unreadTimesSince'>,
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
