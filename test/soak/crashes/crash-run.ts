/** Kills the whole program (`-9`) at random moments under load, and compares its stores with what its clients were told. */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApiKey } from '../../../src/auth/api-keys.ts';
import type { Registry } from '../../../src/store/ports/registry.ts';
import { listenOn } from '../../support/loopback.ts';
import { install, type RunningProgram } from '../../support/program.ts';
import { workerOf } from '../../support/stall.ts';
import { CREATED_BY_KEY, startLoad } from './crash-load.ts';
import type { CrashStores } from './crash-stores.ts';
import { judgeRegistry, judgeSamples } from './crash-verdict.ts';

/** What to do. */
export interface CrashOptions {
  readonly stores: CrashStores;
  readonly kills: number;
  /** Returns numbers from 0 to 1. */
  readonly random: () => number;
  /** Called after each kill, with its number. */
  readonly onKill: (kill: number) => void;
}

/** What came of it. */
export interface CrashCount {
  readonly kills: number;
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
/** More services than are created in the life of a program. */
const CREATED_A_KILL = 40;
/** A program that was killed starts again after a second, and needs two. */
const MAX_START_MS = 3_000;

/** Runs the trial. */
export async function runCrashes({ stores, kills, random, onKill }: CrashOptions): Promise<CrashCount> {
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
    limits: { authenticatedPerMinute: 1_000_000, domainsPerAccount: 100_000 },
    heartbeats: { silence: '1h' },
    ...stores.settings,
  });
  const dataDir = join(installation.folder, 'data');
  const wrong: string[] = [];
  const killedAt: number[] = [];
  let atStart = 0;
  let program: RunningProgram | null = null;
  try {
    program = await installation.start();
    const keys = await makeKeys(
      await stores.openRegistry(dataDir),
      Math.ceil((kills * CREATED_A_KILL) / CREATED_BY_KEY),
    );
    const load = startLoad({ siteUrl: installation.siteUrl, keys, domains: DOMAINS });
    const noteKill = () => onKill(killedAt.push(performance.now()));
    // What is wrong once stays so.
    while (killedAt.length < kills && wrong.length === 0) {
      await sleep(random() * MAX_LIFE_MS);
      if (random() < START_PART && killedAt.length + 2 <= kills) {
        process.kill(workerOf(program.process), 'SIGKILL');
        noteKill();
        await sleep(random() * MAX_START_MS);
        atStart += 1;
      }
      await program.killHard();
      noteKill();
      const found = [
        ...stores.findDamage(dataDir),
        ...program
          .output()
          .split('\n')
          .filter((line) => line.includes('damaged')),
        ...judgeRegistry(await stores.readFacts(dataDir), load),
        ...load.contradictions,
      ];
      wrong.push(...found.map((line) => `kill ${killedAt.length}: ${line}`));
      program = await installation.start();
    }
    await load.stop();
    const status = await program.stop();
    if (status !== 0) wrong.push(`it ended with status ${status}`);
    const facts = await stores.readFacts(dataDir);
    wrong.push(...judgeRegistry(facts, load));
    const senders = facts.services.filter(({ domain }) => DOMAINS.includes(domain)).map(({ id }) => id);
    const times = await stores.readSampleTimes(dataDir, senders);
    const samples = judgeSamples(times, facts.services, load.beats, killedAt);
    return {
      ...{ kills: killedAt.length, atStart, refusals: load.refusals },
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
