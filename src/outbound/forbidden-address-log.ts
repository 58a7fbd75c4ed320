/**
 * Logs for the operator what checks find again and again: names that resolve to forbidden addresses, of which clients only
 * learn that they are not public, credentials that cannot be decrypted, and attempts that meet a bug of this program.
 */
import { BoundedMap } from '../async/bounded-map.ts';
import type { Clock } from '../clock.ts';
import type { UnreadableCredentials } from '../domain/credential-seal.ts';
import { HOUR_MS } from '../domain/durations.ts';
import { describeCause } from '../domain/failure.ts';
import type { Log } from '../log.ts';
import type { ForbiddenAddress } from './dial.ts';

/** Minimum time between two log entries for the same finding, milliseconds; checks find it every few minutes. */
const MIN_REPEAT_MS = HOUR_MS;
/** Maximum number of remembered findings; further ones within the hour are not logged. */
const MAX_REMEMBERED = 1_000;

export function createForbiddenAddressLog(log: Log, clock: Clock): (found: ForbiddenAddress) => void {
  const isNew = createRepeatFilter(clock);
  return ({ host, address, refusal }) => {
    if (isNew(`${host} ${address}`))
      log.info(
        { host, address, refusal: describeCause({ cause: refusal }) },
        'a name resolves to a forbidden address',
      );
  };
}

/** Checks whose credentials cannot be decrypted. */
export interface UnreadableCredentialsLog {
  /** Logs a check, and counts it. */
  note(found: UnreadableCredentials): void;
  /** The number of services whose credentials could not be decrypted in the last hour, {@link MAX_REMEMBERED} at most. */
  count(): number;
}

/** Creates the log of checks whose credentials cannot be decrypted. */
export function createUnreadableCredentialsLog(log: Log, clock: Clock): UnreadableCredentialsLog {
  const isNew = createRepeatFilter(clock);
  /** The last time at which an attempt of a domain was not made. */
  const noted = new BoundedMap<string, number>(MAX_REMEMBERED);
  return {
    note({ domain, problem }) {
      noted.set(domain, clock.monotonic());
      if (isNew(domain))
        log.warn(
          { domain, problem: describeCause({ cause: { code: 'credentials_unreadable', problem } }) },
          'a check is not made: set secrets.checksKey of this node, or enter its credentials again',
        );
    },
    count() {
      const since = clock.monotonic() - MIN_REPEAT_MS;
      return [...noted.values()].filter((at) => at > since).length;
    },
  };
}

/** Creates the function that logs an address that has as many connections of owners' checks as it may. */
export function createBusyAddressLog(log: Log, clock: Clock): (address: string) => void {
  const isNew = createRepeatFilter(clock);
  return (address) => {
    if (isNew(address))
      log.warn({ address }, 'checks of owners wait: an address has its share of connections');
  };
}

/** Creates the function that logs attempts that met a bug of this program. `slug` null: this process does not know it. */
export function createBrokenAttemptLog(
  log: Log,
  clock: Clock,
): (found: {
  readonly serviceId: number;
  readonly slug: string | null;
  readonly domain: string;
  readonly problem: string;
}) => void {
  const isNew = createRepeatFilter(clock);
  return (found) => {
    if (isNew(String(found.serviceId)))
      log.error(
        { ...found },
        'an attempt failed by a fault of this program; the service is checked again at its next turn',
      );
  };
}

/** Returns whether a key has not been seen for an hour. */
function createRepeatFilter(clock: Clock): (key: string) => boolean {
  let remembered = new Set<string>();
  let since = Number.NEGATIVE_INFINITY;
  return (key) => {
    const now = clock.monotonic();
    if (now - since > MIN_REPEAT_MS) {
      remembered = new Set();
      since = now;
    }
    if (remembered.has(key) || remembered.size >= MAX_REMEMBERED) return false;
    remembered.add(key);
    return true;
  };
}
