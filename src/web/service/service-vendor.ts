/** The reports of a vendor's status page on a service, and their lag, for the page of the service. Pure. */
import {
  type Acknowledgement,
  acknowledgements,
  type LagSummary,
  summarizeLags,
  type UnreadPeriod,
} from '../../domain/incident/acknowledgement.ts';
import type { Incident } from '../../domain/incident/incident.ts';
import type { ServiceVendorStatus, VendorStatus } from '../../domain/incident/vendor-incident.ts';
import type { Service } from '../../domain/service.ts';
import type { CurrentStatus } from '../../domain/status/current.ts';
import { type Phrase, phraseOf, time } from '../../language/phrase.ts';
import type { Language } from '../language/language.ts';
import { viewPageIncident, webAddress } from '../parts/incidents.ts';
import { STATUS_SHAPES } from '../parts/verdict.ts';

/** The data about a service and its vendor. */
export interface VendorKnowledge {
  readonly service: Service;
  /** Its name in paths. */
  readonly page: string;
  readonly current: CurrentStatus;
  /** The newest incidents, newest first. */
  readonly incidents: readonly Incident[];
  /** All incidents of a year, for the lag. */
  readonly incidentsOfYear: readonly Incident[];
  /** Times in which the vendor's status page could not be read. */
  readonly unreadPeriods: readonly UnreadPeriod[];
  /** The vendor status; null: the vendor's status page is not read. */
  readonly vendor: ServiceVendorStatus | null;
  readonly now: number;
}

/** The status whose look a vendor status has: the one of the same severity. */
export const VENDOR_LOOKS: Readonly<Record<VendorStatus, 'up' | 'slow' | 'down' | 'unknown'>> = {
  unknown: 'unknown',
  operational: 'up',
  maintenance: 'unknown',
  minor: 'slow',
  major: 'down',
  critical: 'down',
};

/** The vendor's report beside our checks; null: the service has no status page of a vendor. */
export function viewVendor(
  { service, vendor, current, incidents, incidentsOfYear, unreadPeriods, now, page }: VendorKnowledge,
  language: Language,
) {
  const { texts } = language;
  if (service.statusPage === null) return null;
  const url = webAddress(service.statusPage.url);
  if (vendor === null) return { url, look: null };
  const list = acknowledgements(incidentsOfYear, now, unreadPeriods);
  const [newest] = acknowledgements(incidentsOfYear, now);
  const incident = [...incidents, ...incidentsOfYear].find(({ id }) => id === vendor.incidentId);
  const look = VENDOR_LOOKS[vendor.status];
  const isKnown = newest?.incidentId === list[0]?.incidentId;
  const onThis = describeNow(isKnown ? newest : undefined, current.status === 'down', now, language);
  return {
    url,
    look,
    shape: STATUS_SHAPES[look],
    word: texts.page.vendorStatus[vendor.status],
    text: describeVendor(vendor, now, language),
    readAt: vendor.readAt === null ? null : texts.page.vendorReadAt(vendor.readAt),
    incident: incident === undefined ? null : viewPageIncident(incident, page, now, language),
    onThis,
    // For a single outage in progress, `onThis` is enough.
    lag: onThis !== null && list.length === 1 ? null : describeLag(summarizeLags(list), language),
  };
}

/** The report of the vendor's page, as a sentence after another one; empty: the page is not read. */
export function describeVendorPage(vendor: ReturnType<typeof viewVendor>, { texts }: Language): Phrase {
  if (vendor === null || vendor.look === null || vendor.text === null) return [];
  return phraseOf` ${texts.page.vendorBefore} ${texts.page.vendorPage} ${vendor.text}`;
}

/** The text after "The vendor's status page"; null: no vendor's status page is read. */
export function describeVendor(
  word: ServiceVendorStatus | null,
  now: number,
  { texts, formats }: Language,
): Phrase | null {
  if (word === null) return null;
  const { service } = texts;
  const { status, since, readAt, stale } = word;
  const plain = service.vendor[status];
  const text = since === null || status === 'operational' ? [plain] : service.vendorSince(plain, time(since));
  if (!stale || (readAt === null && status === 'unknown')) return phraseOf`${text}.`;
  if (readAt === null) return phraseOf`${service.vendorUnread(text)}.`;
  return phraseOf`${service.vendorStale(text, formats.length(now - readAt))}.`;
}

/** The time that the vendor takes to acknowledge outages; null: there was no outage. */
export function describeLag(
  { outages, acknowledged, medianMs, worstMs }: LagSummary,
  { texts, formats }: Language,
): string | null {
  const { page } = texts;
  if (outages === 0) return null;
  if (medianMs === null || worstMs === null) return page.lagNone(outages);
  const length = formats.length(Math.abs(medianMs));
  const first = medianMs < 0;
  if (outages === 1) return page.lagOne(length, first);
  const worst = worstMs > 0 && acknowledged > 1 ? formats.length(worstMs) : null;
  return page.lagMany({ acknowledged, outages, length, first, worst });
}

/** The vendor's report of the outage in progress, as a sentence. Null: the service is not down. */
export function describeNow(
  newest: Acknowledgement | undefined,
  isDown: boolean,
  now: number,
  { texts, formats }: Language,
): string | null {
  if (!isDown || newest === undefined) return null;
  if (newest.lagMs === null) return texts.page.silentNow(formats.length(now - newest.startedAt));
  return texts.page.spokeNow(formats.length(Math.abs(newest.lagMs)), newest.lagMs < 0);
}
