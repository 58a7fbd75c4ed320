/**
 * The home page: a search, services that are down or slow, recent incidents, then all services by category. And
 * `/search.json`, the index for the search as the reader types.
 */

import { andThen } from '../../async/at-once.ts';
import type { Clock } from '../../clock.ts';
import { type Incident, incidentPath } from '../../domain/incident/incident.ts';
import { CATEGORIES, dashDomain, fullName } from '../../domain/service.ts';
import { SERVICE_STATUSES } from '../../domain/status.ts';
import { enumParameter, readParameters } from '../../http/parameters.ts';
import { jsonText, pageRoute, type Route } from '../../http/route.ts';
import { Type } from '../../json-schema.ts';
import { age } from '../../language/phrase.ts';
import { everyonesAnd } from '../../store/ports/incidents.ts';
import type { PublicReads } from '../../store/ports/registry.ts';
import type { StatusReads } from '../../store/ports/status.ts';
import type { ShownDirectory } from '../../view/service-directory.ts';
import type { ShownServices } from '../../view/shown-services.ts';
import type { SiteSources } from '../../view/site-sources.ts';
import { chooseLanguage, type Language } from '../language/language.ts';
import type { LiveChanges } from '../live/live-changes.ts';
import type { AssetAddresses } from '../parts/assets.ts';
import { durationOf, inLanguage, lookOf, stateWord } from '../parts/incidents.ts';
import { openGraphTags } from '../parts/open-graph.ts';
import type { SearchRow } from '../parts/page-messages.ts';
import { pillMarkup } from '../parts/verdict.ts';
import type { RenderPage } from '../parts/views.ts';
import { describeAll, type HomeUpdateSources, viewMonitor, viewTroubled } from './home-updates.ts';
import { type Group, type HomeFilter, type HomeView, NO_FILTER, readHomeView } from './home-view.ts';
import { type Logos, markOf } from './logos.ts';
import { OWN_SPARKLINES_PATH, SPARKLINES_PATH } from './sparklines.ts';

export interface HomeSources extends HomeUpdateSources, SiteSources {
  readonly registry: PublicReads;
  readonly changes: LiveChanges;
  readonly assets: AssetAddresses;
}

const QUERY = {
  q: Type.String({ default: '', description: 'Part of a name or domain.' }),
  category: enumParameter(['', ...CATEGORIES], 'Only this category.', ''),
  status: enumParameter(
    ['', 'troubled', ...SERVICE_STATUSES],
    'Only services with this status; troubled: down or slow.',
    '',
  ),
};
const MAX_INCIDENTS_SHOWN = 4;
/** Maximum number of incidents that are read, of which some are left out because the page shows them elsewhere. */
const MAX_INCIDENTS_READ = 30;

export function homePage(render: RenderPage, sources: HomeSources): Route {
  const { finder, status, registry, changes, assets, logos, siteUrl } = sources;
  const readIncidents = (accounts: Iterable<number> = []) =>
    registry.listIncidents({ ...everyonesAnd(accounts), limit: MAX_INCIDENTS_READ, offset: 0 });
  return {
    path: '/',
    bucket: 'pages',
    access: 'everyone',
    readAhead: () => readIncidents(),
    async handle(request) {
      const language = chooseLanguage(request);
      const filter = readFilter(request.query);
      const isAll = filter.text === '' && filter.category === '' && filter.status === '';
      // The results of a search are services, not incidents.
      const listed = await finder.listedFor(request);
      const incidents = isAll ? await readIncidents(listed.accounts) : [];
      // The position and the statuses are read without an await in between, so that the page is current up to the
      // position.
      const position = changes.position();
      const shown = readHomeView(listed, status, filter);
      const all = SERVICE_STATUSES.reduce((sum, word) => sum + shown.counts[word], 0);
      const groups = viewGroups(shown, logos, language);
      const { title, lead, heatmap } = language.texts.home;
      const summary = lead(all, language.formats.number(all));
      return render('./home', {
        language,
        title,
        meta: openGraphTags(siteUrl, {
          title,
          description: summary,
          path: '/',
          image: { path: '/api/heatmap.png', alt: heatmap },
        }),
        ...filter,
        isAll,
        categories: CATEGORIES,
        counts: SERVICE_STATUSES.map((word) => ({
          word,
          count: shown.counts[word],
          pill: pillMarkup(word, language.texts.status[word]),
        })),
        lead: summary,
        verdict: describeAll(shown, sources, language),
        groups,
        // Those of the reader come first on the whole page, and the results of a search in one place.
        first: isAll ? groups.filter(isOwnGroup) : [],
        rest: isAll ? groups.filter((one) => !isOwnGroup(one)) : groups,
        isSimilar: shown.isSimilar,
        total: shown.total,
        troubled: viewTroubled(shown, sources, language),
        monitor: viewMonitor(listed, sources, language),
        incidents: incidents
          .filter((incident) => !isListedAbove(incident, shown))
          .slice(0, MAX_INCIDENTS_SHOWN)
          .flatMap((incident) => {
            const service = listed.byId(incident.serviceId);
            if (service === null) return [];
            const name = fullName(service);
            const page = listed.pageName(service);
            const mark = markOf(service, logos);
            return [{ ...viewIncident(inLanguage(incident, language), { name, page }, language), mark }];
          }),
        live: { of: null, at: position },
        styles: [assets.homeStyle],
        scripts: [assets.searchScript],
      });
    },
  };
}

/** The services by group, each with its logo or the tile of its initial, and how many of the group are in trouble. */
function viewGroups({ groups, troubled }: HomeView, logos: Logos, { texts, formats }: Language) {
  const bad = Map.groupBy(troubled, ({ group }) => group);
  return groups.map(({ group, count: all, entries }) => {
    const count = bad.get(group)?.length ?? 0;
    return {
      group,
      ...(group === 'own'
        ? { name: texts.home.yourServices, sparklines: OWN_SPARKLINES_PATH, heatmap: '/heatmap' }
        : {
            name: texts.category[group],
            sparklines: SPARKLINES_PATH,
            heatmap: `/heatmap?category=${group}`,
          }),
      count: formats.number(all),
      more:
        all > entries.length
          ? texts.home.notListed(formats.number(entries.length), formats.number(all))
          : null,
      bad: count === 0 ? null : texts.home.troubledCount(formats.number(count)),
      // Of a group of which nothing is known, nothing is said.
      worst: bad.get(group)?.[0]?.status ?? (entries.every(isUnknown) ? 'unknown' : 'up'),
      entries: entries.map(({ service, name, page, status }) => {
        return { name, page, status, ...markOf(service, logos) };
      }),
    };
  });
}

function isOwnGroup({ group }: { readonly group: Group }): boolean {
  return group === 'own';
}

function isUnknown({ status }: { readonly status: string }): boolean {
  return status === 'unknown';
}

function readFilter(query: string): HomeFilter {
  const { q = '', category, status } = readParameters(query, QUERY);
  return { text: q.trim(), category, status };
}

/** Returns true if an own incident is of a service that is down or slow now, which the page already lists. */
function isListedAbove({ source, resolvedAt, serviceId }: Incident, { troubled }: HomeView): boolean {
  return source === 'own' && resolvedAt === null && troubled.some(({ service }) => service.id === serviceId);
}

/** An incident as a row. The row does not repeat the service's name if the title begins with it. */
function viewIncident(
  { id, title, status, severity, startedAt, resolvedAt }: Incident,
  service: { readonly name: string; readonly page: string },
  language: Language,
) {
  return {
    service: title.startsWith(`${service.name} `) ? null : service,
    title,
    path: incidentPath(service.page, id),
    status: stateWord({ severity, status }, language),
    look: lookOf({ status, severity }),
    // What still runs began as long ago as it has lasted.
    started: resolvedAt === null ? null : [age(startedAt)],
    lasted: durationOf({ startedAt, resolvedAt }, language),
  };
}

/**
 * Maximum number of services in the index, about a megabyte. Where there are more it is empty: the script then asks the server
 * for each text.
 */
const MAX_INDEX = 20_000;
/** Maximum number of services that contain a text, in the index for this text. */
const MAX_LIKE = 100;
/** The time for which the index is cached, milliseconds. */
const MAX_INDEX_AGE_MS = 1_000;

const LIKE = {
  like: Type.String({
    default: '',
    description: 'Only services that contain this text or have a similar name.',
  }),
};

export interface SearchIndexSources {
  readonly directory: ShownDirectory;
  readonly finder: SiteSources['finder'];
  readonly status: StatusReads;
  readonly clock: Clock;
}

/** The route of the search index. Its entity tag changes with the list of services and with each status. */
export function searchIndex({ directory, finder, status, clock }: SearchIndexSources): Route {
  let kept: { readonly until: number; readonly body: string; readonly withdrawals: number } | null = null;
  const rowsOf = (shown: ShownServices, filter: HomeFilter) =>
    readHomeView(shown, status, filter, MAX_INDEX).groups.flatMap(({ entries }) =>
      entries.map(({ service, page, status: word }): SearchRow => {
        const { name, domain, category } = service;
        return [name, domain, page === dashDomain(domain) ? 0 : page, category, word];
      }),
    );
  const indexOf = (shown: ShownServices) =>
    JSON.stringify(shown.all().length > MAX_INDEX ? [] : rowsOf(shown, NO_FILTER));
  const everyones = (): string => {
    const now = clock.monotonic();
    const { withdrawals } = directory;
    if (kept === null || kept.until <= now || kept.withdrawals !== withdrawals)
      kept = { until: now + MAX_INDEX_AGE_MS, body: indexOf(directory), withdrawals };
    return kept.body;
  };
  return pageRoute({ path: '/search.json' }, (request) => {
    const { like = '' } = readParameters(request.query, LIKE);
    return andThen(finder.listedFor(request), (shown) => {
      // The reader has made a slip: the rows of the services with a similar name.
      if (like.trim() !== '')
        return jsonText(JSON.stringify(rowsOf(shown, { ...NO_FILTER, text: like }).slice(0, MAX_LIKE)));
      return jsonText(shown.accounts.size === 0 ? everyones() : indexOf(shown));
    });
  });
}
