/**
 * Kills a process that decides and sends alerts, at random moments, and counts what its receiver got: every alert at least once,
 * again only over a kill, and for each service in order.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import { createWebhookSecret } from '../../src/notify/webhook-sender.ts';
import { openRegistryInProcess } from '../../src/store/registry/open-registry.ts';
import { channelOf, ruleOf } from '../store/alert-fixtures.ts';
import { firstTurn, owned } from '../store/registry-fixtures.ts';
import { listenOn } from '../support/loopback.ts';
import type { AlertOrder } from './alert-process.ts';

/** What to do. */
export interface KillOptions {
  readonly dataDir: string;
  /** Null: the registry is in the data directory. */
  readonly postgresUrl: string | null;
  readonly kills: number;
  readonly accounts: number;
  readonly servicesPerAccount: number;
  /** Time over which the outages begin, milliseconds. */
  readonly lengthMs: number;
}

/** What came of it. */
export interface KillCount {
  readonly kills: number;
  /** Messages that the receiver took, each counted once. */
  readonly messages: number;
  /** How often it took one that it had taken; a kill repeats what is in flight in each channel. */
  readonly repeated: number;
  /** What must not be; empty: every promise was kept. */
  readonly faults: readonly string[];
}

/** How many times faster the clock of the process runs. */
const SPEED = 20;
const EPOCH = Date.UTC(2026, 0, 1);
const MIN_OUTAGE_MS = 40_000;
/** Requests that a killed process has sent are read within this time. */
export const READ_MS = 100;

/** A message as the receiver took it. */
export interface Taken {
  readonly id: string;
  /** When the request began. */
  readonly at: number;
  readonly path: string;
  readonly services: readonly { readonly slug: string; readonly status: string }[];
}

/** Makes the registry, runs the process, kills it so often, and lets it finish. */
export async function runAlertKills(options: KillOptions): Promise<KillCount> {
  const { dataDir, postgresUrl, kills, accounts, servicesPerAccount, lengthMs } = options;
  const taken: Taken[] = [];
  const killed: number[] = [];
  const refused = new Set<string>();
  const server = createServer((request, response) => {
    const at = performance.now();
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      const chance = Math.random();
      setTimeout(() => {
        if (chance < 0.1) refused.add(request.url ?? '');
        if (chance < 0.05) return void response.writeHead(503).end();
        if (chance < 0.1) return void response.writeHead(429, { 'retry-after': '2' }).end();
        const { data } = JSON.parse(body);
        const news = data.services.filter(({ told }: { told: boolean }) => !told);
        taken.push({
          id: String(request.headers['webhook-id']),
          at,
          path: request.url ?? '',
          services: news.map((item: { service: { slug: string }; status: string }) => ({
            slug: item.service.slug,
            status: item.status,
          })),
        });
        response.writeHead(204).end();
      }, Math.random() * 25);
    });
  });
  const receiver = await listenOn(server);

  const registry = await openRegistryInProcess({
    ...{ dataDir, postgresUrl, log: silentLog, clock: systemClock },
  });
  const plan: AlertOrder['plan'][number][] = [];
  const paths = new Map<string, string>();
  for (let n = 0; n < accounts; n++) {
    const { id: accountId } = await registry.ensureAccount(`a${n}`, EPOCH);
    const path = `/a${n}`;
    const { id: channelId } = await registry.addChannel({
      ...channelOf(accountId),
      kind: 'webhook',
      settings: { url: `http://127.0.0.1:${receiver.port}${path}`, secret: createWebhookSecret() },
    });
    await registry.addRule(ruleOf(accountId, [channelId]));
    for (let m = 0; m < servicesPerAccount; m++) {
      const { id: serviceId, slug } = await registry.addService(owned(`s${m}.a${n}.example`, accountId));
      await registry.commitUpdates([firstTurn(serviceId, 'up', EPOCH - 1)]);
      paths.set(slug, path);
      const downAt = EPOCH + Math.round(Math.random() * lengthMs * SPEED);
      plan.push({ serviceId, downAt, lastsMs: Math.round(MIN_OUTAGE_MS * (1 + Math.random())) });
    }
  }
  await registry.close();

  const order: AlertOrder = {
    dataDir,
    postgresUrl,
    epochAt: EPOCH,
    startedAt: Date.now(),
    speed: SPEED,
    plan,
  };
  const faults: string[] = [];
  while (killed.length < kills) {
    const child = startProcess(order, faults);
    const before = taken.length;
    // Once it has sent something, so between a request, its answer and the commit of the outcome; or at any time.
    const isDead = once(child, 'exit');
    if (child.stdout !== null) await Promise.race([once(child.stdout, 'data'), isDead]);
    const deadline = performance.now() + Math.random() * 2_000;
    while (taken.length === before && performance.now() < deadline && child.exitCode === null) await sleep(5);
    await sleep(Math.random() * 60);
    if (child.exitCode !== null) break;
    child.kill('SIGKILL');
    await isDead;
    // What the process had sent before may be read here a little later.
    await sleep(READ_MS);
    killed.push(performance.now());
  }
  const last = startProcess(order, faults);
  const timer = setTimeout(() => last.kill('SIGKILL'), 120_000);
  const [status] = await once(last, 'exit');
  clearTimeout(timer);
  await receiver.close();
  if (status !== 0) faults.push(`the last process ended with ${status}`);
  faults.push(...findFaults(taken, killed, paths, refused));
  const ids = new Set(taken.map(({ id }) => id));
  return { kills: killed.length, messages: ids.size, repeated: taken.length - ids.size, faults };
}

function startProcess(order: AlertOrder, faults: string[]): ChildProcess {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'alert-process.ts'), JSON.stringify(order)],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  child.stderr?.on('data', (chunk) => faults.push(String(chunk)));
  return child;
}

/**
 * What must not be in what the receiver took. `refused`: paths at which it has refused messages. There an outage may be one message, and a
 * message that was taken just before a kill, after a refusal, may be said again by the next one.
 */
export function findFaults(
  taken: readonly Taken[],
  killed: readonly number[],
  paths: ReadonlyMap<string, string>,
  refused: ReadonlySet<string> = new Set(),
): string[] {
  const faults: string[] = [];
  const times = new Map<string, number>();
  const told = new Map<string, string[]>();
  const saidAt = new Map<string, number>();
  for (const message of taken) {
    const before = times.get(message.id);
    times.set(message.id, message.at);
    const isOverKill = (since: number) => killed.some((at) => at >= since && at <= message.at);
    if (before !== undefined) {
      if (!isOverKill(before)) faults.push(`${message.id} was repeated without a kill`);
      continue;
    }
    for (const { slug, status } of message.services) {
      if (paths.get(slug) !== message.path) faults.push(`${slug} was told to ${message.path}`);
      const words = told.get(slug) ?? [];
      const isSaidAgain = words.at(-1) === status && isOverKill(saidAt.get(slug) ?? 0);
      if (!isSaidAgain || !refused.has(message.path)) told.set(slug, [...words, status]);
      saidAt.set(slug, message.at);
    }
  }
  for (const [slug, path] of paths) {
    const words = (told.get(slug) ?? []).join();
    if (words !== 'down,up' && !(words === 'up' && refused.has(path)))
      faults.push(`${slug}: ${words || 'nothing'}`);
  }
  return faults;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
