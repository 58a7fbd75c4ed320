/** What `npm run demo` reads from its arguments and writes to the terminal. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { errorCodeOf, messageOf } from '../src/error.ts';
import { PAGE_SLUG } from './account.ts';
import type { Demo } from './demo.ts';
import { DEMO_SCRIPT } from './services.ts';

/** The arguments are wrong, or the port cannot be used. */
export class UsageError extends Error {}

const USAGE = 'usage: npm run demo -- [--port N]';
const MAX_PORT = 65_535;
const CLEAR_LINE = '\r\u001b[K';

/** The port of the site by the arguments of the command. Throws {@link UsageError} if nothing can listen on it. */
export async function readPort(args: readonly string[]): Promise<number> {
  const port = readArguments(args);
  if (!/^\d{1,5}$/.test(port) || Number(port) > MAX_PORT)
    throw new UsageError(
      `--port ${port} is not a port: give a number from 1 to ${MAX_PORT}, or 0 for any free one`,
    );
  const server = createServer();
  try {
    await once(server.listen(Number(port)), 'listening');
  } catch (error) {
    const problem =
      errorCodeOf(error) === 'EADDRINUSE' ? 'is in use' : `cannot be used (${messageOf(error)})`;
    throw new UsageError(`port ${port} ${problem}: choose another one by npm run demo -- --port 9000`);
  }
  await new Promise((resolve) => server.close(resolve));
  return Number(port);
}

function readArguments(args: readonly string[]): string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { port: { type: 'string', default: '8080' } },
    });
    return values.port;
  } catch (error) {
    throw new UsageError(`${messageOf(error)}; ${USAGE}`);
  }
}

let shownStep = '';

/** Shows what is being done: on a terminal in one line, elsewhere each step once. Null: it is done. */
export function showProgress(step: string | null): void {
  const { stdout } = process;
  if (stdout.isTTY) stdout.write(step === null ? CLEAR_LINE : `${CLEAR_LINE}${step} …`);
  else if (step !== null && step.split(':')[0] !== shownStep) stdout.write(`${step}\n`);
  shownStep = step?.split(':')[0] ?? '';
}

/** Writes what to open, what to look at, and how to stop. */
export function writeScreen({ siteUrl, setupLink, logFile }: Demo, backstageUrl: string): void {
  process.stdout.write(`
Upbeat monitors ${DEMO_SCRIPT.services.length} simulated services. All of it, with its past of 90 days, is made up.

  Open ${siteUrl}

Look at
  ${siteUrl}/status/facegram
    a service: its status, response times and past, and what its vendor says
  ${siteUrl}/p/${PAGE_SLUG}
    the status page of a shop, with an incident and planned maintenance
  ${backstageUrl}
    the alerts that the shop receives, and what happens when
  ${siteUrl}/docs
    the API
  ${setupLink}
    the dashboard of the shop; the link works once

Stop with Ctrl-C. The log: ${logFile}
`);
}
