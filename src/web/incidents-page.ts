/** `/incidents`: the incidents of all services by day, newest first. */

import { INCIDENT_SOURCES, SEVERITIES } from '../domain/incident/incident.ts';
import { fullName } from '../domain/service.ts';
import { enumParameter, OFFSET_PARAMETER, readParameters } from '../http/parameters.ts';
import { pageRoute, type Route } from '../http/route.ts';
import { everyonesAnd } from '../store/ports/incidents.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { type Logos, markOf } from './home/logos.ts';
import { chooseLanguage } from './language/language.ts';
import type { AssetAddresses } from './parts/assets.ts';
import { groupByDay, viewPageIncident } from './parts/incidents.ts';
import type { RenderPage } from './parts/views.ts';

export interface IncidentsPageSources extends SiteSources {
  readonly registry: PublicReads;
  readonly assets: AssetAddresses;
  readonly logos: Logos;
}

/** Number of incidents on a page. */
const PAGE_LENGTH = 25;
const INCIDENTS_QUERY = {
  source: enumParameter(['', ...INCIDENT_SOURCES], 'Only incidents from this source.', ''),
  severity: enumParameter(['', ...SEVERITIES], 'Only incidents of this severity.', ''),
  offset: OFFSET_PARAMETER,
};

export function incidentsPage(
  render: RenderPage,
  { finder, registry, assets, logos, now }: IncidentsPageSources,
): Route {
  return pageRoute({ path: '/incidents' }, async (request) => {
    const language = chooseLanguage(request);
    const at = now();
    const listed = await finder.listedFor(request);
    const { source, severity, offset } = readParameters(request.query, INCIDENTS_QUERY);
    // One more than the page has shows whether there are older ones.
    const found = await registry.listIncidents({
      ...everyonesAnd(listed.accounts),
      ...(source === '' ? {} : { source }),
      ...(severity === '' ? {} : { severity }),
      limit: PAGE_LENGTH + 1,
      offset,
    });
    const shown = found.slice(0, PAGE_LENGTH).flatMap((incident) => {
      const service = listed.byId(incident.serviceId);
      if (service === null) return [];
      const page = listed.pageName(service);
      const view = viewPageIncident(incident, page, at, language);
      return [
        {
          ...view,
          startedAt: incident.startedAt,
          name: fullName(service),
          page,
          mark: markOf(service, logos),
        },
      ];
    });
    const pathOf = (start: number) => {
      const given = { source, severity, offset: start === 0 ? '' : String(start) };
      return `?${new URLSearchParams(Object.entries(given).filter(([, value]) => value !== ''))}`;
    };
    return render('./incidents', {
      language,
      title: language.texts.incidents.title,
      styles: [assets.serviceStyle],
      days: groupByDay(shown).map((day) => ({ ...day, day: `${language.formats.day(day.at)} (UTC)` })),
      sources: ['', ...INCIDENT_SOURCES],
      severities: ['', ...SEVERITIES],
      source,
      severity,
      newer: offset === 0 ? null : pathOf(Math.max(0, offset - PAGE_LENGTH)),
      older: found.length > PAGE_LENGTH ? pathOf(offset + PAGE_LENGTH) : null,
    });
  });
}
