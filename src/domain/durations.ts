/** Units of time and size as they are written in configuration and on pages. */

/** Units of time in milliseconds. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

const UNIT_MS = {
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: 604_800_000,
  y: 31_536_000_000,
} as const;

/** Reads `250ms`, `1.5s`, `5m`, `90d`, `2y` into milliseconds; null: not a duration. A year has 365 days. */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w|y)$/.exec(text.trim());
  if (match === null) return null;
  const ms = Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
  return Number.isSafeInteger(ms) ? ms : null;
}

/** Writes milliseconds with the largest unit that divides them: 90,000 is `90s`. */
export function formatDuration(ms: number): string {
  for (const unit of ['y', 'w', 'd', 'h', 'm', 's'] as const) {
    if (ms >= UNIT_MS[unit] && ms % UNIT_MS[unit] === 0) return `${ms / UNIT_MS[unit]}${unit}`;
  }
  return `${ms}ms`;
}

/** ISO 8601 UTC with milliseconds, the only form of time in the API (decisions, Services). */
export function formatTime(at: number): string {
  return new Date(at).toISOString();
}

/** As {@link formatTime}; null stays null. */
export function formatTimeOrNull(at: number | null): string | null {
  return at === null ? null : formatTime(at);
}
