/**
 * Compiles all sources for each size of heaps: `node src/cli/compile-all.ts`. The build of a container image
 * runs it, so that no start of a container has to.
 */
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { planCompilation, planMemory } from './child-memory.ts';
import { openCompileCache } from './compile-cache.mjs';

for (const heaps of ['small', 'middle', 'large'] as const) {
  const { execArgv, env } = planMemory(process.env, heaps, openCompileCache(tmpdir()));
  const whole = { ...process.env, ...env };
  const entry = planCompilation(whole, execArgv);
  if (entry === null) continue;
  const { status } = spawnSync(process.execPath, [...execArgv, ...entry], { env: whole, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
