/** Maintenance of all services as rows of a list. Pure. */
import { beginningOf, type Incident } from '../domain/incident/incident.ts';
import type { Maintenance } from '../domain/incident/maintenance.ts';
import { age, ahead, lasting, type Phrase, time } from '../language/phrase.ts';
import type { Language } from './language/language.ts';
import { incidentPath, webAddress } from './parts/incidents.ts';

/** A service as a row names it. */
export interface RowService {
  readonly name: string;
  /** Its name in paths. */
  readonly page: string;
}

/** One maintenance with all services that it concerns. */
export interface MaintenanceRow {
  /** The key that all services of one maintenance share. */
  readonly key: string;
  readonly title: string;
  /** Its page here, or at the vendor while it is planned; null: it has none. */
  readonly path: string | null;
  readonly isVendors: boolean;
  readonly services: readonly RowService[];
  /** The words of an owner, as plain text; empty: a vendor's. */
  readonly text: string;
  /** Its time as people say it: `in 5 hours`, `for 20 min`, `2 days ago`. */
  readonly when: Phrase;
  /** Its duration; null: not known. */
  readonly length: string | null;
  readonly span: Phrase;
}

/** A maintenance that is planned or runs. */
export function viewAnnounced(
  { id, title, description, startsAt, endsAt, phase, sourceUrl, ownerId }: Maintenance,
  service: RowService,
  { texts, formats }: Language,
): MaintenanceRow {
  const isVendors = ownerId === undefined;
  const { maintenance } = texts;
  const isRunning = phase === 'running';
  return {
    key: `${title} ${startsAt} ${endsAt}`,
    title,
    path: isRunning ? incidentPath(service.page, id) : isVendors ? webAddress(sourceUrl) : null,
    isVendors: isVendors && !isRunning,
    services: [service],
    text: isVendors ? '' : beginningOf(description),
    when: isRunning ? maintenance.runs(lasting(startsAt)) : [ahead(startsAt)],
    length: endsAt === null ? null : maintenance.lasts(formats.length(endsAt - startsAt)),
    span: texts.page.from(time(startsAt), endsAt === null ? null : time(endsAt)),
  };
}

/** A maintenance that is over; none: it still runs. */
export function viewPast(
  { id, title, startedAt, resolvedAt }: Incident,
  service: RowService,
  { texts, formats }: Language,
): MaintenanceRow[] {
  if (resolvedAt === null) return [];
  return [
    {
      key: `${title} ${startedAt} ${resolvedAt}`,
      title,
      path: incidentPath(service.page, id),
      isVendors: false,
      services: [service],
      text: '',
      when: [age(resolvedAt)],
      length: texts.page.lasted(formats.length(resolvedAt - startedAt)),
      span: texts.page.from(time(startedAt), time(resolvedAt)),
    },
  ];
}

/** Joins rows that differ in their service alone, such as those of one entry of a vendor for several services. */
export function joinServices(rows: readonly MaintenanceRow[]): readonly MaintenanceRow[] {
  return [...Map.groupBy(rows, ({ key }) => key).values()].flatMap((same) => {
    const [first] = same;
    return first === undefined ? [] : [{ ...first, services: same.flatMap(({ services }) => services) }];
  });
}
