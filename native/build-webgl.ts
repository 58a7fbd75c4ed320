/**
 * `npm run heatmap:webgl`: builds what heat maps by WebGL need, from the sources that npm has installed, against the
 * headers of the pinned Node.js; nothing is fetched. `--record` then draws the recorded pictures of the tests anew.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const MODULES = join(ROOT, 'node_modules');
/** Libraries that canvas is built on, by their names for pkg-config. */
const LIBRARIES = ['pixman-1', 'cairo', 'libpng', 'pangocairo', 'freetype2', 'librsvg-2.0', 'libjpeg'];
const DEBIAN =
  'apt-get install build-essential pkg-config python3 libcairo2-dev libpango1.0-dev libjpeg-dev libgif-dev librsvg2-dev ' +
  'libxi-dev libgl1-mesa-dev libglu1-mesa-dev libglew-dev xvfb xauth';

const problem = findProblem();
if (problem !== null) {
  console.error(problem);
  process.exit(1);
}
const headers = findHeaders();
if (headers === null) {
  console.error(
    `There are no headers of Node.js ${process.version}: npm ci brings them with the node package.`,
  );
  process.exit(1);
}
for (const name of ['canvas', 'gl']) {
  console.log(`building ${name}`);
  run(
    process.execPath,
    [join(MODULES, 'node-gyp/bin/node-gyp.js'), 'rebuild', '--silent', `--nodedir=${headers}`],
    {
      cwd: join(MODULES, name),
    },
  );
}
console.log('Heat maps are drawn by WebGL from the next start on, where DISPLAY names a display.');
if (process.argv.includes('--record')) {
  const record = [process.execPath, join(ROOT, 'test/render/webgl-recording.ts')];
  const [program = '', ...args] =
    process.env.DISPLAY === undefined
      ? ['xvfb-run', '-a', '-s', '-screen 0 1280x1024x24', ...record]
      : record;
  run(program, args, { cwd: ROOT });
}

function findProblem(): string | null {
  if (!existsSync(join(MODULES, 'node-canvas-webgl')))
    return 'node-canvas-webgl is not installed: npm ci, without --omit=optional';
  if (spawnSync('pkg-config', ['--version']).status !== 0)
    return `pkg-config is missing. On Debian: ${DEBIAN}`;
  const missing = LIBRARIES.filter((name) => spawnSync('pkg-config', ['--exists', name]).status !== 0);
  return missing.length === 0
    ? null
    : `These libraries are missing: ${missing.join(', ')}. On Debian: ${DEBIAN}`;
}

/** The folder whose `include/node` belongs to this very Node.js. */
function findHeaders(): string | null {
  const nested = join(MODULES, 'node/node_modules');
  const packaged = existsSync(nested)
    ? readdirSync(nested)
        .filter((name) => /^node-[a-z0-9]+-[a-z0-9]+$/.test(name))
        .map((name) => join(nested, name))
    : [];
  const folders = [...packaged, join(process.execPath, '../..')];
  return folders.find((folder) => existsSync(join(folder, 'include/node/node_api.h'))) ?? null;
}

function run(program: string, args: readonly string[], options: { readonly cwd: string }): void {
  const { status, error } = spawnSync(program, args, { ...options, stdio: 'inherit' });
  if (status === 0) return;
  console.error(error?.message ?? `${program} ended with ${status}`);
  process.exit(1);
}
