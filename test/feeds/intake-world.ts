/** An intake on a real registry, with a clock that stands still. */
import type { Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import type { FeedIncident, FeedMaintenance } from '../../src/domain/incident/feed-entry.ts';
import type { Service, StatusPage } from '../../src/domain/service.ts';
import type { FeedEvent } from '../../src/feeds/poller.ts';
import { VendorIntake } from '../../src/feeds/vendor-intake.ts';
import { createVendorStatusCache } from '../../src/feeds/vendor-status-cache.ts';
import { type Log, silentLog } from '../../src/log.ts';
import { openRegistry } from '../../src/store/registry/open-registry.ts';
import { entry as catalogueEntry } from '../store/registry-fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';

export const NOW = Date.UTC(2026, 0, 1);

export const MINUTE = 60_000;

export const INTERVAL = 5 * MINUTE;

export const INCIDENT: FeedIncident = {
  kind: 'incident',
  key: 'k1',
  title: 'API errors',
  sourceUrl: 'https://status.example/k1',
  components: ['API', 'c1'],
  updates: [{ at: NOW, status: 'investigating', text: 'We look.' }],
  severity: 'major',
  status: 'investigating',
  startedAt: NOW,
  resolvedAt: null,
};

export const MAINTENANCE: FeedMaintenance = {
  kind: 'maintenance',
  key: 'm1',
  title: 'Upgrade',
  sourceUrl: 'https://status.example/m1',
  components: null,
  updates: [],
  startsAt: NOW + 10 * MINUTE,
  endsAt: NOW + 20 * MINUTE,
  state: 'planned',
};

/** Services 1, 2, ... with these status pages, and the intake over them. */
export async function start(t: Test, pages: readonly (StatusPage | null)[]) {
  const clock = createFakeClock(NOW);
  const registry = await openRegistry({
    dataDir: t.testdir(),
    log: silentLog,
    clock: systemClock,
    domainsPerAccount: 100,
    onEnd: (error) => t.fail(error.message),
  });
  await registry.putCatalogue(
    pages.map((statusPage, index) => ({ ...catalogueEntry(`s${index + 1}`), statusPage })),
  );
  const services = (await registry.loadServices()).map(({ service }) => service);
  const cache = createVendorStatusCache({ intervalMs: INTERVAL, now: clock.now });
  const told = {
    feeds: [] as string[][],
    forgotten: [] as string[],
    polls: [] as boolean[],
    log: [] as string[],
  };
  const note = (_: object, message: string) => void told.log.push(message);
  const fault = { away: false, offline: false };
  const writes: number[] = [];
  const intake = new VendorIntake({
    registry: {
      ...registry,
      async putVendorReadings(readings) {
        if (fault.away) throw new Error('the registry is away');
        writes.push(readings.length);
        return await registry.putVendorReadings(readings);
      },
    },
    cache,
    clock,
    log: { ...silentLog, warn: note, info: note, error: note } as Log,
    setFeeds: (feeds) => void told.feeds.push(feeds.map(({ id }) => id)),
    forget: (feedId) => void told.forgotten.push(feedId),
    onPoll: (ok) => void told.polls.push(ok),
    isOnline: () => !fault.offline,
  });
  await intake.load(services);
  await clock.advance(1);
  await intake.idle();
  t.teardown(async () => {
    await intake.stop();
    await registry.close();
  });
  const vendorStatusOf = (service: Service) => cache.statusOf(service.id, service.statusPage);
  return {
    clock,
    registry,
    cache,
    intake,
    told,
    fault,
    writes,
    services,
    words: () => services.map((service) => vendorStatusOf(service)?.status ?? null),
    vendorStatusOf,
    async take(...news: readonly FeedEvent[]) {
      for (const one of news) intake.take(one);
      await intake.idle();
    },
    /** Lets time pass, with pauses in which the registry's thread can answer. */
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += MINUTE / 2) {
        await clock.advance(MINUTE / 2);
        await intake.idle();
      }
    },
    async incidents() {
      const found = await registry.listIncidents({ limit: 50, offset: 0 });
      return found.map(({ serviceId, title, status }) => `${serviceId} ${title} ${status}`).sort();
    },
  };
}
