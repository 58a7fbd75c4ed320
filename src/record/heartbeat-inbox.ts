/**
 * The inbox of heartbeats. A process that only serves writes them to it and answers their senders when the monitor has committed them; the
 * monitor reads them in order and processes them as if it had received them. If there is no monitor, they stay for the next one.
 */
import { createCoalescingLoop } from '../async/coalescing-loop.ts';
import type { Clock } from '../clock.ts';
import { readHeartbeat } from '../domain/heartbeat/heartbeat-body.ts';
import { checkedAtOf } from '../domain/heartbeat/heartbeat-rules.ts';
import { readAnyHost } from '../domain/host-name.ts';
import type { Service } from '../domain/service.ts';
import type { CurrentStatus } from '../domain/status/current.ts';
import { errorCodeOf, messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { InboxAnswer, InboxEntry, InboxStore } from '../store/ports/heartbeats.ts';
import { type HeartbeatReceipt, HeartbeatRefused, type ReceivedHeartbeat } from './observation.ts';
import type { ResultRecord } from './record.ts';

interface InboxReaderOptions {
  readonly inbox: InboxStore;
  readonly record: Pick<ResultRecord, 'takeHeartbeat' | 'noteRefusal'>;
  /** As for the forwarder, of this process. */
  readonly clockOffsetMs: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Interval of polling the inbox without a commit; entries that could not be committed are then retried. */
const POLL_MS = 1_000;
/** Interval of deleting answered entries; short, so that each deletion is short too. */
const CLEANUP_MS = 2_000;
/** Retention of answers; senders have given up by then. */
const RETENTION_MS = 600_000;

/** Starts reading, at the next poll or commit of another process. An entry that the record cannot accept now stays in the inbox for later, or for the next monitor. */
export function startInboxReader({ inbox, record, clockOffsetMs, clock, log }: InboxReaderOptions) {
  /** Entries in flight: they stay open in the inbox until their update is committed. */
  const inFlight = new Map<number, Promise<void>>();
  const polling = createCoalescingLoop(readInbox);
  let isFailing = false;
  let isStopped = false;

  async function readInbox(): Promise<void> {
    try {
      for (let after = 0; !isStopped; ) {
        const page = await inbox.openInInbox(after);
        page.forEach(begin);
        const last = page.at(-1);
        if (last === undefined) break;
        after = last.id;
      }
    } catch (error) {
      log.debug({ problem: messageOf(error) }, 'the heartbeat inbox could not be read');
    }
  }

  function begin(entry: InboxEntry): void {
    const { id } = entry;
    if (isStopped || inFlight.has(id)) return;
    inFlight.set(
      id,
      take(entry)
        .then(
          () => {
            isFailing = false;
          },
          (error: Error) => {
            // Each entry is retried every second, indefinitely.
            if (!isFailing) log.warn({ problem: error.message }, 'heartbeats are waiting in the inbox');
            isFailing = true;
          },
        )
        .finally(() => inFlight.delete(id)),
    );
  }

  async function take({ id, kind, accountId, body, ...entry }: InboxEntry): Promise<void> {
    // Deadlines and the order of heartbeats follow the clock of the record.
    const arrivedAt = entry.arrivedAt + clockOffsetMs();
    if (kind === 'refused') {
      record.noteRefusal();
      await inbox.answerInInbox(id, { kind: 'refused', code: '', message: '' });
      return;
    }
    const reading = readHeartbeat(body, kind, readAnyHost);
    if (!reading.ok) {
      // The process that received the entry could read it, so it runs another version of the program.
      await inbox.answerInInbox(id, { kind: 'refused', code: 'unavailable', message: reading.problem });
      return;
    }
    try {
      await record.takeHeartbeat({ report: reading.report, accountId, arrivedAt, body, inboxId: id });
    } catch (error) {
      const code = errorCodeOf(error);
      if (error instanceof HeartbeatRefused || code === null) throw error;
      await inbox.answerInInbox(id, { kind: 'refused', code, message: messageOf(error) });
    }
  }

  const stops = [
    inbox.watchOtherProcesses(() => void polling.run()),
    clock.every(POLL_MS, () => void polling.run()),
    clock.every(CLEANUP_MS, () => {
      inbox.forgetInbox(clock.now() - clockOffsetMs() - RETENTION_MS).catch(() => {});
    }),
  ];
  return {
    /** Reads at once. Resolves when everything that was in the inbox at the call was committed, or waits for another attempt. */
    async drained(): Promise<void> {
      await polling.run();
      await Promise.all(inFlight.values());
    },
    /** Stops reading. Heartbeats in flight complete on their own. */
    stop(): void {
      isStopped = true;
      for (const stop of stops) stop();
    },
  };
}

interface Waiting {
  readonly received: ReceivedHeartbeat;
  readonly resolve: (receipt: HeartbeatReceipt) => void;
  readonly reject: (error: Error) => void;
}

/** A sender is refused after this time, as by the monitor. */
const COMMIT_TIMEOUT_MS = 10_000;
/** Answers are polled this often while a sender waits, even without a commit. */
const ANSWER_POLL_MS = 100;
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

  const stops = [inbox.watchOtherProcesses(poll), clock.every(ANSWER_POLL_MS, poll)];
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
