/** `/incidents`: the incidents of all services, newest first; and `/heatmap`: all services by time. */
import { PICTURE_WINDOWS } from '../domain/picture.ts';
import { fullName } from '../domain/service.ts';
import { enumParameter, OFFSET_PARAMETER, readParameters } from '../http/parameters.ts';
import type { Route } from '../http/route.ts';
import type { IncidentStore } from '../store/ports/incidents.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { chooseLanguage } from './language/language.ts';
import type { AssetAddresses } from './parts/assets.ts';
import { viewPageIncident } from './parts/incidents.ts';
import type { RenderPage } from './parts/views.ts';

/** Sources of the page of incidents. */
export interface IncidentsPageSources extends Pick<SiteSources, 'now'> {
  readonly directory: Pick<ServiceDirectory, 'byId' | 'pageName'>;
  readonly registry: Pick<IncidentStore, 'listIncidents'>;
  readonly assets: Pick<AssetAddresses, 'serviceStyle'>;
}

/** Number of incidents on a page. */
const PAGE_LENGTH = 25;
const INCIDENTS_QUERY = { offset: OFFSET_PARAMETER };
const HEATMAP_QUERY = { window: enumParameter(PICTURE_WINDOWS, 'How far back it looks.', '24h') };

/** The route of the incidents. */
export function incidentsPage(
  render: RenderPage,
  { directory, registry, assets, now }: IncidentsPageSources,
): Route {
  return {
    path: '/incidents',
    bucket: 'pages',
    access: 'everyone',
    async handle(request) {
      const language = chooseLanguage(request);
      const { offset } = readParameters(request.query, INCIDENTS_QUERY);
      // One more than the page has shows whether there are older ones.
      const found = await registry.listIncidents({ verifiedOnly: true, limit: PAGE_LENGTH + 1, offset });
      const at = now();
      return render('./incidents', {
        language,
        title: language.texts.incidents.title,
        styles: [assets.serviceStyle],
        incidents: found.slice(0, PAGE_LENGTH).flatMap((incident) => {
          const service = directory.byId(incident.serviceId);
          if (service === null) return [];
          const page = directory.pageName(service);
          return [{ ...viewPageIncident(incident, page, at, language), name: fullName(service), page }];
        }),
        newer: offset === 0 ? null : Math.max(0, offset - PAGE_LENGTH),
        older: found.length > PAGE_LENGTH ? offset + PAGE_LENGTH : null,
      });
    },
  };
}

/** The route of the heat map. */
export function heatmapPage(render: RenderPage, assets: Pick<AssetAddresses, 'serviceStyle'>): Route {
  return {
    path: '/heatmap',
    bucket: 'pages',
    access: 'everyone',
    handle(request) {
      const language = chooseLanguage(request);
      return render('./heatmap', {
        language,
        title: language.texts.incidents.heatmapTitle,
        styles: [assets.serviceStyle],
        window: readParameters(request.query, HEATMAP_QUERY).window,
        windows: PICTURE_WINDOWS,
      });
    },
  };
}
