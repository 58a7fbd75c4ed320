/** A free port of loopback. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems assign by themselves (Linux: 32,768 and up): no connection that is dialled, and no
 * server on port 0, takes a port between its finding and its use.
 */
const LOWEST = 15_000;
const HIGHEST = 31_999;
const MAX_TRIES = 100;

/** What this process was given already: a server that is not up yet holds no port. */
const given = new Set<number>();

/** Finds a free port of 127.0.0.1. Another process that looks at the same moment finds another one, all but surely. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error('no port is free');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}
