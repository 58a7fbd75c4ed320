/**
 * The scripts of simulated vendors. They repeat with the play, with new identifiers in every period. Times are milliseconds
 * into the period.
 */
import { createHash } from 'node:crypto';
import type { FeedKindName } from '../../src/feeds/feed-kind.ts';

/** The kinds of pages that are simulated: all that are read. */
export type SimulatedKind = FeedKindName;

/** Status of an incident; some formats know fewer. */
export type ToldStatus = 'investigating' | 'identified' | 'monitoring' | 'resolved';

/** Severity of an incident; some formats know fewer. */
export type ToldSeverity = 'minor' | 'major' | 'critical';

/** An update that a vendor publishes. */
export interface ToldUpdate {
  readonly at: number;
  readonly status: ToldStatus;
  /** Plain text, to which each format adds its markup. */
  readonly text: string;
}

/** An incident of the play. It is published with its first update. */
export interface ScriptedIncident {
  /** Unique in the vendor's script. */
  readonly key: string;
  readonly title: string;
  readonly severity: ToldSeverity;
  /** Names of the affected components; empty: the vendor names none. */
  readonly components: readonly string[];
  /** The start that the vendor states; not after the first update. */
  readonly startsAt: number;
  /** In order of time; the last is `resolved`. */
  readonly updates: readonly ToldUpdate[];
}

/** A maintenance of the play. */
interface ScriptedMaintenance {
  readonly key: string;
  readonly title: string;
  readonly text: string;
  readonly components: readonly string[];
  /** Not after `startsAt`. */
  readonly announcedAt: number;
  readonly startsAt: number;
  readonly endsAt: number;
}

/** A fault of a vendor's server. */
export type Fault =
  /** 503 with `Retry-After`. */
  | { readonly kind: 'unavailable'; readonly retryAfterSeconds: number }
  /** An HTML page with status 200. */
  | { readonly kind: 'html' }
  /** A truncated body. */
  | { readonly kind: 'cut' };

/** A fault and its time in the period. */
interface ScriptedFault {
  readonly from: number;
  readonly to: number;
  readonly fault: Fault;
}

/** A simulated vendor. */
export interface Vendor {
  /** Unique in the play; lower case, without spaces. */
  readonly slug: string;
  readonly name: string;
  readonly kind: SimulatedKind;
  /** Names of the components of its page. */
  readonly components: readonly string[];
  readonly periodMs: number;
  readonly incidents: readonly ScriptedIncident[];
  readonly maintenances: readonly ScriptedMaintenance[];
  readonly faults: readonly ScriptedFault[];
}

/** A published incident. */
export interface VendorIncident {
  /** 16 lower-case hexadecimal digits, different in each period. */
  readonly id: string;
  /** The same as a number, for formats with numbers. */
  readonly number: number;
  readonly title: string;
  readonly severity: ToldSeverity;
  readonly components: readonly string[];
  readonly startedAt: number;
  /** Null: it is open. */
  readonly resolvedAt: number | null;
  /** Oldest first, at least one. */
  readonly updates: readonly ToldUpdate[];
}

/** An announced maintenance. */
export interface VendorMaintenance extends Omit<ScriptedMaintenance, 'key'> {
  readonly id: string;
  readonly number: number;
  readonly state: 'planned' | 'running' | 'done';
}

/** The content of a vendor's page. */
export interface VendorState {
  /** Newest start first. */
  readonly incidents: readonly VendorIncident[];
  /** Newest start first. */
  readonly maintenances: readonly VendorMaintenance[];
}

/** Periods that pages show, so that the documents of long plays stay short. */
const KEPT_CYCLES = 5;

/**
 * The incidents that the vendor has published `elapsedMs` after the play began, newest start first. Times are counted from
 * the beginning of the play, which is at `startAt`.
 */
export function vendorIncidentsAt(vendor: Vendor, elapsedMs: number, startAt = 0): VendorIncident[] {
  const list = cyclesAt(vendor, elapsedMs).flatMap((cycle) =>
    vendor.incidents.flatMap(({ key, startsAt, updates: all, ...incident }, index): VendorIncident[] => {
      const offset = startAt + cycle * vendor.periodMs;
      const updates = all
        .map((update) => ({ ...update, at: offset + update.at }))
        .filter(({ at }) => at <= startAt + elapsedMs);
      const last = updates.at(-1);
      if (last === undefined) return [];
      const resolvedAt = last.status === 'resolved' ? last.at : null;
      const [id, number] = [idOf(vendor, key, cycle), numberOf(cycle, index)];
      return [{ ...incident, id, number, startedAt: offset + startsAt, resolvedAt, updates }];
    }),
  );
  return list.sort((a, b) => b.startedAt - a.startedAt);
}

/** The announced maintenances, as {@link vendorIncidentsAt}. */
export function vendorMaintenancesAt(vendor: Vendor, elapsedMs: number, startAt = 0): VendorMaintenance[] {
  const now = startAt + elapsedMs;
  const list = cyclesAt(vendor, elapsedMs).flatMap((cycle) =>
    vendor.maintenances.flatMap(({ key, ...maintenance }, index): VendorMaintenance[] => {
      const offset = startAt + cycle * vendor.periodMs;
      const announcedAt = offset + maintenance.announcedAt;
      const startsAt = offset + maintenance.startsAt;
      const endsAt = offset + maintenance.endsAt;
      if (now < announcedAt) return [];
      const state = now < startsAt ? 'planned' : now < endsAt ? 'running' : 'done';
      const number = numberOf(cycle, vendor.incidents.length + index);
      return [{ ...maintenance, id: idOf(vendor, key, cycle), number, announcedAt, startsAt, endsAt, state }];
    }),
  );
  return list.sort((a, b) => b.startsAt - a.startsAt);
}

/** The content of the page at `now` in a play that began at `startAt`; all times are epoch milliseconds. */
export function vendorStateAt(vendor: Vendor, startAt: number, now: number): VendorState {
  return {
    incidents: vendorIncidentsAt(vendor, now - startAt, startAt),
    maintenances: vendorMaintenancesAt(vendor, now - startAt, startAt),
  };
}

/** The fault of the vendor's server `elapsedMs` after the play began; null: none. */
export function faultAt(vendor: Vendor, elapsedMs: number): Fault | null {
  if (elapsedMs < 0) return null;
  const inPeriod = elapsedMs % vendor.periodMs;
  return vendor.faults.find(({ from, to }) => from <= inPeriod && inPeriod < to)?.fault ?? null;
}

function cyclesAt({ periodMs }: Vendor, elapsedMs: number): number[] {
  if (!(elapsedMs >= 0) || elapsedMs === Number.POSITIVE_INFINITY) return [];
  const last = Math.floor(elapsedMs / periodMs);
  const first = Math.max(0, last - KEPT_CYCLES + 1);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function idOf(vendor: Vendor, key: string, cycle: number): string {
  return createHash('sha1').update(`${vendor.slug} ${key} ${cycle}`).digest('hex').slice(0, 16);
}

function numberOf(cycle: number, index: number): number {
  return 1_000 + cycle * 20 + index;
}
