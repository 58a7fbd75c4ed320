/** The status of a service, and the words for it in health bodies and heartbeats (contract, part 3). */

/** In the order in which the contract lists them. */
export const SERVICE_STATUSES = ['up', 'slow', 'down', 'unknown'] as const;

/** `unknown` means: not yet checked. */
export type ServiceStatus = (typeof SERVICE_STATUSES)[number];

/** The verdict of a check or heartbeat; `unknown` is only an initial status. */
export type Verdict = Exclude<ServiceStatus, 'unknown'>;

/** Judges a good response by its time; exactly `slowOverMs` is still `up` (decisions, Services). */
export function judgeLatency(responseTimeMs: number, slowOverMs: number): 'up' | 'slow' {
  return responseTimeMs > slowOverMs ? 'slow' : 'up';
}

/** Status words of health bodies and heartbeats, by verdict (decisions, Heartbeats). */
export const STATUS_VOCABULARY: Readonly<Record<Verdict, readonly string[]>> = {
  up: ['ok', 'up', 'pass', 'healthy', 'operational'],
  slow: ['slow', 'warn', 'warning', 'degraded', 'partial'],
  down: ['down', 'error', 'fail', 'failing', 'critical', 'unhealthy', 'outage'],
};

const VERDICT_OF = new Map(
  (Object.keys(STATUS_VOCABULARY) as Verdict[]).flatMap((verdict) =>
    STATUS_VOCABULARY[verdict].map((word) => [word, verdict] as const),
  ),
);

/** The verdict of a status word in any case; null: unknown. */
export function readStatusWord(word: string): Verdict | null {
  // The lower case of some characters beyond ASCII, such as the Kelvin sign, is an ASCII letter.
  if (!/^[A-Za-z]+$/.test(word)) return null;
  return VERDICT_OF.get(word.toLowerCase()) ?? null;
}
