/** The part of the interval by which a region's checks are later than the phases of the services (design, Places). */

/** A region's shift: region k of R, by name, checks k × interval / R later. 0 for a region that is not among them. */
export function phaseShiftOf(region: string, regions: readonly string[], intervalMs: number): number {
  const rank = [...regions].sort().indexOf(region);
  return rank <= 0 ? 0 : Math.round((rank * intervalMs) / regions.length) % intervalMs;
}

/** Most that the shift changes within an interval: a larger step could let a service wait for more than an interval. */
const MAX_STEP = 1 / 8;

/**
 * The shift one interval after it was `shiftMs`, on its way to `targetMs`. It moves backwards only, round the interval, so
 * that the checks of a service come closer together meanwhile and never further apart.
 */
export function stepPhaseShift(shiftMs: number, targetMs: number, intervalMs: number): number {
  const wayMs = (((shiftMs - targetMs) % intervalMs) + intervalMs) % intervalMs;
  const stepMs = Math.min(wayMs, Math.floor(intervalMs * MAX_STEP));
  return (shiftMs - stepMs + intervalMs) % intervalMs;
}
