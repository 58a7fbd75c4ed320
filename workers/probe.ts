/** Entry of the probe threads, as Piscina's task file: joins a host with the prober. */
import { systemClock } from '../src/clock.ts';
import { runHost } from '../src/engine/host/host.ts';
import type { FromHost, HostTask } from '../src/engine/protocol.ts';
import { createProber, type ProberSettings } from '../src/probe/prober.ts';
import { collectLater } from '../src/thread/v8-options.ts';

/** Runs a host until it is stopped. */
export default async function probe(task: HostTask): Promise<void> {
  const { epoch, port } = task;
  const post = (message: FromHost) => port.postMessage(message);
  const prober = createProber(task.prober as ProberSettings, systemClock, {
    onForbidden: (found) => post({ type: 'forbidden', epoch, found }),
    onUnreadable: (found) => post({ type: 'unreadable', epoch, found }),
    onBusy: createBusyNotices((address) => post({ type: 'busy', epoch, address })),
  });
  collectLater();
  try {
    await runHost(task, prober.runAttempt, systemClock);
  } finally {
    await prober.close();
  }
}

/** Minimum time between two messages about busy addresses, milliseconds. */
const BUSY_PAUSE_MS = 1_000;

/** Passes on what happens for each attempt, at most once in a pause. */
function createBusyNotices(post: (address: string) => void): (address: string) => void {
  let postedAt = Number.NEGATIVE_INFINITY;
  return (address) => {
    const now = systemClock.monotonic();
    if (now - postedAt < BUSY_PAUSE_MS) return;
    postedAt = now;
    post(address);
  };
}
