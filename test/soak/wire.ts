/**
 * `npm run soak -- wire [--services 24] [--parts calm,starved]`: services in network namespaces of their own, each
 * connection counted by the servers themselves, go through scripted outages, while the program is left alone, stopped
 * again and again, starved, put to sleep, its wall clock set, or cut off. Counts the outages that servers really had
 * against what the API said of them. Ends with status 1 where one was missed, invented or called something else.
 */
import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openNetwork, withNamespaces } from '../support/network-namespaces.ts';
import { install } from '../support/program.ts';
import { stallProcess, workerOf } from '../support/stall.ts';
import { createWallClock } from '../support/wall-clock.ts';
import { judgePart, type Outage, type PartCount, rank, type Seen } from './wire/judge.ts';
import { OUTAGES, type OutageKind, startWireService, type WireService } from './wire/service.ts';

/** What the program lives through during a part of the trial; the function that it returns ends it. */
interface Disturbance {
  readonly outageMs: number;
  readonly isClockSteady?: boolean;
  begin(): () => unknown;
}

const INTERVAL_MS = 5_000;
const TIMEOUT_MS = 4_000;
const SLOW_OVER_MS = 1_500;
const POLL_MS = 200;
/** Answers of a slow service take so long, and half a second more for each next one. */
const SLOW_FROM_MS = 2_000;
/** All must be up again this long after the last outage of a part. */
const RECOVERY_MS = 90_000;
const HOUR_MS = 3_600_000;

const { values } = parseArgs({
  options: { services: { type: 'string', default: '24' }, parts: { type: 'string', default: '' } },
});
if (withNamespaces.skip !== undefined) {
  console.error(`NOT RUN: ${withNamespaces.skip}`);
  process.exit(1);
}
const ends: (() => unknown)[] = [];
const teardown = (end: () => unknown) => void ends.unshift(end);
const endAll = async () => {
  for (const end of ends.splice(0)) await end();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void endAll().then(() => process.exit(1)));

const network = await openNetwork({ teardown });
const controls = [await network.add(), await network.add()];
const closeControls = await Promise.all(
  controls.map((namespace) =>
    namespace.serve(
      createServer((_, response) => response.end()),
      80,
    ),
  ),
);
teardown(() => {
  for (const close of closeControls) close();
});
const services: WireService[] = [];
for (let index = 0; index < Number(values.services); index++)
  services.push(await startWireService(`service-${index}`, await network.add(), index % 3 === 0));
const home = await network.add();
const clock = createWallClock({ teardown }, Date.now(), 'UTC');
const installation = await install(
  services.map(({ entry }) => entry),
  {
    checks: {
      interval: `${INTERVAL_MS}ms`,
      timeout: `${TIMEOUT_MS}ms`,
      slowOver: `${SLOW_OVER_MS}ms`,
      confirmAfter: ['500ms', '1s'],
      firstSpread: '2s',
      threads: 2,
      allowPrivate: ['10.77.0.0/16'],
      controlTargets: controls.map(({ address }) => `http://${address}/`),
    },
  },
  clock.environment,
  ['setpriv', '--pdeathsig', 'KILL', ...home.enter],
);
teardown(() => installation.remove());
const port = Number(new URL(installation.siteUrl).port);
await home.expose(port, port);
const program = await installation.start();
teardown(() => program.killHard());
const worker = workerOf(program.process);

const stalled = (stoppedMs: number, runsMs: number) => (): (() => unknown) => {
  const stalls = stallProcess(worker, stoppedMs, runsMs);
  teardown(() => stalls.end());
  return () => stalls.end();
};
/** Does one thing, and later the other, again and again; ends with the other. */
const alternate = (one: () => void, oneMs: number, other: () => void, otherMs: number) => () => {
  let timer = setTimeout(first, otherMs);
  function first() {
    one();
    timer = setTimeout(second, oneMs);
  }
  function second() {
    other();
    timer = setTimeout(first, otherMs);
  }
  return () => {
    clearTimeout(timer);
    other();
  };
};
const DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  calm: { outageMs: 30_000, begin: () => () => {} },
  'stopped 350 ms every 2 s': { outageMs: 45_000, begin: stalled(350, 1_650) },
  'stopped 350 ms every 6 s': { outageMs: 45_000, begin: stalled(350, 5_650) },
  'stopped 350 ms every 12 s': { outageMs: 45_000, begin: stalled(350, 11_650) },
  'starved: runs 40 of 100 ms': { outageMs: 60_000, begin: stalled(60, 40) },
  'asleep 8 s of 30 s': { outageMs: 75_000, begin: stalled(8_000, 22_000) },
  'wall clock set by an hour every 10 s': {
    outageMs: 45_000,
    isClockSteady: false,
    begin: alternate(
      () => clock.set(Date.now() + HOUR_MS),
      10_000,
      () => clock.set(Date.now()),
      10_000,
    ),
  },
  'cut off for 15 s of 45 s': { outageMs: 90_000, begin: alternate(home.cut, 15_000, home.restore, 30_000) },
};

const seen: Seen[] = [];
const last = new Map<string, string>();
let polls = 0;
let failedPolls = 0;
let isOver = false;
const polling = poll();
await allUp();
const counts: PartCount[] = [];
const wanted = values.parts.split(',').filter((part) => part !== '');
for (const [part, [name, disturbance]] of Object.entries(DISTURBANCES).entries()) {
  if (wanted.length > 0 && !wanted.some((word) => name.includes(word))) continue;
  counts.push(await runPart(part, name, disturbance));
  report(counts.at(-1) as PartCount);
}
isOver = true;
await polling;
const bad = counts.reduce((sum, { missed, invented }) => sum + missed.length + invented.length, 0);
const outages = counts.reduce((sum, count) => sum + count.outages, 0);
const found = counts.reduce((sum, count) => sum + count.found, 0);
const connections = services.reduce((sum, service) => sum + service.connections.length, 0);
console.log(
  `${outages} outages, ${found} found, ${bad} missed or invented; ${connections} connections; ${polls} polls of the API, ${failedPolls} failed`,
);
process.exitCode = bad === 0 && outages > 0 ? 0 : 1;
await endAll();

/** Lets each service have an outage while the program is disturbed, and judges what the API said. */
async function runPart(part: number, name: string, disturbance: Disturbance): Promise<PartCount> {
  const delay = monitorEventLoopDelay();
  delay.enable();
  const from = seen.length;
  const printed = program.output().length;
  const end = disturbance.begin();
  const had = await Promise.all(
    services.map((service, index) => runOutage(service, index, part, disturbance)),
  );
  await end();
  await allUp();
  delay.disable();
  const offline = program.output().slice(printed).split('the prober is offline').length - 1;
  if (offline > 0) console.log(`(the program took itself for offline ${offline} times)`);
  const ownDelayMs = delay.max / 1e6;
  if (ownDelayMs > SLOW_OVER_MS / 2)
    console.log(`(the trial itself was late by up to ${ownDelayMs.toFixed(0)} ms)`);
  return judgePart(
    name,
    had,
    seen.slice(from),
    TIMEOUT_MS + INTERVAL_MS / 5,
    disturbance.isClockSteady ?? true,
  );
}

async function runOutage(
  service: WireService,
  index: number,
  part: number,
  { outageMs }: Disturbance,
): Promise<Outage> {
  const kinds = (Object.keys(OUTAGES) as OutageKind[]).filter(
    (kind) => service.secure || kind !== 'certificate',
  );
  const kind = kinds[(index + part * 5) % kinds.length] as OutageKind;
  await pause(3_000 + ((index * 7_919 + part * 104_729) % 10_000));
  const beganAt = Date.now();
  service.fail(kind, SLOW_FROM_MS + (index % 4) * 500);
  await pause(outageMs);
  const endedAt = Date.now();
  await service.mend();
  return { service, kind, beganAt, endedAt };
}

/** Resolves when the API says of every service that it is up. */
async function allUp(): Promise<void> {
  const limit = Date.now() + RECOVERY_MS;
  while (services.some(({ slug }) => last.get(slug)?.startsWith('up') !== true)) {
    if (Date.now() > limit) {
      const rest = services.filter(({ slug }) => last.get(slug)?.startsWith('up') !== true);
      throw new Error(`not up again: ${rest.map(({ slug }) => `${slug} ${last.get(slug)}`).join(', ')}`);
    }
    await pause(POLL_MS);
  }
}

/** Notes every status that the API shows, with what it says of its cause. */
async function poll(): Promise<void> {
  for (; !isOver; await pause(POLL_MS)) {
    polls++;
    try {
      const { body } = await program.get('/api/v1/services?limit=500');
      const list = (body as { services: { slug: string; status: string; since: string }[] }).services;
      for (const { slug, status, since } of list) {
        const words = `${status} ${since}`;
        if (last.get(slug) === words) continue;
        const seenAt = Date.now();
        const one = await program.get(`/api/v1/status/${slug}`);
        const { latest_check: latest } = one.body as {
          latest_check: { failure: { class: string } | null } | null;
        };
        last.set(slug, words);
        seen.push({ slug, status, since: Date.parse(since), seenAt, class: latest?.failure?.class ?? null });
      }
    } catch {
      failedPolls++;
    }
  }
}

function report({ name, outages, found, classRight, missed, invented, misnamed, ...times }: PartCount): void {
  const { foundAfterMs, datedWithinMs } = times;
  const seconds = (ratio: number) => (rank(foundAfterMs, ratio) / 1_000).toFixed(1);
  const dated = datedWithinMs.length === 0 ? '' : `; dated within ${rank(datedWithinMs, 1)} ms`;
  console.log(
    `${name}: ${found} of ${outages} found, ${invented.length} invented, ${classRight} of the right class; ` +
      `after ${seconds(0.5)} s (median), ${seconds(1)} s at most${dated}`,
  );
  for (const line of missed) console.log(`  MISSED ${line}`);
  for (const line of invented) console.log(`  INVENTED ${line}`);
  for (const line of misnamed) console.log(`  MISNAMED ${line}`);
}
