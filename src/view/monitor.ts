/** The monitor itself, as readers see it: its state, and the limits in force. */
import type { NodeRole, NodeState } from '../domain/node.ts';

/** The state of the program, as `/readyz` and the pages show it. */
export interface Readiness {
  /** `serving` answers 200; before loading has ended and while stopping it is 503. */
  readonly phase: 'starting' | 'serving' | 'stopping';
  /**
   * `monitor`: this process evaluates results and writes. `serving`: it only serves, beside the monitor. `standby`: it waits
   * to become the monitor and does not serve. `probing`: it only makes checks.
   */
  readonly role: 'monitor' | 'serving' | 'standby' | 'probing';
  /** This process as a node. */
  readonly node: { readonly name: string; readonly region: string; readonly roles: readonly NodeRole[] };
  /** All live nodes that this one knows, itself included. */
  readonly nodes: readonly NodeState[];
  readonly prober: {
    readonly online: boolean;
    readonly offlineSince: number | null;
    readonly reason: string | null;
  };
  /** Other parts by name. */
  readonly parts: Readonly<Record<string, PartState>>;
}

/** The state of a part outside of the process. Members that do not concern it are absent. */
export interface PartState {
  /** One line; null: the part is well. */
  readonly problem: string | null;
  /** What to fix, one sentence; null: nothing. */
  readonly advice?: string | null;
  /** Points that wait to be stored. */
  readonly waiting?: number;
  /** Samples taken from this time on may be missing from histories, epoch milliseconds; null: none are. */
  readonly missingSince?: number | null;
  /** Points dropped since the start. */
  readonly lost?: number;
}

/** Figures that an operator may set and a client must know; the documents of the API state those in force. */
export interface ApiLimits {
  readonly anonymousPerMinute: number;
  readonly authenticatedPerMinute: number;
  /** Silence after which a service that sends heartbeats is down, where its owner set no period, milliseconds. */
  readonly silenceMs: number;
  readonly domainsPerAccount: number;
}
