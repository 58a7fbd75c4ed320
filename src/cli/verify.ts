/** `upbeat services verify`: checks every catalogue service and reads every status page once, and prints what needs attention. */

import { loadCatalogue } from '../catalogue/watch-catalogue.ts';
import { systemClock } from '../clock.ts';
import { describeCause } from '../domain/failure.ts';
import { hostInUrl } from '../domain/host-name.ts';
import { feedOf } from '../feeds/feed-kind.ts';
import { type FinderParts, lookAtPage, readFeed } from '../feeds/find-feed.ts';
import { queryControlTargets } from '../outbound/control-targets.ts';
import type { NewService } from '../store/ports/services.ts';
import { CommandError, type CommonOptions } from './command.ts';
import { openFinder } from './feeds.ts';
import { readConfig } from './open-stores.ts';
import { type OutputRow, printRows, startProgress } from './output.ts';
import { checkOnce, openProber } from './probe.ts';

const CONCURRENCY = 32;

/** Checks all services and prints those that need attention. Ends with status 1 if one is down. */
export async function verifyCatalogue({ config: file, json = false }: CommonOptions): Promise<void> {
  const config = readConfig(file);
  const { services } = await loadCatalogue(config.catalogue.file);
  const { controlTargets, nameservers, timeoutMs } = config.checks;
  if (
    controlTargets.length > 0 &&
    !(await queryControlTargets(controlTargets, 3_000, { nameservers, nameTimeoutMs: timeoutMs }))
  ) {
    throw new CommandError(
      'no control target answers: this machine is offline, so nothing can be said of the services',
    );
  }
  const prober = openProber(config, CONCURRENCY);
  const rows: OutputRow[] = [];
  const finder = openFinder(config);
  const pages = onePerPage(services);
  const progress = startProgress(services.length + pages.length, 'services and pages', systemClock);
  let done = 0;
  await eachOf(services, async (service, slot) => {
    const { attempt, verdict } = await checkOnce(prober, config, service, slot);
    progress.note(++done);
    const advice = adviceFor(verdict, attempt.statusCode, attempt.blocked);
    if (advice === null) return;
    rows.push({
      slug: service.slug,
      address: service.check.url ?? `https://${hostInUrl(service.domain)}/`,
      status: verdict,
      code: attempt.statusCode,
      problem: attempt.failure === null ? null : describeCause(attempt.failure),
      advice,
    });
  });
  await eachOf(pages, async (service) => {
    rows.push(...(await verifyPage(service, finder.parts)));
    progress.note(++done);
  });
  await prober.close();
  finder.close();
  progress.end();
  rows.sort((a, b) => (String(a.slug) < String(b.slug) ? -1 : 1));
  printRows(
    rows,
    json,
    `All ${services.length} services and ${pages.length} status pages answer as they should.`,
  );
  if (rows.some(({ status }) => status === 'down')) process.exitCode = 1;
}

/** Runs `work` for each item, for 32 at a time. */
async function eachOf<T>(items: readonly T[], work: (item: T, slot: number) => Promise<void>): Promise<void> {
  let next = 0;
  const run = async (slot: number) => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item, slot);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, (_, slot) => run(slot)));
}

type PageOwner = NewService & { readonly statusPage: NonNullable<NewService['statusPage']> };

/** The first service of each status page. */
function onePerPage(services: readonly NewService[]): PageOwner[] {
  const owners = services.filter((service): service is PageOwner => service.statusPage != null);
  const byPage = Map.groupBy(owners, ({ statusPage }) => feedOf(statusPage)?.id ?? statusPage.url);
  return [...byPage.values()].flatMap(([first]) => first ?? []);
}

/** A row for a page that has moved, cannot be read, or is of another kind, with its line in the catalogue; none: it is as it should be. */
async function verifyPage({ slug, statusPage }: PageOwner, parts: FinderParts): Promise<OutputRow[]> {
  const { url, kind, feedUrl } = statusPage;
  const problem = kind === 'custom' ? null : (await readFeed(kind, { pageUrl: url, feedUrl }, parts)).problem;
  if (kind !== 'custom' && problem === null) return [];
  const found = await lookAtPage(statusPage, problem, parts);
  if (found === null) return [];
  return [{ slug, address: url, status: 'page', code: null, problem: found.problem, advice: found.advice }];
}

/** Advice; null: none. */
function adviceFor(verdict: 'up' | 'slow' | 'down', statusCode: number, blocked: boolean): string | null {
  if (blocked) return 'a bot wall answers; nothing to do';
  if (verdict === 'slow') return 'look again later';
  if (verdict === 'up') return null;
  if (statusCode === 404 || statusCode === 410)
    return 'set check.url to a page that exists, or add the code to check.accept';
  if (statusCode >= 500)
    return 'down, or hostile to monitors: if it is up in a browser, add the code to check.accept';
  return 'set check.url to the address that serves, or remove the service';
}
