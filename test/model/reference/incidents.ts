/** The reference implementation's own incidents: "D" is the section Incidents of the contract's page of decisions, "T" docs/truth.md. */
import type { Verdict } from './prober.ts';
import type { ToldEvent } from './topics.ts';

/** A status after a check or a heartbeat. Epoch milliseconds. */
export interface StatusStep {
  readonly status: Verdict;
  readonly isNew: boolean;
  /** Number of the newest transition of the service. */
  readonly seq: number;
  /** When the status began. */
  readonly since: number;
  /** Start of the first attempt of the check. */
  readonly beganAt: number;
  /** Start of the last one. */
  readonly at: number;
  /** The check was good, and from a place that counts. */
  readonly isGood: boolean;
}

interface Own {
  readonly id: string;
  readonly service: number;
  severity: string;
  status: 'investigating' | 'monitoring' | 'resolved';
  readonly startedAt: number;
  resolvedAt: number | null;
  good: number;
  readonly timeline: { readonly status: string; readonly at: number }[];
}

/** T: of a service that flaps for weeks, the first entry and the newest ones are kept. */
const MAX_ENTRIES = 50;

/** Makes an empty list. `isMaintained`: whether the vendor or the owner works on the service; `tell`: takes what alerts are decided from. */
export function createReferenceIncidents(
  isMaintained: (service: number, at: number) => boolean,
  tell: (event: ToldEvent) => void,
) {
  const all: Own[] = [];
  const openOf = new Map<number, Own>();

  function move(open: Own, status: Own['status'], at: number): void {
    open.status = status;
    // The entries of a timeline are in order, even if clocks are set.
    open.timeline.push({ status, at: Math.max(at, open.timeline.at(-1)?.at ?? at) });
    if (open.timeline.length > MAX_ENTRIES) open.timeline.splice(1, 1);
    tellOf(open, open.timeline.at(-1)?.at ?? at);
  }

  /** Maintenance is told by its own events. */
  function tellOf({ service, id, severity, status }: Own, at: number, isFirst = false): void {
    if (severity === 'maintenance') return;
    const what = `${id} ${severity} ${status}`;
    tell({ service, kind: 'incident', what, at, recordedAt: null, id, by: 'own', isFirst });
  }

  function fail(service: number, { isNew, seq, since, beganAt }: StatusStep): void {
    const open = openOf.get(service);
    // D: "Within a vendor's maintenance its severity is `maintenance`", else "severity `major`".
    const severity = isMaintained(service, beganAt) ? 'maintenance' : 'major';
    if (open !== undefined) {
      open.severity = severity;
      // D: "a service that fails again while `monitoring` returns to `investigating`".
      if (open.status === 'monitoring') move(open, 'investigating', since);
      open.good = 0;
    } else if (isNew) {
      // D: "An own incident opens when a service turns down (`investigating` ...)", "`started_at`" is dated back.
      const timeline = [{ status: 'investigating', at: since }];
      const id = `own-s${service}-example-com-${since.toString(36)}-${seq}`;
      const made: Own = {
        ...{ id, service, severity, status: 'investigating', startedAt: since, resolvedAt: null },
        ...{ good: 0, timeline },
      };
      all.push(made);
      openOf.set(service, made);
      tellOf(made, since, true);
    }
  }

  return {
    /** A check or a heartbeat has been judged. */
    step(service: number, step: StatusStep): void {
      if (step.status === 'down') {
        fail(service, step);
        return;
      }
      const open = openOf.get(service);
      if (open === undefined || !(step.isNew || step.isGood)) return;
      // D: "goes to `monitoring` at the first good check (up or slow), to `resolved` after two more".
      open.good += 1;
      if (open.status === 'investigating') move(open, 'monitoring', step.at);
      if (open.good < 3) return;
      move(open, 'resolved', step.at);
      open.resolvedAt = open.timeline.at(-1)?.at ?? step.at;
      openOf.delete(service);
    },
    /** All incidents. */
    all: () =>
      all.map(({ service, id, severity, status, startedAt, resolvedAt, timeline }) => ({
        ...{ service, id, severity, status, startedAt, resolvedAt, updates: timeline },
      })),
  };
}
