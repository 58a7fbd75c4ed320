/**
 * Compiles all sources for small heaps and for large ones: `node src/cli/compile-all.ts`. The build of a container image
 * runs it, so that no start of a container has to.
 */
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { planCompilation, planMemory } from './child-memory.ts';
import { openCompileCache } from './compile-cache.mjs';

for (const isSmall of [true, false]) {
  const { execArgv, env } = planMemory(process.env, isSmall, openCompileCache(tmpdir()));
  const whole = { ...process.env, ...env };
  const entry = planCompilation(whole, execArgv);
  if (entry === null) continue;
  const { status } = spawnSync(process.execPath, [...execArgv, ...entry], { env: whole, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
