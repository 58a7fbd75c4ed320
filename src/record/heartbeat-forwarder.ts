/**
 * Receives heartbeats in a process that only serves. It writes them to the inbox of the shared registry and answers the
 * sender when the monitor has committed them. If there is no monitor, they stay in the inbox for the next one.
 */
import { createCoalescingLoop } from '../async/coalescing-loop.ts';
import type { Clock } from '../clock.ts';
import { checkedAtOf } from '../domain/heartbeat/heartbeat-rules.ts';
import type { Service } from '../domain/service.ts';
import type { CurrentStatus } from '../domain/status/current.ts';
import type { InboxAnswer, InboxStore } from '../store/ports/inbox.ts';
import { type HeartbeatReceipt, HeartbeatRefused, type ReceivedHeartbeat } from './observation.ts';

interface Waiting {
  readonly received: ReceivedHeartbeat;
  readonly resolve: (receipt: HeartbeatReceipt) => void;
  readonly reject: (error: Error) => void;
}

/** A sender is refused after this time, as by the monitor. */
const COMMIT_TIMEOUT_MS = 10_000;
/** Answers are polled this often while a sender waits, even without a commit. */
const POLL_MS = 100;
const RETRY_MS = 1_000;
/** Maximum number of reads of answers at the same time. */
const MAX_READS = 4;

export function createHeartbeatForwarder(options: {
  readonly inbox: InboxStore;
  /** The service as this process knows it; null: it is not known yet. */
  readonly serviceOf: (serviceId: number) => Service | null;
  /** Applies the status of an answer, so that every read shows it. */
  readonly learn: (record: CurrentStatus) => Promise<void>;
  /** This process' wall clock minus the clock that all processes share, milliseconds. Times in the inbox are of that clock. */
  readonly clockOffsetMs: () => number;
  readonly clock: Clock;
}) {
  const { inbox, serviceOf, learn, clockOffsetMs, clock } = options;
  const waiting = new Map<number, Waiting>();
  const inFlight = new Set<Promise<HeartbeatReceipt>>();
  /** Over a far road an answer may come while another read of them is on its way. */
  const reads = Array.from({ length: MAX_READS }, () => createCoalescingLoop(readAnswers));
  let polls = 0;
  let isStopped = false;
  let cancelRetry: (() => void) | null = null;

  const refusal = () => new HeartbeatRefused('The heartbeat could not be judged yet; send it again.');

  async function readAnswers(): Promise<void> {
    try {
      for (const { id, answer } of await inbox.inboxAnswers([...waiting.keys()])) await deliver(id, answer);
    } catch {
      // The next poll tries again, until the sender is refused.
    }
  }

  function poll(): void {
    if (waiting.size > 0) void reads[polls++ % MAX_READS]?.run();
  }

  async function deliver(id: number, answer: InboxAnswer): Promise<void> {
    const one = waiting.get(id);
    if (one === undefined) return;
    if (answer.kind === 'refused') {
      waiting.delete(id);
      one.reject(Object.assign(new Error(answer.message), { code: answer.code }));
      return;
    }
    const service = serviceOf(answer.serviceId);
    // The change that adds the service is committed but has not arrived yet.
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

  async function forward(own: ReceivedHeartbeat): Promise<HeartbeatReceipt> {
    const received = { ...own, arrivedAt: own.arrivedAt - clockOffsetMs() };
    const { report, accountId, arrivedAt, body } = received;
    const id = await inbox.putInInbox({ kind: report.kind, accountId, arrivedAt, body });
    if (isStopped) throw refusal();
    const { promise, resolve, reject } = Promise.withResolvers<HeartbeatReceipt>();
    waiting.set(id, { received, resolve, reject });
    const cancel = clock.after(COMMIT_TIMEOUT_MS, () => {
      if (waiting.delete(id)) reject(refusal());
    });
    return await promise.finally(cancel);
  }

  function forwardRefusal(): void {
    cancelRetry = null;
    const arrivedAt = clock.now() - clockOffsetMs();
    inbox.putInInbox({ kind: 'refused', accountId: 0, arrivedAt, body: '' }).catch(() => {
      if (!isStopped) cancelRetry ??= clock.after(RETRY_MS, forwardRefusal);
    });
  }

  const stops = [inbox.watchOtherProcesses(poll), clock.every(POLL_MS, poll)];
  return {
    /** Resolves when the heartbeat is committed and every read of this process shows it. Rejects as the record does. */
    async takeHeartbeat(received: ReceivedHeartbeat): Promise<HeartbeatReceipt> {
      if (isStopped) throw refusal();
      const work = forward(received);
      inFlight.add(work);
      return await work.finally(() => inFlight.delete(work));
    },
    /** Resolves when no sender waits. */
    async idle(): Promise<void> {
      while (inFlight.size > 0) await Promise.allSettled(inFlight);
    },
    /** Records that this process had to refuse a heartbeat. The monitor is notified as soon as the registry accepts writes. */
    noteRefusal(): void {
      cancelRetry ??= clock.after(0, forwardRefusal);
    },
    /** Stops. Senders that still wait are refused, though their heartbeats may still be committed. */
    stop(): void {
      isStopped = true;
      cancelRetry?.();
      for (const stop of stops) stop();
      for (const { reject } of waiting.values()) reject(refusal());
      waiting.clear();
    },
  };
}
