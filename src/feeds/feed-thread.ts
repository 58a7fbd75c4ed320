/** The poller in its thread, started again when it ends: a document that kills its parser must not end the readings. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Cancel, Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { ForbiddenAddress } from '../outbound/dial.ts';
import type { OutboundSettings } from '../outbound/outbound.ts';
import { startThread, type ThreadClient } from '../thread/rpc.ts';
import type { Feed } from './feed-list.ts';
import type { FeedNews, PollerSettings } from './poller.ts';

/** What the thread answers; declared here because `src/` does not import `workers/`. */
export type FeedMethods = {
  readonly start: (settings: PollerSettings, outbound: OutboundSettings, port: MessagePort) => void;
  readonly setFeeds: (feeds: readonly Feed[]) => void;
  readonly forget: (feedId: string) => void;
};

/** A message of the thread. */
export type FromFeedThread = FeedNews | { readonly kind: 'forbidden'; readonly found: ForbiddenAddress };

/** What is needed to run it. */
export interface FeedThreadOptions {
  readonly settings: PollerSettings;
  readonly outbound: OutboundSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly onNews: (news: FeedNews) => void;
  /** A name resolved to an address that no connection may go to; for the operator's log alone. */
  readonly onForbidden: (found: ForbiddenAddress) => void;
  /** Entry of the thread; default `workers/feeds.ts`. */
  readonly entry?: URL;
}

/** The thread, seen from outside. */
export interface FeedThread {
  setFeeds(feeds: readonly Feed[]): void;
  forget(feedId: string): void;
  stop(): Promise<void>;
}

const ENTRY = new URL('../../workers/feeds.ts', import.meta.url);
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 300_000;
/** Documents are bounded; what needs more than this is a fault of a reader, and costs no other thread its memory. */
const HEAP_MB = 256;
/** A thread that lived this long may start again without a pause grown by earlier ends. */
const HEALTHY_MS = 600_000;

/** Starts the thread. It is started again however often it ends, after pauses that grow from 1 s to 5 min. */
export function startFeedThread(options: FeedThreadOptions): FeedThread {
  const { settings, outbound, clock, log, onNews, onForbidden, entry = ENTRY } = options;
  let feeds: readonly Feed[] = [];
  let running: { readonly client: ThreadClient<FeedMethods>; readonly port: MessagePort } | null = null;
  let cancelStart: Cancel | null = null;
  let pauseMs = FIRST_PAUSE_MS;
  let startedAt = 0;
  let stopped = false;

  const start = () => {
    cancelStart = null;
    startedAt = clock.monotonic();
    const { port1, port2 } = new MessageChannel();
    const client = startThread<FeedMethods>(entry, null, onEnd, { maxOldGenerationSizeMb: HEAP_MB });
    port1.on('message', (message: FromFeedThread) => {
      if (stopped) return;
      if (message.kind === 'forbidden') onForbidden(message.found);
      else onNews(message);
    });
    port1.unref();
    running = { client, port: port1 };
    call('start', [settings, outbound, port2], [port2]);
    call('setFeeds', [feeds]);
  };

  const onEnd = (reason: Error) => {
    running?.port.close();
    running = null;
    if (stopped) return;
    if (clock.monotonic() - startedAt > HEALTHY_MS) pauseMs = FIRST_PAUSE_MS;
    log.error({ problem: reason.message, pauseMs }, 'the feed thread ended; restarting it');
    cancelStart = clock.after(pauseMs, start);
    pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
  };

  /** A call that fails because the thread ended needs no word of its own. */
  const call: ThreadClient<FeedMethods>['call'] = (method, args, transfer) => {
    const client = running?.client;
    if (client === undefined) return new Promise(() => {});
    const answer = client.call(method, args, transfer);
    answer.catch((error: Error) => {
      if (!stopped && running?.client === client) log.error({ error }, 'the feed thread failed');
    });
    return answer;
  };

  start();
  return {
    setFeeds(list) {
      feeds = list;
      call('setFeeds', [list]);
    },
    forget: (feedId) => void call('forget', [feedId]),
    async stop() {
      stopped = true;
      cancelStart?.();
      running?.port.close();
      await running?.client.terminate();
    },
  };
}
