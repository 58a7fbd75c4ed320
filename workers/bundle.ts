/**
 * A process that bundles the sources of the program and its threads: `node workers/bundle.ts FOLDER`. `npm run bench -- start`
 * measures what that saves. Packages stay where they are: bundling them as well saved nothing more.
 */
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { syncFile, syncFolder } from '../src/store/sqlite/sync-files.ts';

const ROOT = join(import.meta.dirname, '..');
const THREADS = readdirSync(import.meta.dirname)
  .map((file) => join(import.meta.dirname, file))
  .filter((file) => file !== import.meta.filename);
const ENTRIES = [join(ROOT, 'src/cli/program.ts'), ...THREADS];
/** The number of bundles that are kept, the newest. */
const MAX_BUNDLES = 3;
/** The address of a thread's file in a source. */
const THREAD_ADDRESS = /new URL\('(?:\.\.\/)+workers\/([a-z-]+)\.ts', import\.meta\.url\)/g;
/** V8 keeps a file with one of these in two bytes a character; esbuild leaves those of regular expressions as they are. */
const NOT_ASCII = /[^\0-\x7f]/g;

/** Keeps every path that a source forms from its own place, but for those of threads, which are bundled too. */
function keepPlaces(folder: string): Plugin {
  return {
    name: 'places',
    setup({ onLoad }) {
      onLoad({ filter: /\.(?:ts|mjs)$/ }, ({ path }) => {
        const written = readFileSync(path, 'utf8');
        const contents = written
          .replaceAll(THREAD_ADDRESS, (_, name: string) => {
            const address = pathToFileURL(join(folder, 'workers', `${name}.mjs`));
            return `new URL(${JSON.stringify(address)})`;
          })
          .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path)))
          .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
          .replaceAll('import.meta.main', ENTRIES.includes(path) ? 'import.meta.main' : 'false')
          .replaceAll(NOT_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
        return { contents, loader: extname(path) === '.ts' ? 'ts' : 'js' };
      });
    },
  };
}

const [folder = ''] = process.argv.slice(2);
const unfinished = `${folder}.${process.pid}`;
await build({
  entryPoints: ENTRIES,
  outdir: unfinished,
  outbase: ROOT,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node24',
  logLevel: 'warning',
  plugins: [keepPlaces(folder)],
});
// The name must not be on the disk before the contents are: after a power failure a bundle that is there counts as whole.
for (const file of readdirSync(unfinished, { recursive: true, withFileTypes: true }))
  (file.isFile() ? syncFile : syncFolder)(join(file.parentPath, file.name));
try {
  renameSync(unfinished, folder);
} catch {
  // Another process was faster.
  rmSync(unfinished, { recursive: true });
}
// A program that was started from an earlier bundle may still load parts of it.
const bundles = readdirSync(dirname(folder)).map((name) => join(dirname(folder), name));
const byAge = bundles.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
for (const old of byAge.slice(MAX_BUNDLES)) rmSync(old, { recursive: true, force: true });
