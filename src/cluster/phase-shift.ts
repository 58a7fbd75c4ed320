/** The shift of a region's checks against the phases of the services, as a part of the interval (design, Places). */

/** A region's shift: region k of R, by name, checks k × interval / R later. 0 for a region that is not among them. */
export function phaseShiftOf(region: string, regions: readonly string[], intervalMs: number): number {
  const rank = [...regions].sort().indexOf(region);
  return rank <= 0 ? 0 : Math.round((rank * intervalMs) / regions.length) % intervalMs;
}

/**
 * Maximum change of the shift within an interval. After a larger step, a service could wait longer than an interval.
 */
const MAX_STEP = 1 / 8;

/**
 * The shift one interval after it was `shiftMs`, on its way to `targetMs`. It only decreases, modulo the interval, so
 * that the time between two checks of a service never grows.
 */
export function stepPhaseShift(shiftMs: number, targetMs: number, intervalMs: number): number {
  const wayMs = (((shiftMs - targetMs) % intervalMs) + intervalMs) % intervalMs;
  const stepMs = Math.min(wayMs, Math.floor(intervalMs * MAX_STEP));
  return (shiftMs - stepMs + intervalMs) % intervalMs;
}
