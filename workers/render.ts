/** The thread that draws badges. It loads the fonts before its first answer. */
import { parentPort } from 'node:worker_threads';
import { drawBadge, warmUp } from '../src/render/badge.ts';
import { serveThread } from '../src/thread/rpc.ts';

/** What the thread answers. */
export const methods = {
  badge: drawBadge,
  /** Answers once the fonts are loaded. */
  ready: () => true,
};

if (parentPort !== null) {
  warmUp();
  serveThread(parentPort, methods);
}
