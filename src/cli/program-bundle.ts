/** The place of the bundle of the program's sources, and its state; see `workers/bundle.ts`. */
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  type Dirent,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** Beside the sources, where only those who may change them can write. */
const FOLDER = join(ROOT, '.bundle');
/** The list of installed packages, as npm keeps it. */
const PACKAGE_LIST = 'node_modules/.package-lock.json';

/** The bundle of the sources as they are now. */
interface BundlePlan {
  /** The file that starts the program from it. */
  readonly entry: string;
  /** The entry, with its arguments, that writes it; null: it is there, or the folder is not writable. */
  readonly prepare: readonly string[] | null;
}

/**
 * Finds the bundle, or how to make it. A change of a source or of the installed packages makes another one necessary, and so do a move, since
 * a bundle contains the places of its sources, and another version, whose files may have the sizes and the fixed times of those before.
 */
export function planBundle(folder = FOLDER, root = ROOT): BundlePlan {
  const hash = createHash('sha256')
    .update(JSON.stringify(root))
    .update(readFileSync(join(root, 'package.json')))
    .update([...marksIn(root, 'src'), ...marksIn(root, 'workers'), markOf(root, PACKAGE_LIST)].join('\n'))
    .digest('hex');
  const bundle = join(folder, hash.slice(0, 32));
  return {
    entry: join(bundle, 'src/cli/program.cjs'),
    prepare: existsSync(bundle) || !canWrite(folder) ? null : [join(root, 'workers/bundle.ts'), bundle],
  };
}

/** The marks of all files in a folder that are bundled. The recursive list of Node.js takes 25 ms more. */
function marksIn(root: string, folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries.sort(byName).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return marksIn(root, path);
    return /\.ts$|\.[cm]js$/.test(path) ? [markOf(root, path)] : [];
  });
}

const byName = ({ name: a }: Dirent, { name: b }: Dirent) => (a < b ? -1 : 1);

/** A text that changes with a file. Layers of container images store times in whole seconds. */
function markOf(root: string, file: string): string {
  const found = statSync(join(root, file), { throwIfNoEntry: false });
  return JSON.stringify([file, found?.size, Math.floor((found?.mtimeMs ?? 0) / 1_000)]);
}

function canWrite(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
