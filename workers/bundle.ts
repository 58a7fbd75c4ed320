/**
 * A process that bundles the program and its threads with their packages, a file each: `node workers/bundle.ts FOLDER [TIMEOUT_MS]`. A second file
 * loads it with compiled code (`src/thread/compiled-code.cjs`). `npm run bench -- start` measures what that saves.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import writeStandalone from 'ajv/dist/standalone/index.js';
import { build, type Plugin } from 'esbuild';
import { ajv, validateConfig } from '../src/config/validate-config.ts';
import { syncFile, syncFolder } from '../src/store/sqlite/sync-files.ts';

const ROOT = join(import.meta.dirname, '..');
const THREADS = readdirSync(import.meta.dirname)
  .map((file) => join(import.meta.dirname, file))
  .filter((file) => file !== import.meta.filename);
const ENTRIES = [join(ROOT, 'src/cli/program.ts'), ...THREADS];
/** Packages that stay where they are: those that a start does not load, and those that look for files of their own. */
const APART = [
  '@fastify/busboy',
  '@influxdata/influxdb-client',
  '@modelcontextprotocol/server',
  '@simplewebauthn/server',
  'bullmq',
  'esbuild',
  'image-size',
  'ioredis',
  'markdown-it',
  'node-canvas-webgl',
  'nodemailer',
  'openid-client',
  'otpauth',
  'pg',
  'pino-pretty',
  'piscina',
  'rrule-temporal',
  'sanitize-html',
  'undici',
  'uqr',
  'yaml',
];
/** The module whose validator is written out. */
const VALIDATE_CONFIG = join(ROOT, 'src/config/validate-config.ts');
/** Parts of packages that nothing calls, 1 MB: Koa's table of media types, since every response names its own, and prom-client's traces. */
const UNUSED = /\/node_modules\/(?:mime-db|@opentelemetry\/api)\//;
/** The number of bundles that are kept, the newest. */
const MAX_BUNDLES = 3;
/** The address of a thread's file in a source. */
const THREAD_ADDRESS = /new URL\('(?:\.\.\/)+workers\/([a-z-]+)\.ts', import\.meta\.url\)/g;
/** V8 keeps a file with one of these in two bytes a character; esbuild leaves those of regular expressions as they are. */
const NOT_ASCII = /[^\0-\x7f]/g;
/** An import while the program runs, of a package that stays apart. */
const IMPORT = /(?<![.$\w])import\(/g;

/** Keeps every path that a source forms from its own place, but for those of threads, which are bundled too. */
function keepPlaces(folder: string): Plugin {
  return {
    name: 'places',
    setup({ onLoad }) {
      onLoad({ filter: /\.(?:ts|mjs|js|cjs)$/ }, ({ path }) => {
        if (UNUSED.test(path)) return { contents: 'module.exports = {}', loader: 'js' };
        if (path === VALIDATE_CONFIG) return { contents: writeValidator(), loader: 'js' };
        const written = readFileSync(path, 'utf8');
        const contents = written
          .replaceAll(THREAD_ADDRESS, (_, name: string) => {
            const address = pathToFileURL(join(folder, 'workers', `${name}.cjs`));
            return `new URL(${JSON.stringify(address)})`;
          })
          .replaceAll('createRequire(import.meta.url)(', 'require(')
          .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path)))
          .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
          .replaceAll('import.meta.main', String(ENTRIES.includes(path)));
        return { contents, loader: extname(path) === '.ts' ? 'ts' : 'js' };
      });
    },
  };
}

/** The code of the validator as a module. */
function writeValidator(): string {
  return `export const validateConfig = (() => { const module = {}; ${writeStandalone.default(ajv, validateConfig)}; return module.exports; })();`;
}

/** A start waits for no longer, milliseconds: the program then runs from its sources. */
const TIMEOUT_MS = 60_000;

const [folder = '', timeoutMs = TIMEOUT_MS] = process.argv.slice(2);
setTimeout(() => process.exit(1), Number(timeoutMs)).unref();
const unfinished = `${folder}.${process.pid}`;
const { outputFiles } = await build({
  entryPoints: ENTRIES,
  outdir: unfinished,
  outbase: ROOT,
  bundle: true,
  external: APART,
  format: 'cjs',
  platform: 'node',
  target: 'node24',
  legalComments: 'none',
  logLevel: 'warning',
  write: false,
  minifyWhitespace: true,
  banner: { js: '(function (module, exports, require, importModule) {' },
  footer: { js: '})' },
  plugins: [keepPlaces(folder)],
});
for (const { path, text } of outputFiles) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    text
      .replaceAll(IMPORT, 'importModule(')
      .replaceAll(NOT_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
  const final = JSON.stringify(join(folder, relative(unfinished, path)));
  writeFileSync(
    path.replace(/\.js$/, '.cjs'),
    `module.exports = require(${JSON.stringify(join(ROOT, 'src/thread/compiled-code.cjs'))}).runCompiled(${final}, (specifier) => import(specifier));\n`,
  );
}
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
