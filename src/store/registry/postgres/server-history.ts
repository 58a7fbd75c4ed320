/**
 * What this process knows of the server's write-ahead log: whether the server still has everything that was confirmed. A
 * standby that copies asynchronously may lack the newest commits when it is promoted, and so may a restored server.
 */
import { describePostgres, type PostgresAddress } from '../../../domain/postgres-address.ts';
import type { ServerPosition } from './postgres-servers.ts';

/** The history of the servers that a process has met. */
export interface ServerHistory {
  /** The timeline of the newest primary; 0: none was met yet. */
  readonly timeline: number;
  /** Takes the position of a server just connected to. Returns what it lacks, as an error; null: all is there. */
  meet(position: ServerPosition): Error | null;
  /** Takes the position of the same server, later. */
  note(position: ServerPosition): void;
  /** The server confirmed a commit when its log was this long, bytes. */
  noteCommit(position: number): void;
}

/** Makes the history of a process that has met no server yet. */
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
