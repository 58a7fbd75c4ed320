/** What an owner's page shows of its services: their bars, maintenance, and what a preview says of the page. */
import { fullName, type Service } from '../../domain/service.ts';
import { domainInUse, type OwnedPage } from '../../domain/status-page.ts';
import { time } from '../../language/phrase.ts';
import { placeOfPage } from '../../view/page-address.ts';
import { intervalOf } from '../../view/staleness.ts';
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
  /** Of services without an interval of their own, milliseconds. */
  usualMs: number,
) {
  const { formats, texts } = language;
  const percent = (ratio: number | null) => (ratio === null ? null : formats.percent(ratio));
  return look.groups
    .filter(({ services }) => services.length > 0)
    .map(({ name, services }) => ({
      name,
      services: services.map(({ service, standing, stale, unreached }) => {
        const days = bars.get(service.id);
        const uptime = percent(days?.uptimeRatio ?? null);
        const without = percent(days?.withoutMaintenance ?? null);
        return {
          service,
          name: fullName(service),
          page: directory.pageName(service),
          standing,
          stale,
          unreached: unreached === null ? null : texts.service.because(unreached.because),
          lines: days?.lines ?? [],
          told: (days?.told ?? []).map(({ x, width, day }) => ({
            ...{ x, width },
            label: describeDay(day, intervalOf(service, usualMs), language),
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
        : look.services
            .filter(({ service }) => services.includes(service.id))
            .map(({ service }) => fullName(service)),
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
    const service = directory.byId(maintenance.serviceId);
    if (service === null) return [];
    const { startsAt, endsAt } = maintenance;
    const span = texts.page.from(time(startsAt), endsAt === null ? null : time(endsAt));
    const url = webAddress(maintenance.sourceUrl);
    return [{ ...maintenance, url, name: fullName(service), page: directory.pageName(service), span }];
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
          : chartOf(services.at(0)?.service, page, nameOf)
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
function chartOf(first: Service | undefined, page: OwnedPage, nameOf: (service: Service) => string) {
  if (first === undefined || page.access !== undefined || domainInUse(page) !== null) return null;
  return chartCard(nameOf(first), page.title);
}
