/**
 * Questions of the judge to the nodes of a region: check these services at once (design, Places). They go by publish and
 * subscribe: a question that is lost costs nothing, since the next check comes anyway.
 */
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { createRedisClient } from '../store/status/redis-client.ts';
import type { RedisContext } from '../store/status/redis-connection.ts';

/** Asks the nodes of regions. */
export interface RegionAsker {
  /** Never throws; nothing is asked while Redis is away. */
  ask(region: string, serviceIds: readonly number[]): void;
  stop(): void;
}

/** Options of {@link answerAsks}. */
export interface AnswerOptions extends RedisContext {
  readonly region: string;
  /** Called with the services of a question, in or out of this node's shards. */
  readonly onAsk: (serviceIds: readonly number[]) => void;
}

const TIMEOUT_MS = 1_000;
/** Services of one message; more are asked about in several. */
const MAX_SERVICES = 1_000;
const RECONNECT_MS = 1_000;

/** The channel of a region. */
function channelOf(prefix: string, region: string): string {
  return `${prefix}:{asks}:${region}`;
}

/** Connects the judge. */
export function createRegionAsker({ address, clock, log }: RedisContext): RegionAsker {
  const { client, stop } = connect({ address, clock, log }, 'asks');
  return {
    ask(region, serviceIds) {
      for (let from = 0; from < serviceIds.length; from += MAX_SERVICES) {
        const part = serviceIds.slice(from, from + MAX_SERVICES);
        client.publish(channelOf(address.prefix, region), JSON.stringify(part)).catch((error: Error) => {
          log.debug({ region, problem: error.message }, 'a region could not be asked');
        });
      }
    },
    stop,
  };
}

/** Connects a node that makes checks; the returned function disconnects it. */
export function answerAsks({ address, region, onAsk, clock, log }: AnswerOptions): () => void {
  const { client, stop } = connect({ address, clock, log }, 'answers');
  const channel = channelOf(address.prefix, region);
  // The client subscribes again by itself only to what it has once subscribed to.
  const subscribe = () => void client.subscribe(channel).catch(() => {});
  client.on('ready', subscribe);
  client.on('message', (_channel: string, text: string) => {
    const serviceIds = parseIds(text);
    if (serviceIds.length > 0) onAsk(serviceIds);
  });
  return stop;
}

/** The services of a question; none if the text is no question. */
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
  });
  client.on('error', () => {});
  // The client can stop although it is to reconnect indefinitely: news of a failover can end it.
  const cancel = clock.every(RECONNECT_MS, () => {
    if (client.status === 'end') client.connect().catch(() => {});
  });
  return {
    client,
    stop(): void {
      cancel();
      client.disconnect();
    },
  };
}
