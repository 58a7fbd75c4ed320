/**
 * `upbeat apply` of 10,000 services from one YAML file: `node bench/apply.ts`. Each run is a process of its own, as an operator
 * starts it: the first time, again without changes, and with a change of each service. Over SQLite and over Debian's
 * PostgreSQL on loopback with its usual durability; without one there are no rows of it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createDatabase, NEEDS_POSTGRES, startPostgres } from '../test/support/postgres-server.ts';
import { absent, atMost, type BenchRow, floor, median, printRows } from './row.ts';

const SERVICES = 10_000;
const ROUNDS = 3;
const FIRST_MAX_S = 20;
const UNCHANGED_MAX_S = 3;
const CLI = join(import.meta.dirname, '../bin/upbeat.mjs');

/** Runs the benchmark, prints its table and returns its lines. Takes about two minutes. */
export async function run(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-'));
  const ends: (() => unknown)[] = [];
  try {
    const rows = await measure(folder, 'SQLite', async () => null);
    if ('skip' in NEEDS_POSTGRES) rows.push(absent('apply over PostgreSQL', NEEDS_POSTGRES.skip));
    else {
      const server = await startPostgres({ teardown: (end) => void ends.unshift(end) }, { durable: true });
      const makeDatabase = async (round: number) => {
        await createDatabase(server.url('postgres'), `upbeat_${round}`);
        return server.url(`upbeat_${round}`);
      };
      rows.push(...(await measure(folder, 'PostgreSQL', makeDatabase)));
    }
    return [...printRows(rows)];
  } finally {
    for (const end of ends) await end();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(
  folder: string,
  store: string,
  makeDatabase: (round: number) => Promise<string | null>,
): Promise<BenchRow[]> {
  const seconds: { first: number[]; unchanged: number[]; changed: number[] } = {
    first: [],
    unchanged: [],
    changed: [],
  };
  const [file, changed] = [join(folder, 'services.yaml'), join(folder, 'changed.yaml')];
  writeFileSync(file, stringify({ services: makeServices('/health') }));
  writeFileSync(changed, stringify({ services: makeServices('/healthz') }));
  for (let round = 0; round < ROUNDS; round++) {
    const url = await makeDatabase(round);
    const config = join(folder, 'upbeat.yaml');
    const storage = {
      dataDir: join(folder, `${store}-${round}`),
      ...(url === null ? {} : { postgres: { url } }),
    };
    writeFileSync(config, stringify({ storage }));
    seconds.first.push(await apply(config, file));
    seconds.unchanged.push(await apply(config, file));
    seconds.changed.push(await apply(config, changed));
  }
  const name = `apply of ${SERVICES.toLocaleString('en')} services over ${store}`;
  return [
    atMost(`${name}, first time`, median(seconds.first), 's', FIRST_MAX_S),
    atMost(`${name}, unchanged`, median(seconds.unchanged), 's', UNCHANGED_MAX_S),
    floor(`${name}, each changed`, median(seconds.changed), 's'),
  ];
}

function makeServices(path: string): object[] {
  return Array.from({ length: SERVICES }, (_, index) => ({
    domain: `host-${index}.shop.example`,
    name: `Host ${index}`,
    category: 'ecommerce',
    check: { kind: 'http', interval: '1m', accept: ['2xx', 401], settings: { path } },
  }));
}

/** Runs the command; how long it takes, seconds. */
async function apply(config: string, file: string): Promise<number> {
  const startedMs = performance.now();
  const words = ['apply', '--config', config, '--account', 'bench', '-f', file];
  const child = spawn(process.execPath, [CLI, ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`apply ended with status ${code}`);
  return (performance.now() - startedMs) / 1_000;
}

if (import.meta.main) await run();
