/** The status of a service, and the rules that turn a response into one (contract, part 3). */

/** In the order in which the contract lists them. */
export const SERVICE_STATUSES = ['up', 'slow', 'down', 'unknown'] as const;

/** `unknown` means: not yet checked. */
export type ServiceStatus = (typeof SERVICE_STATUSES)[number];

/** What a check or heartbeat can say; `unknown` is only a beginning. */
export type Verdict = Exclude<ServiceStatus, 'unknown'>;

/** Judges a good response by its time alone: exactly `slowOverMs` is still `up` (decisions, Services). */
export function judgeLatency(responseTimeMs: number, slowOverMs: number): 'up' | 'slow' {
  return responseTimeMs > slowOverMs ? 'slow' : 'up';
}
