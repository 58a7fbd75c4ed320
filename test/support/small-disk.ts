/** A disk of a few megabytes at a folder, seen by the programs that are started on it, so that it can be full. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, realpathSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

/** The disk. */
export interface SmallDisk {
  /** Its folder as it is seen from here; `folder` itself is empty here. */
  readonly seenAt: string;
  /** What starts a program that has the disk at its folder. */
  readonly enter: readonly string[];
  /** Fills it to the last byte. */
  fill(): void;
  /** Takes away what `fill` put there. */
  empty(): void;
  /** Lets nothing be written, or lets it again; waits until no program has a file of it open for writing. */
  setReadOnly(readOnly: boolean): Promise<void>;
}

/** A program that was killed holds its files for a moment. */
const MAX_BUSY_MS = 10_000;

/** Makes a disk at `folder`, which goes after the test; null: the system does not let us. */
export async function makeSmallDisk(t: Test, folder: string, bytes: number): Promise<SmallDisk | null> {
  mkdirSync(folder, { recursive: true });
  // A link on the way would lead out of the namespace.
  const place = realpathSync(folder);
  const mount = `mount -t tmpfs -o size=${bytes} tmpfs "$0" && echo ready && exec sleep 600`;
  for (const [apart, enter] of [
    [['-m'], ['-m']],
    [['-rUm'], ['-U', '--preserve-credentials', '-m']],
  ] as const) {
    // A namespace of its own: nothing stays mounted, whatever becomes of the test.
    const holder = spawn('unshare', [...apart, 'sh', '-c', mount, place], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = Promise.race([once(holder, 'exit'), once(holder, 'error')]);
    const isReady = await Promise.race([
      once(holder.stdout, 'data').then(() => true),
      ended.then(() => false),
    ]);
    if (!isReady) continue;
    t.teardown(async () => {
      holder.kill('SIGKILL');
      await ended;
    });
    const seenAt = `/proc/${holder.pid}/root${place}`;
    const enterDisk = ['nsenter', '-t', String(holder.pid), ...enter];
    const filler = join(seenAt, 'filler');
    return {
      seenAt,
      enter: enterDisk,
      fill() {
        const block = Buffer.alloc(4_096);
        const file = openSync(filler, 'a');
        try {
          for (let written = 0; written <= bytes; written += block.length) writeSync(file, block);
          throw new Error(`${filler} is not on the disk of ${bytes} bytes`);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        } finally {
          closeSync(file);
        }
      },
      empty: () => rmSync(filler, { force: true }),
      async setReadOnly(readOnly) {
        const [command = '', ...words] = enterDisk;
        const mode = `remount,${readOnly ? 'ro' : 'rw'}`;
        const deadline = performance.now() + MAX_BUSY_MS;
        for (;;) {
          const [status] = await once(spawn(command, [...words, 'mount', '-o', mode, place]), 'exit');
          if (status === 0) return;
          if (performance.now() > deadline) throw new Error(`mount -o ${mode} ended with ${status}`);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      },
    };
  }
  return null;
}
