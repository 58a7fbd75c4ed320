/** Takes heartbeats from the inbox, in its order, as if this process had received them. */
import type { Clock } from '../clock.ts';
import { readHeartbeat } from '../domain/heartbeat-body.ts';
import type { Log } from '../log.ts';
import type { InboxEntry, InboxStore } from '../store/ports/inbox.ts';
import { HeartbeatRefused } from './observation.ts';
import type { ResultRecord } from './record.ts';

/** What the reader needs. */
export interface InboxReaderOptions {
  readonly inbox: Pick<InboxStore, 'openInInbox' | 'answerInInbox' | 'forgetInbox' | 'watchOtherProcesses'>;
  readonly record: Pick<ResultRecord, 'takeHeartbeat' | 'noteRefusal'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A running reader. */
export interface InboxReader {
  /** Resolves when everything that was in the inbox at the call was committed, or waits for another attempt. */
  drained(): Promise<void>;
  /** Nothing is taken after this; heartbeats in flight end by themselves. */
  stop(): void;
}

/** The inbox is polled this often even without a commit: what could not be committed is tried again. */
const POLL_MS = 1_000;
/** How often answered entries are deleted; often, so that each deletion is short. */
const CLEANUP_MS = 2_000;
/** Answers are kept for this long; their senders have given up by then. */
const RETENTION_MS = 600_000;

/** Starts reading. An entry that the record cannot take now stays in the inbox for later, or for the next monitor. */
export function startInboxReader({ inbox, record, clock, log }: InboxReaderOptions): InboxReader {
  /** Entries in flight: they stay open in the inbox until their update is committed. */
  const inFlight = new Map<number, Promise<void>>();
  let polling: Promise<void> | null = null;
  let again = false;
  let failing = false;
  let stopped = false;

  function poll(): Promise<void> {
    if (polling !== null) {
      again = true;
      return polling;
    }
    polling = pollNow().finally(() => {
      polling = null;
    });
    return polling;
  }

  async function pollNow(): Promise<void> {
    try {
      do {
        again = false;
        for (let after = 0; !stopped; ) {
          const page = await inbox.openInInbox(after);
          for (const entry of page) begin(entry);
          const last = page.at(-1);
          if (last === undefined) break;
          after = last.id;
        }
      } while (again && !stopped);
    } catch (error) {
      log.debug({ problem: (error as Error).message }, 'the heartbeat inbox could not be read');
    }
  }

  function begin(entry: InboxEntry): void {
    const { id } = entry;
    if (stopped || inFlight.has(id)) return;
    inFlight.set(
      id,
      take(entry)
        .then(
          () => {
            failing = false;
          },
          (error: Error) => {
            // Each is tried again every second, without an end.
            if (!failing) log.warn({ problem: error.message }, 'heartbeats are waiting in the inbox');
            failing = true;
          },
        )
        .finally(() => inFlight.delete(id)),
    );
  }

  async function take({ id, kind, accountId, arrivedAt, body }: InboxEntry): Promise<void> {
    if (kind === 'refused') {
      record.noteRefusal();
      await inbox.answerInInbox(id, { kind: 'refused', code: '', message: '' });
      return;
    }
    const reading = readHeartbeat(body, kind);
    if (!reading.ok) {
      // The process that received it could read it: it runs another version of the program.
      await inbox.answerInInbox(id, { kind: 'refused', code: 'unavailable', message: reading.problem });
      return;
    }
    try {
      await record.takeHeartbeat({ report: reading.report, accountId, arrivedAt, body, inboxId: id });
    } catch (error) {
      const { code, message } = error as Error & { code?: unknown };
      if (error instanceof HeartbeatRefused || typeof code !== 'string') throw error;
      await inbox.answerInInbox(id, { kind: 'refused', code, message });
    }
  }

  const stops = [
    inbox.watchOtherProcesses(() => void poll()),
    clock.every(POLL_MS, () => void poll()),
    clock.every(CLEANUP_MS, () => void inbox.forgetInbox(clock.now() - RETENTION_MS).catch(() => {})),
  ];
  void poll();
  return {
    async drained() {
      await poll();
      await poll();
      await Promise.all(inFlight.values());
    },
    stop() {
      stopped = true;
      for (const stop of stops) stop();
    },
  };
}
