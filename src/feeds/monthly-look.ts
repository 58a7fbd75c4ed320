/**
 * Looks once a month at the status pages of the catalogue that cannot be read, and at those that nothing reads: a page may have moved,
 * or be of another kind now. The log says what is found.
 */
import type { Clock } from '../clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../domain/durations.ts';
import type { Service, StatusPage } from '../domain/service.ts';
import { messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { FactStore } from '../store/ports/registry.ts';
import { feedOf } from './feed-kind.ts';
import type { PageFinding } from './find-feed.ts';
import type { FeedHealth } from './vendor-status-cache.ts';

export interface MonthlyLookParts {
  readonly registry: FactStore;
  readonly services: () => Iterable<Pick<Service, 'origin' | 'statusPage'>>;
  readonly feeds: () => readonly FeedHealth[];
  /** Looks at one page; `problem`: why it could not be read, null: nothing reads it. */
  readonly look: (page: StatusPage, problem: string | null) => Promise<PageFinding | null>;
  /** Returns true if this machine is online: while it is not, nothing can be said of pages. */
  readonly isOnline: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** The fact that holds the time of the last look that came to its end, epoch milliseconds. */
const FACT = 'pages_looked_at';
const INTERVAL_MS = 30 * DAY_MS;
/** Maximum time for one page. */
const PAGE_TIMEOUT_MS = 2 * MINUTE_MS;

export function startMonthlyLook(parts: MonthlyLookParts): () => void {
  const { registry, clock, log } = parts;
  let isLooking = false;
  let isStopped = false;
  /** Pages of a look that has not come to its end: it goes on with the others. */
  const looked = new Set<string>();

  const lookInTime = async (page: StatusPage, problem: string | null): Promise<PageFinding | null> => {
    let cancel = () => {};
    const late = new Promise<null>((resolve) => {
      cancel = clock.after(PAGE_TIMEOUT_MS, () => resolve(null));
    });
    return await Promise.race([parts.look(page, problem), late]).finally(cancel);
  };

  const lookIfDue = async (): Promise<void> => {
    const last = await registry.getFact(FACT);
    if (last !== null && clock.now() - Number(last) < INTERVAL_MS) return;
    const pages = pagesToLookAt(parts);
    // One after the other: nothing waits for them.
    for (const { page, problem } of pages) {
      if (looked.has(page.url)) continue;
      if (isStopped || !parts.isOnline()) return;
      const finding = await lookInTime(page, problem);
      looked.add(page.url);
      if (finding !== null)
        log.warn(
          { page: finding.url, problem: finding.problem, advice: finding.advice },
          'a status page has changed',
        );
    }
    await registry.setFact(FACT, String(clock.now()));
    looked.clear();
    log.info({ pages: pages.length }, 'status pages that cannot be read were looked at');
  };

  const cancel = clock.every(HOUR_MS, () => {
    if (isLooking || !parts.isOnline()) return;
    isLooking = true;
    lookIfDue()
      .catch((error) => {
        if (!isStopped) log.info({ problem: messageOf(error) }, 'status pages could not be examined');
      })
      .finally(() => {
        isLooking = false;
      });
  });
  return () => {
    isStopped = true;
    cancel();
  };
}

/** The pages of the catalogue that are custom or cannot be read, each once. */
function pagesToLookAt({ services, feeds }: MonthlyLookParts) {
  const problems = new Map(feeds().map(({ feedId, problem }) => [feedId, problem]));
  const pages = new Map<string, { readonly page: StatusPage; readonly problem: string | null }>();
  for (const { origin, statusPage: page } of services()) {
    if (origin !== 'catalogue' || page === null) continue;
    const feed = feedOf(page);
    const problem = feed === null ? null : (problems.get(feed.id) ?? null);
    if (feed === null || problem !== null) pages.set(feed?.id ?? page.url, { page, problem });
  }
  return [...pages.values()];
}
