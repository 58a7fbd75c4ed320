/** The page of one incident: its title, its timeline, and the way to the ones before and after it. */

import type { Incident } from '../../domain/incident.ts';
import { fullName } from '../../domain/service.ts';
import type { Route } from '../../http/route.ts';
import type { IncidentStore } from '../../store/ports/incidents.ts';
import type { ServiceDirectory } from '../../view/service-directory.ts';
import { chooseLanguage } from '../language/language.ts';
import type { AssetAddresses } from '../parts/assets.ts';
import { viewPageIncident } from '../parts/incidents.ts';
import { openGraphTags } from '../parts/open-graph.ts';
import type { RenderPage } from '../parts/views.ts';
import { renderMissing } from './service-page.ts';

/** What the page is made of. */
export interface IncidentPageSources {
  readonly directory: Pick<ServiceDirectory, 'byPageName' | 'pageName'>;
  readonly registry: Pick<IncidentStore, 'findIncident' | 'incidentsBeside'>;
  /** Without a slash at its end. */
  readonly siteUrl: string;
  readonly now: () => number;
}

/** The route. */
export function incidentPage(
  render: RenderPage,
  sources: IncidentPageSources,
  assets: AssetAddresses,
): Route {
  const { directory, registry, siteUrl, now } = sources;
  return {
    path: '/status/:slug/incidents/:id',
    bucket: 'pages',
    async handle(request) {
      const language = chooseLanguage(request);
      const { slug = '', id = '' } = request.params;
      const service = directory.byPageName(slug);
      if (service === null) return renderMissing(render, language, slug);
      const page = directory.pageName(service);
      const { words } = language;
      const incident = await registry.findIncident(id);
      if (incident === null || incident.serviceId !== service.id) {
        const said = words.page.noIncident(fullName(service), id.slice(0, 100));
        return render('./missing', { language, title: words.site.notFound, said }, 404);
      }
      const name = fullName(service);
      const { older, newer } = await registry.incidentsBeside(incident);
      const at = now();
      const show = (shown: Incident) => viewPageIncident(shown, page, at, language);
      const view = show(incident);
      return render('./incident', {
        language,
        meta: openGraphTags(siteUrl, {
          title: words.page.title(name, view.title),
          description: `${view.status}: ${view.timeline[0]?.text || view.description}`,
          path: view.path,
          image: {
            path: `/api/chart/${page}.png?size=card`,
            size: { width: 1_200, height: 630 },
            alt: words.page.chartOf(name),
          },
        }),
        title: words.page.title(name, view.title),
        service,
        name,
        page,
        styles: [assets.serviceStyle],
        feed: `/status/${page}/incidents.atom`,
        incident: view,
        older: older === null ? null : show(older),
        newer: newer === null ? null : show(newer),
      });
    },
  };
}
