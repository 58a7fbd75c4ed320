/** Clients of the serving nodes: one follows the events of each node, one compares what all nodes say of the services. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createEventIds } from '../../../src/api/events.ts';
import { messageOf } from '../../../src/error.ts';
import { readKeyText } from '../../../src/store/secrets/secret-box.ts';
import { type ClusterNode, SECRET_KEY } from '../../support/cluster.ts';
import { at, listAt, numberAt, textAt } from '../../support/json.ts';

/** An event that a client has received. */
export interface HeardEvent {
  readonly position: number;
  readonly atMs: number;
  /** Since when the connection that brought it is open, monotonic milliseconds. */
  readonly connectedMs: number;
}

/** A service of which two nodes have said different things for a second. */
export interface Disagreement {
  readonly slug: string;
  readonly atMs: number;
  /** What each node said. */
  readonly said: Readonly<Record<string, string>>;
}

/** A running node that refused a connection, or answered with a status of 500 or more. */
export interface ReadFailure {
  readonly node: ClusterNode;
  readonly atMs: number;
  readonly problem: string;
}

/** The clients. */
export interface Readers {
  /** The events that each node has sent, in the order of their arrival. */
  readonly heard: ReadonlyMap<ClusterNode, readonly HeardEvent[]>;
  readonly disagreements: readonly Disagreement[];
  readonly failures: readonly ReadFailure[];
  /** Number of responses that were compared. */
  readonly reads: number;
  stop(): Promise<void>;
}

const PAUSE_MS = 200;
const READ_PERIOD_MS = 1_000;
const READ_TIMEOUT_MS = 5_000;
const MAX_SERVICES = 500;

type Statuses = ReadonlyMap<string, string>;

/** Starts a client of events for each node, and one that reads the list of services of all nodes once a second. */
export function startReaders(nodes: readonly ClusterNode[]): Readers {
  const ids = createEventIds(readKeyText(SECRET_KEY) ?? new Uint8Array());
  const ending = new AbortController();
  const heard = new Map<ClusterNode, HeardEvent[]>(nodes.map((node) => [node, []]));
  const disagreements: Disagreement[] = [];
  const failures: ReadFailure[] = [];
  let reads = 0;

  /** Follows the events of a node until its connection ends. */
  async function follow(node: ClusterNode, events: HeardEvent[]): Promise<void> {
    const headers = { 'last-event-id': ids.ofEvent(events.at(-1)?.position ?? 0) };
    const response = await fetch(`${node.siteUrl}/api/v1/events`, { headers, signal: ending.signal });
    const connectedMs = performance.now();
    let rest = '';
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const atMs = performance.now();
      const parts = (rest + text).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const [, id] = /^id: (.+)\nevent: /m.exec(part) ?? [];
        if (id !== undefined) events.push({ position: ids.read(id) ?? -1, atMs, connectedMs });
      }
    }
  }

  async function keepFollowing(node: ClusterNode, events: HeardEvent[]): Promise<void> {
    while (!ending.signal.aborted) {
      await follow(node, events).catch(() => {});
      if (!ending.signal.aborted) await sleep(PAUSE_MS);
    }
  }

  async function read(node: ClusterNode): Promise<Statuses | null> {
    const { program } = node;
    try {
      const statuses = await readStatuses(node.siteUrl);
      reads += 1;
      return statuses;
    } catch (error) {
      // A node that was disturbed meanwhile owes no response.
      await sleep(PAUSE_MS);
      if (node.state === 'running' && node.program === program && !ending.signal.aborted)
        failures.push({ node, atMs: performance.now(), problem: messageOf(error) });
      return null;
    }
  }

  async function compare(): Promise<void> {
    let before = new Map<ClusterNode, Statuses>();
    while (!ending.signal.aborted) {
      const running = nodes.filter(({ state }) => state === 'running');
      const startMs = performance.now();
      const answers = await Promise.all(running.map(async (node) => [node, await read(node)] as const));
      const now = new Map(
        answers.flatMap(([node, statuses]) => (statuses === null ? [] : [[node, statuses]])),
      );
      disagreements.push(...lasting(before, now));
      before = now;
      await sleep(Math.max(0, READ_PERIOD_MS - (performance.now() - startMs)));
    }
  }

  const running = [compare(), ...[...heard].map(([node, events]) => keepFollowing(node, events))];
  return {
    heard,
    disagreements,
    failures,
    get reads() {
      return reads;
    },
    async stop() {
      ending.abort();
      await Promise.all(running);
    },
  };
}

/** The status of every service as a node says it. Throws if it does not answer. */
export async function readStatuses(siteUrl: string): Promise<Statuses> {
  const all = new Map<string, string>();
  for (let offset = 0; ; offset += MAX_SERVICES) {
    const response = await fetch(`${siteUrl}/api/v1/services?limit=${MAX_SERVICES}&offset=${offset}`, {
      signal: AbortSignal.timeout(READ_TIMEOUT_MS),
    });
    const body: unknown = await response.json();
    if (!response.ok) throw new Error(`${response.status} ${at(body, 'code')}`);
    for (const service of listAt(body, 'services'))
      all.set(textAt(service, 'slug'), textAt(service, 'status'));
    if (offset + MAX_SERVICES >= numberAt(body, 'total')) return all;
  }
}

/** Services on which nodes have disagreed in both rounds, without having changed what they say. */
function lasting(
  before: ReadonlyMap<ClusterNode, Statuses>,
  now: ReadonlyMap<ClusterNode, Statuses>,
): Disagreement[] {
  const steady = [...now].filter(([node]) => before.has(node));
  const slugs = new Set(steady.flatMap(([, statuses]) => [...statuses.keys()]));
  return [...slugs].flatMap((slug) => {
    const unchanged = steady.filter(([node, statuses]) => before.get(node)?.get(slug) === statuses.get(slug));
    const said = unchanged.map(([{ name }, statuses]) => [name, statuses.get(slug) ?? 'nothing'] as const);
    if (new Set(said.map(([, status]) => status)).size <= 1) return [];
    return [{ slug, atMs: performance.now(), said: Object.fromEntries(said) }];
  });
}
