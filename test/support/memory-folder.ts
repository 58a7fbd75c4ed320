/**
 * A folder in memory for what tests write, where the system has one with enough room. SQLite waits for the disk at each
 * commit, of which a run makes tens of thousands; a process that is killed loses no more there than on a disk.
 */
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, statfsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Scope } from './run-servers.ts';

const ROOT = join(import.meta.dirname, '../..');
const MEMORY = '/dev/shm';
/** Short: Podman takes paths of up to 50 characters. */
const PREFIX = join(MEMORY, 'upbeat-');
/** The folder of the folders of tests, as tap has it. */
const FIXTURES = join(ROOT, '.tap/fixtures');
const MIN_FREE_BYTES = 4 * 1024 ** 3;

/** Makes the folder of temporary files and the one of the tests' own folders one in memory, until the end of the run. */
export function writeToMemory(scope: Scope): void {
  // A test runs this program too.
  if (process.env.TMPDIR?.startsWith(PREFIX) || !hasRoom()) return;
  const folder = mkdtempSync(PREFIX);
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  // Sources that tests write find the packages from there.
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const fixtures = join(folder, 'fixtures');
  mkdirSync(fixtures);
  rmSync(FIXTURES, { recursive: true, force: true });
  mkdirSync(join(FIXTURES, '..'), { recursive: true });
  symlinkSync(fixtures, FIXTURES);
  scope.teardown(() => {
    if (lstatSync(FIXTURES, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(FIXTURES);
  });
  process.env.TMPDIR = folder;
  // Servers run as other users.
  chmodSync(folder, 0o1777);
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, process.availableMemory()) >= MIN_FREE_BYTES;
  } catch {
    return false;
  }
}
