/** The poller in its thread, started again when it ends: a document that kills its parser must not end the readings. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { ForbiddenAddress } from '../outbound/dial.ts';
import type { OutboundSettings } from '../outbound/outbound.ts';
import { superviseThread, type ThreadPolicy } from '../thread/supervised-thread.ts';
import type { Feed } from './feed-kind.ts';
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
/** Restarted however often it ends, after pauses that grow: a document may end it each time that it is read. */
const POLICY: ThreadPolicy = {
  restart: 'permanent',
  intensity: null,
  backoff: { firstMs: 1_000, maxMs: 300_000, healthyMs: 600_000 },
};
/** Documents are bounded; what needs more than this is a fault of a reader, and costs no other thread its memory. */
const HEAP_MB = 256;

/** Starts the thread. */
export function startFeedThread(options: FeedThreadOptions): FeedThread {
  const { settings, outbound, clock, log, onNews, onForbidden, entry = ENTRY } = options;
  let feeds: readonly Feed[] = [];
  let port: MessagePort | null = null;
  let stopped = false;

  /** A call that fails because the thread ended is not logged: `onStart` repeats what matters. */
  const logged = async (answer: Promise<unknown>): Promise<void> => {
    try {
      await answer;
    } catch (error) {
      if (!stopped && thread.isRunning()) log.error({ error }, 'the feed thread failed');
    }
  };

  const thread = superviseThread<FeedMethods>({
    name: 'the feed thread',
    entry,
    workerData: null,
    limits: { maxOldGenerationSizeMb: HEAP_MB },
    policy: POLICY,
    clock,
    onStart(life) {
      const { port1, port2 } = new MessageChannel();
      port1.on('message', (message: FromFeedThread) => {
        if (stopped) return;
        if (message.kind === 'forbidden') onForbidden(message.found);
        else onNews(message);
      });
      port1.unref();
      port = port1;
      void logged(life.call('start', [settings, outbound, port2], [port2]));
      void logged(life.call('setFeeds', [feeds]));
    },
    onEnd(reason, pauseMs) {
      port?.close();
      log.error({ problem: reason.message, pauseMs }, 'the feed thread ended; restarting it');
    },
  });

  return {
    setFeeds(list) {
      feeds = list;
      void logged(thread.call('setFeeds', [list]));
    },
    forget: (feedId) => void logged(thread.call('forget', [feedId])),
    async stop() {
      stopped = true;
      port?.close();
      await thread.stop();
    },
  };
}
