/**
 * What the simulated vendors say of their services, as plain data that is repeated with the play: the same times in
 * every period, with new identifiers. Times are milliseconds into the period, or since the play began.
 */
import { createHash } from 'node:crypto';
import type { FeedKindName } from '../../src/feeds/feed-kind.ts';

/** How an incident moves, in a vendor's own mind; formats tell more or less of it. */
export type ToldStatus = 'investigating' | 'identified' | 'monitoring' | 'resolved';

/** How grave a vendor calls an incident; a format may know fewer words. */
export type ToldSeverity = 'minor' | 'major' | 'critical';

/** One thing that a vendor publishes. */
export interface ToldUpdate {
  readonly at: number;
  readonly status: ToldStatus;
  /** Plain text; each format wraps it in its own markup. */
  readonly text: string;
}

/** An incident of the play. Nobody hears of it before its first update. */
export interface ScriptedIncident {
  /** Unique in the vendor's script. */
  readonly key: string;
  readonly title: string;
  readonly severity: ToldSeverity;
  /** Names of the parts of the page that it concerns; empty: the vendor names none. */
  readonly components: readonly string[];
  /** When the vendor says that it began; not after the first update. */
  readonly startsAt: number;
  /** In order of time; the last is `resolved`. */
  readonly updates: readonly ToldUpdate[];
}

/** A maintenance of the play. */
export interface ScriptedMaintenance {
  readonly key: string;
  readonly title: string;
  readonly text: string;
  readonly components: readonly string[];
  /** When the vendor announces it; not after `startsAt`. */
  readonly announcedAt: number;
  readonly startsAt: number;
  readonly endsAt: number;
}

/** How a vendor's server fails. */
export type Fault =
  /** 503 with `Retry-After`. */
  | { readonly kind: 'unavailable'; readonly retryAfterSeconds: number }
  /** A page for people with status 200. */
  | { readonly kind: 'html' }
  /** Less of the body than was promised. */
  | { readonly kind: 'cut' };

/** A fault that lasts from one time of the period to another. */
export interface ScriptedFault {
  readonly from: number;
  readonly to: number;
  readonly fault: Fault;
}

/** A simulated vendor with its status page. */
export interface Vendor {
  /** Unique in the play; lower case, without spaces. */
  readonly slug: string;
  readonly name: string;
  readonly kind: FeedKindName;
  /** Parts of its page, by name. */
  readonly components: readonly string[];
  readonly periodMs: number;
  readonly incidents: readonly ScriptedIncident[];
  readonly maintenances: readonly ScriptedMaintenance[];
  readonly faults: readonly ScriptedFault[];
}

/** An incident as far as the vendor has told it. */
export interface VendorIncident {
  /** Sixteen lower-case hexadecimal digits; another one in each repetition. */
  readonly id: string;
  /** The same as a number, for the formats that count. */
  readonly number: number;
  readonly title: string;
  readonly severity: ToldSeverity;
  readonly components: readonly string[];
  readonly startedAt: number;
  /** Null: it is still open. */
  readonly resolvedAt: number | null;
  /** What is published so far, oldest first, at least one. */
  readonly updates: readonly ToldUpdate[];
}

/** A maintenance that is announced. */
export interface VendorMaintenance extends Omit<ScriptedMaintenance, 'key'> {
  readonly id: string;
  readonly number: number;
  readonly state: 'planned' | 'running' | 'done';
}

/** All that a vendor's page shows. */
export interface VendorState {
  /** Newest start first. */
  readonly incidents: readonly VendorIncident[];
  /** Newest start first. */
  readonly maintenances: readonly VendorMaintenance[];
}

/** Pages keep this many repetitions, so that long plays have short documents. */
const KEPT_CYCLES = 5;

/** The incidents that the vendor has published `elapsedMs` after the play began, newest start first. */
export function vendorIncidentsAt(vendor: Vendor, elapsedMs: number): VendorIncident[] {
  const list = cyclesAt(vendor, elapsedMs).flatMap((cycle) =>
    vendor.incidents.flatMap((incident, index): VendorIncident[] => {
      const offset = cycle * vendor.periodMs;
      const updates = incident.updates
        .filter(({ at }) => offset + at <= elapsedMs)
        .map((update) => ({ ...update, at: offset + update.at }));
      const last = updates.at(-1);
      if (last === undefined) return [];
      const { key, title, severity, components, startsAt } = incident;
      return [
        {
          id: idOf(vendor, key, cycle),
          number: numberOf(cycle, index),
          title,
          severity,
          components,
          startedAt: offset + startsAt,
          resolvedAt: last.status === 'resolved' ? last.at : null,
          updates,
        },
      ];
    }),
  );
  return list.sort((a, b) => b.startedAt - a.startedAt);
}

/** The maintenances that the vendor has announced `elapsedMs` after the play began, newest start first. */
export function vendorMaintenancesAt(vendor: Vendor, elapsedMs: number): VendorMaintenance[] {
  const list = cyclesAt(vendor, elapsedMs).flatMap((cycle) =>
    vendor.maintenances.flatMap(({ key, ...maintenance }, index): VendorMaintenance[] => {
      const offset = cycle * vendor.periodMs;
      const announcedAt = offset + maintenance.announcedAt;
      const startsAt = offset + maintenance.startsAt;
      const endsAt = offset + maintenance.endsAt;
      if (elapsedMs < announcedAt) return [];
      const state = elapsedMs < startsAt ? 'planned' : elapsedMs < endsAt ? 'running' : 'done';
      const number = numberOf(cycle, vendor.incidents.length + index);
      return [{ ...maintenance, id: idOf(vendor, key, cycle), number, announcedAt, startsAt, endsAt, state }];
    }),
  );
  return list.sort((a, b) => b.startsAt - a.startsAt);
}

/** What the page shows at `now`, with all times as epoch milliseconds, of a play that began at `startAt`. */
export function vendorStateAt(vendor: Vendor, startAt: number, now: number): VendorState {
  const incidents = vendorIncidentsAt(vendor, now - startAt).map((incident) => ({
    ...incident,
    startedAt: startAt + incident.startedAt,
    resolvedAt: incident.resolvedAt === null ? null : startAt + incident.resolvedAt,
    updates: incident.updates.map((update) => ({ ...update, at: startAt + update.at })),
  }));
  const maintenances = vendorMaintenancesAt(vendor, now - startAt).map((maintenance) => ({
    ...maintenance,
    announcedAt: startAt + maintenance.announcedAt,
    startsAt: startAt + maintenance.startsAt,
    endsAt: startAt + maintenance.endsAt,
  }));
  return { incidents, maintenances };
}

/** How the vendor's server fails `elapsedMs` after the play began; null: it does not. */
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
