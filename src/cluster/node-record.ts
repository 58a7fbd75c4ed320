/** The entry of a node in Redis: its instance, its state as JSON, and the claim of its name. */
import { formatTime } from '../domain/durations.ts';
import { NODE_ROLES, type NodeRole, type NodeState } from '../domain/node.ts';

/** The state of a node, with the identity of its process. */
export interface NodeRecord extends Omit<NodeState, 'lastSeen'> {
  /**
   * Distinguishes the process from later ones on its machine with the same id; null: the system does not provide it.
   */
  readonly process: string | null;
  /** True: the node is still loading, or stopping. Other nodes do not count it, but its name is taken. */
  readonly starting: boolean;
}

/** A value of the hash of nodes. */
export interface StoredNode {
  /** Random; each start of a process has its own. */
  readonly instance: string;
  /** Null: the node has left, or its record cannot be read. */
  readonly record: NodeRecord | null;
}

/** Length of an instance, a UUID; the scripts cut it off. */
export const INSTANCE_LENGTH = 36;

/** The value of a node; `record` null: it has left. */
export function formatNode({ instance, record }: StoredNode): string {
  return instance + (record === null ? '' : JSON.stringify(record));
}

/**
 * Parses a value. Members that an older version does not write get defaults; unknown members of a newer version are
 * ignored.
 */
export function parseNode(name: string, value: string): StoredNode {
  const instance = value.slice(0, INSTANCE_LENGTH);
  return { instance, record: readRecord(name, value.slice(INSTANCE_LENGTH)) };
}

function readRecord(name: string, text: string): NodeRecord | null {
  const fields = readObject(text);
  if (fields === null) return null;
  const textOf = (key: string) => (typeof fields[key] === 'string' ? fields[key] : '');
  const numberOf = (key: string) => (Number.isFinite(fields[key]) ? Number(fields[key]) : 0);
  const roles: readonly unknown[] = Array.isArray(fields.roles) ? fields.roles : [];
  const online = fields.online !== false;
  return {
    name,
    region: textOf('region'),
    roles: NODE_ROLES.filter((role: NodeRole) => roles.includes(role)),
    version: textOf('version'),
    host: textOf('host'),
    pid: numberOf('pid'),
    process: textOf('process') || null,
    since: numberOf('since'),
    services: numberOf('services'),
    checksPerSecond: numberOf('checksPerSecond'),
    online,
    offlineSince: online ? null : numberOf('offlineSince'),
    reachesRegistry: fields.reachesRegistry !== false,
    checksProblem: textOf('checksProblem') || null,
    clockOffsetMs: numberOf('clockOffsetMs'),
    starting: fields.starting === true,
  };
}

function readObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

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
