/** Kills the whole program (`-9`) at random and at chosen moments under load, and compares its stores with what its clients were told. */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApiKey } from '../../../src/auth/api-keys.ts';
import { messageOf } from '../../../src/error.ts';
import type { Registry } from '../../../src/store/ports/registry.ts';
import { listenOn } from '../../support/loopback.ts';
import { install, type RunningProgram } from '../../support/program.ts';
import { workerOf } from '../../support/stall.ts';
import { createAim, type Deed, spin } from './crash-aim.ts';
import { CREATED_BY_KEY, startLoad } from './crash-load.ts';
import type { CrashStores } from './crash-stores.ts';
import { judgeRegistry, judgeSamples } from './crash-verdict.ts';

/** What to do. */
export interface CrashOptions {
  readonly stores: CrashStores;
  readonly kills: number;
  /** Returns numbers from 0 to 1. */
  readonly random: () => number;
  /** Ends the trial before the next kill; what came of it until then is judged. Absent: never. */
  readonly signal?: AbortSignal;
  /** Called after each kill, with its number and how its moment was chosen. */
  readonly onKill: (kill: number, moment: KillMoment) => void;
}

/** At random, at a start of the program, or at the commit of a deed. */
export type KillMoment = 'random' | 'start' | Deed;

/** What came of it. */
export interface CrashCount {
  readonly kills: number;
  /** Kills at the commit of a deed. */
  readonly aimed: number;
  /** Kills that hit a program at its start. */
  readonly atStart: number;
  readonly beats: number;
  readonly created: number;
  readonly transitions: number;
  readonly samples: number;
  /** Samples of acknowledged heartbeats that the last second before a kill has cost. */
  readonly unflushed: number;
  /** The oldest of them was acknowledged so long before the kill, milliseconds. */
  readonly oldestUnflushedMs: number;
  readonly refusals: ReadonlyMap<string, number>;
  readonly wrong: readonly string[];
}

const SERVICES = 20;
const DOMAINS = Array.from({ length: 6 }, (_, index) => `job-${index}.example.org`);
/** A service fails and recovers in turns of so many milliseconds, each service at times of its own. */
const TURN_MS = 1_700;
/** After it is ready, a program lives for so long at the most. */
const MAX_LIFE_MS = 2_000;
/** The part of the kills that end only the program, and then, while it starts again, it and its parent. */
const START_PART = 0.2;
/** The part of the kills that are aimed at the commit of a deed. */
const AIMED_PART = 0.4;
/** A deed is waited for so long at the most; services fail and are created more often than this. */
const MAX_AIM_MS = 5_000;
/** After a commit, the kill waits for so long at the most. */
const AFTER_COMMIT_MS = 1.5;
/** The trial's patience with a start, on a machine that is busy. */
const READY_WITHIN_MS = 300_000;
/** More services than are created in the life of a program. */
const CREATED_A_KILL = 40;
/** A program that was killed starts again after a second, and needs two. */
const MAX_START_MS = 3_000;

/** Runs the trial. */
export async function runCrashes({
  stores,
  kills,
  random,
  signal,
  onKill,
}: CrashOptions): Promise<CrashCount> {
  const aim = createAim();
  const site = await listenOn(
    createServer((request, response) => {
      const index = Number(request.url?.slice(1)) || 0;
      const turn = Math.floor((performance.now() + index * 331) / TURN_MS);
      response.writeHead(turn % 2 === 0 ? 200 : 503).end();
    }),
  );
  const entries = Array.from({ length: SERVICES }, (_, index) => ({
    slug: `s${index}`,
    check: { url: `http://127.0.0.1:${site.port}/${index}`, method: 'GET' },
  }));
  const installation = await install(entries, {
    limits: { authenticatedPerMinute: 1_000_000, changesPerAccount: 1_000_000, domainsPerAccount: 100_000 },
    heartbeats: { silence: '1h' },
    ...stores.settings,
  });
  const dataDir = join(installation.folder, 'data');
  const wrong: string[] = [];
  const killedAt: number[] = [];
  let atStart = 0;
  let aimed = 0;
  let program: RunningProgram | null = null;
  const start = () => installation.start(undefined, READY_WITHIN_MS);

  const noteKill = (moment: KillMoment) => onKill(killedAt.push(performance.now()), moment);

  /** Waits for the moment of the next kill. `left`: kills that are left. */
  const untilMoment = async (running: RunningProgram, left: number): Promise<KillMoment> => {
    await sleep(random() * MAX_LIFE_MS);
    const choice = random();
    if (choice < START_PART && left >= 2) {
      process.kill(workerOf(running.process), 'SIGKILL');
      noteKill('random');
      await sleep(random() * MAX_START_MS);
      atStart += 1;
      return 'start';
    }
    if (choice < 1 - AIMED_PART) return 'random';
    const deed = random() < 0.5 ? 'transition' : 'creation';
    const count = 1 + Math.floor(random() * stores.commitAmong);
    // Before the deed, since its commit follows soon.
    const commits = await stores.watchCommits(dataDir);
    if (!(await aim.until(deed, commits, count, MAX_AIM_MS))) return 'random';
    spin(random() * AFTER_COMMIT_MS);
    aimed += 1;
    return deed;
  };
  try {
    program = await start();
    const keys = await makeKeys(
      await stores.openRegistry(dataDir),
      Math.ceil((kills * CREATED_A_KILL) / CREATED_BY_KEY),
    );
    const load = startLoad({
      ...{ siteUrl: installation.siteUrl, keys, domains: DOMAINS },
      onDeed: aim.note,
    });
    // What is wrong once stays so.
    while (killedAt.length < kills && wrong.length === 0 && signal?.aborted !== true) {
      const moment = await untilMoment(program, kills - killedAt.length);
      await program.killHard();
      noteKill(moment);
      const found = [
        ...stores.findDamage(dataDir),
        ...program
          .output()
          .split('\n')
          .filter((line) => line.includes('damaged')),
        ...judgeRegistry(await stores.readFacts(dataDir), load),
        ...new Set(load.contradictions),
      ];
      wrong.push(...found.map((line) => `kill ${killedAt.length} (${moment}): ${line}`));
      program = await start().catch((error: unknown) => {
        wrong.push(`kill ${killedAt.length} (${moment}): it does not start: ${messageOf(error)}`);
        return null;
      });
      if (program === null) break;
    }
    await load.stop();
    const status = await program?.stop();
    if (program !== null && status !== 0) wrong.push(`it ended with status ${status}`);
    const facts = await stores.readFacts(dataDir);
    wrong.push(...judgeRegistry(facts, load));
    const senders = facts.services.filter(({ domain }) => DOMAINS.includes(domain)).map(({ id }) => id);
    const times = await stores.readSampleTimes(dataDir, senders);
    const samples = judgeSamples(times, facts.services, load.beats, killedAt);
    return {
      ...{ kills: killedAt.length, atStart, aimed, refusals: load.refusals },
      ...{ beats: load.beats.length, created: load.created.size, transitions: facts.transitions.length },
      ...{
        samples: samples.samples,
        unflushed: samples.unflushed,
        oldestUnflushedMs: Math.round(samples.oldestMs),
      },
      wrong: [...wrong, ...samples.wrong],
    };
  } finally {
    await program?.killHard();
    installation.remove();
    await site.close();
  }
}

/** Makes an account with a key for everything, so often. */
async function makeKeys(registry: Registry, count: number): Promise<string[]> {
  const keys: string[] = [];
  for (let n = 0; n < count; n++) {
    const order = { account: `account-${n}`, name: 'trial', expiresAt: null, now: Date.now() };
    keys.push((await createApiKey(registry, { ...order, scopes: ['heartbeat', 'write'] })).key);
  }
  await registry.close();
  return keys;
}
