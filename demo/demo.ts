/** Runs the demonstration: the simulated fleet, and the program that monitors it, started like a user does. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { makeSetupLink } from '../src/auth/sign-in-secret.ts';
import { resultOf } from '../src/cli/outcome.ts';
import { systemClock } from '../src/clock.ts';
import { loadConfig } from '../src/config/load-config.ts';
import type { Config } from '../src/config/resolve-config.ts';
import { formatDuration } from '../src/domain/durations.ts';
import { silentLog } from '../src/log.ts';
import { addKey } from '../src/resources/keys/keys.ts';
import { openRegistryInProcess } from '../src/store/registry/open-registry.ts';
import type { RegistryClient } from '../src/store/registry/registry-client.ts';
import { makeFilesPrivate } from '../src/store/sqlite/private-files.ts';
import { TEST_CA_FILE } from '../test/support/certificates.ts';
import { freePort } from '../test/support/free-port.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { type Sender, type SenderTiming, startSenders } from './heartbeat-senders.ts';
import { ownEnvironment, type ProgramOutput, startProgram } from './program.ts';
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
  /** Absent: into the file `upbeat.log` of its folder. */
  readonly output?: Exclude<ProgramOutput, { readonly file: string }>;
  /** Fills the stores before the program starts; absent: it starts with empty ones. */
  readonly prepare?: (stage: DemoStage) => Promise<void>;
  /** Hears what is being done, and of the wait for the program each second. */
  readonly onProgress?: (step: string) => void;
  /** Gives up the start, and ends what was started. */
  readonly signal?: AbortSignal;
}

/** The installation before the program starts. */
export interface DemoStage {
  readonly registry: RegistryClient;
  readonly config: Config;
  /** The account of the services that send heartbeats. */
  readonly accountId: number;
  readonly signal: AbortSignal;
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
  /** The log of the program, if it is not the output of this process. */
  readonly logFile: string;
  /** A one-time link by which the owner of the senders' account signs in. */
  readonly setupLink: string;
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

/** The account of the services that send heartbeats. */
const ACCOUNT = 'demo';

/**
 * Starts the fleet and the program, waits until the program is ready, however long that takes, and begins the play. If the
 * start fails or is given up, or this process ends, everything that was started ends.
 */
export async function startDemo(options: DemoOptions): Promise<Demo> {
  const opened = new AsyncDisposableStack();
  try {
    return await openDemo(options, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** Starts the demonstration; what ends its parts is added to `opened`. */
async function openDemo(options: DemoOptions, opened: AsyncDisposableStack): Promise<Demo> {
  const { script, timing, senders, prepare, onProgress = () => {} } = options;
  const { signal = new AbortController().signal } = options;
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-demo-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  endWithProcess(opened, removeFolder);
  opened.defer(removeFolder);
  onProgress(`starting ${script.services.length} simulated services`);
  const fleet = await startFleet(script, timing);
  opened.defer(() => fleet.close());
  const vendors = await startVendors(script.vendors, (elapsedMs) => isCutOff(script, elapsedMs));
  opened.defer(() => vendors.close());
  // The past takes a minute to make up; no other program gets the port meanwhile.
  const { port, letGo } = await holdPort(options.port);
  opened.defer(letGo);
  const siteUrl = `http://localhost:${port}`;
  const configFile = writeConfig(options, folder, { port, siteUrl }, fleet, vendors);
  const { key, setupLink } = await prepareStores(configFile, signal, async (stage) => {
    if (prepare !== undefined) onProgress('making up 90 days of past');
    await prepare?.(stage);
  });
  signal.throwIfAborted();
  onProgress('starting Upbeat');
  await letGo();
  const logFile = join(folder, 'upbeat.log');
  const program = startProgram(configFile, options.output ?? { file: logFile });
  endWithProcess(opened, program.kill);
  let exitCode: number | null = null;
  opened.defer(async () => {
    exitCode = await program.stop();
  });
  await program.untilReady(siteUrl, signal, (elapsedMs) =>
    onProgress(`starting Upbeat: ${Math.round(elapsedMs / 1_000)} s`),
  );
  const startAt = Date.now();
  fleet.begin(startAt);
  vendors.begin(startAt);
  opened.defer(startSenders(senders.list, { siteUrl, key, startAt }, senders.timing));
  const stop = async () => {
    await opened.disposeAsync();
    return exitCode;
  };
  const { process: child } = program;
  return { siteUrl, startAt, fleet, vendors, program: child, configFile, logFile, setupLink, stop };
}

/** Listens on a port, 0 for any free one, until `letGo`. */
async function holdPort(wanted: number) {
  const port = wanted === 0 ? await freePort() : wanted;
  // A connection that stays open would keep the port for ever.
  const server = createServer((socket) => void socket.destroy());
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const letGo = async () => {
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  return { port, letGo };
}

/** Calls `end` if this process ends before `opened` is closed: what was started last ends first. */
function endWithProcess(opened: AsyncDisposableStack, end: () => void): void {
  process.prependOnceListener('exit', end);
  opened.defer(() => void process.off('exit', end));
}

/** Writes the configuration and the catalogue, and returns the file of the former. */
function writeConfig(
  { script, timing, feedIntervalMs, senders, settings }: DemoOptions,
  folder: string,
  http: { readonly port: number; readonly siteUrl: string },
  fleet: Fleet,
  vendors: VendorServers,
): string {
  const file = join(folder, 'upbeat.yaml');
  writeFileSync(join(folder, 'catalogue.yaml'), catalogueText(script, fleet, vendors.pages));
  const checks = {
    interval: formatDuration(timing.intervalMs),
    timeout: formatDuration(timing.timeoutMs),
    slowOver: formatDuration(timing.slowOverMs),
    confirmAfter: timing.confirmAfterMs.map(formatDuration),
    firstSpread: formatDuration(timing.firstSpreadMs),
    controlTargets: fleet.controlUrls,
    allowPrivate: ['127.0.0.0/8', '::1/128'],
  };
  writeFileSync(
    file,
    stringify({
      http,
      catalogue: { file: join(folder, 'catalogue.yaml') },
      incidents: { feedInterval: formatDuration(feedIntervalMs) },
      heartbeats: { silence: formatDuration(senders.timing.silenceMs) },
      storage: { dataDir: join(folder, 'data') },
      ...settings,
      checks: { ...checks, ...settings.checks },
    }),
  );
  return file;
}

/** Makes the account with the senders' key and a link to it, and lets `prepare` fill the stores. */
async function prepareStores(
  configFile: string,
  signal: AbortSignal,
  prepare: (stage: DemoStage) => Promise<void>,
): Promise<{ readonly key: string; readonly setupLink: string }> {
  const config = loadConfig({ file: configFile, env: ownEnvironment() });
  const { storage, secrets, http } = config;
  makeFilesPrivate();
  const registry = await openRegistryInProcess({
    dataDir: storage.dataDir,
    postgresUrl: storage.postgres.url,
    secretKey: secrets.key,
    checksKey: secrets.checksKey,
    log: silentLog,
    clock: systemClock,
    domainsPerAccount: Number.POSITIVE_INFINITY,
  });
  try {
    const { now } = systemClock;
    const { id: accountId } = await registry.ensureAccount(ACCOUNT, now());
    const input = { name: 'senders', expires: 'never' };
    const added = await addKey({ registry, now }, { role: 'operator', accountId }, input);
    const owner = { kind: 'person', accountId, personId: null } as const;
    const { url } = await makeSetupLink(registry, http.siteUrl, owner, now());
    await prepare({ registry, config, accountId, signal });
    return { key: resultOf(added).key, setupLink: url };
  } finally {
    await registry.close();
  }
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
