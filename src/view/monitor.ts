/** The state of the monitor, and the current limits. */
import type { NodeRole, NodeState } from '../domain/node.ts';

/** The parts of `/readyz` besides `prober`; a process has those that it uses. docs/runbook.md says what to do about each. */
export const READINESS_PARTS = [
  'storage',
  'redis',
  'influx',
  'history',
  'histories',
  'checks',
  'results',
  'alerts',
  'mail',
  'overload',
] as const;

/** States of parts, by name. */
export type PartStates = Readonly<Partial<Record<(typeof READINESS_PARTS)[number], PartState>>>;

/** The state of the program, as `/readyz` and the pages show it. */
export interface Readiness {
  /** `serving` answers 200; before loading has ended and while stopping it is 503. */
  readonly phase: 'starting' | 'serving' | 'stopping';
  /**
   * `monitor`: this process evaluates results and writes. `serving`: it only serves, beside the monitor. `standby`: it
   * waits to become the monitor and does not serve. `probing`: it only makes checks.
   */
  readonly role: 'monitor' | 'serving' | 'standby' | 'probing';
  readonly node: { readonly name: string; readonly region: string; readonly roles: readonly NodeRole[] };
  /** All live nodes that this one knows, itself included. */
  readonly nodes: readonly NodeState[];
  readonly prober: {
    readonly online: boolean;
    readonly offlineSince: number | null;
    readonly reason: string | null;
  };
  readonly parts: PartStates;
  /** Warnings and errors that this process has logged in the last hour, the newest first. */
  readonly events: readonly ReportedEvent[];
}

interface ReportedEvent {
  /** A name of docs/runbook.md. */
  readonly event: string;
  /** The number of times since the start. */
  readonly count: number;
  /** The last time, epoch milliseconds. */
  readonly lastAt: number;
}

/** The state of a part outside of the process. Members that do not apply to it are absent. */
export interface PartState {
  /** The problem in one line; null: the part works. */
  readonly problem: string | null;
  /** Advice for the operator, one sentence; null: none. */
  readonly advice?: string | null;
  /** Number of points or results that have not been stored or sent yet. */
  readonly waiting?: number;
  /** Samples taken from this time on may be missing from histories, epoch milliseconds; null: none are. */
  readonly missingSince?: number | null;
  /** Number of them dropped since the start. */
  readonly lost?: number;
}

/** Limits that the operator configures and clients need to know; the documents of the API contain the current ones. */
export interface ApiLimits {
  readonly anonymousPerMinute: number;
  readonly authenticatedPerMinute: number;
  /** Changes, heartbeats not among them. */
  readonly changesPerAccount: number;
  /** Time without a heartbeat after which a service is down, if its owner set no period, milliseconds. */
  readonly silenceMs: number;
  readonly domainsPerAccount: number;
}
