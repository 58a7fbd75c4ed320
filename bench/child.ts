/** Files of this folder that run as programs of their own beside a benchmark. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A program of this folder that runs beside the benchmark until its standard input ends. */
export interface Helper<Line> {
  /** The JSON of its first line, for example its ports. */
  readonly line: Line;
  stop(): void;
}

/** Starts a file of this folder. It prints one line of JSON when it is ready. */
export async function startHelper<Line>(
  file: string,
  args: readonly (string | number)[],
  env: NodeJS.ProcessEnv = {},
): Promise<Helper<Line>> {
  const child = spawn(process.execPath, [join(import.meta.dirname, file), ...args.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { line: JSON.parse(line) as Line, stop: () => child.stdin.end() };
}
