/** `/maintenance`: the maintenance of all services, by vendors and owners: what runs, what is planned, and what is over. */

import { fullName } from '../domain/service.ts';
import { enumParameter, OFFSET_PARAMETER, readParameters } from '../http/parameters.ts';
import type { Route } from '../http/route.ts';
import { everyonesAnd } from '../store/ports/incidents.ts';
import type { PublicReads } from '../store/ports/public-reads.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { chooseLanguage } from './language/language.ts';
import { joinServices, type MaintenanceRow, viewAnnounced, viewPast } from './maintenance-view.ts';
import type { AssetAddresses } from './parts/assets.ts';
import type { RenderPage } from './parts/views.ts';

/** Sources of the page. */
export interface MaintenancePageSources extends Pick<SiteSources, 'finder'> {
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

/** The route. */
export function maintenancePage(
  render: RenderPage,
  { finder, registry, assets }: MaintenancePageSources,
): Route {
  return {
    path: '/maintenance',
    bucket: 'pages',
    access: 'everyone',
    async handle(request) {
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
    },
  };
}
