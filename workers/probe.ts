/** Entry of the probe threads, as Piscina's task file: joins a host with the prober. */
import { systemClock } from '../src/clock.ts';
import { runHost } from '../src/engine/host/host.ts';
import type { FromHost, HostTask } from '../src/engine/protocol.ts';
import { createProber, type ProberSettings } from '../src/probe/prober.ts';

/** Runs a host until it is stopped. */
export default async function probe(task: HostTask): Promise<void> {
  const { epoch, port } = task;
  const post = (message: FromHost) => port.postMessage(message);
  const prober = createProber(
    task.prober as ProberSettings,
    systemClock,
    (found) => post({ type: 'forbidden', epoch, found }),
    (found) => post({ type: 'unreadable', epoch, found }),
  );
  try {
    await runHost(task, prober.runAttempt, systemClock);
  } finally {
    await prober.close();
  }
}
