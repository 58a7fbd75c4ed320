/**
 * Kills the whole program (`-9`) at random moments while it tells of services that go down and come back, with the grouping and the
 * clock of its users, and counts what the receiver of its webhooks got. Kills count where a message was settled since the one before.
 */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createWebhookSecret } from '../../src/notify/webhook-sender.ts';
import { registryFile } from '../../src/store/sqlite/private-files.ts';
import { channelOf, ruleOf } from '../store/alert-fixtures.ts';
import { owned } from '../store/registry-fixtures.ts';
import { listenOn } from '../support/loopback.ts';
import { install, type RunningProgram } from '../support/program.ts';
import { findFaults, type KillCount, READ_MS, type Taken } from './kill-alerts.ts';

/** What to do. */
export interface ProgramKillOptions {
  /** Number of kills before which a message was settled. */
  readonly kills: number;
  readonly accounts: number;
  readonly servicesPerAccount: number;
}

/** What came of it. */
export interface ProgramKillCount extends KillCount {
  /** Kills before which nothing was settled; they are not among {@link KillCount.kills}. */
  readonly idleKills: number;
  /** The most often that the receiver took one message. */
  readonly maxTaken: number;
}

/** Maximum time from the start of a program to the next message, milliseconds: one a minute at least while services turn. */
const NEXT_MESSAGE_MS = 60_000;
/** After the first message of a life, the kill comes within this time. */
const MAX_LIFE_MS = 1_500;
/** The services of an account fail within this time, and come back so long after their failure was told at most. */
const SPREAD_MS = 40_000;
const ACTIVE_ACCOUNTS = 12;
const FINISH_MS = 300_000;
const POLL_MS = 20;

/** Runs the program, kills it so often, and lets it finish. */
export async function runProgramKills(options: ProgramKillOptions): Promise<ProgramKillCount> {
  const { kills, accounts, servicesPerAccount } = options;
  const taken: Taken[] = [];
  /** When a service goes down and comes back by the monotonic clock, by its slug; absent: not planned yet. */
  const plan = new Map<string, { readonly downAt: number; upAt: number }>();
  const slugs = new Map<string, string>();
  const site = await listenOn(
    createServer((request, response) => {
      const { downAt, upAt } = plan.get(slugs.get(request.url ?? '') ?? '') ?? NEVER;
      const now = performance.now();
      response.writeHead(now >= downAt && now < upAt ? 503 : 200).end();
    }),
  );
  const receiver = await listenOn(
    createServer((request, response) => {
      const at = performance.now();
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        setTimeout(() => {
          const services = readServices(body);
          taken.push({ id: String(request.headers['webhook-id']), at, path: request.url ?? '', services });
          for (const { slug, status } of services) {
            const turn = plan.get(slug);
            if (turn !== undefined && status === 'down')
              turn.upAt = Math.min(turn.upAt, performance.now() + Math.random() * SPREAD_MS);
          }
          response.writeHead(204).end();
        }, Math.random() * 25);
      });
    }),
  );
  const installation = await install([], {
    // A busy machine must not make a service fail.
    checks: { ownersMayProbePrivate: true, timeout: '20s' },
    limits: { domainsPerAccount: 100 },
  });
  const paths = new Map<string, string>();
  /** When each kill was, idle ones included: they repeat what is in flight as well. */
  const killedAt: number[] = [];
  let counted = 0;
  let program: RunningProgram | null = null;
  try {
    const byAccount: string[][] = [];
    await installation.withRegistry(async (registry) => {
      for (let n = 0; n < accounts; n++) {
        const { id: accountId } = await registry.ensureAccount(`a${n}`, Date.now());
        const path = `/a${n}`;
        const channel = await registry.addChannel({
          ...{ ...channelOf(accountId), kind: 'webhook' },
          settings: { url: `http://127.0.0.1:${receiver.port}${path}`, secret: createWebhookSecret() },
        });
        await registry.addRule(ruleOf(accountId, [channel.id]));
        const own: string[] = [];
        for (let m = 0; m < servicesPerAccount; m++) {
          const service = owned(`s${m}.a${n}.example`, accountId, { verified: true });
          const check = { ...service.check, url: `http://127.0.0.1:${site.port}/${n}/${m}` };
          const { slug } = await registry.addService({ ...service, check });
          slugs.set(`/${n}/${m}`, slug);
          paths.set(slug, path);
          own.push(slug);
        }
        byAccount.push(own);
      }
    });
    /** Accounts fail one after the other, some at a time, so that there is always something to tell. */
    const failNext = () => {
      const due = Math.ceil(((counted + 1) / kills) * accounts) + ACTIVE_ACCOUNTS;
      for (const own of byAccount.slice(0, due))
        for (const slug of own)
          if (!plan.has(slug)) {
            const downAt = performance.now() + Math.random() * SPREAD_MS;
            plan.set(slug, { downAt, upAt: Number.POSITIVE_INFINITY });
          }
    };
    let settled = 0;
    program = await installation.start();
    await program.until<{ readonly total: number }>(
      '/api/v1/services?status=up&limit=1',
      ({ total }) => total === paths.size,
    );
    while (counted < kills) {
      failNext();
      const before = taken.length;
      const deadline = performance.now() + NEXT_MESSAGE_MS;
      while (taken.length === before && performance.now() < deadline) await sleep(POLL_MS);
      await sleep(Math.random() * MAX_LIFE_MS);
      const at = performance.now();
      await program.killHard();
      // What the program had sent before may be read here a little later.
      await sleep(READ_MS);
      killedAt.push(performance.now());
      const now = countSettled(join(installation.folder, 'data'));
      if (now > settled) counted += 1;
      settled = now;
      if (taken.length === before && [...plan.values()].every(({ upAt }) => upAt < at)) break;
      program = await installation.start();
    }
    for (const own of byAccount)
      for (const slug of own)
        plan.set(slug, plan.get(slug) ?? { downAt: performance.now(), upAt: Number.POSITIVE_INFINITY });
    const deadline = performance.now() + FINISH_MS;
    const isTold = () => new Set(taken.flatMap(endsOf)).size === paths.size;
    while (!isTold() && performance.now() < deadline) await sleep(POLL_MS);
    await sleep(1_000);
    await program.stop();
  } finally {
    await program?.killHard();
    installation.remove();
    await Promise.all([site.close(), receiver.close()]);
  }
  const counts = new Map<string, number>();
  for (const { id } of taken) counts.set(id, (counts.get(id) ?? 0) + 1);
  return {
    ...{ kills: counted, idleKills: killedAt.length - counted, faults: findFaults(taken, killedAt, paths) },
    messages: counts.size,
    repeated: taken.length - counts.size,
    maxTaken: Math.max(0, ...counts.values()),
  };
}

const NEVER = { downAt: Number.POSITIVE_INFINITY, upAt: Number.POSITIVE_INFINITY };

function readServices(body: string): Taken['services'] {
  const { data } = JSON.parse(body);
  const news = data.services.filter(({ told }: { told: boolean }) => !told);
  return news.map((item: { service: { slug: string }; status: string }) => ({
    slug: item.service.slug,
    status: item.status,
  }));
}

function endsOf({ services }: Taken): string[] {
  return services.filter(({ status }) => status === 'up').map(({ slug }) => slug);
}

/** Number of messages whose delivery is stored. */
function countSettled(dataDir: string): number {
  const database = new DatabaseSync(registryFile(dataDir), { readOnly: true });
  try {
    const row = database.prepare('SELECT count(delivered_at) AS n FROM alert_messages').get();
    return Number(row?.n ?? 0);
  } finally {
    database.close();
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
