/** The content of an owner's page: bars of its services, maintenance, and the preview of the page. */
import type { Service } from '../../domain/service.ts';
import { domainInUse, type OwnedPage } from '../../domain/status-page.ts';
import { time } from '../../language/phrase.ts';
import { placeOfPage } from '../../view/page-address.ts';
import { type PageView, type PageViewSources, picturePart } from '../../view/status-page-view.ts';
import type { ChosenLanguage } from '../language/language.ts';
import { webAddress } from '../parts/incidents.ts';
import { chartCard, openGraphTags } from '../parts/open-graph.ts';
import { viewShortText } from '../parts/posts.ts';
import type { UptimeBars } from '../parts/uptime-bars.ts';
import { describeDay } from '../service/service-days.ts';

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
            label: describeDay(day, intervalMs, language),
          })),
          uptime,
          without: without === null || without === uptime ? null : texts.page.withoutMaintenance(without),
          knownDays: days?.knownDays ?? 0,
        };
      }),
    }));
}

/** Maintenance that the owner announces. */
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

/** Maintenance of vendors. */
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
