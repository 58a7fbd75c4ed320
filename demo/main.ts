/**
 * `npm run demo`: the program over a simulated fleet of services on loopback, with short intervals.
 * `--port N` chooses the port of the site (default 8080).
 */
import { messageOf } from '../src/error.ts';
import { startBackstage } from './backstage.ts';
import { DEMO_FEED_INTERVAL_MS, DEMO_TIMING, type Demo, startDemo } from './demo.ts';
import { DEMO_SENDER_TIMING, DEMO_SENDERS } from './heartbeat-senders.ts';
import { prepareDemo } from './prepare.ts';
import { DEMO_SCRIPT } from './services.ts';
import { readPort, showProgress, UsageError, writeScreen } from './terminal.ts';

/** npm and the terminal may each send the same signal. Signals within this time count as one. */
const SAME_SIGNAL_MS = 400;

const stopping = new AbortController();
let demo: Demo | null = null;

// Before anything is started: Ctrl-C at any moment ends all of it.
let askedAt = Number.NEGATIVE_INFINITY;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    const isSecond = stopping.signal.aborted && performance.now() - askedAt >= SAME_SIGNAL_MS;
    if (isSecond) process.exit(1);
    if (stopping.signal.aborted) return;
    askedAt = performance.now();
    process.stdout.write('\nStopping.\n');
    stopping.abort();
    if (demo !== null) void end(demo);
  });
}

try {
  const port = await readPort(process.argv.slice(2));
  const backstage = await startBackstage(DEMO_SCRIPT, DEMO_SENDERS);
  const { receiverUrl } = backstage;
  demo = await startDemo({
    script: DEMO_SCRIPT,
    timing: DEMO_TIMING,
    feedIntervalMs: DEMO_FEED_INTERVAL_MS,
    senders: { list: DEMO_SENDERS, timing: DEMO_SENDER_TIMING },
    port,
    settings: {
      log: { level: 'info', format: 'pretty' },
      about: { notice: 'A simulation: none of these services is real, and their past is made up.' },
      // The receiver of the account's channel is on loopback.
      checks: { ownersMayProbePrivate: true },
      limits: { anonymousPerMinute: 600, authenticatedPerMinute: 1_200 },
    },
    prepare: (stage) => prepareDemo(stage, { services: DEMO_SCRIPT.services, receiverUrl }),
    onProgress: showProgress,
    signal: stopping.signal,
  });
  showProgress(null);
  demo.program.once('exit', (status, signal) => {
    if (stopping.signal.aborted || demo === null) return;
    process.stderr.write(
      `demo: Upbeat has ended (${signal ?? `status ${status}`}); its log: ${demo.logFile}\n`,
    );
    process.exit(1);
  });
  if (stopping.signal.aborted) await end(demo);
  writeScreen(demo, backstage.url);
} catch (error) {
  showProgress(null);
  if (stopping.signal.aborted) process.exit(0);
  process.stderr.write(`demo: ${messageOf(error)}\n`);
  process.exit(error instanceof UsageError ? 2 : 1);
}

async function end(demo: Demo): Promise<never> {
  process.exit((await demo.stop()) ?? 1);
}
