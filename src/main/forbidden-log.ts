/** Tells the operator where names led that may not be asked; strangers only hear that it is not public. */
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { ForbiddenAddress } from '../outbound/dial.ts';

/** The same is told again after this, milliseconds: checks find it every few minutes. */
const QUIET_MS = 3_600_000;
/** Most addresses that are remembered; what comes beyond within the hour is not told. */
const MAX_REMEMBERED = 1_000;

/** Makes what writes it down. */
export function createForbiddenLog(
  log: Log,
  clock: Pick<Clock, 'monotonic'>,
): (found: ForbiddenAddress) => void {
  let remembered = new Set<string>();
  let since = Number.NEGATIVE_INFINITY;
  return ({ host, address, refusal }) => {
    const now = clock.monotonic();
    if (now - since > QUIET_MS) {
      remembered = new Set();
      since = now;
    }
    const key = `${host} ${address}`;
    if (remembered.has(key) || remembered.size >= MAX_REMEMBERED) return;
    remembered.add(key);
    log.info({ host, address, refusal }, 'a name resolves to a forbidden address');
  };
}
