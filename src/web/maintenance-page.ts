/** `/maintenance`: the maintenance of all services, by vendors and owners: what runs, what is planned, and what is over. */

import { beginningOf, type Incident, incidentPath } from '../domain/incident/incident.ts';
import type { Maintenance } from '../domain/incident/maintenance.ts';
import { fullName } from '../domain/service.ts';
import { enumParameter, OFFSET_PARAMETER, readParameters } from '../http/parameters.ts';
import { pageRoute, type Route } from '../http/route.ts';
import { age, ahead, lasting, type Phrase, time } from '../language/phrase.ts';
import { everyonesAnd } from '../store/ports/incidents.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { chooseLanguage, type Language } from './language/language.ts';
import type { AssetAddresses } from './parts/assets.ts';
import { webAddress } from './parts/incidents.ts';
import type { RenderPage } from './parts/views.ts';

interface MaintenancePageSources extends SiteSources {
  readonly registry: PublicReads;
  readonly assets: AssetAddresses;
}

const LISTS = ['running', 'planned', 'past'] as const;

/** Number of entries of a list on the page of all three, and on a page of its own. */
const SHOWN_OF_EACH = 10;
const PAGE_LENGTH = 50;
const QUERY = {
  list: enumParameter(LISTS, 'Only what runs, is planned, or is over.'),
  offset: OFFSET_PARAMETER,
};

export function maintenancePage(
  render: RenderPage,
  { finder, registry, assets }: MaintenancePageSources,
): Route {
  return pageRoute({ path: '/maintenance' }, async (request) => {
    const language = chooseLanguage(request);
    const shown = await finder.listedFor(request);
    /** The service as rows name it; null: it was removed meanwhile. */
    const serviceOf = (id: number) => {
      const service = shown.byId(id);
      return service === null ? null : { name: fullName(service), page: shown.pageName(service) };
    };
    const { list: only, offset } = readParameters(request.query, QUERY);
    const readList = async (list: (typeof LISTS)[number]) => {
      const length = only === undefined ? SHOWN_OF_EACH : PAGE_LENGTH;
      // One more than is shown tells whether there are others.
      const place = { limit: length + 1, offset: only === undefined ? 0 : offset };
      const page = { ...everyonesAnd(shown.accounts), ...place };
      const found =
        list === 'past'
          ? await registry.listIncidents({ ...page, maintenanceOnly: true })
          : await registry.listMaintenances({ ...page, phase: list });
      const rows = found.slice(0, length).flatMap((one): MaintenanceRow[] => {
        const service = serviceOf(one.serviceId);
        if (service === null) return [];
        if (!('phase' in one)) return viewPast(one, service, language);
        return [viewAnnounced(one, service, language)];
      });
      return {
        list,
        heading: language.texts.maintenance[list],
        rows: joinServices(rows),
        hasMore: found.length > length,
      };
    };
    const lists = await Promise.all((only === undefined ? LISTS : [only]).map(readList));
    return render('./maintenance', {
      language,
      title: language.texts.maintenance.title,
      styles: [assets.serviceStyle],
      lists,
      only: only ?? null,
      older: only !== undefined && lists[0]?.hasMore === true ? offset + PAGE_LENGTH : null,
      newer: offset === 0 ? null : Math.max(0, offset - PAGE_LENGTH),
    });
  });
}

interface RowService {
  readonly name: string;
  /** Its name in paths. */
  readonly page: string;
}

/** One maintenance with all services that it concerns. */
interface MaintenanceRow {
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
function viewAnnounced(
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
function viewPast(
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
function joinServices(rows: readonly MaintenanceRow[]): readonly MaintenanceRow[] {
  return [...Map.groupBy(rows, ({ key }) => key).values()].flatMap((same) => {
    const [first] = same;
    return first === undefined ? [] : [{ ...first, services: same.flatMap(({ services }) => services) }];
  });
}
