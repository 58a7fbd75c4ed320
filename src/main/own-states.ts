/** What this process adds to the states of parts that its role reports. */
import type { AlertFigures } from '../alerts/alert-figures.ts';
import type { RegistryHealth } from '../store/ports/storage-health.ts';
import type { PartStates } from '../view/monitor.ts';
import type { Probing } from './start-probing.ts';

/** Adds the state of this process' own connection to the registry, which the states from the monitor do not cover. */
export function ownStorage({ problem, damage }: RegistryHealth): PartStates {
  const message = problem()?.message ?? damage();
  return message === null ? {} : { storage: { problem: message } };
}

/** Adds the results of this node that have not been sent to the judge, if it makes checks for a cluster. */
export function ownResults(probing: Probing | null): PartStates {
  if (probing === null) return {};
  const { problem, waiting, dropped } = probing.results();
  return { results: { problem, waiting, lost: dropped } };
}

/** Parts that are shown while they have a problem. */
export function ownTroubles(
  problems: Readonly<Partial<Record<keyof PartStates, string | null>>>,
): PartStates {
  return Object.fromEntries(
    Object.entries(problems).flatMap(([name, problem]) => (problem === null ? [] : [[name, { problem }]])),
  );
}

/** Adds why this process decides or sends no alerts although it should. */
export function ownAlerts(figures: AlertFigures | null): PartStates {
  if (figures === null || figures.problem === null) return {};
  const { problem, counts } = figures;
  return { alerts: { problem, waiting: counts.waiting } };
}
