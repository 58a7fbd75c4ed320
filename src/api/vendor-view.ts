/** A vendor's word, its maintenances and its lag as JSON, with their schemas. */
import { Type } from '@sinclair/typebox';
import { type Acknowledgement, summarizeLags } from '../domain/acknowledgement.ts';
import { formatTime } from '../domain/durations.ts';
import type { Maintenance } from '../domain/maintenance.ts';
import { VENDOR_STATUSES, type VendorWord } from '../domain/vendor-word.ts';
import { named, nullable, strict, TimeSchema, words } from '../http/schema.ts';
import { ServiceNameSchema } from './service-view.ts';

/** A vendor's own word on a service. */
export const VendorWordSchema = named(
  'VendorWord',
  Type.Object(
    {
      status: words(
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
    },
    strict,
  ),
);

/** A maintenance with its service. */
export const MaintenanceSchema = named(
  'Maintenance',
  Type.Object(
    {
      id: Type.String({ description: 'The id of its incident, once it has started.' }),
      service: ServiceNameSchema,
      title: Type.String(),
      description: Type.String({ description: 'Plain text.' }),
      state: words(['planned', 'running']),
      starts_at: TimeSchema,
      ends_at: nullable(TimeSchema, 'Null where the vendor names no end.'),
      source_url: Type.String(),
    },
    strict,
  ),
);

const timeOrNull = (at: number | null): string | null => (at === null ? null : formatTime(at));
const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1_000);

/** The vendor's word; null: its status page is not read. */
export function viewVendorWord(word: VendorWord | null) {
  if (word === null) return null;
  return {
    status: word.status,
    since: timeOrNull(word.since),
    incident_id: word.incidentId,
    read_at: timeOrNull(word.readAt),
    stale: word.stale,
    url: word.url,
    kind: word.kind,
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
    ends_at: timeOrNull(maintenance.endsAt),
    source_url: maintenance.sourceUrl,
  };
}

/** The outages of a year with the vendor's lag. `from`: epoch milliseconds. */
export function viewAcknowledgement(list: readonly Acknowledgement[], from: number) {
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
      acknowledged_at: timeOrNull(entry.acknowledgedAt),
      lag_seconds: seconds(entry.lagMs),
    })),
  };
}
