/** The process of Upbeat in the demonstration: started as a user starts it, awaited, and ended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the output of the program goes: into a file, or line by line to a function. */
export type ProgramOutput = { readonly file: string } | ((line: string, stream: 'stdout' | 'stderr') => void);

/** The running program. */
export interface DemoProgram {
  /** Its parent process. */
  readonly process: ChildProcess;
  /**
   * Resolves when the program is ready, however long that takes. Rejects if it ends before. `onWait` is called every
   * second with the milliseconds since the start.
   */
  untilReady(siteUrl: string, signal: AbortSignal, onWait: (elapsedMs: number) => void): Promise<void>;
  /** Stops it in order. Resolves with its exit status; null: it was killed. */
  stop(): Promise<number | null>;
  /** Kills all of its processes at once. */
  kill(): void;
}

const ROOT = join(import.meta.dirname, '..');
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 100;
/** A busy program answers late, and is asked again. */
const POLL_TIMEOUT_MS = 5_000;
const TOLD_EACH_MS = 1_000;
/** Lines of its log that say why it ended. */
const LAST_LINES = 10;

/** Starts the program. */
export function startProgram(configFile: string, output: ProgramOutput): DemoProgram {
  const log = 'file' in output ? openSync(output.file, 'a') : null;
  const child = spawn(process.execPath, ['src/cli/main.ts', 'start', '--config', configFile], {
    cwd: ROOT,
    // A process group of its own: Ctrl-C reaches only this process, which then stops the program once.
    detached: true,
    stdio: log === null ? ['ignore', 'pipe', 'pipe'] : ['ignore', log, log],
    env: ownEnvironment(),
  });
  if (log !== null) closeSync(log);
  if (!('file' in output)) {
    eachLine(child.stdout, (line) => output(line, 'stdout'));
    eachLine(child.stderr, (line) => output(line, 'stderr'));
  }
  const ended = once(child, 'exit');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // None of them is left.
    }
  };
  return {
    process: child,
    async untilReady(siteUrl, signal, onWait) {
      const startedAt = performance.now();
      for (let told = 0; ; ) {
        signal.throwIfAborted();
        if (hasEnded()) throw new Error(describeEnd(child, output));
        const answer = await fetch(`${siteUrl}/readyz`, {
          signal: AbortSignal.any([signal, AbortSignal.timeout(POLL_TIMEOUT_MS)]),
        }).catch(() => null);
        await answer?.arrayBuffer().catch(() => null);
        if (answer?.status === 200) return;
        const elapsedMs = performance.now() - startedAt;
        if (elapsedMs >= told + TOLD_EACH_MS) {
          told = elapsedMs;
          onWait(elapsedMs);
        }
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
    async stop() {
      if (!hasEnded()) {
        child.kill('SIGTERM');
        const timer = setTimeout(kill, STOP_TIMEOUT_MS);
        await ended;
        clearTimeout(timer);
      }
      kill();
      return child.exitCode;
    },
    kill,
  };
}

/** The environment without settings of other installations and without hooks of the test runner. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(?:UPBEAT_|TAP|_TAPJS|NODE_OPTIONS$|NODE_V8)/.test(name),
    ),
  );
}

function describeEnd({ exitCode, signalCode }: ChildProcess, output: ProgramOutput): string {
  const how = `the program ended with ${exitCode === null ? signalCode : `status ${exitCode}`}`;
  if (!('file' in output)) return how;
  const lines = readFileSync(output.file, 'utf8').trimEnd().split('\n').slice(-LAST_LINES);
  return `${how}:\n${lines.join('\n')}`;
}

function eachLine(stream: NodeJS.ReadableStream | null, take: (line: string) => void): void {
  let rest = '';
  stream?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') take(line);
  });
}
