/** What an answer of InfluxDB to a write means for the lines that were sent. */

/** An answer that is not success, or the lack of one. */
export interface WriteRefusal {
  /** HTTP status; 0: no answer arrived. */
  readonly status: number;
  /** The whole message of the server; without an answer, why there is none. */
  readonly message: string;
  /** `Retry-After`, milliseconds; null: the server did not say. */
  readonly retryAfterMs: number | null;
}

/** What to do with the lines of a refused write. */
export type WriteVerdict =
  /** Nothing is wrong with the lines as far as can be known: all of them are kept and sent again. */
  | { readonly kind: 'keep' }
  /** The server has stored all but `dropped` of them and will never take those. */
  | { readonly kind: 'stored'; readonly dropped: number }
  /** The lines at these places are malformed; whether the others were stored depends on the version. */
  | { readonly kind: 'malformed'; readonly places: readonly number[] }
  /** Some of the lines are at fault, or all are too long together: smaller parts tell. */
  | { readonly kind: 'split' };

const MAX_SHOWN = 300;
/** Messages of 400 and 422 about organisation, bucket, rights or parameters, and not about points. */
const CONFIGURATION =
  /\borg(?:ID|anization)?\b|\bbucket\b|\bdatabase not found|\bdatabase is required|precision|retention policy not found|authoriz|permission/i;

/** Judges a refusal. `lines` are those that were sent. */
export function judgeRefusal({ status, message }: WriteRefusal, lines: readonly string[]): WriteVerdict {
  if (status === 413) return { kind: 'split' };
  // Rights, names, load, faults of the server: they pass, or the operator can mend them.
  if (status !== 400 && status !== 422) return { kind: 'keep' };
  if (message.includes('unable to parse')) {
    // InfluxDB 2 stores nothing of such a batch, InfluxDB 1 the rest of it.
    const places = [...lines.keys()].filter((at) => message.includes(`unable to parse '${lines[at]}'`));
    return places.length > 0 ? { kind: 'malformed', places } : { kind: 'split' };
  }
  // The count comes last; names of series can stand before it.
  const counted = [...message.matchAll(/\bdropped=(\d+)/g)].at(-1);
  const dropped = Number(counted?.[1] ?? 0);
  if (dropped > 0) return { kind: 'stored', dropped: Math.min(dropped, lines.length) };
  return CONFIGURATION.test(message) && !message.includes('partial write')
    ? { kind: 'keep' }
    : { kind: 'split' };
}

/** A refusal as one line for logs and `/readyz`. */
export function describeRefusal({ status, message }: WriteRefusal): string {
  return status === 0
    ? `InfluxDB does not answer: ${message}`
    : `InfluxDB answered with HTTP ${status}: ${message.slice(0, MAX_SHOWN)}`;
}
