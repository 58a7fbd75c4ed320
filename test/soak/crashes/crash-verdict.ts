/** Compares the files of a program that was killed with what its clients were told. */
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Sample } from '../../../src/domain/sample.ts';
import { registryFile } from '../../../src/store/registry/registry-database.ts';
import { createSampleEngine } from '../../../src/store/samples/sample-engine.ts';
import { openSamplesDatabase } from '../../../src/store/samples/samples-database.ts';
import { findLogDamage } from '../../../src/store/sqlite/log-damage.ts';
import type { AcknowledgedBeat, CrashLoad } from './crash-load.ts';

/** What the registry has. */
export interface RegistryFacts {
  /** In order of their positions. */
  readonly transitions: readonly TransitionFact[];
  readonly services: readonly ServiceFact[];
  /** The newest heartbeats of each service, at most a hundred, in no order. */
  readonly heartbeats: readonly { readonly domain: string; readonly timestamp: number }[];
  /** Identifiers of own incidents. */
  readonly incidents: readonly string[];
}

interface TransitionFact {
  readonly position: number;
  readonly serviceId: number;
  readonly seq: number;
  readonly from: string;
  readonly to: string;
}

interface ServiceFact {
  readonly id: number;
  readonly domain: string;
  readonly status: string;
  readonly seq: number;
}

/** Heartbeats of a service that are kept, and by which an acknowledged one must be among them. */
const KEPT_BEATS = 100;
/** A kill loses samples of less than this time: they are committed every half second, which a busy machine delays. */
const UNFLUSHED_MS = 5_000;
const DAY_MS = 86_400_000;

/** Reads the registry of a data directory past the program. */
export function readRegistryFacts(dataDir: string): RegistryFacts {
  const database = new DatabaseSync(registryFile(dataDir));
  try {
    const all = <Row>(sql: string) => database.prepare(sql).all() as unknown as Row[];
    return {
      transitions: all(
        `SELECT position, service_id AS serviceId, seq, from_status AS "from", to_status AS "to"
         FROM transitions ORDER BY position`,
      ),
      services: all(
        'SELECT id, domain, status, current.seq AS seq FROM services JOIN current ON service_id = id',
      ),
      heartbeats: all(
        'SELECT domain, timestamp FROM heartbeats JOIN services ON services.id = heartbeats.id / 100',
      ),
      incidents: all<{ id: string }>("SELECT id FROM incidents WHERE source = 'own'").map(({ id }) => id),
    };
  } finally {
    database.close();
  }
}

/** Reads the registry of a program that was killed, from a copy in `folder`: the program itself is to find its files as they are. */
export function readKilledRegistry(dataDir: string, folder: string): RegistryFacts {
  mkdirSync(folder, { recursive: true });
  try {
    for (const end of ['', '-wal'])
      if (existsSync(registryFile(dataDir) + end))
        copyFileSync(registryFile(dataDir) + end, registryFile(folder) + end);
    return readRegistryFacts(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** No file may be taken for damaged after a kill, neither now nor when the program began with it. */
export function judgeFiles(dataDir: string, output: string): string[] {
  const damaged = ['registry.sqlite', 'samples.sqlite'].filter(
    (name) => findLogDamage(join(dataDir, name)) !== null,
  );
  return [
    ...damaged.map((name) => `${name}-wal is taken for damaged`),
    ...output.split('\n').filter((line) => /damaged/.test(line)),
  ];
}

/** What of the registry contradicts the clients, or itself: sentences, none where all is right. */
export function judgeRegistry(
  facts: RegistryFacts,
  load: Pick<CrashLoad, 'beats' | 'created' | 'asked'>,
): string[] {
  return [...judgeTransitions(facts), ...judgeBeats(facts, load.beats), ...judgeCreated(facts, load)];
}

function judgeTransitions({ transitions, services, incidents }: RegistryFacts): string[] {
  const wrong: string[] = [];
  const last = new Map<number, TransitionFact>();
  for (const [index, transition] of transitions.entries()) {
    const { position, serviceId, seq, from, to } = transition;
    const before = last.get(serviceId);
    last.set(serviceId, transition);
    if (position !== index + 1) wrong.push(`position ${index + 1} of the transitions is ${position}`);
    if (seq !== (before?.seq ?? 0) + 1) wrong.push(`service ${serviceId}: ${seq} follows ${before?.seq}`);
    if (from !== (before?.to ?? 'unknown') || from === to)
      wrong.push(`service ${serviceId}: ${from} to ${to} follows ${before?.to}`);
  }
  for (const { id, domain, status, seq } of services) {
    const { seq: told = 0, to = 'unknown' } = last.get(id) ?? {};
    if (told !== seq || to !== status)
      wrong.push(`${domain} is ${status} (${seq}) beside its transition to ${to} (${told})`);
  }
  if (new Set(incidents).size !== incidents.length) wrong.push('an incident is there twice');
  return wrong;
}

function judgeBeats({ heartbeats }: RegistryFacts, beats: readonly AcknowledgedBeat[]): string[] {
  const wrong: string[] = [];
  const stored = groupBy(heartbeats, ({ domain }) => domain);
  for (const [domain, told] of groupBy(beats, (beat) => beat.domain)) {
    const times = (stored.get(domain) ?? []).map(({ timestamp }) => timestamp);
    const kept = new Set(times);
    if (kept.size !== times.length) wrong.push(`${domain}: a heartbeat is there twice`);
    // Heartbeats that were not acknowledged may have taken places of the hundred.
    const oldest = Math.min(...times);
    const missing = told
      .slice(-KEPT_BEATS)
      .filter(({ timestamp }) => timestamp >= oldest && !kept.has(timestamp));
    if (missing.length > 0 || times.length === 0)
      wrong.push(`${domain} lost ${missing.length} acknowledged heartbeats`);
  }
  return wrong;
}

function judgeCreated(
  { services }: RegistryFacts,
  { created, asked }: Pick<CrashLoad, 'created' | 'asked'>,
): string[] {
  const domains = services.map(({ domain }) => domain).filter((domain) => domain.startsWith('made-'));
  const present = new Set(domains);
  const wrong = [...created].filter((domain) => !present.has(domain)).map((domain) => `${domain} was lost`);
  if (present.size !== domains.length) wrong.push('a service was created twice');
  return [
    ...wrong,
    ...domains.filter((domain) => !asked.has(domain)).map((domain) => `nobody asked for ${domain}`),
  ];
}

/** Acknowledged heartbeats without a sample, and how many of them a kill explains. */
export interface SampleVerdict {
  /** Lost with the last second before a kill. */
  readonly unflushed: number;
  /** The oldest of them was acknowledged so long before the kill, milliseconds. */
  readonly oldestMs: number;
  readonly samples: number;
  readonly wrong: readonly string[];
}

/** Compares the sample store with the heartbeats. `killedAt`: monotonic milliseconds, ascending. */
export function judgeSamples(
  dataDir: string,
  services: readonly ServiceFact[],
  beats: readonly AcknowledgedBeat[],
  killedAt: readonly number[],
): SampleVerdict {
  const engine = createSampleEngine({
    database: openSamplesDatabase(dataDir),
    ...{ rawRetentionMs: 90 * DAY_MS, rollupRetentionMs: 730 * DAY_MS, now: Date.now },
  });
  const wrong: string[] = [];
  let [unflushed, oldestMs, samples] = [0, 0, 0];
  try {
    for (const [domain, told] of groupBy(beats, (beat) => beat.domain)) {
      const id = services.find((service) => service.domain === domain)?.id ?? 0;
      const stored: readonly Sample[] = engine.newest(id, Number.MAX_SAFE_INTEGER);
      const times = new Set(stored.map(({ at }) => at));
      samples += stored.length;
      if (times.size !== stored.length) wrong.push(`${domain}: a sample is there twice`);
      const missing = told.filter(({ timestamp }) => !times.has(timestamp));
      const agesMs = missing.map(
        ({ answeredMs }) =>
          (killedAt.find((at) => at >= answeredMs - 5) ?? Number.POSITIVE_INFINITY) - answeredMs,
      );
      const explained = agesMs.filter((ageMs) => ageMs <= UNFLUSHED_MS);
      unflushed += explained.length;
      oldestMs = Math.max(oldestMs, ...explained);
      const unexplained = agesMs.filter((ageMs) => ageMs > UNFLUSHED_MS);
      if (unexplained.length > 0)
        wrong.push(`${domain}: ${unexplained.length} samples of heartbeats were lost`);
    }
  } finally {
    engine.close();
  }
  return { unflushed, oldestMs, samples, wrong };
}

function groupBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(nameOf(item));
    if (group === undefined) groups.set(nameOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
