/** The page of one incident: its title, its timeline, and links to the previous and next incident. */

import type { Incident } from '../../domain/incident.ts';
import { readOwnerIncidentId } from '../../domain/owner-incident.ts';
import { fullName } from '../../domain/service.ts';
import type { Route } from '../../http/route.ts';
import type { IncidentStore } from '../../store/ports/incidents.ts';
import type { OwnersWordsStore } from '../../store/ports/owners-words.ts';
import type { ServiceDirectory } from '../../view/service-directory.ts';
import type { SiteSources } from '../../view/site-sources.ts';
import { chooseLanguage } from '../language/language.ts';
import type { AssetAddresses } from '../parts/assets.ts';
import { viewPageIncident } from '../parts/incidents.ts';
import { chartCard, openGraphTags } from '../parts/open-graph.ts';
import { viewSaid } from '../parts/owners-words.ts';
import { type RenderPage, renderMissing } from '../parts/views.ts';

/** Sources of the page. */
export interface IncidentPageSources extends Pick<SiteSources, 'siteUrl' | 'now'> {
  readonly directory: Pick<ServiceDirectory, 'byPageName' | 'pageName'>;
  readonly registry: Pick<IncidentStore, 'findIncident' | 'incidentsBeside'> &
    Pick<OwnersWordsStore, 'findOwnerIncident'>;
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
    access: 'everyone',
    async handle(request) {
      const language = chooseLanguage(request);
      const { slug = '', id = '' } = request.params;
      const { texts } = language;
      const service = directory.byPageName(slug);
      if (service === null) return renderMissing(render, language, texts.site.noService(slug.slice(0, 100)));
      const page = directory.pageName(service);
      const incident = await registry.findIncident(id);
      if (incident === null || incident.serviceId !== service.id) {
        return renderMissing(render, language, texts.page.noIncident(fullName(service), id.slice(0, 100)));
      }
      const name = fullName(service);
      const { older, newer } = await registry.incidentsBeside(incident);
      const at = now();
      const show = (shown: Incident) => viewPageIncident(shown, page, at, language);
      const view = show(incident);
      const number = readOwnerIncidentId(incident.id.replace(/-\d+$/, ''));
      const said =
        incident.source === 'owner' && number !== null && service.accountId !== null
          ? await registry.findOwnerIncident(service.accountId, number)
          : null;
      return render('./incident', {
        language,
        meta: openGraphTags(siteUrl, {
          title: texts.page.title(name, view.title),
          description: `${view.status}: ${view.timeline[0]?.text || view.description}`,
          path: view.path,
          image: chartCard(page, texts.page.chartOf(name)),
        }),
        title: texts.page.title(name, view.title),
        service,
        name,
        page,
        styles: [assets.serviceStyle],
        feed: `/status/${page}/incidents.atom`,
        incident: view,
        said: said === null ? null : await viewSaid(said, at, language),
        older: older === null ? null : show(older),
        newer: newer === null ? null : show(newer),
      });
    },
  };
}
