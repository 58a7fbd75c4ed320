/** What the API says of incidents, maintenances and vendors, as far as it is compared, and how it is asked. */

import type { Script } from '../../demo/script.ts';
import type { Mismatch } from './compare.ts';
import { type FeedTiming, type ServedService, servedServices } from './vendor-expectation.ts';

/** An incident of the API, as far as it is compared. */
export interface SeenIncident {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly severity: string;
  readonly status: string;
  readonly started_at: string;
  readonly resolved_at: string | null;
  readonly source_url: string;
  /** In the list of all incidents. */
  readonly service?: { readonly slug: string };
}

/** An incident with its timeline, of `GET /api/v1/incidents/:slug/:id`. */
export interface SeenIncidentInFull extends SeenIncident {
  readonly source: string;
  readonly timeline: readonly { readonly at: string; readonly status: string; readonly text: string }[];
}

/** Of `GET /api/v1/services/:slug/vendor`. */
export interface SeenVendor {
  readonly vendor: {
    readonly status: string;
    readonly stale: boolean;
    readonly incident_id: string | null;
  } | null;
  readonly acknowledgement: {
    readonly entries: readonly {
      readonly started_at: string;
      readonly vendor_incident_id: string | null;
      readonly acknowledged_at: string | null;
      readonly lag_seconds: number | null;
    }[];
  };
}

/** Of `GET /api/v1/maintenance`. */
export interface SeenMaintenance {
  readonly service: { readonly slug: string };
  readonly title: string;
  readonly state: string;
  readonly starts_at: string;
  readonly ends_at: string | null;
}

/** What was asked of one service. */
export interface SeenOfService {
  readonly slug: string;
  /** Newest first. */
  readonly incidents: readonly SeenIncident[];
  readonly inFull: readonly SeenIncidentInFull[];
  readonly vendor: SeenVendor;
}

/** Answers of the API that were asked for after `askedAt` and had arrived by `arrivedAt`, milliseconds of the play. */
export interface SeenIncidents {
  readonly startAt: number;
  readonly askedAt: number;
  readonly arrivedAt: number;
  readonly services: readonly SeenOfService[];
  readonly all: readonly SeenIncident[];
  readonly maintenances: readonly SeenMaintenance[];
}

/** One service of the script with what the API says of it. */
export interface OneService {
  readonly script: Script;
  readonly timing: FeedTiming;
  readonly seen: SeenIncidents;
  readonly served: ServedService;
  readonly found: SeenOfService;
  readonly say: (found: string, wanted: string) => Mismatch;
}

/** How many periods back lists are compared: pages keep no more than a few, and lists of the API are bounded. */
export const CYCLES = 2;

/** Newest incidents of each service whose timelines are asked for. */
const TIMELINES = 4;

/** Start of the oldest incidents that are compared, milliseconds of the play. */
export function oldestCompared({ periodMs }: Script, askedAt: number): number {
  return Math.max(0, Math.floor(askedAt / periodMs) - CYCLES + 1) * periodMs;
}

/** Asks the API for all of it. Rejects where an answer is not 200. */
export async function askForIncidents(
  siteUrl: string,
  script: Script,
  startAt: number,
): Promise<SeenIncidents> {
  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${siteUrl}/api/v1/${path}`);
    if (response.status !== 200) throw new Error(`/api/v1/${path} answered ${response.status}`);
    return (await response.json()) as T;
  };
  const askedAt = Date.now() - startAt;
  const services: SeenOfService[] = [];
  for (const { service } of servedServices(script)) {
    const { slug } = service;
    const { incidents } = await get<{ incidents: SeenIncident[] }>(`incidents/${slug}?limit=50`);
    const inFull: SeenIncidentInFull[] = [];
    for (const { id } of incidents.slice(0, TIMELINES)) {
      const path = `incidents/${slug}/${encodeURIComponent(id)}`;
      inFull.push((await get<{ incident: SeenIncidentInFull }>(path)).incident);
    }
    services.push({ slug, incidents, inFull, vendor: await get<SeenVendor>(`services/${slug}/vendor`) });
  }
  const { incidents: all } = await get<{ incidents: SeenIncident[] }>('incidents?limit=100');
  const { maintenance } = await get<{ maintenance: SeenMaintenance[] }>('maintenance?limit=100');
  return { startAt, askedAt, arrivedAt: Date.now() - startAt, services, all, maintenances: maintenance };
}
