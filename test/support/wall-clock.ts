/**
 * A wall clock for the whole program, set by a test while it runs: libfaketime answers when the program, its threads
 * and its commands ask for the time. The monotonic clock stays the machine's, so that timers keep their pace.
 */
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A clock that runs on from where it was set. */
export interface WallClock {
  /** What programs are started with that live by it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Sets it, epoch milliseconds; for programs that run, too. It is right to the second. */
  set(at: number): void;
}

const LIBRARY = findLibrary();

/** For a test that needs it: skipped where libfaketime is missing. */
export const NEEDS_WALL_CLOCK = LIBRARY === null ? { skip: 'faketime is not there' } : {};

/** Makes a clock that stands at `at`. `zone`: the server's zone, such as `Europe/Berlin`. */
export function createWallClock(
  t: { teardown(task: () => void): void },
  at: number,
  zone: string,
): WallClock {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-clock-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'offset');
  const set = (next: number) => {
    // The machine's own time is that of a file just written: this process may itself be under a clock of libfaketime.
    writeFileSync(`${file}.new`, '');
    const offsetSeconds = Math.round((next - statSync(`${file}.new`).mtimeMs) / 1_000);
    writeFileSync(`${file}.new`, `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}\n`);
    // Renamed over, so that no reader finds half of it.
    renameSync(`${file}.new`, file);
  };
  set(at);
  return {
    environment: {
      LD_PRELOAD: LIBRARY ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
      TZ: zone,
    },
    set,
  };
}

/** The library of Debian's package `faketime`, in the folder of the machine's architecture. */
function findLibrary(): string | null {
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib') : [];
  const places = folders.map((name) => join('/usr/lib', name, 'faketime/libfaketimeMT.so.1'));
  return places.find((path) => existsSync(path)) ?? null;
}
