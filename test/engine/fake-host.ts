/** A probe thread whose prober obeys the name of the domain that it is asked to check. */
import { systemClock } from '../../src/clock.ts';
import type { RunAttempt } from '../../src/domain/check-target.ts';
import { runHost } from '../../src/engine/host/host.ts';
import type { HostTask } from '../../src/engine/protocol.ts';
import { goodAttempt } from '../support/attempts.ts';
import { refusedAttempt } from './attempt.ts';

const kept: unknown[] = [];

const runAttempt: RunAttempt = async ({ domain }, { signal }) => {
  const startedAt = Date.now();
  switch (domain) {
    case 'refused':
      return refusedAttempt({ startedAt });
    case 'slow':
      await new Promise((resolve) => setTimeout(resolve, 400));
      return goodAttempt({ startedAt });
    case 'endless':
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    case 'bug':
      throw new Error('a bug in the prober');
    case 'uncaught':
      setTimeout(() => {
        throw new Error('a bug in a callback');
      });
      return new Promise(() => {});
    case 'exit':
      process.exit(1);
      break;
    case 'stuck':
      return new Promise(() => {});
    case 'limit':
      return goodAttempt({ startedAt, statusCode: 429, blocked: true, retryAfterMs: 60_000 });
    case 'busy':
      for (;;) kept.length = 0;
    case 'hungry':
      // Small objects: V8 ends the thread alone. One huge allocation would take the process with it.
      for (;;) kept.push({ startedAt: performance.now() });
    case 'large':
      // Module state outlives the task: only a new thread is rid of it. About 105 MB.
      for (let count = kept.length; count < 134_000; count++) kept.push(new Array(100).fill(0.5 + count));
  }
  return goodAttempt({ startedAt });
};

export default (task: HostTask) => runHost(task, runAttempt, systemClock);
