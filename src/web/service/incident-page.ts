/** The page of one incident: on one axis of time with what belongs to it, its timeline, and its neighbours. */

import { DAY_MS, HOUR_MS } from '../../domain/durations.ts';
import { gatherTrouble, type Trouble } from '../../domain/incident/acknowledgement.ts';
import type { Incident } from '../../domain/incident/incident.ts';
import { type OwnerIncident, readPostOf } from '../../domain/incident/owner-incident.ts';
import type { Bucket } from '../../domain/sample.ts';
import { fullName, type Service } from '../../domain/service.ts';
import { OFFSET_PARAMETER, readParameters } from '../../http/parameters.ts';
import { HttpError } from '../../http/problem.ts';
import { pageRoute, type Route } from '../../http/route.ts';
import { lasting, type Phrase, timeToSecond } from '../../language/phrase.ts';
import type { PublicReads } from '../../store/ports/registry.ts';
import { serviceNotFound } from '../../view/service-directory.ts';
import type { SiteSources } from '../../view/site-sources.ts';
import { intervalOf } from '../../view/staleness.ts';
import type { Window } from '../../view/time-ranges.ts';
import { chooseLanguage, type Language } from '../language/language.ts';
import type { LiveChanges } from '../live/live-changes.ts';
import type { AssetAddresses } from '../parts/assets.ts';
import {
  cutTimeline,
  inLanguage,
  postMarkup,
  stateWord,
  textsOf,
  viewPageIncident,
} from '../parts/incidents.ts';
import { chartCard, openGraphTags } from '../parts/open-graph.ts';
import { type RenderPage, renderMissing } from '../parts/views.ts';
import { axisOf, axisWindow } from './incident-axis.ts';

/** Maximum time between the beginning of a companion and that of the incident. */
const COMPANIONS_BEFORE_MS = 90 * DAY_MS;
/** A vendor's entry about an outage is published at most an hour after its end (`domain/acknowledgement.ts`). */
const COMPANIONS_AFTER_MS = 2 * HOUR_MS;

const QUERY = { offset: OFFSET_PARAMETER };

export function incidentPage(
  render: RenderPage,
  sources: SiteSources & {
    readonly registry: PublicReads;
    readonly changes: LiveChanges;
  },
  assets: AssetAddresses,
): Route {
  const {
    directory,
    finder,
    registry,
    status,
    samples,
    vendorOf,
    intervalMs,
    siteUrl,
    changes,
    beginHistory,
    now,
  } = sources;

  const troubleOf = async (incident: Incident, at: number) => {
    const { serviceId, startedAt, resolvedAt } = incident;
    const until = (resolvedAt ?? at) + COMPANIONS_AFTER_MS;
    const known = await registry.incidentsSince(serviceId, startedAt - COMPANIONS_BEFORE_MS, until);
    return gatherTrouble(incident, known, at);
  };

  /** The checks of a window; null while they cannot be read. */
  const checksOf = (service: Service, window: Window) =>
    beginHistory()(() => samples.query({ serviceId: service.id, ...window }));

  const postOf = async ({ id, source }: Incident, { accountId }: Service) => {
    const number = readPostOf(id);
    if (source !== 'owner' || number === null || accountId === null) return null;
    return await registry.findOwnerIncident(accountId, number);
  };

  return pageRoute({ path: '/status/:slug/incidents/:id' }, async (request) => {
    const language = chooseLanguage(request);
    const { slug = '', id = '' } = request.params;
    const { offset } = readParameters(request.query, QUERY);
    const { texts } = language;
    const service = await finder.byPageName(request, slug);
    const missing = (error: HttpError, message: string) =>
      renderMissing(render, request, language, { error, message });
    if (service === null) return missing(serviceNotFound(slug), texts.site.noService(slug.slice(0, 100)));
    const page = directory.pageName(service);
    const name = fullName(service);
    const position = changes.position();
    const incident = await registry.findIncident(id);
    if (incident === null || incident.serviceId !== service.id)
      return missing(notInService(name, id), texts.page.noIncident(name, id.slice(0, 100)));
    const at = now();
    const trouble = await troubleOf(incident, at);
    const window = axisWindow(trouble, intervalOf(service, intervalMs), at);
    const [buckets, { older, newer }, post] = await Promise.all([
      checksOf(service, window),
      registry.incidentsBeside(incident),
      postOf(incident, service),
    ]);
    const show = (shown: Incident) => viewPageIncident(shown, page, at, language);
    const hasVendor = vendorOf(service) !== null;
    const view = viewIncidentPage(
      { ...trouble, page, window, buckets, hasVendor, post, offset, now: at },
      language,
    );
    const { title, path, timeline, description, isOpen } = view.incident;
    return render('./incident', {
      ...view,
      language,
      meta: openGraphTags(siteUrl, {
        title: texts.page.title(name, title),
        description: `${view.incident.status}: ${timeline[0]?.text || description}`,
        path,
        image: chartCard(page, texts.page.chartOf(name)),
      }),
      title: texts.page.title(name, title),
      service,
      name,
      page,
      word: texts.status[status.get(service.id)?.status ?? 'unknown'],
      badge: `/badges/${page}/picture`,
      link: siteUrl + path,
      // A resolved incident changes no more.
      live: isOpen ? { of: [page], at: position } : null,
      styles: [assets.serviceStyle],
      scripts: [assets.copyScript],
      feed: `/status/${page}/incidents.atom`,
      timeline: await Promise.all(
        view.timeline.map(async (entry) => ({
          ...entry,
          html: entry.isMarkdown ? await postMarkup(entry.text) : null,
        })),
      ),
      newest: offset === 0 ? null : path,
      rest: view.next === null ? null : `${path}?offset=${view.next}`,
      older: older === null ? null : show(older),
      newer: newer === null ? null : show(newer),
    });
  });
}

/** The error for an id that no incident of the service has. */
function notInService(name: string, id: string): HttpError {
  return new HttpError('incident_not_found', `${name} has no incident "${id.slice(0, 100)}".`);
}

/** The facts that the page shows of an incident. */
interface IncidentKnowledge extends Trouble {
  /** Name of the service in paths. */
  readonly page: string;
  readonly window: Window;
  /** The checks of the window; null: the store of past checks does not respond. */
  readonly buckets: readonly Bucket[] | null;
  /** True if the vendor's status page of the service is read. */
  readonly hasVendor: boolean;
  /** The owner's post with its markup, if it is the owner's incident. */
  readonly post: OwnerIncident | null;
  /** Number of entries before those that are shown. */
  readonly offset: number;
  readonly now: number;
}

/** The data of the page, beside its neighbours. */
function viewIncidentPage(known: IncidentKnowledge, language: Language) {
  const { incident, companions, page, now } = known;
  const view = viewPageIncident(incident, page, now, language);
  const axis = axisOf(known, known.window, known.buckets, language);
  const isRepeated = view.timeline.some(({ text }) => text === view.description);
  return {
    incident: view,
    // The first entry of a timeline often says the same.
    description: isRepeated ? '' : view.description,
    headline: headlineOf(known, language),
    axis,
    findings: findingsOf(known, language),
    companions: companions.map((one) => viewPageIncident(one, page, now, language)),
    ...timelineOf(known, axis.offset, language),
  };
}

/** The large figures: how long it lasted, and how long the vendor took. */
function headlineOf({ incident, acknowledgement }: IncidentKnowledge, { texts, formats }: Language) {
  const { startedAt, resolvedAt } = incident;
  const { incidents } = texts;
  const lasted: Phrase = [resolvedAt === null ? lasting(startedAt) : formats.length(resolvedAt - startedAt)];
  const lagMs = acknowledgement?.lagMs ?? null;
  return [
    { name: resolvedAt === null ? incidents.lastsFor : incidents.duration, value: lasted },
    ...(lagMs === null
      ? []
      : [
          {
            name: incidents.vendorFirst,
            value: [incidents.later(formats.length(Math.abs(lagMs)), lagMs < 0)],
          },
        ]),
  ];
}

/** The findings of the axis, in sentences. */
function findingsOf(known: IncidentKnowledge, { texts, formats }: Language): readonly string[] {
  const { incident, acknowledgement, buckets, hasVendor } = known;
  const { incidents } = texts;
  const lagMs = acknowledgement?.lagMs ?? null;
  if (lagMs !== null) return [incidents.vendorLag(formats.length(Math.abs(lagMs)), lagMs < 0)];
  if (incident.severity === 'maintenance') return [];
  if (incident.source === 'own')
    return hasVendor ? [incident.resolvedAt === null ? incidents.vendorSilent : incidents.vendorNever] : [];
  const isWatched = buckets?.some(({ count }) => count > 0) === true;
  const hasFailed = buckets?.some(({ downCount }) => downCount > 0) === true;
  return isWatched && !hasFailed && known.companions.length === 0 ? [incidents.checksFine] : [];
}

/** The entries of the incident and its companions that are shown, newest first; each says who speaks if there are several. */
function timelineOf(
  { incident, companions, post, offset: start }: IncidentKnowledge,
  offset: (at: number) => string,
  { texts }: Language,
) {
  const all = [incident, ...companions].map((one) => inLanguage(one, { texts }));
  const hasVoices = new Set(all.map(({ source }) => source)).size > 1;
  const words = post === null ? null : textsOf(post, { texts });
  const entries = all
    .flatMap((one): Entry[] =>
      one === all[0] && words !== null
        ? words.map(({ at, status, markdown: text }) => ({
            at,
            status,
            text,
            source: one.source,
            isMarkdown: true,
          }))
        : one.updates.map(({ at, status, text }) => ({
            ...{
              at,
              status: stateWord({ severity: one.severity, status }, { texts }),
              text,
              source: one.source,
              isMarkdown: false,
            },
          })),
    )
    .sort((a, b) => b.at - a.at);
  const { shown, next } = cutTimeline(entries, start);
  return {
    timeline: shown.map(({ at, source, ...entry }) => ({
      ...entry,
      source,
      voice: hasVoices ? texts.incidents.voice[source] : null,
      time: [timeToSecond(at)],
      offset: offset(at),
    })),
    next,
  };
}

interface Entry {
  readonly at: number;
  readonly status: string;
  readonly text: string;
  readonly source: Incident['source'];
  readonly isMarkdown: boolean;
}
