/**
 * Re-check requests of the judge to the nodes of a region: check these services at once (design, Places). A lost request is
 * harmless, because the next check follows within an interval.
 */
import type { RedisContext } from '../store/status/redis-connection.ts';
import { connectChannels } from './channels.ts';

/** Sends re-check requests to the nodes of regions. */
export interface RecheckSender {
  /** Never throws. Requests are dropped while Redis is unavailable. */
  send(region: string, serviceIds: readonly number[]): void;
  stop(): void;
}

/** Maximum number of services in a message; more are sent in several messages. */
const MAX_SERVICES = 1_000;

/** The channel of a region. */
export function recheckChannel(prefix: string, region: string): string {
  return `${prefix}:{rechecks}:${region}`;
}

/** Creates the judge's sender and connects it. */
export function createRecheckSender(redis: RedisContext): RecheckSender {
  const { publish, stop } = connectChannels(redis, 'recheck-sender');
  return {
    send(region, serviceIds) {
      for (let from = 0; from < serviceIds.length; from += MAX_SERVICES) {
        const part = serviceIds.slice(from, from + MAX_SERVICES);
        publish(recheckChannel(redis.address.prefix, region), JSON.stringify(part));
      }
    },
    stop,
  };
}

/** The services of a request; empty if the text is not a request. */
export function readRecheckRequest(text: string): number[] {
  try {
    const ids: unknown = JSON.parse(text);
    return Array.isArray(ids) ? ids.filter((id): id is number => Number.isSafeInteger(id) && id > 0) : [];
  } catch {
    return [];
  }
}
