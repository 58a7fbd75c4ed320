/** The prober's own outages, kept for as long as a check that overlaps one may still arrive. */
import type { Clock } from '../clock.ts';

/** Longer than any check with its confirmations and the time for which its result is held. */
const KEEP_MS = 600_000;

interface Outage {
  readonly fromAt: number;
  /** Infinity: the outage lasts. */
  untilAt: number;
}

/** A list of outages; times are monotonic milliseconds. */
export interface OutageLog {
  readonly open: boolean;
  /** Start of the present outage, epoch milliseconds; null: none. */
  readonly since: number | null;
  begin(fromAt: number): void;
  end(): void;
  /** Adds an outage that is over already. */
  note(fromAt: number, untilAt: number): void;
  /** Whether `[fromAt, untilAt]` touches an outage. */
  overlaps(fromAt: number, untilAt: number): boolean;
}

/** Makes an empty list. */
export function createOutageLog(clock: Pick<Clock, 'now' | 'monotonic'>): OutageLog {
  let outages: Outage[] = [];
  let present: Outage | null = null;
  let since: number | null = null;

  function add(outage: Outage): void {
    outages = outages.filter(({ untilAt }) => untilAt > clock.monotonic() - KEEP_MS);
    outages.push(outage);
  }

  return {
    get open() {
      return present !== null;
    },
    get since() {
      return since;
    },
    begin(fromAt) {
      if (present !== null) return;
      present = { fromAt, untilAt: Number.POSITIVE_INFINITY };
      add(present);
      since = Math.round(clock.now() - (clock.monotonic() - fromAt));
    },
    end() {
      if (present === null) return;
      present.untilAt = clock.monotonic();
      present = null;
      since = null;
    },
    note: (fromAt, untilAt) => add({ fromAt, untilAt }),
    overlaps: (fromAt, untilAt) =>
      outages.some((outage) => outage.fromAt <= untilAt && fromAt <= outage.untilAt),
  };
}
