/**
 * What owners and vendors say, on the program: owners announce by the functions that the API calls, and what a page lists is taken in
 * by the real intake. Notes in the diary what was said, and when the program looks at the clock for maintenance.
 */

import type { FeedEntry } from '../../src/domain/incident/feed-entry.ts';
import type { Service } from '../../src/domain/service.ts';
import { feedOf } from '../../src/feeds/feed-kind.ts';
import { VendorIntake } from '../../src/feeds/vendor-intake.ts';
import { createVendorStatusCache } from '../../src/feeds/vendor-status-cache.ts';
import type { Log } from '../../src/log.ts';
import {
  changeOccurrence,
  type MaintenanceContext,
  maintenanceChanges,
} from '../../src/resources/maintenances/maintenances.ts';
import type { VendorStore } from '../../src/store/ports/vendors.ts';
import type { RegistryClient } from '../../src/store/registry/registry-client.ts';
import type { News } from './diary.ts';
import {
  type Listed,
  listingOf,
  OPEN_PAGE,
  pageOf,
  type Story,
  type Work,
  type WorkChange,
} from './world-announcements.ts';
import type { WorldClock } from './world-clock.ts';
import { START } from './world-stores.ts';

/** How often pages are read, for the age of a vendor status, milliseconds. */
const FEED_INTERVAL_MS = 300_000;

/** The vendors' part of one process. */
export type VendorDesk = ReturnType<typeof openVendorDesk>;

/** Opens the intake of a process; `registry`: as that process sees it. */
export function openVendorDesk(parts: {
  readonly registry: VendorStore;
  readonly clock: WorldClock;
  readonly log: Log;
}) {
  const { registry, clock, log } = parts;
  const cache = createVendorStatusCache({ intervalMs: FEED_INTERVAL_MS, now: clock.now });
  const intake = new VendorIntake({
    ...{ registry, cache, clock, log },
    setFeeds: () => {},
    forget: () => {},
    onPoll: () => {},
  });
  return { intake, isInMaintenance: cache.isInMaintenance, isHeld: cache.isInOwnersMaintenance };
}

/** Makes what owners and vendors do to the program. `desk`: that of the present process; `deliver`: applies the changes of services. */
export function createSpeakers(parts: {
  readonly client: RegistryClient;
  readonly clock: WorldClock;
  readonly services: readonly Service[];
  readonly stories: readonly Story[];
  readonly desk: () => VendorDesk;
  readonly deliver: () => Promise<void>;
  readonly note: (news: News) => void;
}) {
  const { client, clock, services, stories, desk, deliver, note } = parts;
  const context: MaintenanceContext = {
    registry: client,
    siteUrl: 'http://localhost',
    now: clock.now,
  };
  const principal = { role: 'operator', accountId: 1 } as const;
  /** IDs of what was announced, by its place in the world. */
  const ids = new Map<number, string>();

  return {
    async announce(index: number, { service, startsIn, lasts, daily }: Work): Promise<void> {
      const { domain = '' } = services[service] ?? {};
      const startsAt = clock.now() + startsIn * 1_000;
      const made = await maintenanceChanges.add(context, principal, {
        ...{ title: `work ${index}`, services: [domain], duration: `${lasts}s` },
        starts_at: new Date(startsAt).toISOString(),
        ...(daily ? { recurrence: 'FREQ=DAILY' } : {}),
      });
      if (!made.ok) throw new Error(`an announcement was refused: ${JSON.stringify(made)}`);
      ids.set(index, `m${made.value.id}`);
      note({
        what: 'work',
        work: made.value.id,
        service: service + 1,
        startsAt,
        lastsMs: lasts * 1_000,
        daily,
      });
      await deliver();
    },
    async changeWork(index: number, { what, by }: WorkChange): Promise<void> {
      const id = ids.get(index);
      if (id === undefined) return;
      const action = { action: what, ...(what === 'extend' ? { by: `${by}s` } : {}) };
      if (what === 'withdraw')
        await maintenanceChanges.remove(context, principal, { key: id, revisions: null });
      // What cannot be done at this time, such as to end what does not run, is refused and changes nothing.
      else await changeOccurrence(context, principal, { key: id, revisions: null }, action);
      note({ what: 'work-change', work: Number(id.slice(1)), change: what, byMs: by * 1_000 });
      await deliver();
    },
    async read(page: number): Promise<void> {
      const feed = feedOf(services.find((_, index) => pageOf(index) === page)?.statusPage ?? null);
      if (feed === null) return;
      const listed = listingOf(stories, page, Math.floor(clock.elapsed() / 1_000));
      note({ what: 'page', page, listed });
      desk().intake.take({
        ...{ kind: 'reading', feedId: feed.id, document: 'incidents', listsOnlyOpen: page === OPEN_PAGE },
        ...{ readAt: clock.now(), entries: listed.map(toEntry) },
      });
      clock.touch();
    },
  };
}

function toEntry({ key, component, updates, ...rest }: Listed): FeedEntry {
  const toWall = <T extends number | null>(ms: T) => (ms === null ? ms : START + ms) as T;
  const base = {
    ...{
      key,
      title: key,
      sourceUrl: 'https://vendor.example/',
      components: component === null ? null : [component],
    },
    updates: updates.map((one) => ({ ...one, at: START + one.at })),
  };
  return rest.kind === 'incident'
    ? { ...base, ...rest, startedAt: toWall(rest.startedAt), resolvedAt: toWall(rest.resolvedAt) }
    : { ...base, ...rest, startsAt: toWall(rest.startsAt), endsAt: toWall(rest.endsAt) };
}
