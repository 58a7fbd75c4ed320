/** Owners' services that send heartbeats to the serving nodes of a cluster, report failures, and fall silent. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterNode } from '../../support/cluster.ts';

/** A heartbeat that was sent. */
export interface SentHeartbeat {
  readonly domain: string;
  /** Epoch milliseconds; unique among the heartbeats of the domain. */
  readonly timestamp: number;
  readonly sentMs: number;
  /** Time of the response, monotonic milliseconds. */
  readonly answeredMs: number;
  /** HTTP status; null: the connection failed. */
  readonly status: number | null;
}

/** What a service reported over a time. */
export interface SenderPhase {
  readonly domain: string;
  /** Null: nothing. */
  readonly word: 'ok' | 'failing' | null;
  /** Epoch milliseconds. */
  readonly fromAt: number;
}

/** Options of {@link startSenders}. */
export interface SenderOptions {
  readonly domains: readonly string[];
  readonly key: string;
  /** The nodes that take heartbeats; those that are not running are left out. */
  readonly nodes: () => readonly ClusterNode[];
  readonly random: () => number;
  /** `heartbeats.silence`, milliseconds. */
  readonly silenceMs: number;
}

/** The senders. */
export interface Senders {
  readonly sent: readonly SentHeartbeat[];
  readonly phases: readonly SenderPhase[];
  /** Lets all services report `ok` from now on. */
  recover(): void;
  /** Resolves when the heartbeats in flight are answered. */
  stop(): Promise<void>;
}

const PERIOD_MS = 500;
const TIMEOUT_MS = 20_000;
/** Length of a phase in which heartbeats are sent, milliseconds. */
const PHASE_MS = [20_000, 50_000] as const;

/** Starts the senders. Every second phase of a service is `ok`; between them it fails or is silent. */
export function startSenders(options: SenderOptions): Senders {
  const { domains, key, nodes, random, silenceMs } = options;
  const sent: SentHeartbeat[] = [];
  const phases: SenderPhase[] = [];
  const recovering = new AbortController();
  const ending = new AbortController();

  async function send(domain: string, status: 'ok' | 'failing'): Promise<void> {
    const running = nodes().filter(({ state }) => state === 'running');
    const node = running[Math.floor(random() * running.length)];
    if (node === undefined) return;
    const timestamp = Date.now();
    const sentMs = performance.now();
    const response = await fetch(`${node.siteUrl}/api/v1/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ domain, status, timestamp: new Date(timestamp).toISOString() }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch(() => null);
    await response?.arrayBuffer().catch(() => {});
    const answeredMs = performance.now();
    sent.push({ domain, timestamp, sentMs, answeredMs, status: response?.status ?? null });
  }

  /** Reports `word` for a time, or until `end`. */
  async function play(domain: string, word: SenderPhase['word'], lengthMs: number, end: AbortSignal) {
    const before = phases.findLast((phase) => phase.domain === domain);
    if (before?.word !== word) phases.push({ domain, word, fromAt: Date.now() });
    const untilMs = performance.now() + lengthMs;
    while (performance.now() < untilMs && !end.aborted) {
      if (word !== null) await send(domain, word);
      await sleep(PERIOD_MS, undefined, { signal: end }).catch(() => {});
    }
  }

  async function run(domain: string, index: number): Promise<void> {
    const [least, most] = PHASE_MS;
    const bad = index % 2 === 0 ? 'failing' : null;
    for (let turn = 0; !recovering.signal.aborted; turn++) {
      const word = turn % 2 === 0 ? 'ok' : bad;
      const lengthMs = least + random() * (most - least) + (word === null ? 2 * silenceMs : 0);
      // A failure that has begun is reported until it must have been seen.
      await play(domain, word, lengthMs, word === 'ok' ? recovering.signal : ending.signal);
    }
    await play(domain, 'ok', Number.POSITIVE_INFINITY, ending.signal);
  }

  const running = domains.map(run);
  return {
    sent,
    phases,
    recover: () => recovering.abort(),
    async stop() {
      ending.abort();
      await Promise.all(running);
    },
  };
}
