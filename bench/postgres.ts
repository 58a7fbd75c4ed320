/**
 * The registry in PostgreSQL beside that in SQLite: `node bench/postgres.ts`. Heartbeats that are on disk before they are
 * answered, through the record from a thousand services; and judgements that change nothing but the latest check, a
 * thousand in a commit as the record commits them. Starts Debian's PostgreSQL on a free port of loopback, with the
 * durability that it has by default; without one there are no rows.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/clock.ts';
import type { RegistryClient } from '../src/store/registry/registry-client.ts';
import { createDatabase, NEEDS_POSTGRES, startPostgres } from '../test/support/postgres-server.ts';
import { openWorld } from './heartbeats.ts';
import { absent, type BenchRow, median, printRows } from './row.ts';
import { sendConcurrently } from './send-concurrently.ts';

const ROUNDS = 5;
const SERVICES = 1_000;
const HEARTBEATS = 5_000;
const AT_ONCE = 256;
const COMMITS = 20;

const STORES = ['SQLite', 'PostgreSQL'] as const;

/** Runs the benchmark, prints its table and returns its lines. Takes under half a minute. */
export async function run(): Promise<BenchRow[]> {
  if ('skip' in NEEDS_POSTGRES) return [absent('registry in PostgreSQL', NEEDS_POSTGRES.skip)];
  const ends: (() => unknown)[] = [];
  const server = await startPostgres({ teardown: (end) => void ends.unshift(end) }, { durable: true });
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-'));
  try {
    await createDatabase(server.url('postgres'), 'upbeat');
    const worlds = [
      await openWorld(join(folder, 'sqlite')),
      await openWorld(join(folder, 'postgres'), server.url('upbeat')),
    ];
    const heartbeats: number[][] = worlds.map(() => []);
    const judgements: number[][] = worlds.map(() => []);
    for (const world of worlds) await sendConcurrently(SERVICES, AT_ONCE, world.take);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, world] of worlds.entries()) {
        heartbeats[index]?.push(await sendConcurrently(HEARTBEATS, AT_ONCE, world.take));
        judgements[index]?.push(await commitJudgements(world.registry));
      }
    }
    for (const world of worlds) await world.close();
    const rows = [
      ...compare('heartbeats, durable, by the record', 'heartbeats/s', heartbeats, 5_000),
      ...compare('judgements, a thousand in a commit', 'judgements/s', judgements, 20_000),
    ];
    printRows(rows);
    return rows;
  } finally {
    for (const end of ends) await end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Commits a newer check of every service, again and again; how many a second. */
async function commitJudgements(registry: RegistryClient): Promise<number> {
  const states = await registry.loadServices();
  const startedMs = performance.now();
  for (let commit = 0; commit < COMMITS; commit++) {
    const now = systemClock.now();
    await registry.commitUpdates(
      states.map(({ service, current }) => ({
        serviceId: service.id,
        expectedSeq: current.seq,
        current: { ...current, observedAt: now + commit },
        recordedAt: now,
        transition: null,
        incident: null,
        memory: null,
      })),
    );
  }
  return (COMMITS * states.length) / ((performance.now() - startedMs) / 1_000);
}

/** A line for each store; the target is PostgreSQL's. */
function compare(name: string, unit: string, rates: readonly number[][], target: number): BenchRow[] {
  const [embedded = Number.NaN, ...others] = rates.map(median);
  return [embedded, ...others].map((value, index) => ({
    name: `registry in ${STORES[index]}: ${name}`,
    value,
    unit,
    ratio: index === 0 ? null : value / embedded,
    target: index === 0 ? null : `>= ${target.toLocaleString('en')}/s`,
    reached: index === 0 ? null : value >= target,
  }));
}

if (import.meta.main) await run();
