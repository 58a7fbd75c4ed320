/** Listening on a port that its last user may still be about to leave. */
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../api/http-server.ts';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';

const PATIENCE_MS = 6_000;
const RETRY_MS = 200;

/**
 * Listens; resolves with the port. Where `patient`, another process may be the monitor, and be told to stop just now: a
 * port in use is then asked for again for 6 s. Rejects as `listen` does.
 */
export async function listenPatiently(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  patient: boolean,
  log: Log,
): Promise<number> {
  const until = systemClock.monotonic() + PATIENCE_MS;
  for (let told = false; ; told = true) {
    try {
      return await listen(server, host, port);
    } catch (error) {
      const isUsed = (error as { code?: string }).code === 'EADDRINUSE';
      if (!isUsed || !patient || systemClock.monotonic() > until) throw error;
      if (!told) log.info({ port }, 'waiting for the port of another process');
      await sleep(RETRY_MS);
    }
  }
}
