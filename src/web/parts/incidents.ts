/** Incidents on pages: in the list of a service, and on their own pages. */
import { DAY_MS } from '../../domain/durations.ts';
import { type Incident, shortened } from '../../domain/incident/incident.ts';
import { age, lasting, type Phrase, time, timeToSecond } from '../../language/phrase.ts';
import type { Language, LanguageTexts } from '../language/language.ts';

/**
 * The incident in the language of the page with its newest entries, the newest first; its own page has all. `page`: name of its
 * service in paths.
 */
export function viewPageIncident(written: Incident, page: string, now: number, { texts, formats }: Language) {
  const incident = shortened(inLanguage(written, { texts }));
  const { resolvedAt, startedAt, severity, updates, earlier = 0 } = incident;
  const length = formats.length((resolvedAt ?? now) - startedAt);
  return {
    title: incident.title,
    path: incidentPath(page, incident.id),
    look: lookOf(incident),
    status: stateWord(incident, { texts }),
    severity: texts.severity[severity],
    severityLook: severity,
    isOpen: resolvedAt === null,
    voice: incident.source,
    source: reportedBy(written, texts),
    began: texts.page.began(time(startedAt)),
    ended: resolvedAt === null ? null : texts.page.ended(time(resolvedAt)),
    /** Its duration so far, and its time, as people say it. */
    duration: durationOf(incident, { texts, formats }),
    when: resolvedAt === null ? texts.page.began(time(startedAt)) : [age(startedAt)],
    lasted: resolvedAt === null ? texts.page.lasting(length) : texts.page.lasted(length),
    description: incident.description,
    vendorUrl: incident.source === 'vendor' ? webAddress(incident.sourceUrl) : null,
    timeline: updates
      .map(({ at, status, text }) => ({
        status: stateWord({ severity, status }, { texts }),
        time: [timeToSecond(at)],
        text,
      }))
      .reverse(),
    timelineLabel: texts.page.timeline(updates.length + earlier),
    earlier,
  };
}

/** The state of an incident in a word. Maintenance is in progress, not identified. */
export function stateWord(
  { severity, status }: Pick<Incident, 'severity' | 'status'>,
  { texts }: LanguageTexts,
): string {
  return (severity === 'maintenance' ? texts.incidents.maintenanceState : texts.incidentStatus)[status];
}

export function durationOf(
  { startedAt, resolvedAt }: Pick<Incident, 'startedAt' | 'resolvedAt'>,
  { texts, formats }: Pick<Language, 'texts' | 'formats'>,
): Phrase {
  return resolvedAt === null
    ? texts.page.soFar(lasting(startedAt))
    : [formats.length(resolvedAt - startedAt)];
}

/**
 * An incident with our texts in the language of the page. Texts of vendors and of versions before 0.2 stay as they are.
 */
export function inLanguage(incident: Incident, { texts }: LanguageTexts): Incident {
  const { incidentTitle, incidentNote } = texts.service;
  const updates = incident.updates.map((update) =>
    update.note === undefined ? update : { ...update, text: incidentNote(update.note) },
  );
  const opening = incident.updates[0]?.note;
  if (opening?.code !== 'opened') return { ...incident, updates };
  return { ...incident, title: incidentTitle(opening), description: incidentNote(opening), updates };
}

/** The path of an incident's page. Ids may contain any character, because they include identifiers of vendors. */
export function incidentPath(page: string, id: string): string {
  return `/status/${page}/incidents/${encodeURIComponent(id)}`;
}

/** The URL if it is http or https; null for any other, which must not become a link. */
export function webAddress(text: string): string | null {
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? text : null;
}

/** Who noticed an incident. A service that sends heartbeats is not checked: it reported the failure, or fell silent. */
export function reportedBy({ source, updates }: Incident, { page }: Language['texts']): string {
  if (source === 'owner') return page.reportedByOwner;
  if (source === 'vendor') return page.reportedByVendor;
  const opening = updates[0]?.note;
  const isReported = opening?.code === 'opened' && opening.isReported;
  return isReported ? page.detectedByHeartbeats : page.detectedByUs;
}

/** The colour of a state: what is open, watched and over. Severity is marked apart. */
export function lookOf({
  status,
  severity,
}: Pick<Incident, 'status' | 'severity'>): 'up' | 'slow' | 'down' | 'maintenance' {
  if (status === 'resolved') return 'up';
  if (severity === 'maintenance') return 'maintenance';
  return status === 'monitoring' ? 'slow' : 'down';
}

/** Incidents by the UTC day of their start, in their order. */
export function groupByDay<T extends { readonly startedAt: number }>(incidents: readonly T[]) {
  const days = Map.groupBy(incidents, ({ startedAt }) => Math.floor(startedAt / DAY_MS) * DAY_MS);
  return [...days].map(([at, ofDay]) => ({ at, incidents: ofDay }));
}
