/**
 * Tracks the server's write-ahead log to detect lost commits. An asynchronous standby may lack the newest confirmed
 * commits when it is promoted, and so may a restored server.
 */
import { describePostgres, type PostgresAddress } from '../../../domain/postgres-address.ts';
import type { ServerPosition } from './postgres-servers.ts';

/** The history of the servers that a process has connected to. */
export interface ServerHistory {
  /** The timeline of the newest primary; 0: no connection has been made yet. */
  readonly timeline: number;
  /**
   * Records the position of a newly connected server. Returns an error that describes lost commits; null: none are
   * lost.
   */
  meet(position: ServerPosition): Error | null;
  /** Records a later position of the same server. */
  note(position: ServerPosition): void;
  /** Records that the server confirmed a commit at this position of its log, bytes. */
  noteCommit(position: number): void;
}

/** Creates an empty history. */
export function createServerHistory(address: PostgresAddress): ServerHistory {
  let timeline = 0;
  let confirmed = 0;
  const noteCommit = (position: number): void => {
    confirmed = Math.max(confirmed, position);
  };
  return {
    get timeline() {
      return timeline;
    },
    meet(found) {
      if (found.isStandby) return null;
      const kept = found.timeline === timeline ? found.position : (found.takenOver ?? 0);
      const isLacking = timeline > 0 && kept < confirmed;
      timeline = found.timeline;
      confirmed = found.position;
      if (!isLacking) return null;
      return new Error(
        `${describePostgres(address)} no longer has the newest commits that it has confirmed, as after the take-over by a standby without them; starting again with what it has`,
      );
    },
    note({ isStandby, position }) {
      if (!isStandby) noteCommit(position);
    },
    noteCommit,
  };
}
