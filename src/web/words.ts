/** What pages say of statuses, times and durations. */
import type { CurrentStatus } from '../domain/current.ts';
import type { ServiceStatus } from '../domain/status.ts';

/** The word for a status, as on badges. */
export const STATUS_WORDS: Readonly<Record<ServiceStatus, string>> = {
  up: 'Operational',
  slow: 'Slow',
  down: 'Down',
  unknown: 'Unknown',
};

/** A shape for each status, so that nobody needs the colour: an SVG path in a box of 10 by 10. */
export const STATUS_SHAPES: Readonly<Record<ServiceStatus, string>> = {
  up: 'M5 0a5 5 0 1 0 0 10A5 5 0 0 0 5 0z',
  slow: 'M5 .5 10 9.5H0z',
  down: 'M2 0 5 3 8 0l2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3-3-3z',
  unknown: 'M5 0a5 5 0 1 0 0 10A5 5 0 0 0 5 0zm0 2.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z',
};

/** A length of time in its two largest units: `2 h 5 min`. */
export function describeLength(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} days`;
}

/** `2026-11-20 10:02 UTC`. */
export function describeTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** The verdict as a sentence, without the name of the service. */
export function describeVerdict({ status, since, latest }: CurrentStatus, now: number): string {
  if (status === 'unknown' || since === null || latest === null) return 'has not been checked yet.';
  const lasted = `since ${describeTime(since)} (${describeLength(now - since)})`;
  if (status === 'up') return `is operational ${lasted}.`;
  const took = latest.responseTimeMs === null ? '' : `: the last answer took ${latest.responseTimeMs} ms`;
  if (status === 'slow') return `is slow ${lasted}${took}.`;
  const why =
    latest.source === 'silence'
      ? ': no heartbeat arrived'
      : latest.failure === null
        ? ''
        : `: ${latest.failure.detail}`;
  return `is down ${lasted}${why}.`;
}
