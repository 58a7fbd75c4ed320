/**
 * Enforces unique names of nodes: decides whether the process that holds a name is alive, and whether it can be
 * replaced.
 */
import { formatTime } from '../domain/durations.ts';
import { type NodeRecord, parseNode } from './node-record.ts';

/** Thrown if the name of a node is that of another live process. */
export class NodeNameTaken extends Error {
  readonly code = 'node_name_taken';
}

/** The identity of a process on the machines of a cluster. */
type NodeProcess = Pick<NodeRecord, 'host' | 'pid' | 'process'>;

/** Returns true if a process runs; null: unknown, because the process is on another machine. */
export type IsRunning = (node: NodeProcess) => boolean | null;

export interface NameClaim {
  /** The instance whose entry may be replaced, since its process has ended; an empty string: none. */
  readonly replaces: string;
  /** Reports that another instance has the name. Returns the reason to give up; null: not known yet, try again. */
  noteHolder(value: string, seen: string): NodeNameTaken | null;
  /** Reports that this process has the name. */
  noteHeld(): void;
}

/**
 * Creates the claim to `name`. A holder on another machine is alive if its entry is renewed while this process watches
 * it.
 */
export function createNameClaim(name: string, isRunning: IsRunning): NameClaim {
  let first: { readonly instance: string; readonly seen: string } | null = null;
  let replaces = '';
  return {
    get replaces() {
      return replaces;
    },
    noteHolder(value, seen) {
      const { instance, record } = parseNode(name, value);
      const runs = record === null ? null : isRunning(record);
      replaces = runs === false ? instance : '';
      const wasRenewed = first?.instance === instance && first.seen !== seen;
      if (first?.instance !== instance) first = { instance, seen };
      return runs === true || (wasRenewed && runs === null) ? nameTaken(name, record) : null;
    },
    noteHeld() {
      first = null;
      replaces = '';
    },
  };
}

function nameTaken(name: string, record: NodeRecord | null): NodeNameTaken {
  const who =
    record === null
      ? 'another process'
      : `process ${record.pid} on ${record.host}, which runs since ${formatTime(record.since)}`;
  return new NodeNameTaken(
    `The node name ${name} is taken by ${who}. Set node.name to a name that no other node has.`,
  );
}
