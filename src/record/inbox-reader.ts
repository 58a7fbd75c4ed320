/** Judges what other processes have put into the inbox of heartbeats, in its order, as if it had come in here. */
import type { Clock } from '../clock.ts';
import { readHeartbeat } from '../domain/heartbeat-body.ts';
import type { Log } from '../log.ts';
import type { InboxEntry, InboxStore } from '../store/ports/inbox.ts';
import { HeartbeatRefused } from './observation.ts';
import type { ResultRecord } from './record.ts';

/** What reading needs. */
export interface InboxReaderOptions {
  readonly inbox: Pick<InboxStore, 'openInInbox' | 'answerInInbox' | 'forgetInbox' | 'watchOtherProcesses'>;
  readonly record: Pick<ResultRecord, 'takeHeartbeat' | 'noteRefusal'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The reader at work. */
export interface InboxReader {
  /** Resolves when everything that was in the inbox at the call has been judged, or is to be tried again. */
  drained(): Promise<void>;
  /** Nothing is taken after this; what is under way ends by itself. */
  stop(): void;
}

/** Looked at so often even where nobody told of a commit: what could not be judged is tried again. */
const LOOK_MS = 1_000;
/** Often, so that there is little to forget each time. */
const TIDY_MS = 2_000;
/** Answers are kept for so long; whoever asked has gone by then. */
const KEPT_MS = 600_000;

/** Starts reading. An entry that the record cannot take now stays in the inbox, for later or for the next monitor. */
export function startInboxReader({ inbox, record, clock, log }: InboxReaderOptions): InboxReader {
  /** Entries under way: they stay open in the inbox until their judgement is written. */
  const underWay = new Map<number, Promise<void>>();
  let looking: Promise<void> | null = null;
  let again = false;
  let failing = false;
  let stopped = false;

  function look(): Promise<void> {
    if (looking !== null) {
      again = true;
      return looking;
    }
    looking = lookNow().finally(() => {
      looking = null;
    });
    return looking;
  }

  async function lookNow(): Promise<void> {
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
    if (stopped || underWay.has(id)) return;
    underWay.set(
      id,
      judge(entry)
        .then(
          () => {
            failing = false;
          },
          (error: Error) => {
            // Each is tried again every second, however long that takes.
            if (!failing) log.warn({ problem: error.message }, 'heartbeats are waiting in the inbox');
            failing = true;
          },
        )
        .finally(() => underWay.delete(id)),
    );
  }

  async function judge({ id, kind, accountId, arrivedAt, body }: InboxEntry): Promise<void> {
    if (kind === 'refused') {
      record.noteRefusal();
      await inbox.answerInInbox(id, { kind: 'refused', code: '', message: '' });
      return;
    }
    const reading = readHeartbeat(body, kind);
    if (!reading.ok) {
      // Whoever put it in had read it: another version of the program.
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
    inbox.watchOtherProcesses(() => void look()),
    clock.every(LOOK_MS, () => void look()),
    clock.every(TIDY_MS, () => void inbox.forgetInbox(clock.now() - KEPT_MS).catch(() => {})),
  ];
  void look();
  return {
    async drained() {
      await look();
      await look();
      await Promise.all(underWay.values());
    },
    stop() {
      stopped = true;
      for (const stop of stops) stop();
    },
  };
}
