/** Stops a monitor inside a transaction, and counts what becomes of heartbeats meanwhile. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The process id of the monitor of a data directory. */
export function monitorPid(dataDir: string): number {
  return withRegistry(dataDir, (database) => Number(database.prepare('SELECT pid FROM lease').get()?.pid));
}

/** Whether the process holds the write lock of the registry, as Linux tells it (SQLite's WAL_WRITE_LOCK, byte 120). */
export function holdsWriteLock(dataDir: string, pid: number): boolean {
  const { ino } = statSync(join(dataDir, 'registry.sqlite-shm'));
  const lock = new RegExp(`POSIX +ADVISORY +WRITE ${pid} [0-9a-f]+:[0-9a-f]+:${ino} 120 120`);
  return lock.test(readFileSync('/proc/locks', 'utf8'));
}

/** Stops a process at a moment at which it holds the write lock, however many tries that takes. */
export async function freezeInTransaction(dataDir: string, pid: number): Promise<void> {
  for (;;) {
    process.kill(pid, 'SIGSTOP');
    // The signal takes a moment to reach every thread.
    await new Promise((resolve) => setTimeout(resolve, 2));
    if (holdsWriteLock(dataDir, pid)) return;
    process.kill(pid, 'SIGCONT');
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
  }
}

/** What was answered to heartbeats. */
export interface BeatCount {
  /** Numbers of those answered 200. */
  readonly taken: number[];
  /** How often each other status was answered. */
  readonly refused: Map<number, number>;
  /** Answers of 503 without a time to try again. */
  withoutRetry: number;
  stop(): Promise<void>;
}

/** Sends numbered heartbeats, `senders` at a time without a pause, until it is stopped. */
export function sendBeats(siteUrl: string, key: string, senders: number): BeatCount {
  let stopped = false;
  let next = 0;
  const count = { taken: [] as number[], refused: new Map<number, number>(), withoutRetry: 0 };
  const send = async (sender: number): Promise<void> => {
    while (!stopped) {
      const number = next++;
      const response = await fetch(`${siteUrl}/api/v1/heartbeat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ domain: `jobs-${sender}.example.com`, status: 'ok', number }),
      });
      await response.arrayBuffer();
      if (response.status === 200) count.taken.push(number);
      else count.refused.set(response.status, (count.refused.get(response.status) ?? 0) + 1);
      if (response.status === 503 && !response.headers.has('retry-after')) count.withoutRetry += 1;
      // Each service keeps its newest hundred heartbeats: they are counted before older ones go.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const sending = Promise.all(Array.from({ length: senders }, (_, sender) => send(sender)));
  return Object.assign(count, {
    async stop() {
      stopped = true;
      await sending;
    },
  });
}

/** Numbers of the heartbeats that the registry keeps, the newest hundred of each service. */
export function keptBeats(dataDir: string): Set<number> {
  return withRegistry(
    dataDir,
    (database) =>
      new Set(
        database
          .prepare('SELECT body FROM heartbeats')
          .all()
          .map(({ body }) => Number(JSON.parse(String(body)).number)),
      ),
  );
}

function withRegistry<T>(dataDir: string, read: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(join(dataDir, 'registry.sqlite'), { readOnly: true, timeout: 5_000 });
  try {
    return read(database);
  } finally {
    database.close();
  }
}
