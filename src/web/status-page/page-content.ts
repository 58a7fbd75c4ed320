/** An owner's page: its frame and headline, bars of its services, maintenance, and the preview of the page. Pure. */
import { DAY_MS } from '../../domain/durations.ts';
import { type Incident, incidentPath, shortened } from '../../domain/incident/incident.ts';
import {
  type OwnerIncident,
  ownerIncidentId,
  readOwnerIncidentId,
} from '../../domain/incident/owner-incident.ts';
import { readableColours } from '../../domain/page-colour.ts';
import type { Service } from '../../domain/service.ts';
import type { PageStanding, PageStatus, PageVerdict } from '../../domain/status/outage-verdict.ts';
import { domainInUse, type OwnedPage } from '../../domain/status-page.ts';
import type { HttpRequest } from '../../http/route.ts';
import { time } from '../../language/phrase.ts';
import { nameCause } from '../../view/cause-of-down.ts';
import { pageUrl, pathFor, placeOfPage } from '../../view/page-address.ts';
import {
  type PageView,
  type PageViewSources,
  picturePart,
  tellIncident,
} from '../../view/status-page-view.ts';
import type { ChosenLanguage, LanguageTexts } from '../language/language.ts';
import {
  groupByDay,
  inLanguage,
  lookOf,
  reportedBy,
  stateWord,
  viewPost,
  viewShortText,
  webAddress,
} from '../parts/incidents.ts';
import { chartCard, openGraphTags } from '../parts/open-graph.ts';
import type { UptimeBars } from '../parts/uptime-bars.ts';
import { STATUS_SHAPES } from '../parts/verdict.ts';
import { describeDay, sayUnreached } from '../service/service-days.ts';

/** A shape for each standing, so that colour is not the only sign: an SVG path in a box of 10 by 10. */
const SHAPES: Readonly<Record<PageStanding, string>> = {
  ...STATUS_SHAPES,
  maintenance: 'M1 1h8v8H1z',
  paused: 'M1 1h3v8H1zM6 1h3v8H6z',
};

/** The frame of a page. `siteUrl` has no slash at its end. */
export function framePage(request: HttpRequest, siteUrl: string, page: OwnedPage, language: ChosenLanguage) {
  return {
    language,
    // Links to the rest of this site.
    home: request.atDomain === true ? siteUrl : '',
    page,
    shapes: SHAPES,
    url: pageUrl(siteUrl, page),
    logo:
      page.logo === null
        ? null
        : {
            ...page.logo,
            path: pathFor(request, page.slug, picturePart('logo', page.logo.mark)),
            ...shownSize(page.logo),
          },
    favicon:
      page.favicon === undefined
        ? null
        : {
            type: page.favicon.type,
            path: pathFor(request, page.slug, picturePart('favicon', page.favicon.mark)),
          },
    feed: pathFor(request, page.slug, 'incidents.atom'),
    brand: page.colour === undefined ? null : pathFor(request, page.slug, brandPart(page.colour)),
  };
}

/** The part of a page that shows one incident of the owner. */
export function postPart({ id }: { readonly id: number }): string {
  return `incidents/${ownerIncidentId(id)}`;
}

/** The displayed size of a logo in pixels: at most 240 by 64, and never larger than the logo. */
function shownSize({ width, height }: { readonly width: number; readonly height: number }) {
  const scale = Math.min(1, 240 / width, 64 / height);
  return {
    shownWidth: Math.max(1, Math.round(width * scale)),
    shownHeight: Math.max(1, Math.round(height * scale)),
  };
}

/** The name of the style of a brand colour within its page. It contains the colour, so that each has its own URL. */
function brandPart(colour: string): string {
  return `brand.css?v=${colour.slice(1)}`;
}

/** The style of a brand colour: the colour itself as an edge above the page, and readable ones for links in both themes. */
export function brandStyle(colour: string): string {
  const { light, dark } = readableColours(colour);
  const accent = (shade: string) => `{--link:${shade};--focus:${shade}}`;
  return [
    `:root,[data-theme=light]${accent(light)}`,
    `@media (prefers-color-scheme:dark){:root:not([data-theme=light])${accent(dark)}}`,
    `[data-theme=dark]${accent(dark)}`,
    `.own{border-top:6px solid ${colour}}`,
    '',
  ].join('\n');
}

/**
 * Returns the headline, and the status whose colour it has. `isCurrent`: checks are made now, so that what they saw last still
 * holds.
 */
export function describePage(
  verdict: PageVerdict,
  isCurrent: boolean,
  { texts: { statusPage } }: LanguageTexts,
): { readonly look: PageStatus; readonly text: string } {
  const { status, look, reported, inMaintenance, counts, watched } = verdict;
  const hasTrouble = status !== 'up' && status !== 'unknown';
  const said =
    reported !== null
      ? statusPage.incidentReported
      : // Which services are affected says more than that there is maintenance.
        inMaintenance && !hasTrouble
        ? statusPage.inMaintenance
        : null;
  const seen = statusPage.seen(verdict);
  const isFine = status === 'up' && counts.up === watched;
  const checks =
    !isCurrent && status !== 'unknown'
      ? statusPage.lastKnown(seen)
      : said !== null && isFine
        ? statusPage.checksPass
        : seen;
  return {
    look: said === null && !isCurrent ? 'unknown' : look,
    text: sentence(said === null ? [checks] : watched === 0 ? [said] : [said, checks]),
  };
}

function sentence(clauses: readonly string[]): string {
  const text = clauses.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** The groups with their services; a group without services is left out. */
export function viewGroups(
  directory: PageViewSources['directory'],
  look: PageView,
  bars: ReadonlyMap<number, UptimeBars>,
  language: ChosenLanguage,
) {
  const { formats, texts } = language;
  const percent = (ratio: number | null) => (ratio === null ? null : formats.percent(ratio));
  return look.groups
    .filter(({ services }) => services.length > 0)
    .map(({ name, services }) => ({
      name,
      services: services.map(({ id, name: shownName, service, intervalMs, standing, stale, unreached }) => {
        const days = bars.get(id);
        const unreachedTexts = sayUnreached(days?.unreached ?? new Map(), language, (cause) =>
          service === null ? null : nameCause(service, cause, { isPublished: true }),
        );
        const uptime = percent(days?.uptimeRatio ?? null);
        const without = percent(days?.withoutMaintenance ?? null);
        return {
          name: shownName,
          // Null: a private service has no page for the readers of this one.
          page: service === null ? null : directory.pageName(service),
          isUnproved: service?.verified === false,
          standing,
          stale,
          unreached: unreached === null ? null : texts.service.because(unreached.because),
          lines: days?.lines ?? [],
          told: (days?.told ?? []).map(({ x, width, day }) => ({
            ...{ x, width },
            label: describeDay(day, intervalMs, language, unreachedTexts.get(day.startAt)),
          })),
          uptime,
          without: without === null || without === uptime ? null : texts.page.withoutMaintenance(without),
          knownDays: days?.knownDays ?? 0,
        };
      }),
    }));
}

export async function viewAnnounced(look: PageView, { texts }: ChosenLanguage) {
  return await Promise.all(
    look.announced.map(async ({ title, services, pages: named, occurrence, ...text }) => ({
      title,
      ...(await viewShortText(text)),
      phase: occurrence.startsAt <= look.at ? 'running' : 'planned',
      span: texts.page.from(time(occurrence.startsAt), time(occurrence.endsAt)),
      names: named.includes(look.page.id)
        ? []
        : look.services.filter(({ id }) => services.includes(id)).map(({ name }) => name),
    })),
  );
}

export function viewMaintenances(
  directory: PageViewSources['directory'],
  look: PageView,
  { texts }: ChosenLanguage,
) {
  return look.maintenances.flatMap((maintenance) => {
    // Those of the owner are announced once for all services.
    if (maintenance.ownerId !== undefined) return [];
    const listed = look.services.find(({ id }) => id === maintenance.serviceId);
    if (listed === undefined || listed.service === null) return [];
    const { startsAt, endsAt } = maintenance;
    const span = texts.page.from(time(startsAt), endsAt === null ? null : time(endsAt));
    const url = webAddress(maintenance.sourceUrl);
    return [{ ...maintenance, url, name: listed.name, page: directory.pageName(listed.service), span }];
  });
}

/** The tags for previews of the page. Charts are not for strangers where the site is for its members alone. */
export function metaOf(
  { siteUrl, isForMembers = false }: { readonly siteUrl: string; readonly isForMembers?: boolean },
  { page, services }: PageView,
  headline: string,
  nameOf: (service: Service) => string,
) {
  const { logo } = page;
  const { origin, path } = placeOfPage(siteUrl, page);
  return openGraphTags(origin, {
    title: page.title,
    description: page.text === '' ? headline : `${headline} ${page.text}`,
    path,
    image:
      logo === null
        ? isForMembers
          ? null
          : chartOf(services, page, nameOf)
        : {
            path: placeOfPage(siteUrl, page, picturePart('logo', logo.mark)).path,
            type: logo.type,
            size: { width: logo.width, height: logo.height },
            alt: page.title,
            isLogo: true,
          },
  });
}

/** The chart of a public page's first service, for a page without a logo; null: at a domain of its own there are no charts. */
function chartOf(services: PageView['services'], page: OwnedPage, nameOf: (service: Service) => string) {
  const first = services.find(({ service }) => service !== null)?.service ?? null;
  if (first === null || page.access !== undefined || domainInUse(page) !== null) return null;
  return chartCard(nameOf(first), page.title);
}

/** The time for which a resolved incident of the owner is shown first, milliseconds. */
const POSTED_FOR_MS = 7 * DAY_MS;

/** Incidents of services that a request has read: those that run and are listed first, and a part of the others. */
interface ReadIncidents {
  readonly running: readonly Incident[];
  readonly shown: readonly Incident[];
}

type IncidentSources = PageViewSources & { readonly siteUrl: string };

/** The present incidents, with those of the owner, and the days of the others. */
export async function viewIncidents(
  { directory, siteUrl }: IncidentSources,
  { running, shown }: ReadIncidents,
  look: PageView,
  { request, language }: { readonly request: HttpRequest; readonly language: ChosenLanguage },
) {
  const { texts, formats } = language;
  const posts = look.posts.filter(({ resolvedAt }) => (resolvedAt ?? look.at) > look.at - POSTED_FOR_MS);
  const isPosted = ({ source, id }: Incident) =>
    source === 'owner' && posts.some((one) => id.startsWith(`${ownerIncidentId(one.id)}-`));
  const view = (incidents: readonly Incident[]) =>
    incidents.flatMap((incident) => {
      const told = isPosted(incident) ? null : tellIncident(look, incident, siteUrl);
      return told === null ? [] : viewIncident(directory, told, look.at, language);
    });
  const viewed = await Promise.all(
    posts.map((one) =>
      viewPost(one, look.at, language, { path: pathFor(request, look.page.slug, postPart(one)) }),
    ),
  );
  const current = [
    {
      id: 'open',
      heading: texts.statusPage.runningIncidents,
      posts: viewed.filter(({ isOpen }) => isOpen),
      incidents: view(running),
    },
    {
      id: 'resolved',
      heading: texts.statusPage.recentlyResolved,
      posts: viewed.filter(({ isOpen }) => !isOpen),
      incidents: [],
    },
  ].filter(({ posts, incidents }) => posts.length + incidents.length > 0);
  const days = groupByDay(view(shown)).map(({ at, incidents }) => ({ day: formats.day(at), incidents }));
  return { current, days };
}

function viewIncident(
  directory: PageViewSources['directory'],
  { incident, listed: { name, service } }: NonNullable<ReturnType<typeof tellIncident>>,
  at: number,
  { texts, formats }: ChosenLanguage,
) {
  const page = service === null ? null : directory.pageName(service);
  const translated = shortened(inLanguage(incident, { texts }));
  const { startedAt, resolvedAt, updates } = translated;
  const length = formats.length((resolvedAt ?? at) - startedAt);
  const { lasting, from } = texts.statusPage;
  return [
    {
      ...translated,
      // The whole page is the owner's word.
      reportedBy: incident.source === 'owner' ? null : reportedBy(incident, texts),
      ...(page === null ? { title: texts.service.incidentTitle({ name, outage: 'down' }) } : {}),
      ...{ name, page, path: page === null ? null : incidentPath(page, incident.id) },
      started: from(time(startedAt)),
      lasted: resolvedAt === null ? lasting(length) : texts.page.lasted(length),
      look: lookOf(incident),
      state: stateWord(incident, { texts }),
      updates: [...updates].reverse().map((update) => ({
        ...update,
        state: stateWord({ ...update, severity: incident.severity }, { texts }),
        time: [time(update.at)],
      })),
    },
  ];
}

/** An incident that the owner has written about the page or a service on it; null: there is none. */
export async function findPost(
  pages: PageViewSources['pages'],
  { page, services }: PageView,
  id: string,
): Promise<OwnerIncident | null> {
  const post = await pages.findOwnerIncident(page.accountId, readOwnerIncidentId(id) ?? 0);
  const isHere = (serviceId: number) => services.some(({ service }) => service?.id === serviceId);
  return post !== null && (post.pages.includes(page.id) || post.services.some(isHere)) ? post : null;
}
