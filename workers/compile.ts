/**
 * A process that has Node compile the sources of the program and its threads into `NODE_COMPILE_CACHE`, then leaves the
 * file of its argument there as a mark. None of these modules does anything when it is imported by another, except the
 * entries that are left out.
 */
import { globSync, writeFileSync } from 'node:fs';
import { createRequire, flushCompileCache } from 'node:module';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
// Piscina loads its task file in this way first, and what is loaded in another way has another place in the cache.
const load = createRequire(import.meta.url);
load('./probe.ts');
// Sources load these packages when they first need them.
for (const name of ['pino', 'image-size']) load(name);
for (const file of globSync(['src/main.ts', 'workers/*.ts', 'src/**/*.ts'], { cwd: root }).sort())
  if (!/^src\/cli\/(?:main|compile-all|health-check)\.ts$|^workers\/compile|\.d\.ts$/.test(file))
    await import(join(root, file));
flushCompileCache();
const mark = process.argv[2];
if (mark !== undefined) writeFileSync(mark, '');
process.exit();
