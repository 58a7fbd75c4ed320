/**
 * `npm run soak -- household [--minutes 60]`: a household of sixty things behind two routers, in real time, with a whole program that
 * checks servers on loopback by TCP and HTTP and sends its alerts to a webhook. Counts alerts, incidents and what counts as downtime: one
 * alert and one incident for each cause, none for what is behind it. Ends with status 1 where a number is wrong.
 */

import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { type Loopback, listenOn } from '../support/loopback.ts';
import { type Installation, install, type RunningProgram } from '../support/program.ts';
import { type PlannedOutage, planHousehold, planRound, ROUND_MINUTES, type Thing } from './household/plan.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' } } });
const MINUTE_MS = 60_000;
const MINUTES = Number(values.minutes);
/** What is told comes within it after the last outage: the next check, its re-checks, and what a busy machine adds. */
const LAST_WORDS_MS = MINUTE_MS;
/** An alert of an outage comes within it after the outage has ended. */
const LATE_MS = 30_000;

/** An alert or a recovery of a service. */
interface Told {
  readonly name: string;
  readonly event: string;
  readonly at: number;
}

const addressOf = (index: number) => `127.61.${Math.floor(index / 200)}.${1 + (index % 200)}`;
const isHttp = (index: number) => index % 3 === 0;

const slugFor = (things: readonly Thing[], name: string) =>
  addressOf(things.findIndex((one) => one.name === name)).replaceAll('.', '-');

const endings: (() => unknown)[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void end().finally(() => process.exit(1)));
try {
  await live();
} finally {
  await end();
}

/** Ends what was started, the newest first. */
async function end(): Promise<void> {
  for (const ending of endings.splice(0).reverse()) await ending();
}

async function live(): Promise<void> {
  const things = planHousehold();
  const house = await build(things);
  const told: Told[] = [];
  const hook = await listenOn(createHook(told, things));
  endings.push(hook.close);
  const installation = await install([], {
    catalogue: { file: 'none' },
    accounts: { trusted: ['home'] },
    checks: {
      interval: '20s',
      confirmAfter: ['1s', '2s'],
      firstSpread: '5s',
      trustedPrivate: ['127.0.0.0/8'],
    },
    limits: { minInterval: '1s', authenticatedPerMinute: 10_000 },
  });
  endings.push(() => installation.remove());
  const key = await describe(installation, things, house.portOf, hook.port);
  const program = await installation.start();
  endings.push(() => program.killHard());
  const ask = createClient(program, key);
  await untilAllUp(ask, things);
  const startedAt = Date.now();
  const outages = await play(house, startedAt);
  await pause(LAST_WORDS_MS);
  const problems = [
    ...judgeAlerts(outages, told, startedAt),
    ...(await judgePast(ask, things, outages, startedAt)),
  ];
  console.log(
    `${told.length} words to the channel in ${((Date.now() - startedAt) / MINUTE_MS).toFixed(0)} minutes`,
  );
  for (const problem of problems) console.error(`wrong: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}

/** Serves each thing on an address of its own; a thing works while it and all in front of it do. */
async function build(things: readonly Thing[]) {
  const failing = new Set<string>();
  const open = new Map<string, Loopback>();
  const ports = new Map<string, number>();
  const works = (name: string): boolean =>
    !failing.has(name) && (things.find((one) => one.name === name)?.behind.every(works) ?? true);
  const apply = async () => {
    for (const [index, { name }] of things.entries()) {
      const server = open.get(name);
      if (works(name) && server === undefined) {
        const next = await listenOn(serverOf(index), addressOf(index), ports.get(name) ?? 0);
        ports.set(name, next.port);
        open.set(name, next);
      } else if (!works(name) && server !== undefined) {
        open.delete(name);
        await server.close();
      }
    }
  };
  await apply();
  endings.push(() => Promise.all([...open.values()].map((server) => server.close())));
  return {
    portOf: (name: string) => ports.get(name) ?? 0,
    async turn(name: string, isDown: boolean) {
      if (isDown) failing.add(name);
      else failing.delete(name);
      await apply();
    },
  };
}

function serverOf(index: number): Server | HttpServer {
  return isHttp(index)
    ? createHttpServer((_, response) => response.end('ok'))
    : createServer((socket) => socket.end());
}

/** What the channel is told: of each service, what began or ended. */
function createHook(told: Told[], things: readonly Thing[]): HttpServer {
  const nameAt = (domain: string) => things.find((_, index) => addressOf(index) === domain)?.name ?? domain;
  return createHttpServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { data } = JSON.parse(Buffer.concat(chunks).toString());
    for (const { service, event, told: wasTold } of data.services ?? [])
      if (!wasTold) told.push({ name: nameAt(service.domain), event, at: Date.now() });
    response.writeHead(204).end();
  });
}

/** Gives the account its services, a channel and a rule. Returns a key. */
async function describe(
  installation: Installation,
  things: readonly Thing[],
  portOf: (name: string) => number,
  hookPort: number,
): Promise<string> {
  const key = await installation.makeKey('home');
  const slugOf = (name: string) => addressOf(things.findIndex((one) => one.name === name));
  const services = things.map(({ name, behind }, index) => ({
    domain: addressOf(index),
    name,
    category: 'developer',
    dependsOn: behind.map(slugOf),
    check: isHttp(index)
      ? { kind: 'http', url: `http://${addressOf(index)}:${portOf(name)}/` }
      : { kind: 'tcp', settings: { port: portOf(name) } },
  }));
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const settings = { url: `http://127.0.0.1:${hookPort}/`, secret };
  const file = join(installation.folder, 'home.yaml');
  const channels = [{ name: 'Hook', kind: 'webhook', settings }];
  const rules = [{ name: 'All', own: true, events: ['down', 'up'], channels: ['Hook'] }];
  writeFileSync(file, stringify({ services, channels, rules }));
  const trust = await installation.run('accounts', 'trust', 'home');
  const applied = await installation.run('apply', '-f', file, '--account', 'home');
  if (applied.status !== 0) throw new Error(`apply: ${trust.stderr}${applied.stdout}${applied.stderr}`);
  return key;
}

type Ask = <T>(path: string) => Promise<T>;

function createClient(program: RunningProgram, key: string): Ask {
  return async (path) => {
    const { status, body } = await program.get(path, { authorization: `Bearer ${key}` });
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body as never;
  };
}

async function untilAllUp(ask: Ask, things: readonly Thing[]): Promise<void> {
  const deadline = Date.now() + 3 * MINUTE_MS;
  for (const { name } of things) {
    for (;;) {
      const { status } = await ask<{ status: string }>(`/api/v1/services/${slugFor(things, name)}`);
      if (status === 'up') break;
      if (Date.now() > deadline) throw new Error(`${name} is ${status}`);
      await pause(1_000);
    }
  }
}

/** Lets things fail as planned; what would end after the time is left out. Returns the outages. */
async function play(
  house: { turn(name: string, isDown: boolean): Promise<void> },
  startedAt: number,
): Promise<readonly PlannedOutage[]> {
  const rounds = Array.from({ length: Math.ceil(MINUTES / ROUND_MINUTES) }, (_, round) =>
    planRound(round).map((one) => ({
      ...one,
      from: one.from + round * ROUND_MINUTES,
      to: one.to + round * ROUND_MINUTES,
    })),
  );
  const outages = rounds.flat().filter(({ to }) => to <= MINUTES);
  const turns = outages
    .flatMap(({ name, from, to }) => [
      { name, at: from, isDown: true },
      { name, at: to, isDown: false },
    ])
    .sort((a, b) => a.at - b.at);
  for (const { name, at, isDown } of turns) {
    await pause(Math.max(0, startedAt + at * MINUTE_MS - Date.now()));
    await house.turn(name, isDown);
  }
  await pause(Math.max(0, startedAt + MINUTES * MINUTE_MS - Date.now()));
  return outages;
}

/** One alert and one recovery for each cause, and no other word. */
function judgeAlerts(outages: readonly PlannedOutage[], told: readonly Told[], startedAt: number): string[] {
  const left = [...told];
  const problems: string[] = [];
  const take = (name: string, event: string, fromMs: number, toMs: number): number | null => {
    const found = left.findIndex(
      (one) => one.name === name && one.event === event && one.at >= fromMs && one.at <= toMs,
    );
    return found === -1 ? null : (left.splice(found, 1)[0]?.at ?? null);
  };
  const at = (minutes: number) => startedAt + minutes * MINUTE_MS;
  console.log('| minute | what failed | alerts expected | told | after |\n| --- | --- | --- | --- | --- |');
  for (const { name, from, to, isCause, about } of outages) {
    const alertAt = isCause ? take(name, 'down', at(from), at(to) + LATE_MS) : null;
    const upAt = isCause ? take(name, 'up', at(to), Number.POSITIVE_INFINITY) : null;
    const after = alertAt === null ? '–' : `${Math.round((alertAt - at(from)) / 1_000)} s`;
    console.log(
      `| ${from} to ${to} | ${about} (${name}) | ${isCause ? 1 : 0} | ${alertAt === null ? 0 : 1} | ${after} |`,
    );
    if (isCause && alertAt === null) problems.push(`no alert of ${name} at minute ${from}`);
    if (isCause && upAt === null) problems.push(`no recovery of ${name} at minute ${to}`);
  }
  for (const { name, event, at: when } of left)
    problems.push(`${event} of ${name} at minute ${((when - startedAt) / MINUTE_MS).toFixed(1)}`);
  return problems;
}

/** One incident for each cause, and no downtime but that of causes. */
async function judgePast(
  ask: Ask,
  things: readonly Thing[],
  outages: readonly PlannedOutage[],
  startedAt: number,
): Promise<string[]> {
  const problems: string[] = [];
  let [incidents, downs, leftOut] = [0, 0, 0];
  for (const { name } of things) {
    const slug = slugFor(things, name);
    const own = outages.filter((one) => one.name === name && one.isCause).length;
    const past = await ask<{ incidents: unknown[] }>(`/api/v1/incidents/${slug}`);
    const from = new Date(startedAt).toISOString();
    const { buckets: data } = await ask<{ buckets: { down: number; suspect: number }[] }>(
      `/api/v1/services/${slug}/history?from=${from}`,
    );
    const down = data.reduce((sum, bucket) => sum + bucket.down, 0);
    incidents += past.incidents.length;
    downs += down;
    leftOut += data.reduce((sum, bucket) => sum + bucket.suspect, 0);
    if (past.incidents.length !== own)
      problems.push(`${past.incidents.length} incidents of ${name}, ${own} expected`);
    if (own === 0 && down > 0) problems.push(`${down} failed checks of ${name} count`);
    if (own > 0 && down === 0) problems.push(`no failed check of ${name} counts`);
  }
  console.log(`${incidents} incidents; ${downs} failed checks count, ${leftOut} are left out`);
  return problems;
}
