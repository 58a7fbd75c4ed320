/** Sends lines so that points which the server refuses permanently do not block or drop the others. */
import { faultOf, type InfluxFault } from './influx-settings.ts';

/** A response to a write that is not success, or the lack of one. */
export interface WriteRefusal {
  /** HTTP status; 0: no response arrived. */
  readonly status: number;
  /** The whole message of the server; without a response, why there is none. */
  readonly message: string;
  /** `Retry-After`, milliseconds; null: the server did not say. */
  readonly retryAfterMs: number | null;
}

/** One request; null: everything was stored. Never rejects. */
export type PostLines = (lines: readonly string[]) => Promise<WriteRefusal | null>;

export interface SendOutcome {
  /** Lines to be sent again, in order: neither stored nor dropped. */
  readonly unsent: readonly string[];
  /** Lines that the server refused permanently. */
  readonly dropped: number;
  /** Why lines are unsent, one line; null: none are. */
  readonly problem: string | null;
  /** The kind of that problem. */
  readonly fault: InfluxFault | null;
  /** The server asks for this pause, milliseconds; null: it does not say. */
  readonly retryAfterMs: number | null;
  /** Why lines were dropped, one line; null: none were. */
  readonly refusal: string | null;
}

/** Largest request that the server is known to accept; each response 413 lowers it permanently. */
export interface RequestSize {
  maxLines: number;
}

/** Maximum number of requests to find the refused lines; lines not examined by then stay unsent. */
const MAX_REQUESTS = 200;
/** The same while the server has stored none of the lines: the points are then hardly the reason. */
const MAX_REQUESTS_UNSTORED = 60;

type Stop = Pick<SendOutcome, 'problem' | 'fault' | 'retryAfterMs'>;

/** Sends the lines, in parts if the server refuses some of them. Never rejects. */
export async function sendLines(
  post: PostLines,
  lines: readonly string[],
  size: RequestSize,
): Promise<SendOutcome> {
  const unsent: string[] = [];
  /** Single lines that were refused by a message that does not mention points. */
  const doubtful: string[] = [];
  let requests = 0;
  /** The server has stored something, so that its refusals of other lines concern those lines. */
  let hasStored = false;
  let dropped = 0;
  let refusal: string | null = null;
  /** Why sending has stopped; null: it has not. */
  let stop: Stop | null = null;
  const tooLittleStored = (): Stop => ({
    problem: refusal ?? 'InfluxDB refuses points',
    fault: 'other',
    retryAfterMs: null,
  });

  const sendHalves = async (part: readonly string[]): Promise<void> => {
    const middle = Math.ceil(part.length / 2);
    await send(part.slice(0, middle));
    await send(part.slice(middle));
  };

  const send = async (part: readonly string[]): Promise<void> => {
    if (part.length === 0) return;
    if (requests >= (hasStored ? MAX_REQUESTS : MAX_REQUESTS_UNSTORED)) stop ??= tooLittleStored();
    if (stop !== null) {
      unsent.push(...part);
      return;
    }
    if (part.length > size.maxLines) return await sendHalves(part);
    requests++;
    const refused = await post(part);
    if (refused === null) {
      hasStored = true;
      return;
    }
    const problem = describeRefusal(refused);
    const verdict = judgeRefusal(refused, part);
    if (verdict.kind === 'keep') {
      const { status, message, retryAfterMs } = refused;
      stop = { problem, fault: faultOf(status, message), retryAfterMs };
      unsent.push(...part);
      return;
    }
    refusal = problem;
    if (verdict.kind === 'stored') {
      hasStored ||= verdict.dropped < part.length;
      dropped += verdict.dropped;
    } else if (verdict.kind === 'malformed') {
      const malformed = new Set(verdict.places);
      dropped += malformed.size;
      await send(part.filter((_, place) => !malformed.has(place)));
    } else if (part.length === 1) {
      doubtful.push(...part);
    } else {
      if (refused.status === 413) size.maxLines = Math.ceil(part.length / 2);
      await sendHalves(part);
    }
  };

  await send(lines);
  // The server stores nothing at all: that does not prove the points wrong, so none of them is dropped.
  if (doubtful.length > 0 && !hasStored)
    return { unsent: lines, dropped: 0, refusal: null, ...(stop ?? tooLittleStored()) };
  dropped += doubtful.length;
  return { unsent, dropped, refusal, ...(stop ?? { problem: null, fault: null, retryAfterMs: null }) };
}

/** The verdict on the lines of a refused write. */
type WriteVerdict =
  /** The lines may be correct: all of them are sent again. */
  | { readonly kind: 'keep' }
  /** The server has stored all but `dropped` of them and will never accept those. */
  | { readonly kind: 'stored'; readonly dropped: number }
  /** The lines at these places are malformed; whether the others were stored depends on the version. */
  | { readonly kind: 'malformed'; readonly places: readonly number[] }
  /** Some of the lines are refused, or all are too long together: smaller parts tell which. */
  | { readonly kind: 'split' };

/** Maximum length of a message that is shown, characters. */
export const MAX_SHOWN = 300;
/** Messages of 400 and 422 about organisation, bucket, rights or parameters, and not about points. */
const CONFIGURATION =
  /\borg(?:ID|anization)?\b|\bbucket\b|\bdatabase not found|\bdatabase is required|precision|retention policy not found|authoriz|permission/i;

/** Judges a refusal of `lines`. */
export function judgeRefusal({ status, message }: WriteRefusal, lines: readonly string[]): WriteVerdict {
  if (status === 413) return { kind: 'split' };
  // Rights, names, load, faults of the server: they pass, or the operator can fix them.
  if (status !== 400 && status !== 422) return { kind: 'keep' };
  if (message.includes('unable to parse')) {
    // InfluxDB 2 stores nothing of such a batch, InfluxDB 1 all other lines.
    const places = [...lines.keys()].filter((at) => message.includes(`unable to parse '${lines[at]}'`));
    return places.length > 0 ? { kind: 'malformed', places } : { kind: 'split' };
  }
  // The count comes last; names of series can precede it.
  const counted = [...message.matchAll(/\bdropped=(\d+)/g)].at(-1);
  const dropped = Number(counted?.[1] ?? 0);
  if (dropped > 0) return { kind: 'stored', dropped: Math.min(dropped, lines.length) };
  return CONFIGURATION.test(message) && !message.includes('partial write')
    ? { kind: 'keep' }
    : { kind: 'split' };
}

/** A refusal as one line for logs and `/readyz`. */
export function describeRefusal({ status, message }: Pick<WriteRefusal, 'status' | 'message'>): string {
  return status === 0
    ? `InfluxDB does not answer: ${message}`
    : `InfluxDB answered with HTTP ${status}: ${message.slice(0, MAX_SHOWN)}`;
}
