/**
 * `GET /api/v1/services/:slug/vendor`: the vendor status of a service, and how late the vendor acknowledges outages.
 * `GET /api/v1/maintenance`: the maintenances that vendors announced.
 */

import { DAY_MS, formatTime, formatTimeOrNull } from '../domain/durations.ts';
import { type Acknowledgement, acknowledgements, summarizeLags } from '../domain/incident/acknowledgement.ts';
import type { Maintenance } from '../domain/incident/maintenance.ts';
import { type ServiceVendorStatus, VENDOR_STATUSES } from '../domain/incident/vendor-incident.ts';
import { CURSOR_PARAMETER, cutPage, type PlaceForm, readCursor, withLinks } from '../http/cursor.ts';
import { limitParameter, OFFSET_PARAMETER, readParameters } from '../http/parameters.ts';
import { json, type Route } from '../http/route.ts';
import { enumOf, listOf, namedObject, nullable, PAGE_MEMBERS, TimeSchema, whole } from '../http/schema.ts';
import { strictObject, Type } from '../json-schema.ts';
import { everyonesAnd } from '../store/ports/incidents.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import { readUnread, unreadPeriods } from '../view/honesty.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { readRoute } from './read-route.ts';
import { ServiceNameSchema, viewServiceName, viewWithServices } from './service-view.ts';

export const VendorStatusSchema = namedObject('VendorWord', {
  status: enumOf(
    VENDOR_STATUSES,
    'operational, or the worst severity of what the vendor has open; unknown: never read.',
  ),
  since: nullable(TimeSchema, 'When that began; null where it is not known.'),
  incident_id: nullable(Type.String(), 'The incident that it stands for; null: none is open.'),
  read_at: nullable(TimeSchema, 'When the status page was last read.'),
  stale: Type.Boolean({
    description: 'The page was not read for two intervals: its word may be out of date.',
  }),
  url: Type.String({ description: 'The status page.' }),
  kind: Type.String({ description: 'Its format.' }),
});

const MaintenanceSchema = namedObject('Maintenance', {
  id: Type.String({ description: 'The id of its incident, once it has started.' }),
  service: ServiceNameSchema,
  source: Type.Optional(enumOf(['owner'], 'The owner of the service announced it; absent: the vendor did.')),
  title: Type.String(),
  description: Type.String({ description: 'Plain text.' }),
  state: enumOf(['planned', 'running']),
  starts_at: TimeSchema,
  ends_at: nullable(TimeSchema, 'Null where the vendor names no end.'),
  source_url: Type.String(),
});

const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1_000);

/** The vendor status as JSON; null: the vendor's status page is not read. */
export function viewVendorStatus(vendor: ServiceVendorStatus | null) {
  if (vendor === null) return null;
  return {
    status: vendor.status,
    since: formatTimeOrNull(vendor.since),
    incident_id: vendor.incidentId,
    read_at: formatTimeOrNull(vendor.readAt),
    stale: vendor.stale,
    url: vendor.url,
    kind: vendor.kind,
  };
}

/** A maintenance without its service. */
export function viewMaintenance(maintenance: Maintenance) {
  return {
    id: maintenance.id,
    title: maintenance.title,
    description: maintenance.description,
    state: maintenance.phase,
    starts_at: formatTime(maintenance.startsAt),
    ends_at: formatTimeOrNull(maintenance.endsAt),
    source_url: maintenance.sourceUrl,
    ...(maintenance.ownerId === undefined ? {} : { source: 'owner' as const }),
  };
}

/** The outages of a year with the vendor's lag. `from`: epoch milliseconds. */
function viewAcknowledgement(list: readonly Acknowledgement[], from: number) {
  const { outages, acknowledged, medianMs, worstMs } = summarizeLags(list);
  return {
    from: formatTime(from),
    outages,
    acknowledged,
    median_seconds: seconds(medianMs),
    worst_seconds: seconds(worstMs),
    entries: list.map((entry) => ({
      incident_id: entry.incidentId,
      vendor_incident_id: entry.vendorIncidentId,
      started_at: formatTime(entry.startedAt),
      acknowledged_at: formatTimeOrNull(entry.acknowledgedAt),
      lag_seconds: seconds(entry.lagMs),
    })),
  };
}

const Lag = nullable(Type.Number(), "Seconds from our first failed check to the vendor's first entry.");

/** The vendor status, and how long the vendor takes to acknowledge outages. */
export const VendorSchema = namedObject('Vendor', {
  service: ServiceNameSchema,
  vendor: nullable(VendorStatusSchema, 'Null where no status page is read.'),
  acknowledgement: strictObject({
    from: TimeSchema,
    outages: whole(
      'Outages that our checks have seen since then, without maintenance and those while the status page could not be read.',
    ),
    acknowledged: whole('Of these, those of which the vendor has an incident.'),
    median_seconds: Lag,
    worst_seconds: Lag,
    entries: listOf('Newest first.', {
      incident_id: Type.String(),
      vendor_incident_id: nullable(Type.String()),
      started_at: TimeSchema,
      acknowledged_at: nullable(TimeSchema),
      lag_seconds: Lag,
    }),
  }),
});

/** Window of the outages for the lag. */
const YEAR_MS = 365 * DAY_MS;

export interface VendorSources extends SiteSources {
  readonly registry: PublicReads;
}

export function vendorRoute({ finder, registry, vendorOf, now }: VendorSources): Route {
  return readRoute({
    path: '/api/v1/services/:slug/vendor',
    id: 'getVendor',
    tag: 'Incidents',
    summary: 'Get what the vendor of a service reports',
    description:
      'The lag runs from our first failed check to the first entry that the vendor published, over a year; negative where the vendor was first. Outages while the status page could not be read are left out.',
    answer: VendorSchema,
    async handle(request) {
      const service = await finder.ofPath(request);
      const from = now() - YEAR_MS;
      const [incidents, unread] = await Promise.all([
        registry.incidentsSince(service.id, from),
        readUnread(service, from, registry),
      ]);
      const periods = unreadPeriods([service], unread, vendorOf, now());
      return json({
        service: viewServiceName(service),
        vendor: viewVendorStatus(vendorOf(service)),
        acknowledgement: viewAcknowledgement(acknowledgements(incidents, now(), periods), from),
      });
    },
  });
}

const QUERY = { limit: limitParameter(50, 100), offset: OFFSET_PARAMETER, cursor: CURSOR_PARAMETER };
const LIST = 'maintenance';
const PLACE: PlaceForm = { types: ['number', 'string'] };
const PATH = '/api/v1/maintenance';

export const MaintenancesSchema = namedObject('MaintenanceList', {
  maintenance: Type.Array(MaintenanceSchema, { description: 'By their start, earliest first.' }),
  total: whole('Maintenances that are planned or run.'),
  ...PAGE_MEMBERS,
});

export interface MaintenanceSources extends SiteSources {
  readonly registry: PublicReads;
}

export function maintenanceRoute({ finder, registry }: MaintenanceSources): Route {
  return readRoute({
    path: PATH,
    id: 'listMaintenance',
    tag: 'Incidents',
    summary: 'List upcoming and current maintenance',
    description:
      'By their start, earliest first, then by id. With a key also those of services of its account that are not public.',
    query: QUERY,
    answer: MaintenancesSchema,
    async handle(request) {
      const { limit, ...given } = readParameters(request.query, QUERY);
      const cursor = readCursor(LIST, PLACE, given);
      const { offset } = cursor ?? given;
      const [startsAt, id] = cursor?.place ?? [];
      const after = { startsAt: Number(startsAt), id: String(id) };
      const window = cursor === null ? { limit, offset } : { limit: limit + 1, offset: 0, after };
      const shown = await finder.listedFor(request);
      const { orOf } = everyonesAnd(shown.accounts);
      const filter = orOf === undefined ? {} : { orOf };
      const [found, total] = await Promise.all([
        registry.listMaintenances({ ...filter, ...window }),
        registry.countMaintenances(filter),
      ]);
      const page = { limit, offset, total: cursor === null ? total : null };
      const { items, beside } = cutPage(LIST, found, page, (one) => [one.startsAt, one.id]);
      const maintenance = viewWithServices(shown, items, viewMaintenance);
      const answer = json({ maintenance, total, limit, offset });
      return withLinks(answer, request, { path: PATH, query: QUERY }, beside);
    },
  });
}
