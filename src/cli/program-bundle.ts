/** The place of the bundle of the program's sources, and its state; see `workers/bundle.ts`. */
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
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
    .update(readFileSync(join(root, 'package.json')));
  for (const file of listSources(root)) {
    const found = statSync(join(root, file), { throwIfNoEntry: false });
    // Layers of container images store times in whole seconds.
    hash.update(JSON.stringify([file, found?.size, Math.floor((found?.mtimeMs ?? 0) / 1_000)]));
  }
  const bundle = join(folder, hash.digest('hex').slice(0, 32));
  return {
    entry: join(bundle, 'src/cli/program.cjs'),
    prepare: existsSync(bundle) || !canWrite(folder) ? null : [join(root, 'workers/bundle.ts'), bundle],
  };
}

/** All files that are bundled, and the list of packages, relative to the root. */
function listSources(root: string): string[] {
  const files = ['src', 'workers'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  return [...files.filter((file) => /\.ts$|\.[cm]js$/.test(file)).sort(), PACKAGE_LIST];
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
