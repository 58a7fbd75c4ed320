/** Upbeat over a small simulated fleet, with a real InfluxDB, and a real reader of its `/metrics`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { stringify } from 'yaml';
import { startDemo } from '../../demo/demo.ts';
import type { Sender, SenderTiming } from '../../demo/heartbeat-senders.ts';
import { type DemoService, type DemoTiming, failing, good, type Script } from '../../demo/script.ts';
import { dashDomain } from '../../src/domain/service.ts';
import { runCommandHere } from '../cli/run-command.ts';
import { SHORT_PART, shortVendors } from '../demo/short-vendors.ts';
import { freePort } from '../support/free-port.ts';
import { ask, startInflux, startVictoria } from '../support/influx-server.ts';
import type { MetricServers } from './query-servers.ts';

/** The servers, full of what was seen. */
export interface WatchedFleet extends MetricServers {
  readonly siteUrl: string;
  /** When the play began, epoch milliseconds. */
  readonly startAt: number;
  /** The last lines that the program printed. */
  output(): string;
}

const SECOND = 1_000;
const PERIOD_MS = 3_600 * SECOND;
const DATABASE = 'upbeat';
const SCRAPE_SECONDS = 1;

const TIMING: DemoTiming = {
  intervalMs: 1_000,
  timeoutMs: 4_000,
  slowOverMs: 3_000,
  confirmAfterMs: [200, 200],
  firstSpreadMs: 1_000,
  slackMs: 4_000,
};

const FAILS_AND_RECOVERS = [
  { at: 0, behaviour: good(10) },
  { at: 2 * SECOND, behaviour: failing(503) },
  { at: 5 * SECOND, behaviour: good(10) },
];

/** Of good services, milliseconds. */
const LATENCIES_MS = [1, 52, 105, 210, 410, 810, 1_510];

/** The service that everything happens to. */
export const TROUBLED = 'troubled';

/** Id of a service that had the slug of the troubled one, and its one check, two hours before, from one of two regions. */
export const EARLIER_ID = '999999';
export const EARLIER_REGION = 'eu';

/** The services that are checked, by their slugs. */
export const CHECKED: readonly string[] = [
  TROUBLED,
  'calm',
  'slow',
  ...LATENCIES_MS.map((latencyMs) => `takes-${latencyMs}-ms`),
];

/** The services that report by themselves, by their domains. */
const SENDERS: readonly Sender[] = [
  {
    domain: 'orders.example.org',
    story: '',
    steps: [
      { at: 0, word: 'ok', means: 'up', checks: dependencies('ok') },
      { at: 2 * SECOND, word: 'degraded', means: 'slow', checks: dependencies('failing') },
      { at: 4 * SECOND, word: 'failing', means: 'down', checks: dependencies('failing') },
      { at: 6 * SECOND, word: 'ok', means: 'up', checks: dependencies('ok') },
    ],
  },
  {
    domain: 'backup.example.org',
    story: '',
    steps: [{ at: 0, word: 'ok', means: 'up', checks: dependencies('ok') }],
  },
];

/** The services that report by themselves, by their slugs. */
export const REPORTERS: readonly string[] = SENDERS.map(({ domain }) => dashDomain(domain));

const SENDER_TIMING: SenderTiming = { periodMs: PERIOD_MS, everyMs: 500, silenceMs: 60_000, slackMs: 4_000 };

const SCRIPT: Script = {
  periodMs: PERIOD_MS,
  vendors: shortVendors(PERIOD_MS, 1_000).filter(({ slug }) => slug === 'statuspage'),
  outages: [],
  services: [
    service(TROUBLED, {
      steps: FAILS_AND_RECOVERS,
      statusPage: { vendor: 'statuspage', components: [SHORT_PART] },
    }),
    service('calm', { category: 'cloud' }),
    service('slow', { category: 'cloud', transport: 'http', steps: [{ at: 0, behaviour: good('slow') }] }),
    // One for each class of the heat map, near its lower bound: a busy machine adds to it.
    ...LATENCIES_MS.map((latencyMs) =>
      service(`takes-${latencyMs}-ms`, {
        category: 'ai',
        transport: 'http',
        steps: [{ at: 0, behaviour: good(latencyMs) }],
      }),
    ),
  ],
};

/** Starts it all; it is ended after the test. */
export async function startWatchedFleet(t: Test): Promise<WatchedFleet> {
  const folder = t.testdir();
  const [influx, port] = await Promise.all([startInflux(t, { folder: join(folder, 'influx') }), freePort()]);
  await ask(influx.url, `CREATE DATABASE ${DATABASE}`);
  await fetch(`${influx.url}/write?db=${DATABASE}&precision=ms`, {
    method: 'POST',
    body: `upbeat_check,category=developer,region=${EARLIER_REGION},service=${TROUBLED},service_id=${EARLIER_ID} up=1i,suspect=0i ${Date.now() - 2 * PERIOD_MS}`,
  });
  const victoria = await startVictoria(t, { folder: join(folder, 'victoria') }, [
    `-promscrape.config=${writeScrapeConfig(folder, port)}`,
  ]);
  const lines: string[] = [];
  const dataDir = join(folder, 'data');
  const demo = await startDemo({
    script: SCRIPT,
    timing: TIMING,
    feedIntervalMs: SECOND,
    senders: { list: SENDERS, timing: SENDER_TIMING },
    port,
    settings: {
      storage: { dataDir, influx: { url: influx.url, bucket: DATABASE, token: 'any:any', api: 'v1' } },
      log: { level: 'info', format: 'json' },
      limits: { anonymousPerMinute: 100_000, authenticatedPerMinute: 100_000, changesPerAccount: 100_000 },
    },
    output: (line) => lines.push(line),
  }).catch((error: Error) => {
    throw new Error(`${error.message}\n${lines.slice(-20).join('\n')}`);
  });
  t.teardown(() => demo.stop());
  await publishDependencies(folder, dataDir);
  return {
    influxUrl: influx.url,
    database: DATABASE,
    prometheusUrl: victoria.url,
    scrapeInterval: `${SCRAPE_SECONDS}s`,
    siteUrl: demo.siteUrl,
    startAt: demo.startAt,
    output: () => lines.slice(-20).join('\n'),
  };
}

function service(slug: string, details: Partial<DemoService>): DemoService {
  return {
    slug,
    name: slug,
    domain: `${slug}.demo.test`,
    category: 'developer',
    transport: 'https',
    host: '127.0.0.1',
    certificate: 'good',
    check: {},
    story: '',
    steps: [{ at: 0, behaviour: good(10) }],
    ...details,
  };
}

function dependencies(status: string): NonNullable<Sender['steps'][number]['checks']> {
  return { database: { status, latency: 12 }, cache: { status: 'ok', latency: 1 } };
}

function writeScrapeConfig(folder: string, port: number): string {
  const file = join(folder, 'scrape.yaml');
  writeFileSync(
    file,
    stringify({
      global: { scrape_interval: `${SCRAPE_SECONDS}s` },
      scrape_configs: [{ job_name: 'upbeat', static_configs: [{ targets: [`localhost:${port}`] }] }],
    }),
  );
  return file;
}

/** Dependencies are their owner's alone until the owner shows them: said here as an owner says it. */
async function publishDependencies(folder: string, dataDir: string): Promise<void> {
  const configFile = join(folder, 'owner.yaml');
  writeFileSync(configFile, stringify({ storage: { dataDir } }));
  for (const slug of REPORTERS) {
    const command = ['services', 'set', slug, '--public-dependencies', '--config', configFile];
    // The first heartbeat registers the service; until then there is none to set.
    for (let tries = 0; ; tries++) {
      const { status, stderr } = await runCommandHere(command);
      if (status === 0) break;
      if (tries === 150) throw new Error(`${command.join(' ')}: ${stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
