/** The changes of the demonstration's fleet over a long time: its play, stretched to an hour, a day or a few minutes. */
import { behaviourAt, type DemoService, isCutOff, type Script, verdictOf } from '../../../../demo/script.ts';
import { DEMO_SCRIPT } from '../../../../demo/services.ts';
import type { ServiceStatus, Verdict } from '../../../../src/domain/status.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;

/** How long a play of five minutes takes, in minutes. Plays of 15 minutes make services flap. */
const LENGTHS = [15, 60, 240, 1440] as const;

/** A change that a monitor finds which checks each service once a minute. */
export interface FleetChange {
  /** Minutes since the beginning of the year. */
  readonly minute: number;
  /** Index in {@link FLEET}. */
  readonly service: number;
  readonly from: ServiceStatus;
  readonly to: Verdict;
}

/** The services that are not the same all the time. */
export const FLEET: readonly DemoService[] = DEMO_SCRIPT.services.filter(
  ({ steps }) => new Set(steps.map(({ behaviour }) => verdictOf(behaviour))).size > 1,
);

/** The changes within `days`, in order, and the number of failures that an outage of the prober made. */
export function fleetChanges(
  days: number,
  random: () => number,
): { readonly changes: readonly FleetChange[]; readonly unseen: number } {
  const script: Script = { ...DEMO_SCRIPT, services: FLEET };
  const status: ServiceStatus[] = FLEET.map(({ steps }) => verdictOf(steps[0]!.behaviour));
  const changes: FleetChange[] = [];
  let unseen = 0;
  let start = 0;
  while (start < days * DAY_MINUTES) {
    const length = LENGTHS[Math.floor(random() * LENGTHS.length)] ?? 60;
    // A short play is given again and again, up to two hours.
    const plays = length === 15 ? 1 + Math.floor(random() * 8) : 1;
    for (let play = 0; play < plays; play += 1) {
      const stretch = (length * MINUTE_MS) / script.periodMs;
      for (const minute of minutesToCheck(script, stretch, length)) {
        const playMs = Math.min((minute * MINUTE_MS) / stretch, script.periodMs - 1);
        // The offline rule: what fails while no control target responds counts for nothing.
        if (isCutOff(script, playMs)) {
          unseen += FLEET.length;
          continue;
        }
        for (const [service, demo] of FLEET.entries()) {
          const to = verdictOf(behaviourAt(script, demo, playMs));
          const from = status[service];
          if (from === undefined || from === to) continue;
          status[service] = to;
          changes.push({ minute: start + minute, service, from, to });
        }
      }
      start += length;
    }
    // It is quiet for up to a day.
    start += Math.floor(random() * DAY_MINUTES);
  }
  return { changes, unseen };
}

/** The minutes of a play in which something may have changed since the check before. */
function minutesToCheck(script: Script, stretch: number, length: number): number[] {
  const times = [
    ...script.services.flatMap(({ steps }) => steps.map(({ at }) => at)),
    ...script.outages.flatMap(({ from, to }) => [from, to]),
  ];
  const minutes = new Set(times.map((at) => Math.ceil((at * stretch) / MINUTE_MS)));
  return [...minutes].filter((minute) => minute < length).sort((a, b) => a - b);
}
