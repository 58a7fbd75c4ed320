/** Starts the whole program as a user does, with a catalogue of the test's own, for tests from the outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { planParent } from '../../src/cli/start.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import { freePort } from './free-port.ts';
import { AS_SHIPPED } from './quick-programs.ts';

const ROOT = join(import.meta.dirname, '../..');
const CLI = join(ROOT, 'bin/upbeat.mjs');
/** Pauses between two requests of `until`: each costs the test and the program some milliseconds of CPU time. */
const FIRST_POLL_MS = 50;
const MAX_POLL_MS = 250;

/** A catalogue entry as the file has it. */
export interface CatalogueEntry {
  readonly slug: string;
  readonly name?: string;
  readonly domain?: string;
  readonly category?: string;
  readonly check?: object;
  readonly statusPage?: object;
}

/** A folder with a configuration, a catalogue and a data directory, and the commands run in it. */
export interface Installation {
  readonly folder: string;
  readonly siteUrl: string;
  /** Replaces the catalogue file as an editor would: written beside it and renamed over it. */
  writeCatalogue(entries: readonly CatalogueEntry[]): void;
  /**
   * Starts the program and waits until it is ready. `port`: another one than the configured, for a further process on
   * the same data. `readyWithinMs`: default a minute.
   */
  start(port?: number, readyWithinMs?: number): Promise<RunningProgram>;
  /** Runs a command of `upbeat` to its end. */
  run(...args: readonly string[]): Promise<{ status: number | null; stdout: string; stderr: string }>;
  /**
   * Runs a command of `upbeat` in this process, which spares a start; after commands that were begun before.
   */
  runHere(...args: readonly string[]): Promise<{ status: number; stdout: string; stderr: string }>;
  /** Calls the registry as the commands do, beside the running program and without the start of a command. */
  withRegistry<T>(work: (registry: Registry) => Promise<T>): Promise<T>;
  /** Makes a key as `upbeat keys create` does; its text. */
  makeKey(account: string): Promise<string>;
  remove(): void;
}

/** The program at work. */
export interface RunningProgram {
  readonly process: ChildProcess;
  readonly siteUrl: string;
  /** Everything it has printed so far. */
  output(): string;
  /** GET on a path; the body parsed where it is JSON. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Asks until `accept` holds of the parsed body, at most `withinMs`; returns that body. Throws with the last one. */
  until<T>(path: string, accept: (body: T) => boolean, withinMs?: number): Promise<T>;
  /** Sends a signal to the parent process and waits for its end; returns its exit status. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Ends the parent and the program at once, as a power cut would. */
  killHard(): Promise<void>;
}

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/**
 * Makes an installation. `settings` is merged over quick intervals and limits that do not disturb; its programs and
 * commands are started with `environment` beside the test's own, by `enter` where a command is to stand before them.
 */
export async function install(
  entries: readonly CatalogueEntry[],
  settings: object | ((siteUrl: string) => object | Promise<object>) = {},
  environment: Readonly<Record<string, string | undefined>> = {},
  enter: readonly string[] = [],
): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-e2e-'));
  const port = await freePort();
  const siteUrl = `http://127.0.0.1:${port}`;
  const configFile = join(folder, 'upbeat.yaml');
  const catalogueFile = join(folder, 'catalogue.yaml');
  const base = {
    http: { host: '127.0.0.1', port, siteUrl },
    catalogue: { file: catalogueFile },
    checks: {
      interval: '1s',
      timeout: '2s',
      firstSpread: '500ms',
      confirmAfter: ['100ms', '200ms'],
      threads: 1,
      allowPrivate: ['127.0.0.0/8', '::1/128'],
      controlTargets: [`${siteUrl}/healthz`],
    },
    limits: { anonymousPerMinute: 100_000, connectionsPerAddress: 1_000_000 },
    storage: { dataDir: join(folder, 'data') },
    log: { level: 'info', format: 'json' },
  };
  writeFileSync(
    configFile,
    stringify(mergeSettings(base, typeof settings === 'function' ? await settings(siteUrl) : settings)),
  );
  const installation: Installation = {
    folder,
    siteUrl,
    writeCatalogue(list) {
      const services = list.map(
        ({ slug, name = slug, domain = `${slug}.example`, category = 'developer', check, statusPage }) => ({
          slug,
          name,
          domain,
          category,
          ...(check === undefined ? {} : { check }),
          ...(statusPage === undefined ? {} : { statusPage }),
        }),
      );
      writeFileSync(`${catalogueFile}.new`, stringify({ services }));
      renameSync(`${catalogueFile}.new`, catalogueFile);
    },
    start: (other = port, readyWithinMs = 60_000) =>
      startProgram(
        configFile,
        `http://127.0.0.1:${other}`,
        {
          ...environment,
          UPBEAT_HTTP_PORT: String(other),
        },
        enter,
        readyWithinMs,
      ),
    run: (...args) => runCommand([...args, '--config', configFile], environment, enter),
    async runHere(...args) {
      const { runCommandHere } = await import('../cli/run-command.ts');
      return await runCommandHere([...args, '--config', configFile]);
    },
    async withRegistry(work) {
      const { openRegistryHere } = await import('./registry-here.ts');
      const registry = await openRegistryHere(join(folder, 'data'));
      return await work(registry).finally(() => registry.close());
    },
    makeKey: (account) =>
      installation.withRegistry(async (registry) => {
        const { createApiKey } = await import('../../src/auth/api-keys.ts');
        const order = { account, name: 'laptop', expiresAt: null, now: Date.now() };
        return (await createApiKey(registry, order)).key;
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  installation.writeCatalogue(entries);
  return installation;
}

async function startProgram(
  configFile: string,
  siteUrl: string,
  environment: Readonly<Record<string, string | undefined>>,
  enter: readonly string[],
  readyWithinMs: number,
): Promise<RunningProgram> {
  let output = '';
  const own = environmentWith(environment);
  // The command becomes this parent, which spares its start. It looks at the memory of its place first.
  const isAsShipped = Object.keys(AS_SHIPPED).some((name) => name in environment);
  const parent = isAsShipped
    ? { command: [process.execPath, CLI, 'start', '--config', configFile], env: own }
    : planParent(configFile, own);
  const [command = '', ...words] = [...enter, ...parent.command];
  const child = spawn(command, words, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: parent.env,
  });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'exit');
  const killHard = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await ended;
  };
  const get = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> => {
    const response = await fetch(siteUrl + path, { headers, redirect: 'manual' });
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const body = isJson ? await response.json() : Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, body };
  };
  const until = async <T>(path: string, accept: (body: T) => boolean, withinMs = 45_000): Promise<T> => {
    const deadline = performance.now() + withinMs;
    let last: unknown;
    let pauseMs = FIRST_POLL_MS;
    do {
      last = await get(path).then(
        (answer) => answer.body,
        (error: Error) => error.message,
      );
      if (typeof last === 'object' && last !== null && accept(last as T)) return last as T;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      pauseMs = Math.min(MAX_POLL_MS, pauseMs * 1.25);
    } while (performance.now() < deadline && child.exitCode === null);
    await killHard();
    throw new Error(`${path} still answered ${JSON.stringify(last)}\n${output.slice(-3_000)}`);
  };
  await until<{ status?: string }>(
    '/readyz',
    (body) => !('code' in body) && body.status !== 'starting',
    readyWithinMs,
  );
  return {
    process: child,
    siteUrl,
    output: () => output,
    get,
    until,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const [code] = await ended;
      return code as number | null;
    },
    killHard,
  };
}

/** Runs `upbeat` with `args` to its end. */
export async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = {},
  enter: readonly string[] = [],
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const [command = '', ...words] = [...enter, process.execPath, CLI, ...args];
  const child = spawn(command, words, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environmentWith(environment),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const [status] = await once(child, 'close');
  return { status, stdout, stderr };
}

/**
 * `environment` over that of this process, without settings that a developer may have set, without tap's own hooks, and with what
 * `quick-programs.ts` says.
 */
function environmentWith(environment: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(?:UPBEAT_|TAP|NODE_OPTIONS$|NODE_V8|_TAPJS)/.test(name),
  );
  const {
    TEST_NODE_OPTIONS = '',
    NODE_OPTIONS = '',
    ...env
  } = { ...Object.fromEntries(entries), ...environment };
  return { ...env, NODE_OPTIONS: `${TEST_NODE_OPTIONS} ${NODE_OPTIONS}`.trim() };
}

/** Settings of `base` with those of `over` in their places; lists and values are replaced. */
export function mergeSettings(base: object, over: object): object {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const old = merged[key];
    const nested = isPlain(old) && isPlain(value);
    merged[key] = nested ? mergeSettings(old, value) : value;
  }
  return merged;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
