/** Sends lines so that points which the server refuses for good take none of the others with them. */
import { faultOf, type InfluxFault } from './influx-fault.ts';
import { describeRefusal, judgeRefusal, type WriteRefusal } from './write-answer.ts';

/** One request; null: everything was stored. Never rejects. */
export type PostLines = (lines: readonly string[]) => Promise<WriteRefusal | null>;

/** What came of sending lines. */
export interface SendOutcome {
  /** Lines that are neither stored nor given up, in their order: to be sent again. Empty: all were dealt with. */
  readonly rest: readonly string[];
  /** Lines given up: the server refused them for their own sake. */
  readonly dropped: number;
  /** Why lines are left, one line; null: none are. */
  readonly problem: string | null;
  /** The kind of that problem. */
  readonly fault: InfluxFault | null;
  /** The server asks to wait for so long, milliseconds; null: it does not say. */
  readonly retryAfterMs: number | null;
  /** Why lines were given up, one line; null: none were. */
  readonly refusal: string | null;
}

/** Largest request that the server takes, as far as is known; lowered for good by each answer 413. */
export interface RequestSize {
  maxLines: number;
}

/** Requests to find the lines at fault; lines that are not judged by then are left for the next time. */
const MAX_REQUESTS = 200;
/** The same while the server has taken none of the lines: then the fault is hardly in the points. */
const MAX_REQUESTS_UNSTORED = 60;

type Stop = Pick<SendOutcome, 'fault' | 'retryAfterMs'> & { readonly problem: string };

interface Progress {
  requests: number;
  /** The server has stored something, so its refusals of other lines speak of those lines. */
  hasStored: boolean;
  dropped: number;
  refusal: string | null;
  /** Single lines refused without a word that speaks of points. */
  readonly doubtful: string[];
  /** Aborted once sending must stop. */
  stop: Stop | null;
  readonly rest: string[];
}

/** Sends the lines, in parts where the server refuses some of them. Never rejects. */
export async function sendLines(
  post: PostLines,
  lines: readonly string[],
  size: RequestSize,
): Promise<SendOutcome> {
  const progress: Progress = {
    requests: 0,
    hasStored: false,
    dropped: 0,
    refusal: null,
    doubtful: [],
    stop: null,
    rest: [],
  };
  await sendPart({ post, size, progress }, lines);
  const { doubtful, hasStored, rest, stop, refusal } = progress;
  if (doubtful.length > 0 && !hasStored) {
    // It takes nothing at all: no proof that the points are wrong, so none of them is given up.
    return { rest: lines, dropped: 0, refusal: null, ...(stop ?? stopOf(refusal)) };
  }
  return {
    rest,
    dropped: progress.dropped + doubtful.length,
    refusal,
    ...(stop ?? { problem: null, fault: null, retryAfterMs: null }),
  };
}

/** The server took too little to tell what is wrong. */
function stopOf(refusal: string | null): Stop {
  return { problem: refusal ?? 'InfluxDB refuses points', fault: 'other', retryAfterMs: null };
}

interface Sending {
  readonly post: PostLines;
  readonly size: RequestSize;
  readonly progress: Progress;
}

async function sendPart(sending: Sending, lines: readonly string[]): Promise<void> {
  const { post, size, progress } = sending;
  if (lines.length === 0) return;
  const maxRequests = progress.hasStored ? MAX_REQUESTS : MAX_REQUESTS_UNSTORED;
  if (progress.requests >= maxRequests) progress.stop ??= stopOf(progress.refusal);
  if (progress.stop !== null) {
    progress.rest.push(...lines);
    return;
  }
  if (lines.length > size.maxLines) return await sendHalves(sending, lines);
  progress.requests++;
  const refusal = await post(lines);
  if (refusal === null) {
    progress.hasStored = true;
    return;
  }
  const problem = describeRefusal(refusal);
  const verdict = judgeRefusal(refusal, lines);
  if (verdict.kind === 'keep') {
    const { status, message, retryAfterMs } = refusal;
    progress.stop = { problem, fault: faultOf(status, message), retryAfterMs };
    progress.rest.push(...lines);
    return;
  }
  progress.refusal = problem;
  if (verdict.kind === 'stored') {
    progress.hasStored ||= verdict.dropped < lines.length;
    progress.dropped += verdict.dropped;
  } else if (verdict.kind === 'malformed') {
    const malformed = new Set(verdict.places);
    progress.dropped += malformed.size;
    const others = lines.filter((_, place) => !malformed.has(place));
    await sendPart(sending, others);
  } else if (lines.length === 1) {
    progress.doubtful.push(...lines);
  } else {
    if (refusal.status === 413) size.maxLines = Math.ceil(lines.length / 2);
    await sendHalves(sending, lines);
  }
}

async function sendHalves(sending: Sending, lines: readonly string[]): Promise<void> {
  const middle = Math.ceil(lines.length / 2);
  await sendPart(sending, lines.slice(0, middle));
  await sendPart(sending, lines.slice(middle));
}
