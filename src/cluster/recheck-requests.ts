/**
 * Re-check requests of the judge to the nodes of a region: check these services at once (design, Places). They use
 * Redis' publish and subscribe. A lost request is harmless, because the next check follows within an interval.
 */
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { createRedisClient, requireMaster } from '../store/status/redis-client.ts';
import type { RedisContext } from '../store/status/redis-connection.ts';

/** Sends re-check requests to the nodes of regions. */
export interface RecheckSender {
  /** Never throws. Requests are dropped while Redis is unavailable. */
  send(region: string, serviceIds: readonly number[]): void;
  stop(): void;
}

/** Options of {@link receiveRecheckRequests}. */
export interface RecheckReceiverOptions extends RedisContext {
  readonly region: string;
  /** Called with the services of a request, whether or not they are in this node's shards. */
  readonly onRequest: (serviceIds: readonly number[]) => void;
}

const TIMEOUT_MS = 1_000;
/** Maximum number of services in a message; more are sent in several messages. */
const MAX_SERVICES = 1_000;
const PROBE_MS = 1_000;

/** The channel of a region. */
function channelOf(prefix: string, region: string): string {
  return `${prefix}:{rechecks}:${region}`;
}

/** Creates the judge's sender and connects it. */
export function createRecheckSender({ address, clock, log }: RedisContext): RecheckSender {
  const { client, stop } = connect({ address, clock, log }, 'recheck-sender');
  return {
    send(region, serviceIds) {
      for (let from = 0; from < serviceIds.length; from += MAX_SERVICES) {
        const part = serviceIds.slice(from, from + MAX_SERVICES);
        client.publish(channelOf(address.prefix, region), JSON.stringify(part)).catch((error: Error) => {
          log.debug({ region, problem: error.message }, 'a re-check request could not be sent');
        });
      }
    },
    stop,
  };
}

/** Subscribes a probing node to the requests to its region; the returned function ends the subscription. */
export function receiveRecheckRequests({
  address,
  region,
  onRequest,
  clock,
  log,
}: RecheckReceiverOptions): () => void {
  const { client, stop } = connect({ address, clock, log }, 'recheck-receiver');
  const channel = channelOf(address.prefix, region);
  // After a reconnect, the client restores only subscriptions that succeeded before.
  const subscribe = () => void client.subscribe(channel).catch(() => {});
  client.on('ready', subscribe);
  client.on('message', (_channel: string, text: string) => {
    const serviceIds = parseIds(text);
    if (serviceIds.length > 0) onRequest(serviceIds);
  });
  return stop;
}

/** The services of a request; empty if the text is not a request. */
function parseIds(text: string): number[] {
  try {
    const ids: unknown = JSON.parse(text);
    return Array.isArray(ids) ? ids.filter((id): id is number => Number.isSafeInteger(id) && id > 0) : [];
  } catch {
    return [];
  }
}

function connect(
  { address, clock }: { address: RedisContext['address']; clock: Clock; log: Log },
  name: string,
) {
  const client = createRedisClient(address, {
    name: `upbeat-${name}`,
    timeoutMs: TIMEOUT_MS,
    blocking: true,
    writesWhileSubscribed: true,
  });
  client.on('error', () => {});
  const cancel = clock.every(PROBE_MS, () => {
    // The client can stop although it is configured to reconnect indefinitely: a failover message can end it.
    if (client.status === 'end') client.connect().catch(() => {});
    // A replica takes subscriptions and requests too, and a cut link has ended a connection unnoticed.
    if (client.status === 'ready') requireMaster(client, address).catch(() => client.disconnect(true));
  });
  return {
    client,
    stop(): void {
      cancel();
      client.disconnect();
    },
  };
}
