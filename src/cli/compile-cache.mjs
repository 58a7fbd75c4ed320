/**
 * The folder in which Node.js keeps the compiled sources of the program. A process that finds all of its own there does not
 * load the compiler of TypeScript. Plain JavaScript for that reason: `bin/upbeat.mjs` opens the cache before anything else is
 * loaded.
 */
import { lstatSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folder that the build of a container image fills. */
const OF_IMAGE = join(import.meta.dirname, '../../.compiled');

/**
 * A folder for compiled sources that is this user's alone, or another user could have our processes run code: the one of
 * the image, else one in `parent`. Null: none can be created, or it belongs to another user.
 * @param {string} parent
 * @param {string} ofImage
 * @returns {string | null}
 */
export function openCompileCache(parent, ofImage = OF_IMAGE) {
  if (isPrivate(ofImage)) return ofImage;
  const folder = join(parent, `upbeat-compile-cache-${process.getuid?.() ?? 'user'}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) return null;
  }
  return isPrivate(folder) ? folder : null;
}

/**
 * Turns the cache on for this process and those that it starts, unless the environment says where it is or that there
 * is none.
 * @param {Record<string, string | undefined>} env
 */
export function useCompileCache(env) {
  if (env.NODE_COMPILE_CACHE !== undefined) return;
  const folder = openCompileCache(tmpdir());
  if (folder === null) return;
  enableCompileCache(folder);
  env.NODE_COMPILE_CACHE = folder;
}

/** @param {string} folder */
function isPrivate(folder) {
  const uid = process.getuid?.();
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true) return false;
  return uid === undefined || (found.uid === uid && (found.mode & 0o077) === 0);
}
