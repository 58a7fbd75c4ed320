/** Joins what reads vendors' status pages: the poller in its thread, the intake, and the status cache. */
import type { Clock } from '../clock.ts';
import type { Config } from '../config/resolve-config.ts';
import type { Service } from '../domain/service.ts';
import { startFeedThread } from '../feeds/feed-thread.ts';
import { startMonthlyLook } from '../feeds/monthly-look.ts';
import { VendorIntake } from '../feeds/vendor-intake.ts';
import { createVendorStatusCache } from '../feeds/vendor-status-cache.ts';
import type { Log } from '../log.ts';
import { createForbiddenAddressLog } from '../outbound/forbidden-address-log.ts';
import { userAgentOf } from '../outbound/send-request.ts';
import type { Registry } from '../store/ports/registry.ts';
import { VERSION } from '../version.ts';

/** Maximum time over which the first reads of all pages are spread, milliseconds. */
const FIRST_SPREAD_MS = 15_000;

/** The parts that read vendors' status pages. */
export type Vendors = ReturnType<typeof joinVendors>;

/** Starts the thread. No page is read before `intake.load`. */
export function joinVendors(parts: {
  readonly config: Config;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Log;
  readonly services: () => Iterable<Service>;
  /** Called when the vendor status of a service has changed. */
  readonly onChange: (serviceId: number) => void;
  /** Returns true if the prober is online. */
  readonly isOnline: () => boolean;
}) {
  const { registry, clock, log, onChange, isOnline } = parts;
  const { checks, http, incidents } = parts.config;
  const vendorStatuses = createVendorStatusCache({ intervalMs: incidents.feedIntervalMs, now: clock.now });
  const polls = { good: 0, failed: 0 };
  let changedAt = clock.now();
  const intake = new VendorIntake({
    registry,
    cache: vendorStatuses,
    clock,
    log,
    setFeeds: (feeds) => thread.setFeeds(feeds),
    forget: (feedId) => thread.forget(feedId),
    onPoll: (ok) => {
      polls[ok ? 'good' : 'failed'] += 1;
    },
    onChange(serviceId) {
      changedAt = Math.max(changedAt + 1, clock.now());
      onChange(serviceId);
    },
    isOnline,
  });
  const thread = startFeedThread({
    settings: {
      intervalMs: incidents.feedIntervalMs,
      firstSpreadMs: Math.min(checks.firstSpreadMs, FIRST_SPREAD_MS),
      policy: { allowPrivate: checks.allowPrivate, ports: checks.ports },
    },
    outbound: { userAgent: userAgentOf(VERSION, http.siteUrl), nameservers: checks.nameservers },
    clock,
    log,
    onEvent: (event) => intake.take(event),
    onForbidden: createForbiddenAddressLog(log, clock),
  });
  const stopLooks = incidents.lookForMovedPages
    ? startMonthlyLook({
        ...{ registry, isOnline, clock, log },
        services: parts.services,
        feeds: vendorStatuses.feeds,
        look: thread.look,
      })
    : () => {};
  return {
    vendorStatuses,
    intake,
    polls: () => polls,
    /** Time of the newest change, epoch milliseconds; each change has a later one. */
    changedAt: () => changedAt,
    async stop() {
      stopLooks();
      await thread.stop();
    },
  };
}
