/** The page of one service, and the response times of a range for its chart. */

import { createPromiseCache } from '../../async/bounded-map.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts';
import type { Incident } from '../../domain/incident/incident.ts';
import type { Bucket } from '../../domain/sample.ts';
import { fullName, type Service } from '../../domain/service.ts';
import { unknownStatus } from '../../domain/status/current.ts';
import { readParameters } from '../../http/parameters.ts';
import { retryLater } from '../../http/problem.ts';
import { type HttpRequest, json, type Route } from '../../http/route.ts';
import { asText, escapeMarkup, time } from '../../language/phrase.ts';
import type { PublicReads } from '../../store/ports/registry.ts';
import type { RegionFilter, SampleReads } from '../../store/ports/samples.ts';
import { readAnnouncedChecks } from '../../view/announced-uptime.ts';
import { nameCause, whyUnreached } from '../../view/cause-of-down.ts';
import type { ReadHistory } from '../../view/history-reads.ts';
import { readUnread, unreadPeriods } from '../../view/honesty.ts';
import { inRegion, REGION_PARAMETER } from '../../view/sample-region-reader.ts';
import { serviceNotFound } from '../../view/service-directory.ts';
import type { SiteSources } from '../../view/site-sources.ts';
import { intervalOf, isStale, seenAt } from '../../view/staleness.ts';
import {
  closeUp,
  daysUntil,
  lastDay,
  RANGE_NAMES,
  RANGE_QUERY,
  type RangeName,
  type Window,
  windowOf,
} from '../../view/time-ranges.ts';
import { type ChosenLanguage, chooseLanguage, languageHeaders } from '../language/language.ts';
import type { LiveChanges } from '../live/live-changes.ts';
import type { AssetAddresses } from '../parts/assets.ts';
import { chartCard, openGraphTags } from '../parts/open-graph.ts';
import { findUnreachedDays } from '../parts/uptime-bars.ts';
import { STATUS_SHAPES } from '../parts/verdict.ts';
import { type RenderPage, renderMissing } from '../parts/views.ts';
import { firstKnownDay, isWatched, sayUnreached } from './service-days.ts';
import { viewDependencies, viewServicePage } from './service-page-view.ts';
import { drawingOf, responseTimesOf, timeRows } from './service-response-times.ts';
import { describeVendorPage } from './service-vendor.ts';

const QUERY = { ...RANGE_QUERY, region: REGION_PARAMETER };
const YEAR_DAYS = 365;
const MAX_INCIDENTS_SHOWN = 10;
const MAX_MAINTENANCES_SHOWN = 5;
const FAILING_LOOKED_AT = 100;

interface ServicePageSources extends SiteSources {
  readonly registry: PublicReads;
  readonly changes: LiveChanges;
}

export function servicePages(
  render: RenderPage,
  sources: ServicePageSources,
  assets: AssetAddresses,
): Route[] {
  const views = new ServicePages(render, sources, assets);
  const shown = { bucket: 'pages', access: 'everyone' } as const;
  return [
    { ...shown, path: '/status/:slug', handle: (request) => views.page(request) },
    {
      ...shown,
      path: '/status/:slug/response-times.json',
      handle: (request) => views.responseTimes(request),
    },
  ];
}

class ServicePages {
  readonly #sources: ServicePageSources;
  readonly #render: RenderPage;
  readonly #assets: AssetAddresses;
  readonly #readDays: ReadDays;
  readonly #readAll: ReadDays = (serviceId, window, filter) =>
    this.#sources.samples.query(inRegion({ serviceId, ...window }, filter));

  constructor(render: RenderPage, sources: ServicePageSources, assets: AssetAddresses) {
    this.#sources = sources;
    this.#render = render;
    this.#assets = assets;
    this.#readDays = createPastDays(sources.samples, sources.now);
  }

  async page(request: HttpRequest) {
    const language = chooseLanguage(request);
    const name = request.params.slug ?? '';
    const service = await this.#sources.finder.byPageName(request, name);
    if (service === null)
      return renderMissing(this.#render, request, language, {
        error: serviceNotFound(name),
        message: language.texts.site.noService(name.slice(0, 100)),
      });
    const title = fullName(service);
    const { range, region } = readParameters(request.query, QUERY);
    const shown = {
      service,
      filter: await this.#sources.regions.filterOf(region),
      readHistory: this.#sources.beginHistory(),
    };
    const at = this.#sources.now();
    const missingSince = this.#sources.samples.missingSince?.() ?? null;
    // The position is read first, so that a change during the reads is sent to the open page again.
    const position = this.#sources.changes.position();
    const [day, year, times, regionChoices, incidents, incidentsOfYear, maintenances, dependencies, unread] =
      await Promise.all([
        this.#past(shown, lastDay(at)),
        this.#past(shown, daysUntil(at, YEAR_DAYS), this.#readDays),
        this.#timesOf(shown, range, at),
        shown.readHistory(() => this.#sources.regions.choicesOf(service.id)),
        this.#sources.registry.listIncidents({
          serviceId: service.id,
          limit: MAX_INCIDENTS_SHOWN,
          offset: 0,
        }),
        this.#sources.registry.incidentsSince(service.id, at - YEAR_DAYS * DAY_MS),
        this.#sources.registry.listMaintenances({
          serviceId: service.id,
          limit: MAX_MAINTENANCES_SHOWN,
          offset: 0,
        }),
        this.#dependenciesOf(service, language),
        readUnread(service, at - YEAR_DAYS * DAY_MS, this.#sources.registry),
      ]);
    const current = this.#sources.status.get(service.id) ?? unknownStatus(service.id);
    const isOld = isStale(
      current,
      intervalOf(service, this.#sources.intervalMs),
      at,
      this.#sources.listenedAt,
    );
    const view = viewServicePage(
      {
        service,
        page: this.#sources.directory.pageName(service),
        current,
        unreached: whyUnreached(this.#sources, service, current),
        staleSince: isOld ? seenAt(current, this.#sources.listenedAt) : null,
        lastDay: day ?? [],
        year: year ?? [],
        unreachedDays: sayUnreached(await this.#unreachedDays(shown, year ?? [], at), language, (cause) =>
          nameCause(service, cause, {}),
        ),
        maintained: await this.#maintainedOf(shown, at),
        measuredFrom: await this.#measuredFrom(shown, year, at),
        incidents: runningFirst(incidents, incidentsOfYear).slice(0, MAX_INCIDENTS_SHOWN),
        incidentsOfYear,
        maintenances,
        vendor: this.#sources.vendorOf(service),
        unreadPeriods: unreadPeriods([service], unread, this.#sources.vendorOf, at),
        intervalMs: this.#sources.intervalMs,
        withoutNode: isChecked(service) ? this.#sources.regions.withoutNode(service.check) : [],
        siteUrl: this.#sources.siteUrl,
        now: at,
      },
      language,
    );
    return this.#render('./service', {
      ...view,
      language,
      // Rules watch public services and those of the account.
      tellMe: service.origin === 'catalogue' ? `/dashboard/rules/new?service=${service.slug}` : null,
      title: asText(view.answer.title, language.formats, at),
      meta: openGraphTags(this.#sources.siteUrl, {
        title: asText(view.answer.title, language.formats, at),
        description: asText(
          [`${title} `, ...view.verdict, ...describeVendorPage(view.vendor, language)],
          language.formats,
          at,
        ),
        path: `/status/${view.page}`,
        image: chartCard(view.page, language.texts.page.chartOf(title)),
      }),
      live: { of: [view.page], at: position },
      missing: missingSince === null ? null : language.texts.page.samplesMissing(time(missingSince)),
      hasPast: day !== null && year !== null && times !== null,
      dependencies,
      range,
      ranges: RANGE_NAMES,
      region,
      regionChoices: regionChoices ?? [],
      shapes: STATUS_SHAPES,
      escape: escapeMarkup,
      styles: [this.#assets.chartStyle, this.#assets.serviceStyle],
      scripts: [this.#assets.copyScript, this.#assets.chartScript, this.#assets.serviceScript],
      times: responseTimesOf(range, times ?? { buckets: [], since: null }, language),
      drawing: times === null ? null : drawingOf(times.buckets, times.window, language),
      begins: [typeof times?.since === 'number' ? time(times.since) : language.texts.page.ago[range]],
      timeRows: timeRows(times?.buckets ?? [], language),
    });
  }

  async responseTimes(request: HttpRequest) {
    const language = chooseLanguage(request);
    const service = await this.#sources.finder.named(request);
    const { range, region } = readParameters(request.query, QUERY);
    const filter = await this.#sources.regions.filterOf(region);
    const times = await this.#timesOf(
      { service, filter, readHistory: this.#sources.beginHistory() },
      range,
      this.#sources.now(),
    );
    if (times === null)
      throw retryLater('history_unavailable', 60, 'The store of past checks does not answer.');
    const answer = json(responseTimesOf(range, times, language));
    return { ...answer, headers: { ...answer.headers, ...languageHeaders(language) } };
  }

  /** Reads days; null while past checks cannot be read, because a page without charts is better than an error. */
  #past({ service, filter, readHistory }: Shown, window: Window, read: ReadDays = this.#readAll) {
    return readHistory(() => read(service.id, window, filter));
  }

  async #unreachedDays({ service, filter, readHistory }: Shown, days: readonly Bucket[], at: number) {
    const window = daysUntil(at, YEAR_DAYS);
    return await findUnreachedDays(service, days, this.#sources.directory.whole.bySlug, (id) =>
      readHistory(() => this.#readDays(id, window, filter)),
    );
  }

  /** The checks of a year within maintenance that the owner announced; null as for {@link past}. */
  async #maintainedOf({ service, filter, readHistory }: Shown, at: number) {
    if (service.origin === 'catalogue') return null;
    const { from } = daysUntil(at, YEAR_DAYS);
    return await readHistory(() =>
      readAnnouncedChecks(this.#sources, service.id, { from, to: at }, (query) => inRegion(query, filter)),
    );
  }

  /** The buckets of a range from the first known one on, in finer steps for a new service; null as for {@link past}. */
  async #timesOf(shown: Shown, range: RangeName, at: number) {
    const whole = windowOf(range, at);
    const buckets = await this.#past(shown, whole);
    if (buckets === null) return null;
    const close = closeUp(whole, buckets, intervalOf(shown.service, this.#sources.intervalMs));
    if (close === null) return { window: whole, buckets, since: null };
    const later = buckets.filter(({ startAt }) => startAt >= close.from);
    const finer = close.stepMs === whole.stepMs ? later : await this.#past(shown, close);
    if (finer === null) return { window: whole, buckets, since: null };
    const first = Math.max(
      0,
      finer.findIndex(({ count }) => count > 0),
    );
    const from = finer[first]?.startAt ?? close.from;
    return { window: { ...close, from }, buckets: finer.slice(first), since: from };
  }

  /**
   * Time of the first check within a year, to the minute if it was recent; null: there is none, or checks began before
   * the year. The hour is determined before the minute, because a day has more minutes than a query may have buckets.
   */
  async #measuredFrom(shown: Shown, year: readonly Bucket[] | null, at: number) {
    let first = firstKnownDay(year ?? []);
    if (first === null || at - first.endAt > 2 * DAY_MS) return first?.startAt ?? null;
    for (const stepMs of [HOUR_MS, MINUTE_MS]) {
      const closer = await this.#past(shown, { from: first.startAt, to: first.endAt, stepMs });
      first = closer?.find(isWatched) ?? first;
    }
    return first.startAt;
  }

  async #dependenciesOf(service: Service, language: ChosenLanguage) {
    if (service.publicDependencies !== true) return null;
    const [known, failing] = await Promise.all([
      this.#sources.registry.dependenciesOf(service.id, 1),
      this.#sources.registry.failingDependencies({ limit: FAILING_LOOKED_AT, offset: 0 }),
    ]);
    const countsItself = service.verified && !service.paused && service.check.kind === 'heartbeat';
    return viewDependencies(known, failing, countsItself, language);
  }
}

/** Returns true if nodes check a service, as far as its own definition says. */
function isChecked({ paused, verified, check }: Service): boolean {
  return !paused && verified && check.kind !== 'heartbeat';
}

/**
 * Unresolved incidents, then resolved ones, each newest first. `older` adds unresolved ones that are not in `newest`.
 */
function runningFirst(newest: readonly Incident[], older: readonly Incident[]): Incident[] {
  const isRunning = ({ status }: Incident) => status !== 'resolved';
  const known = new Set(newest.map(({ id }) => id));
  const running = older.filter((incident) => isRunning(incident) && !known.has(incident.id)).reverse();
  return [...newest.filter(isRunning), ...running, ...newest.filter((incident) => !isRunning(incident))];
}

/** Whose checks a page shows. */
interface Shown {
  readonly service: Service;
  /** The region; undefined: all of them. */
  readonly filter: RegionFilter | undefined;
  readonly readHistory: ReadHistory;
}

/** Reads the days of a window that ends today, of a region or of all of them. Throws the errors of the store. */
type ReadDays = (serviceId: number, window: Window, filter?: RegionFilter) => Promise<Bucket[]>;

/** The time for which past days are cached, milliseconds; late samples can still change them. */
export const DAYS_KEPT_MS = 300_000;
/** Maximum number of services, or regions of them, whose days are cached, about 50 KB each; when there are more, the oldest is dropped. */
const MAX_CACHED_YEARS = 300;

/**
 * Creates the function that reads the days of a year of a service. Past days are cached for some minutes, because
 * reading them takes the store ten times as long as all other reads of the page.
 */
export function createPastDays(samples: SampleReads, now: () => number): ReadDays {
  const cached = createPromiseCache<string, Bucket[]>({
    maxEntries: MAX_CACHED_YEARS,
    maxAgeMs: DAYS_KEPT_MS,
    now,
  });
  return async (serviceId, { from, to, stepMs }, filter) => {
    const read = (start: number, end: number) =>
      samples.query(inRegion({ serviceId, from: start, to: end, stepMs }, filter));
    const today = from + Math.floor((to - 1 - from) / stepMs) * stepMs;
    if (today <= from) return await read(from, to);
    const isWhole = (samples.missingSince?.() ?? null) === null;
    const [over, running] = await Promise.all([
      cached(`${serviceId} ${filter?.region ?? ''}`, `${from} ${isWhole}`, () => read(from, today)),
      read(today, to),
    ]);
    return [...over, ...running];
  };
}
