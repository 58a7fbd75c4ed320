#!/usr/bin/env node
// The command `upbeat`. Plain JavaScript, because an older Node.js must be able to read it and hand over.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const NEEDED = 24;
const entry = new URL('../src/cli/main.ts', import.meta.url);

if (Number(process.versions.node.split('.')[0]) >= NEEDED) {
  const { useCompileCache } = await import('../src/cli/compile-cache.mjs');
  useCompileCache(process.env);
  const [command, option, config, ...more] = process.argv.slice(2);
  // A start needs none of the other commands, which take 20 ms to load.
  if (command === 'start' && option === '--config' && config !== undefined && more.length === 0)
    await (await import('../src/cli/start.ts')).start({ config });
  else await import(entry.href);
} else {
  const pinned = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
  if (!existsSync(pinned)) {
    console.error(
      `upbeat: Node.js ${NEEDED} or newer is needed, this is ${process.version}. Run "npm ci" first, which brings it.`,
    );
    process.exit(1);
  }
  const child = spawn(pinned, [fileURLToPath(entry), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
}
