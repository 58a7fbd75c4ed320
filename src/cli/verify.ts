/** `upbeat services verify`: checks every catalogue service once, and prints those that need attention. */

import { loadCatalogue } from '../catalogue/watch-catalogue.ts';
import { systemClock } from '../clock.ts';
import { describeCause } from '../domain/failure.ts';
import { queryControlTargets } from '../outbound/control-targets.ts';
import { CommandError, type CommonOptions } from './command.ts';
import { readConfig } from './open-stores.ts';
import { printRows } from './output.ts';
import { checkOnce, openProber } from './probe.ts';
import { startProgress } from './progress.ts';
import type { OutputRow } from './table.ts';

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
  const progress = startProgress(services.length, 'services', systemClock);
  let next = 0;
  let done = 0;
  const work = async (slot: number) => {
    for (let service = services[next++]; service !== undefined; service = services[next++]) {
      const { attempt, verdict } = await checkOnce(prober, config, service, slot);
      done++;
      progress.note(done);
      const advice = adviceFor(verdict, attempt.statusCode, attempt.blocked);
      if (advice === null) continue;
      const address = service.check.url ?? `https://${service.domain}/`;
      rows.push({
        slug: service.slug,
        address,
        status: verdict,
        code: attempt.statusCode,
        problem: attempt.failure === null ? null : describeCause(attempt.failure),
        advice,
      });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, (_, slot) => work(slot)));
  await prober.close();
  progress.end();
  rows.sort((a, b) => (String(a.slug) < String(b.slug) ? -1 : 1));
  printRows(rows, json, `All ${services.length} services answer as they should.`);
  if (rows.some(({ status }) => status === 'down')) process.exitCode = 1;
}

/** What to do; null: nothing. */
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
