/**
 * Takes heartbeats in a process that only serves: on disk in the shared registry first, then judged by the monitor,
 * whose answer is the sender's. Without a monitor they wait there for the next one.
 */
import type { Clock } from '../clock.ts';
import type { CurrentStatus } from '../domain/current.ts';
import { checkedAtOf } from '../domain/heartbeat-rules.ts';
import type { Service } from '../domain/service.ts';
import type { InboxAnswer, InboxStore } from '../store/ports/inbox.ts';
import { type HeartbeatReceipt, HeartbeatRefused, type ReceivedHeartbeat } from './observation.ts';

/** What forwarding needs. */
export interface HeartbeatForwarderOptions {
  readonly inbox: Pick<InboxStore, 'putInInbox' | 'inboxAnswers' | 'watchOtherProcesses'>;
  /** The service as this process knows it; null: not yet. */
  readonly serviceOf: (serviceId: number) => Service | null;
  /** Takes the record of an answer over, so that every read shows it. */
  readonly learn: (record: CurrentStatus) => Promise<void>;
  readonly clock: Clock;
}

/** The forwarder, to routes as good as the record itself. */
export interface HeartbeatForwarder {
  /** Resolves when it is judged and every read of this process shows it. Rejects as the record does. */
  takeHeartbeat(received: ReceivedHeartbeat): Promise<HeartbeatReceipt>;
  /** A heartbeat was refused by a fault of ours: the monitor is told as soon as the registry takes it. */
  noteRefusal(): void;
  /** Resolves when nobody waits any more. */
  idle(): Promise<void>;
  /** Ends; whoever waits still is told that we could not take it, though it may yet be judged. */
  stop(): void;
}

interface Waiting {
  readonly received: ReceivedHeartbeat;
  readonly resolve: (receipt: HeartbeatReceipt) => void;
  readonly reject: (error: Error) => void;
}

/** A sender waits no longer than this, as at the monitor. */
const MAX_WAIT_MS = 10_000;
/** Answers are looked for so often while somebody waits, even where nobody told of a commit. */
const LOOK_MS = 100;
const RETRY_MS = 1_000;

/** Starts the forwarder. */
export function createHeartbeatForwarder(options: HeartbeatForwarderOptions): HeartbeatForwarder {
  const { inbox, serviceOf, learn, clock } = options;
  const waiting = new Map<number, Waiting>();
  /** Senders that have no answer yet. */
  let open = 0;
  const idlers: (() => void)[] = [];
  let looking = false;
  let again = false;
  let stopped = false;
  let cancelRetry: (() => void) | null = null;

  const refusal = () => new HeartbeatRefused('The heartbeat could not be judged yet; send it again.');

  async function look(): Promise<void> {
    if (waiting.size === 0) return;
    if (looking) {
      again = true;
      return;
    }
    looking = true;
    try {
      do {
        again = false;
        for (const { id, answer } of await inbox.inboxAnswers([...waiting.keys()])) await give(id, answer);
      } while (again);
    } catch {
      // Asked again at the next look; who waits too long is told.
    }
    looking = false;
  }

  async function give(id: number, answer: InboxAnswer): Promise<void> {
    const one = waiting.get(id);
    if (one === undefined) return;
    if (answer.kind === 'refused') {
      waiting.delete(id);
      one.reject(Object.assign(new Error(answer.message), { code: answer.code }));
      return;
    }
    const service = serviceOf(answer.serviceId);
    // The change of the list that tells of it was committed before, and is on its way.
    if (service === null) return;
    await learn(answer.current);
    waiting.delete(id);
    const { report, arrivedAt } = one.received;
    one.resolve({
      service,
      status: answer.current.status,
      responseTimeMs: answer.responseTimeMs,
      checkedAt: checkedAtOf(report, arrivedAt),
      runMs: answer.runMs,
    });
  }

  async function forward(received: ReceivedHeartbeat): Promise<HeartbeatReceipt> {
    const { report, accountId, arrivedAt, body } = received;
    const id = await inbox.putInInbox({ kind: report.kind, accountId, arrivedAt, body });
    if (stopped) throw refusal();
    return await new Promise<HeartbeatReceipt>((resolve, reject) => {
      const cancel = clock.after(MAX_WAIT_MS, () => {
        if (waiting.delete(id)) reject(refusal());
      });
      waiting.set(id, {
        received,
        resolve(receipt) {
          cancel();
          resolve(receipt);
        },
        reject(error) {
          cancel();
          reject(error);
        },
      });
    });
  }

  function tellRefusal(): void {
    cancelRetry = null;
    inbox.putInInbox({ kind: 'refused', accountId: 0, arrivedAt: clock.now(), body: '' }).catch(() => {
      if (!stopped) cancelRetry ??= clock.after(RETRY_MS, tellRefusal);
    });
  }

  const stops = [inbox.watchOtherProcesses(() => void look()), clock.every(LOOK_MS, () => void look())];
  return {
    async takeHeartbeat(received) {
      if (stopped) throw refusal();
      open += 1;
      try {
        return await forward(received);
      } finally {
        open -= 1;
        if (open === 0) for (const resolve of idlers.splice(0)) resolve();
      }
    },
    idle: () => (open === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
    noteRefusal() {
      cancelRetry ??= clock.after(0, tellRefusal);
    },
    stop() {
      stopped = true;
      cancelRetry?.();
      for (const stop of stops) stop();
      for (const { reject } of waiting.values()) reject(refusal());
      waiting.clear();
    },
  };
}
