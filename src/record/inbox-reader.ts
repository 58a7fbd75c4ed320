/** Reads heartbeats from the inbox, in order, and processes them as if this process had received them. */
import { createCoalescingLoop } from '../async/coalescing-loop.ts';
import type { Clock } from '../clock.ts';
import { readHeartbeat } from '../domain/heartbeat/heartbeat-body.ts';
import { readAnyHost } from '../domain/host-name.ts';
import { errorCodeOf, messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { InboxEntry, InboxStore } from '../store/ports/inbox.ts';
import { HeartbeatRefused } from './observation.ts';
import type { ResultRecord } from './record.ts';

export interface InboxReaderOptions {
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
