/** Metrics of who holds the slots of the probe threads. Their number does not grow with accounts. */
import type { Metrics } from './metrics.ts';

/** What a probe thread reports. */
export interface SlotFigures {
  readonly catalogue: { readonly held: number; readonly waiting: number };
  readonly owners: { readonly held: number; readonly waiting: number };
  readonly heldLong: number;
  readonly mostOfAccount: number;
  readonly heldUp: number;
  readonly bounded: readonly {
    readonly accountId: number;
    readonly held: number;
    readonly waiting: number;
  }[];
}

/** Adds the metrics. `read` returns the figures of all threads. */
export function observeSlots(metrics: Metrics, read: () => readonly SlotFigures[]): void {
  const sum = (count: (figures: SlotFigures) => number) =>
    read().reduce((total, figures) => total + count(figures), 0);
  metrics.gaugeBy(
    'upbeat_probe_slots',
    'Slots that checks hold, by whose services they are.',
    'holder',
    () => ({
      catalogue: sum(({ catalogue }) => catalogue.held),
      owners: sum(({ owners }) => owners.held),
    }),
  );
  metrics.gaugeBy('upbeat_checks_waiting', 'Checks that are due and wait for a slot.', 'holder', () => ({
    catalogue: sum(({ catalogue }) => catalogue.waiting),
    owners: sum(({ owners }) => owners.waiting),
  }));
  metrics.gauge(
    'upbeat_probe_slots_long',
    'Slots that are held by services whose last three attempts took 5 s or longer.',
    () => sum(({ heldLong }) => heldLong),
  );
  metrics.gauge(
    'upbeat_probe_slots_top_account',
    "Slots of a probe thread that the owner's account with most of them holds.",
    () => read().reduce((most, { mostOfAccount }) => Math.max(most, mostOfAccount), 0),
  );
  metrics.gauge(
    'upbeat_checks_held_up',
    'Checks that wait because their account holds as many slots as an account may.',
    () => sum(({ heldUp }) => heldUp),
  );
  metrics.gauge(
    'upbeat_accounts_at_bound',
    'Accounts of these checks; at most 16 of a probe thread are counted.',
    () => new Set(read().flatMap(({ bounded }) => bounded.map(({ accountId }) => accountId))).size,
  );
}
