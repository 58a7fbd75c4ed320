/**
 * Logs names that resolve to forbidden addresses for the operator. Clients only learn that an address is not public.
 */

import type { Clock } from '../clock.ts';
import { HOUR_MS } from '../domain/durations.ts';
import { describeCause } from '../domain/failure.ts';
import type { Log } from '../log.ts';
import type { ForbiddenAddress } from './dial.ts';

/** Minimum time between two log entries for the same address, milliseconds; checks find it every few minutes. */
const MIN_REPEAT_MS = HOUR_MS;
/** Maximum number of remembered addresses; further ones within the hour are not logged. */
const MAX_REMEMBERED = 1_000;

/** Creates the function that logs a forbidden address. */
export function createForbiddenAddressLog(
  log: Log,
  clock: Pick<Clock, 'monotonic'>,
): (found: ForbiddenAddress) => void {
  let remembered = new Set<string>();
  let since = Number.NEGATIVE_INFINITY;
  return ({ host, address, refusal }) => {
    const now = clock.monotonic();
    if (now - since > MIN_REPEAT_MS) {
      remembered = new Set();
      since = now;
    }
    const key = `${host} ${address}`;
    if (remembered.has(key) || remembered.size >= MAX_REMEMBERED) return;
    remembered.add(key);
    log.info(
      { host, address, refusal: describeCause({ cause: refusal }) },
      'a name resolves to a forbidden address',
    );
  };
}
