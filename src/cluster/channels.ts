/**
 * Messages between nodes by Redis' publish and subscribe, such as requests of the judge to check services again at once. A lost message must
 * be harmless: nothing stores or repeats one, and the next check follows within an interval.
 */
import { createRedisClient, requireMaster } from '../store/status/redis-client.ts';
import type { RedisContext } from '../store/status/redis-connection.ts';

/** A connection that sends and receives messages. */
export interface Channels {
  /** Never throws. Messages are dropped while Redis is unavailable. */
  publish(channel: string, text: string): void;
  stop(): void;
}

const TIMEOUT_MS = 1_000;
const PROBE_MS = 1_000;

/** Connects. `handlers`: what receives the messages of each channel. */
export function connectChannels(
  { address, clock, log }: RedisContext,
  name: string,
  handlers: ReadonlyMap<string, (text: string) => void> = new Map(),
): Channels {
  const client = createRedisClient(address, {
    name: `upbeat-${name}`,
    timeoutMs: TIMEOUT_MS,
    blocking: true,
    writesWhileSubscribed: true,
  });
  client.on('error', () => {});
  if (handlers.size > 0) {
    // After each connect, since the client restores no subscriptions.
    client.on('ready', () => void client.subscribe(...handlers.keys()).catch(() => {}));
    client.on('message', (channel: string, text: string) => handlers.get(channel)?.(text));
  }
  const cancel = clock.every(PROBE_MS, () => {
    // The client can stop although it is configured to reconnect indefinitely: a failover message can end it.
    if (client.status === 'end') client.connect().catch(() => {});
    // A replica takes subscriptions and requests too, and a cut link has ended a connection unnoticed.
    if (client.status === 'ready') requireMaster(client, address).catch(() => client.disconnect(true));
  });
  return {
    publish(channel, text) {
      client.publish(channel, text).catch((error: Error) => {
        log.debug({ channel, problem: error.message }, 'a message to other nodes could not be sent');
      });
    },
    stop() {
      cancel();
      client.disconnect();
    },
  };
}

/** Sends re-check requests to the nodes of regions. */
interface RecheckSender {
  /** Never throws. Requests are dropped while Redis is unavailable. */
  send(region: string, serviceIds: readonly number[]): void;
  stop(): void;
}

/** Maximum number of services in a message; more are sent in several messages. */
const MAX_SERVICES = 1_000;

export function recheckChannel(prefix: string, region: string): string {
  return `${prefix}:{rechecks}:${region}`;
}

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
