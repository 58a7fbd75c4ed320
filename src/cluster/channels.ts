/** Messages between nodes by Redis' publish and subscribe. A lost message must be harmless: nothing stores or repeats one. */
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
