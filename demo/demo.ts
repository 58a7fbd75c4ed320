/** Runs the demonstration: the simulated fleet, and the program that monitors it, started like a user does. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { formatDuration } from '../src/domain/durations.ts';
import { TEST_CA_FILE } from '../test/support/certificates.ts';
import { freePort } from '../test/support/free-port.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { type Sender, type SenderTiming, startSenders } from './heartbeat-senders.ts';
import { type DemoService, type DemoTiming, isCutOff, type Script } from './script.ts';
import { startVendors, type VendorPage, type VendorServers } from './vendors/vendor-server.ts';

/** Options of the demonstration. */
export interface DemoOptions {
  readonly script: Script;
  readonly timing: DemoTiming;
  /** Interval of the polls of vendors' pages, milliseconds. */
  readonly feedIntervalMs: number;
  /** Services that send heartbeats. */
  readonly senders: { readonly list: readonly Sender[]; readonly timing: SenderTiming };
  /** Port of the site; 0: any free one. */
  readonly port: number;
  /** Further settings by section. */
  readonly settings: Readonly<Record<string, object>>;
  /** Where the output of the program goes: to that of this process, or line by line to a function. */
  readonly output: 'inherit' | ((line: string, stream: 'stdout' | 'stderr') => void);
}

/** A running demonstration. */
export interface Demo {
  readonly siteUrl: string;
  /** When the play began, epoch milliseconds. */
  readonly startAt: number;
  readonly fleet: Fleet;
  readonly vendors: VendorServers;
  /** The program's parent process. */
  readonly program: ChildProcess;
  /** Its configuration, for commands and further processes. */
  readonly configFile: string;
  /** Makes a one-time link by which the owner of the senders' account signs in. */
  makeSetupLink(): Promise<string>;
  /** Stops everything and removes its files. Resolves with the program's exit status; null: it was killed. */
  stop(): Promise<number | null>;
}

/** The settings of the demonstration. */
export const DEMO_TIMING: DemoTiming = {
  intervalMs: 5_000,
  timeoutMs: 2_500,
  slowOverMs: 1_200,
  confirmAfterMs: [500, 1_000],
  firstSpreadMs: 5_000,
  slackMs: 3_000,
};

/** Interval of the demonstration's polls of vendors' pages, milliseconds. */
export const DEMO_FEED_INTERVAL_MS = 3_000;

const ROOT = join(import.meta.dirname, '..');
/** The account of the services that send heartbeats. */
const ACCOUNT = 'demo';
const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;

/** Starts the fleet and the program, waits until the program is ready, and begins the play. */
export async function startDemo(options: DemoOptions): Promise<Demo> {
  const { script, timing, feedIntervalMs, senders, settings, output } = options;
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-demo-'));
  const fleet = await startFleet(script, timing);
  const vendors = await startVendors(script.vendors, (elapsedMs) => isCutOff(script, elapsedMs));
  const port = options.port === 0 ? await freePort() : options.port;
  const siteUrl = `http://localhost:${port}`;
  writeFileSync(join(folder, 'catalogue.yaml'), catalogueText(script, fleet, vendors.pages));
  writeFileSync(
    join(folder, 'upbeat.yaml'),
    stringify({
      http: { port, siteUrl },
      catalogue: { file: join(folder, 'catalogue.yaml') },
      checks: {
        interval: formatDuration(timing.intervalMs),
        timeout: formatDuration(timing.timeoutMs),
        slowOver: formatDuration(timing.slowOverMs),
        confirmAfter: timing.confirmAfterMs.map(formatDuration),
        firstSpread: formatDuration(timing.firstSpreadMs),
        controlTargets: fleet.controlUrls,
        allowPrivate: ['127.0.0.0/8', '::1/128'],
      },
      incidents: { feedInterval: formatDuration(feedIntervalMs) },
      heartbeats: { silence: formatDuration(senders.timing.silenceMs) },
      storage: { dataDir: join(folder, 'data') },
      ...settings,
    }),
  );
  const program = spawn(
    process.execPath,
    ['src/cli/main.ts', 'start', '--config', join(folder, 'upbeat.yaml')],
    {
      cwd: ROOT,
      // A process group of its own: Ctrl-C reaches only this process, which then stops the program once.
      detached: true,
      stdio: output === 'inherit' ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      env: ownEnvironment(),
    },
  );
  const ended = once(program, 'exit');
  if (output !== 'inherit') {
    eachLine(program.stdout, (line) => output(line, 'stdout'));
    eachLine(program.stderr, (line) => output(line, 'stderr'));
  }
  let stopSenders = () => {};
  const stop = async () => {
    stopSenders();
    if (program.exitCode === null && program.signalCode === null) {
      program.kill('SIGTERM');
      const timer = setTimeout(() => process.kill(-(program.pid ?? 0), 'SIGKILL'), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
    }
    await fleet.close();
    await vendors.close();
    rmSync(folder, { recursive: true, force: true });
    return program.exitCode;
  };
  const configFile = join(folder, 'upbeat.yaml');
  let key: string;
  try {
    await untilReady(siteUrl, program);
    key = await runCommand(configFile, 'keys', 'create', '--account', ACCOUNT, '--name', 'senders');
  } catch (error) {
    await stop();
    throw error;
  }
  const startAt = Date.now();
  fleet.begin(startAt);
  vendors.begin(startAt);
  stopSenders = startSenders(senders.list, { siteUrl, key, startAt }, senders.timing);
  // The link that the program logs ends when the senders' key makes the first account.
  const makeSetupLink = () => runCommand(configFile, 'accounts', 'setup-link', '--account', ACCOUNT);
  return { siteUrl, startAt, fleet, vendors, program, configFile, makeSetupLink, stop };
}

/** The catalogue of the fleet with the vendors' pages. */
function catalogueText(
  { services, vendors }: Script,
  fleet: Fleet,
  pages: ReadonlyMap<string, VendorPage>,
): string {
  const pageOf = ({ statusPage }: DemoService) => {
    const vendor = vendors.find(({ slug }) => slug === statusPage?.vendor);
    const page = pages.get(vendor?.slug ?? '');
    if (statusPage === undefined || vendor === undefined || page === undefined) return {};
    const { components } = statusPage;
    return {
      statusPage: {
        url: page.url,
        kind: vendor.kind,
        ...(page.feedUrl === null ? {} : { feedUrl: page.feedUrl }),
        ...(components === undefined ? {} : { components }),
      },
    };
  };
  return stringify({
    services: services.map((service) => {
      const { slug, name, domain, category, transport, check } = service;
      return {
        slug,
        name,
        domain,
        category,
        check: {
          ...check,
          url: fleet.urls.get(slug),
          ...(transport === 'https' ? { caFile: TEST_CA_FILE } : {}),
        },
        ...pageOf(service),
      };
    }),
  });
}

/** Runs a command of the program, and returns what it prints. */
async function runCommand(configFile: string, ...command: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['src/cli/main.ts', ...command, '--config', configFile],
    { cwd: ROOT, env: ownEnvironment() },
  );
  return stdout.trim();
}

async function untilReady(siteUrl: string, program: ChildProcess): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (program.exitCode !== null || program.signalCode !== null) {
      throw new Error(`the program ended with ${program.exitCode ?? program.signalCode}`);
    }
    const answer = await fetch(`${siteUrl}/readyz`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the program was not ready in time');
}

/** The environment without settings of other installations and without hooks of the test runner. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(?:UPBEAT_|TAP|_TAPJS|NODE_OPTIONS$|NODE_V8)/.test(name),
    ),
  );
}

function eachLine(stream: NodeJS.ReadableStream | null, take: (line: string) => void): void {
  let rest = '';
  stream?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') take(line);
  });
}
