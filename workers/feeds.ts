/** Entry of the thread that polls vendors' status pages. */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { systemClock, systemRandom } from '../src/clock.ts';
import type { FeedMethods, FeedThreadMessage } from '../src/feeds/feed-thread.ts';
import type { FinderParts } from '../src/feeds/find-feed.ts';
import { FEED_KINDS } from '../src/feeds/kinds-table.ts';
import { createPoller, type Poller, type PollerSettings } from '../src/feeds/poller.ts';
import { createOutbound, type OutboundSettings } from '../src/outbound/outbound.ts';
import { serveThread } from '../src/thread/rpc.ts';

let poller: Poller | null = null;
let finder: FinderParts | null = null;

const methods: FeedMethods = {
  start(settings: PollerSettings, outbound: OutboundSettings, port: MessagePort) {
    const post = (message: FeedThreadMessage) => port.postMessage(message);
    const requests = createOutbound(outbound, systemClock, (found) => post({ kind: 'forbidden', found }));
    const { signal } = new AbortController();
    finder = { outbound: requests, policy: settings.policy, now: systemClock.now, signal };
    poller = createPoller({
      settings,
      kinds: FEED_KINDS,
      outbound: requests,
      clock: systemClock,
      random: systemRandom,
      notify: post,
    });
  },
  setFeeds: (feeds) => poller?.setFeeds(feeds),
  forget: (feedId) => poller?.forget(feedId),
  async look(page, problem) {
    const { lookAtPage } = await import('../src/feeds/find-feed.ts');
    return finder === null ? null : await lookAtPage(page, problem, finder);
  },
};

if (parentPort !== null) serveThread(parentPort, methods);
