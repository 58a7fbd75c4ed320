/** The home page: what is down or slow first, then everything by category, with a search that needs no script. */

import { Type } from '@sinclair/typebox';
import type { Route } from '../api/exchange.ts';
import { viewIncidentService } from '../api/incident-view.ts';
import { readParameters, wordParameter } from '../api/parameters.ts';
import { CATEGORIES } from '../domain/category.ts';
import { unknownStatus } from '../domain/current.ts';
import type { Service } from '../domain/service.ts';
import { SERVICE_STATUSES, type ServiceStatus } from '../domain/status.ts';
import { chooseLanguage } from './language/language.ts';
import { lasting, type Phrase, time } from './language/phrase.ts';
import type { PageSources } from './page-routes.ts';
import { sayVerdict } from './verdict.ts';
import type { RenderPage } from './views.ts';
import { STATUS_SHAPES } from './words.ts';

const QUERY = {
  q: Type.String({ default: '', description: 'Part of a name or domain.' }),
  category: wordParameter(['', ...CATEGORIES], 'Only this category.', ''),
};
const INCIDENTS_SHOWN = 8;

/** The route. */
export function homePage(render: RenderPage, sources: PageSources): Route {
  const { directory, status, registry } = sources;
  return {
    path: '/',
    bucket: 'pages',
    async handle(request) {
      const language = chooseLanguage(request);
      const { words, formats } = language;
      const { q = '', category = '' } = readParameters(request.query, QUERY);
      const wanted = String(q).trim().toLowerCase();
      const shown: ShownService[] = [];
      const counts: Record<ServiceStatus, number> = { up: 0, slow: 0, down: 0, unknown: 0 };
      for (const service of directory.all()) {
        // Who has not shown control of a domain is not shown here (decisions, Ownership).
        if (!service.verified) continue;
        const current = status.get(service.id) ?? unknownStatus(service.id);
        counts[current.status]++;
        if (category !== '' && service.category !== category) continue;
        if (wanted !== '' && !`${service.name}\n${service.domain}`.toLowerCase().includes(wanted)) continue;
        const page = directory.pageName(service);
        shown.push({ service, page, status: current.status, verdict: sayVerdict(current, language) });
      }
      // Who searches wants a service, not the news.
      const incidents =
        wanted === '' && category === ''
          ? await registry.listIncidents({ verifiedOnly: true, limit: INCIDENTS_SHOWN, offset: 0 })
          : [];
      return render('./home', {
        language,
        title: words.home.title,
        q,
        category,
        categories: CATEGORIES,
        counts: SERVICE_STATUSES.map((word) => ({ word, count: counts[word] })),
        troubled: shown
          .filter((entry) => entry.status === 'down' || entry.status === 'slow')
          .sort(worstFirst),
        groups: CATEGORIES.map((name) => ({
          name,
          services: shown.filter(({ service }) => service.category === name),
        })),
        total: shown.length,
        incidents: incidents.flatMap((incident) => {
          const service = directory.byId(incident.serviceId);
          if (service === null) return [];
          const lasted =
            incident.resolvedAt === null
              ? words.home.lasting(lasting(incident.startedAt))
              : [words.home.lasted(formats.length(incident.resolvedAt - incident.startedAt))];
          const started = words.home.began(time(incident.startedAt));
          return [
            {
              ...incident,
              started,
              lasted,
              page: directory.pageName(service),
              of: viewIncidentService(service),
            },
          ];
        }),
        shapes: STATUS_SHAPES,
      });
    },
  };
}

interface ShownService {
  readonly service: Service;
  readonly page: string;
  readonly status: ServiceStatus;
  readonly verdict: Phrase;
}

function worstFirst(a: ShownService, b: ShownService): number {
  return a.status === b.status ? 0 : a.status === 'down' ? -1 : 1;
}
