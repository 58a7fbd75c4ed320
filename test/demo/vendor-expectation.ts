/** What the script of the vendors allows the program to know, and when. Times are milliseconds since the play began. */

import { type DemoService, type DemoTiming, detectMs, type Script, verdictOf } from '../../demo/script.ts';
import {
  type Vendor,
  type VendorIncident,
  type VendorMaintenance,
  vendorIncidentsAt,
  vendorMaintenancesAt,
} from '../../demo/vendors/script.ts';
import { type Fidelity, VENDOR_KINDS } from '../../demo/vendors/vendor-kinds.ts';

/** Some formats have whole seconds. */
export const PRECISION_MS = 1_000;

/** What decides how soon the program knows what a vendor says. */
export interface FeedTiming extends DemoTiming {
  readonly feedIntervalMs: number;
}

/** A service with the vendor that speaks of it. */
export interface ServedService {
  readonly service: DemoService;
  readonly vendor: Vendor;
  readonly fidelity: Fidelity;
}

/** A time in which a service fails, by the script. */
export interface ScriptedOutage {
  readonly from: number;
  readonly to: number;
  /** Latest time at which its first failed check began. */
  readonly firstFailureBy: number;
  /** When it must be published. */
  readonly knownBy: number;
}

/** Polls come a tenth late at most. */
const JITTER = 1.1;
/** After failures the wait grows with the time that they have lasted, and with chance. */
const BACK_OFF = 1.25;
/** Longest `Retry-After` of the play. */
const RETRY_AFTER_MS = 2_000;

/** The services that a vendor speaks of. */
export function servedServices(script: Script): ServedService[] {
  return script.services.flatMap((service) => {
    const vendor = script.vendors.find(({ slug }) => slug === service.statusPage?.vendor);
    return vendor === undefined ? [] : [{ service, vendor, fidelity: VENDOR_KINDS[vendor.kind].fidelity }];
  });
}

/** Whether something that names these parts of the page concerns the service. */
export function concernsService({ service }: ServedService, components: readonly string[]): boolean {
  const wanted = service.statusPage?.components;
  return wanted === undefined || components.length === 0 || wanted.some((name) => components.includes(name));
}

/** What is published of the service's incidents, newest start first. */
export function incidentsOf(served: ServedService, elapsedMs: number): VendorIncident[] {
  return vendorIncidentsAt(served.vendor, elapsedMs).filter(({ components }) =>
    concernsService(served, components),
  );
}

/** What is announced of the service's maintenances; none where the format has no word for them. */
export function maintenancesOf(served: ServedService, elapsedMs: number): VendorMaintenance[] {
  if (!served.fidelity.maintenances) return [];
  return vendorMaintenancesAt(served.vendor, elapsedMs).filter(({ components }) =>
    concernsService(served, components),
  );
}

/** Those within which its own outages are expected: one without components says nothing of a service that is a part of its page. */
export function ownMaintenancesOf(served: ServedService, elapsedMs: number): VendorMaintenance[] {
  const isPart = served.service.statusPage?.components !== undefined;
  return isPart && !served.fidelity.maintainedParts ? [] : maintenancesOf(served, elapsedMs);
}

/** When the program must know what the vendor published at `at`: after the next poll that can succeed. */
export function knownBy(script: Script, { vendor }: ServedService, at: number, timing: FeedTiming): number {
  const delayMs = timing.feedIntervalMs * JITTER + timing.slackMs;
  let by = at + delayMs;
  const cycle = Math.max(0, Math.floor(at / script.periodMs));
  for (const { from, to } of unreadTimes(script, vendor, [cycle - 1, cycle, cycle + 1])) {
    const backUp = to + BACK_OFF * (to - from + timing.feedIntervalMs) + RETRY_AFTER_MS + delayMs;
    if (from <= by && at < backUp) by = Math.max(by, backUp);
  }
  return by;
}

/** Returns true if the page could not be read at some time between these, so that silence says nothing. */
export function wasUnread(script: Script, { vendor }: ServedService, from: number, to: number): boolean {
  const cycles = Array.from({ length: Math.floor(to / script.periodMs) + 1 }, (_, cycle) => cycle);
  return unreadTimes(script, vendor, cycles).some((time) => time.from < to && time.to > from);
}

/** The times of these cycles in which the page is broken, or the prober cut off, in order. */
function unreadTimes(script: Script, vendor: Vendor, cycles: readonly number[]) {
  return cycles
    .flatMap((cycle) =>
      [...script.outages, ...vendor.faults].map(({ from, to }) => ({
        from: cycle * script.periodMs + from,
        to: cycle * script.periodMs + to,
      })),
    )
    .sort((a, b) => a.from - b.from);
}

/** The words that the vendor's state between two times may be given, with what may not have been read yet. */
export function allowedWords(
  script: Script,
  served: ServedService,
  from: number,
  to: number,
  timing: FeedTiming,
): Set<string> {
  // A maintenance begins by the clock, and some formats have whole seconds.
  const latest = to + PRECISION_MS;
  const moments = eventsOf(served, latest)
    .filter((at) => at <= latest && knownBy(script, served, at, timing) >= from)
    .flatMap((at) => [at - 1, at]);
  return new Set([from, to, ...moments].flatMap((at) => wordsAt(served, at)));
}

/** When something changes on the page, as far as it is kept at `elapsedMs`. */
function eventsOf(served: ServedService, elapsedMs: number): number[] {
  return [
    ...incidentsOf(served, elapsedMs).flatMap(({ updates }) => updates.map(({ at }) => at)),
    ...maintenancesOf(served, elapsedMs).flatMap(({ announcedAt, startsAt, endsAt }) => [
      announcedAt,
      startsAt,
      endsAt,
    ]),
  ];
}

function wordsAt(served: ServedService, elapsedMs: number): readonly string[] {
  const open = incidentsOf(served, elapsedMs).filter(({ resolvedAt }) => resolvedAt === null);
  for (const severity of ['critical', 'major', 'minor'] as const) {
    if (open.some((incident) => incident.severity === severity)) return served.fidelity.severities[severity];
  }
  const running = maintenancesOf(served, elapsedMs).some(({ state }) => state === 'running');
  return [running ? 'maintenance' : 'operational'];
}

/** The outages of a service that have begun by `elapsedMs`, of this period and the `cycles` before, oldest first. */
export function outagesOf(
  script: Script,
  service: DemoService,
  elapsedMs: number,
  cycles: number,
  timing: DemoTiming,
): ScriptedOutage[] {
  const last = Math.max(0, Math.floor(elapsedMs / script.periodMs));
  const outages: ScriptedOutage[] = [];
  for (let cycle = Math.max(0, last - cycles); cycle <= last; cycle++) {
    const offset = cycle * script.periodMs;
    let open: ScriptedOutage | null = null;
    for (const { at, behaviour } of service.steps) {
      const isDown = verdictOf(behaviour) === 'down';
      if (isDown && open === null) {
        const from = offset + at;
        const firstFailureBy = from + timing.intervalMs + timing.timeoutMs + timing.slackMs;
        open = {
          from,
          to: offset + script.periodMs,
          firstFailureBy,
          knownBy: from + detectMs(behaviour, timing),
        };
      } else if (!isDown && open !== null) {
        outages.push({ ...open, to: offset + at });
        open = null;
      }
    }
    if (open !== null) outages.push(open);
  }
  return outages.filter(({ from }) => from <= elapsedMs);
}
