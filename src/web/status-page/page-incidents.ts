/** The incidents on an owner's page: those of its services, and those that the owner has written. */
import { DAY_MS } from '../../domain/durations.ts';
import { type Incident, shortened } from '../../domain/incident/incident.ts';
import {
  type OwnerIncident,
  ownerIncidentId,
  readOwnerIncidentId,
} from '../../domain/incident/owner-incident.ts';
import type { HttpRequest } from '../../http/route.ts';
import { time } from '../../language/phrase.ts';
import { pathFor } from '../../view/page-address.ts';
import { type PageView, type PageViewSources, tellIncident } from '../../view/status-page-view.ts';
import type { ChosenLanguage } from '../language/language.ts';
import { groupByDay, incidentPath, inLanguage, lookOf, reportedBy, stateWord } from '../parts/incidents.ts';
import { viewPost } from '../parts/posts.ts';
import { postPart } from './page-frame.ts';

/** The time for which a resolved incident of the owner is shown first, milliseconds. */
const POSTED_FOR_MS = 7 * DAY_MS;

/** Incidents of services that a request has read: those that run and are listed first, and a part of the others. */
export interface ReadIncidents {
  readonly running: readonly Incident[];
  readonly shown: readonly Incident[];
}

/** Sources of the incidents. */
type IncidentSources = Pick<PageViewSources, 'directory'> & { readonly siteUrl: string };

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
