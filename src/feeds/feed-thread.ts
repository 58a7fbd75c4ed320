/** The thread of the poller. It is restarted when it ends, since a document may crash its parser. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Clock } from '../clock.ts';
import type { StatusPage } from '../domain/service.ts';
import type { Log } from '../log.ts';
import type { ForbiddenAddress } from '../outbound/dial.ts';
import type { OutboundSettings } from '../outbound/outbound.ts';
import { type SupervisedThread, superviseThread, type ThreadPolicy } from '../thread/supervised-thread.ts';
import { SMALL_YOUNG_MB } from '../thread/v8-options.ts';
import type { Feed } from './feed-kind.ts';
import type { PageFinding } from './find-feed.ts';
import type { FeedEvent, PollerSettings } from './poller.ts';

/** The methods of the thread; declared here because `src/` does not import `workers/`. */
export type FeedMethods = {
  readonly start: (settings: PollerSettings, outbound: OutboundSettings, port: MessagePort) => void;
  readonly setFeeds: (feeds: readonly Feed[]) => void;
  readonly forget: (feedId: string) => void;
  readonly look: (page: StatusPage, problem: string | null) => Promise<PageFinding | null>;
};

export type FeedThreadMessage = FeedEvent | { readonly kind: 'forbidden'; readonly found: ForbiddenAddress };

const ENTRY = new URL('../../workers/feeds.ts', import.meta.url);
/** Restarted without a limit, with backoff: a document may end the thread each time it is parsed. */
const POLICY: ThreadPolicy = {
  restart: 'permanent',
  intensity: null,
  backoff: { firstMs: 1_000, maxMs: 300_000, healthyMs: 600_000 },
  hangMs: 30_000,
};
/** Documents are limited in size, so only a fault of a parser needs more. */
const HEAP_MB = 256;

/** Prepares the thread, which the first feed starts, with the methods of the poller over all restarts of the thread. */
export function startFeedThread(options: {
  readonly settings: PollerSettings;
  readonly outbound: OutboundSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly onEvent: (event: FeedEvent) => void;
  /** Called when a name resolves to a forbidden address; for the operator's log alone. */
  readonly onForbidden: (found: ForbiddenAddress) => void;
  /** Entry of the thread; default `workers/feeds.ts`. */
  readonly entry?: URL;
}) {
  const { settings, outbound, clock, log, onEvent, onForbidden, entry = ENTRY } = options;
  let feeds: readonly Feed[] = [];
  let port: MessagePort | null = null;
  let stopped = false;
  let thread: SupervisedThread<FeedMethods> | null = null;

  /** A call that fails because the thread ended is not logged: `onStart` repeats what matters. */
  const logged = async (call: Promise<unknown>): Promise<void> => {
    try {
      await call;
    } catch (error) {
      if (!stopped && thread?.isRunning() === true) log.error({ error }, 'the feed thread failed');
    }
  };

  const start = () =>
    superviseThread<FeedMethods>({
      name: 'the feed thread',
      entry,
      workerData: null,
      limits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: SMALL_YOUNG_MB },
      policy: POLICY,
      clock,
      onStart(life) {
        const { port1, port2 } = new MessageChannel();
        port1.on('message', (message: FeedThreadMessage) => {
          if (stopped) return;
          if (message.kind === 'forbidden') onForbidden(message.found);
          else onEvent(message);
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
    setFeeds(list: readonly Feed[]): void {
      feeds = list;
      if (thread !== null) void logged(thread.call('setFeeds', [list]));
      else if (list.length > 0 && !stopped) thread = start();
    },
    forget(feedId: string): void {
      if (thread !== null) void logged(thread.call('forget', [feedId]));
    },
    /** Looks at a page that cannot be read, or that nothing reads. */
    async look(page: StatusPage, problem: string | null): Promise<PageFinding | null> {
      return thread === null ? null : await thread.call('look', [page, problem]);
    },
    async stop(): Promise<void> {
      stopped = true;
      port?.close();
      await thread?.stop();
    },
  };
}
