/** The parts of the home page that change while it is open, rendered by the templates of the page itself. */

import { isOwn, isPublic, type Service } from '../../domain/service.ts';
import type { CurrentStatus } from '../../domain/status/current.ts';
import { SERVICE_STATUSES, type ServiceStatus } from '../../domain/status.ts';
import { age, escapeMarkup, lasting, type Phrase, phraseOf } from '../../language/phrase.ts';
import type { StatusReads } from '../../store/ports/status.ts';
import type { Unreached } from '../../view/cause-of-down.ts';
import type { Readiness } from '../../view/monitor.ts';
import type { ShownServices } from '../../view/shown-services.ts';
import type { Language } from '../language/language.ts';
import type { LiveChanges } from '../live/live-changes.ts';
import type { LiveUpdate } from '../parts/page-messages.ts';
import { explainStatus, pillMarkup } from '../parts/verdict.ts';
import { type RenderPart, viewAway } from '../parts/views.ts';
import { type HomeView, NO_FILTER, readHomeView, type TroubledEntry } from './home-view.ts';
import { type Logos, markOf } from './logos.ts';

/** Maximum number of rows in the list of services that are down or slow; all of them are a link away. */
const MAX_TROUBLED_SHOWN = 6;

export interface HomeUpdateSources {
  readonly status: StatusReads;
  readonly changes: LiveChanges;
  readonly readiness: () => Readiness;
  readonly logos: Logos;
  readonly whyUnreached: (service: Service, current: CurrentStatus) => Unreached | null;
}

/** The data of `home-troubled`. */
export function viewTroubled(view: HomeView, sources: HomeUpdateSources, language: Language) {
  const { texts, formats } = language;
  const { troubled } = view;
  const hidden = troubled.length > MAX_TROUBLED_SHOWN;
  return {
    calm: describeCalm(view, sources, language),
    rows: troubled
      .slice(0, MAX_TROUBLED_SHOWN)
      .map(({ service, name, page, status, current }: TroubledEntry) => ({
        name,
        mark: markOf(service, sources.logos),
        page,
        status,
        pill: pillMarkup(status, texts.status[status]),
        reason: explainStatus(current, language, sources.whyUnreached(service, current)),
        since: current.since === null ? [] : texts.home.lasting(lasting(current.since)),
      })),
    more: hidden ? texts.home.allTroubled(formats.number(troubled.length)) : null,
  };
}

/** The verdict on all services in one sentence. It claims nothing that is not known. */
export function describeAll(
  { watched, checked, operational, shown }: HomeView,
  { changes, readiness }: HomeUpdateSources,
  { texts, formats }: Language,
): string {
  const { home } = texts;
  if (watched === 0) return home.calmEmpty;
  if (checked === 0) return home.verdictUnchecked;
  if (!readiness().prober.online) return home.verdictOffline;
  if (changes.monitor(shown).late >= checked) return home.verdictLate;
  return operational === watched
    ? home.verdictAll(watched, formats.number(watched))
    : home.verdict(formats.number(operational), formats.number(watched));
}

/** The text for an empty list. It says that all services work only if that is known. Empty if the list has rows. */
function describeCalm(
  { troubled, watched, checked, shown }: HomeView,
  { changes, readiness }: HomeUpdateSources,
  { texts, formats }: Language,
): string {
  const { home } = texts;
  if (troubled.length > 0) return '';
  if (watched === 0) return home.calmEmpty;
  if (checked === 0) return home.calmUnchecked;
  if (!readiness().prober.online) return home.calmOffline;
  if (changes.monitor(shown).late >= checked) return home.calmLate;
  const missing = watched - checked;
  return missing === 0 ? home.calm : `${home.calm} ${home.calmPartly(missing, formats.number(missing))}`;
}

/** The state of the monitor as a reader may know it, in one line of parts. */
export function viewMonitor(
  shown: Pick<ShownServices, 'accounts' | 'hidden'>,
  { changes, readiness }: HomeUpdateSources,
  { texts, formats }: Language,
): { readonly online: boolean; readonly parts: readonly Phrase[] } {
  const { checksPerSecond, newestCheckAt, late } = changes.monitor(shown);
  const { home } = texts;
  const rounded = checksPerSecond < 10 ? Math.round(checksPerSecond * 10) / 10 : Math.round(checksPerSecond);
  return {
    online: readiness().prober.online,
    parts: [
      [home.checkRate(rounded, formats.number(rounded))],
      newestCheckAt === null ? [home.noCheckYet] : phraseOf`${home.newestCheck(age(newestCheckAt))}`,
      [home.late(late, formats.number(late))],
    ],
  };
}

/**
 * The lists of the home page for a reader, and the status of `serviceIds`; null: of all services. Null where the reader's page lists none of
 * them: an update would tell that something has changed.
 */
export function homeUpdate(
  { renderPart, ...sources }: HomeUpdateSources & { readonly renderPart: RenderPart },
  language: Language,
  shown: ShownServices,
  serviceIds: readonly number[] | null,
): LiveUpdate | null {
  const isListedHere = (id: number) => {
    const service = shown.byId(id);
    return service !== null && isListed(service, shown.accounts);
  };
  const listed = serviceIds?.filter(isListedHere) ?? null;
  if (listed?.length === 0) return null;
  const view = readHomeView(shown, sources.status, NO_FILTER);
  const html: Record<string, string> = {
    troubled: renderPart('./home-troubled', viewTroubled(view, sources, language), language),
    verdict: escapeMarkup(describeAll(view, sources, language)),
  };
  for (const word of SERVICE_STATUSES) html[`count:${word}`] = language.formats.number(view.counts[word]);
  const statuses: Partial<Record<ServiceStatus, string[]>> = {};
  const note = (word: ServiceStatus, page: string) => {
    const pages = statuses[word] ?? [];
    statuses[word] = pages;
    pages.push(page);
  };
  if (listed === null) {
    for (const { page, status: word } of view.groups.flatMap((group) => group.entries))
      if (word !== 'up') note(word, page);
    return { html, statuses, others: 'up' };
  }
  for (const id of listed) {
    const service = shown.byId(id);
    if (service !== null) note(sources.status.headOf(id)?.status ?? 'unknown', shown.pageName(service));
  }
  return { html, statuses };
}

/** The state of the monitor, for every open page of a reader. */
export function monitorUpdate(
  sources: HomeUpdateSources,
  renderPart: RenderPart,
  language: Language,
  shown: ShownServices,
): LiveUpdate {
  const away = viewAway(sources.readiness(), language);
  const view = readHomeView(shown, sources.status, NO_FILTER);
  return {
    html: {
      // The text for an empty list depends on the monitor.
      calm: escapeMarkup(describeCalm(view, sources, language)),
      verdict: escapeMarkup(describeAll(view, sources, language)),
      monitor: renderPart('./home-monitor', viewMonitor(shown, sources, language), language),
      away: away === null ? '' : renderPart('./away', { away }, language),
    },
  };
}

/** Returns true if the home page lists a service for a member of these accounts. */
function isListed(service: Service, accounts: ShownServices['accounts']): boolean {
  return isOwn(service, accounts) || (isPublic(service) && service.verified);
}
