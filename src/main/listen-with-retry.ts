/** Listens on a port that another process may be about to release. */
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../clock.ts';
import { listen } from '../http/server.ts';
import type { Log } from '../log.ts';

const PATIENCE_MS = 6_000;
const RETRY_MS = 200;
/** Minimum time between two log lines about connections that cannot be accepted, milliseconds. */
const TOLD_AGAIN_MS = 60_000;

/**
 * Listens and resolves with the port. With `patient`, a port in use is retried for 6 s, because another process may be
 * stopping. Rejects as `listen` does. A connection that cannot be accepted later, for example because the process may open
 * no more files, is logged.
 */
export async function listenWithRetry(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  patient: boolean,
  log: Log,
): Promise<number> {
  const until = systemClock.monotonic() + PATIENCE_MS;
  for (let told = false; ; told = true) {
    try {
      const taken = await listen(server, host, port);
      tellOfErrors(server, log);
      return taken;
    } catch (error) {
      const isUsed = (error as { code?: string }).code === 'EADDRINUSE';
      if (!isUsed || !patient || systemClock.monotonic() > until) throw error;
      if (!told) log.info({ port }, 'waiting for another process to release the port');
      await sleep(RETRY_MS);
    }
  }
}

function tellOfErrors(server: Server, log: Log): void {
  let silentUntil = 0;
  server.on('error', (error) => {
    const now = systemClock.monotonic();
    if (now < silentUntil) return;
    silentUntil = now + TOLD_AGAIN_MS;
    log.warn({ error }, 'a connection could not be accepted');
  });
}
