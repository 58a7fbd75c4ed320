/** What a service reports about its dependencies, and how many others report the same. */
import type { Verdict } from '../../domain/status.ts';
import type { Dependencies, FailingDependency } from '../../store/ports/heartbeats.ts';
import type { Language } from '../language/language.ts';
import { time } from '../language/phrase.ts';

/**
 * The dependencies of a service whose owner shows them, as rows: what fails first. `failing` are those that services report as failing now; `countsItself`: this service is
 * one of these, as a verified one that sends heartbeats is.
 */
export function viewDependencies(
  known: Dependencies,
  failing: readonly FailingDependency[],
  countsItself: boolean,
  { words, formats }: Language,
) {
  const services = new Map(failing.map((one) => [one.name, one.services]));
  const othersOf = (name: string) => (services.get(name.toLowerCase()) ?? 0) - (countsItself ? 1 : 0);
  return {
    reported: known.reportedAt === null ? null : words.page.reported(known.reportedAt),
    rows: [...known.dependencies]
      .sort((a, b) => WEIGHT[b.status] - WEIGHT[a.status])
      .map(({ name, status, latencyMs, since }) => ({
        name,
        status,
        word: words.status[status],
        latency: latencyMs === null ? null : formats.milliseconds(latencyMs),
        since: [time(since)],
        others: status === 'down' ? words.page.othersToo(Math.max(0, othersOf(name))) : null,
      })),
  };
}

const WEIGHT: Readonly<Record<Verdict, number>> = { up: 0, slow: 1, down: 2 };
