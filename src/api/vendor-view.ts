/** How a vendor's word, its maintenances and its lag look in the API. */
import { type Acknowledgement, summarizeLags } from '../domain/acknowledgement.ts';
import { formatTime } from '../domain/durations.ts';
import type { Maintenance } from '../domain/maintenance.ts';
import type { VendorWord } from '../domain/vendor-word.ts';

const timeOrNull = (at: number | null): string | null => (at === null ? null : formatTime(at));
const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1_000);

/** The vendor's word beside our verdict; null: nobody is asked. */
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
