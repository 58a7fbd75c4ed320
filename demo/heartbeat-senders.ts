/** Services that send heartbeats by a script, and what a monitor may report of them. */
import type { ServiceStatus, Verdict } from '../src/domain/status.ts';

/** The heartbeats of a sender from a time of the play on. */
interface SenderStep {
  /** Milliseconds into the period. */
  readonly at: number;
  /** Reported status; null: no heartbeats. */
  readonly word: string | null;
  readonly means: Verdict;
  /** Dependencies with status and latency. */
  readonly checks?: Readonly<Record<string, { readonly status: string; readonly latency: number }>>;
}

/** A service that sends heartbeats. */
export interface Sender {
  readonly domain: string;
  /** In order of time; the first is at 0. */
  readonly steps: readonly SenderStep[];
  readonly story: string;
}

/** Times of the senders, and the program's deadline for heartbeats, milliseconds. */
export interface SenderTiming {
  readonly periodMs: number;
  readonly everyMs: number;
  readonly silenceMs: number;
  readonly slackMs: number;
}

/** The senders of the demonstration. */
export const DEMO_SENDERS: readonly Sender[] = [
  {
    domain: 'nightly-backup.example.org',
    story: 'heartbeats: falls silent from 1:00 to 2:00, and is down until it speaks again',
    steps: [
      { at: 0, word: 'ok', means: 'up' },
      { at: 60_000, word: null, means: 'down' },
      { at: 120_000, word: 'ok', means: 'up' },
    ],
  },
  {
    domain: 'orders.example.org',
    story: 'heartbeats: reports a slow database from 0:50 to 1:50 and its failure from then to 2:30',
    steps: [
      { at: 0, word: 'ok', means: 'up', checks: dependencies('ok', 8) },
      { at: 50_000, word: 'degraded', means: 'slow', checks: dependencies('degraded', 900) },
      { at: 110_000, word: 'failing', means: 'down', checks: dependencies('failing', 4_000) },
      { at: 150_000, word: 'ok', means: 'up', checks: dependencies('ok', 9) },
    ],
  },
  {
    domain: 'thermostat.example.org',
    story: 'heartbeats: always well, though a dependency of it fails from 1:40 to 3:20',
    steps: [
      { at: 0, word: 'ok', means: 'up', checks: dependencies('ok', 3) },
      { at: 100_000, word: 'ok', means: 'up', checks: dependencies('failing', 60) },
      { at: 200_000, word: 'ok', means: 'up', checks: dependencies('ok', 3) },
    ],
  },
];

/** The times of the demonstration's senders. */
export const DEMO_SENDER_TIMING: SenderTiming = {
  periodMs: 300_000,
  everyMs: 5_000,
  silenceMs: 15_000,
  slackMs: 3_000,
};

function dependencies(status: string, latency: number): NonNullable<SenderStep['checks']> {
  return { database: { status, latency }, cache: { status: 'ok', latency: 1 } };
}

/** The step of a sender `elapsedMs` after the play began. */
export function stepAt({ steps }: Sender, elapsedMs: number, periodMs: number): SenderStep {
  const inPeriod = Math.max(0, elapsedMs) % periodMs;
  const step = steps.findLast(({ at }) => at <= inPeriod);
  if (step === undefined) throw new Error('a sender has no step at 0');
  return step;
}

/** The statuses that the program may report of a sender: one, or two until it must detect a change. */
export function allowedOf(
  sender: Sender,
  elapsedMs: number,
  timing: SenderTiming,
): ReadonlySet<ServiceStatus> {
  const { periodMs, everyMs, silenceMs, slackMs } = timing;
  const now = stepAt(sender, elapsedMs, periodMs);
  // A status arrives with the next heartbeat; silence is detected at the deadline after the last one.
  const delayMs = everyMs + slackMs + (now.word === null ? silenceMs : 0);
  const before = stepAt(sender, elapsedMs - delayMs, periodMs);
  const words: ServiceStatus[] = elapsedMs < delayMs ? [now.means, 'unknown'] : [now.means, before.means];
  return new Set(words);
}

/** Sends heartbeats until the returned function is called. Errors are ignored, since the next heartbeat follows. */
export function startSenders(
  senders: readonly Sender[],
  { siteUrl, key, startAt }: { readonly siteUrl: string; readonly key: string; readonly startAt: number },
  { periodMs, everyMs }: SenderTiming,
): () => void {
  const send = async (sender: Sender): Promise<void> => {
    const { word, checks } = stepAt(sender, Date.now() - startAt, periodMs);
    if (word === null) return;
    const body = { domain: sender.domain, status: word, ...(checks === undefined ? {} : { checks }) };
    const response = await fetch(`${siteUrl}/api/v1/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
  };
  const sendAll = () => {
    for (const sender of senders) send(sender).catch(() => {});
  };
  const timer = setInterval(sendAll, everyMs);
  sendAll();
  return () => clearInterval(timer);
}
