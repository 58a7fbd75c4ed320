/**
 * A stream of transitions in Redis for other programs: each transition once, in order of position. Transitions that Redis
 * missed, or lost in a failover, are written again from the registry.
 */
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { Transition } from '../../domain/status/current.ts';
import { messageOf } from '../../error.ts';
import type { TransitionReads } from '../ports/updates.ts';
import { type RedisClient, redisScript, runScript } from './redis-client.ts';
import { openRedisConnection, type RedisContext, type RedisPart } from './redis-connection.ts';

export interface TransitionStreamOptions extends RedisContext {
  readonly registry: TransitionReads;
  /** Calls its listener after each transition. */
  readonly watchTransitions: (listener: (transition: Transition) => void) => () => void;
  /** False: the stream belongs to another monitor now. */
  readonly mayWrite: () => boolean;
}

/** Length of the stream; older entries are removed. Redis may keep up to a node of a hundred more. */
export const MAX_TRANSITIONS = 10_000;

const TIMEOUT_MS = 1_000;
const PAGE = 200;

/**
 * Appends transitions that are newer than every entry so far. Key: the stream. Arguments: position and text of each; none: nothing is
 * changed. The position is the id of the entry, so that no entry can occur twice. Returns the newest position before.
 */
const APPEND = redisScript(`
local top = 0
local info = redis.pcall('XINFO', 'STREAM', KEYS[1])
for at = 1, #info, 2 do
  if info[at] == 'last-generated-id' then top = tonumber(string.match(info[at + 1], '^(%d+)')) end
end
for at = 1, #ARGV, 2 do
  if tonumber(ARGV[at]) > top then
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ${MAX_TRANSITIONS}, ARGV[at] .. '-0', 'transition', ARGV[at + 1])
  end
end
return top
`);

/** Keeps the stream at `<prefix>:{events}:transitions` until it is closed. */
export function openRedisTransitionStream(options: TransitionStreamOptions): RedisPart {
  const { address, registry, mayWrite, log } = options;
  const key = `${address.prefix}:{events}:transitions`;
  /** Position up to which Redis has everything; null: not known. */
  let written: number | null = null;

  const connection = openRedisConnection({
    ...options,
    purpose: 'events',
    timeoutMs: TIMEOUT_MS,
    prepare: topOf,
    async probe(client) {
      // Redis was emptied, or another server has fewer entries: the stream is written again.
      if (written !== null && mayWrite() && (await topOf(client)) < written)
        throw new Error('it was emptied');
    },
  });
  const writing = createCoalescingLoop(writeMissing);
  const write = () => void writing.run();
  const stops = [
    options.watchTransitions(write),
    connection.watchReady(() => {
      written = null;
      write();
    }),
  ];

  async function writeMissing(): Promise<void> {
    if (!connection.ready || !mayWrite()) return;
    try {
      written ??= await findStart();
      for (;;) {
        const page = await registry.transitionsAfter(written, PAGE);
        if (page.length === 0) break;
        const args = page.flatMap((transition) => [transition.position, JSON.stringify(transition)]);
        await connection.run((client) => runScript(client, APPEND, [key], args));
        written = page.at(-1)?.position ?? written;
      }
    } catch (error) {
      // Retried when Redis is available again, or at the next transition.
      log.debug({ problem: messageOf(error) }, 'transitions are waiting for their stream');
    }
  }

  async function findStart(): Promise<number> {
    const newest = await registry.lastTransition();
    const top = await connection.run(topOf);
    // Entries of another registry would precede ours permanently.
    if (top > newest) await connection.run((client) => client.del(key));
    return Math.max(top > newest ? 0 : top, newest - MAX_TRANSITIONS);
  }

  async function topOf(client: RedisClient): Promise<number> {
    return Number(await runScript(client, APPEND, [key], []));
  }

  return {
    state: connection.state,
    close() {
      for (const stop of stops) stop();
      connection.close();
    },
  };
}
