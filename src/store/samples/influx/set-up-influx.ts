/**
 * InfluxDB for `upbeat doctor`: the test, which writes a point and reads it back, and `--setup`, which creates what is
 * missing. What exists is never changed, only reported.
 */
import { randomInt } from 'node:crypto';
import { systemClock } from '../../../clock.ts';
import { DAY_MS, formatDuration, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../domain/durations.ts';
import { messageOf } from '../../../error.ts';
import {
  type InfluxLink,
  type InfluxQueries,
  type InfluxTable,
  numberReader,
  openInfluxLink,
} from './influx-link.ts';
import { adviceFor, InfluxError, type InfluxSettings } from './influx-settings.ts';
import { keptText, type SetupStep, setUpBucket } from './set-up-bucket.ts';

/**
 * Creates database and retention policy (`v1`), or bucket and mapping of the database for InfluxQL (`v2`). Points are
 * kept for `retentionMs`. Never rejects: a failure is the last step.
 */
export async function setUpInflux(settings: InfluxSettings, retentionMs: number): Promise<SetupStep[]> {
  const steps: SetupStep[] = [];
  try {
    const byBuckets = settings.api === 'v2' && (await setUpBucket(settings, retentionMs, steps));
    // InfluxDB 1.8 is written to like version 2, and set up like version 1.
    if (!byBuckets) await setUpDatabase(openInfluxLink(settings), settings.bucket, retentionMs, steps);
  } catch (error) {
    const advice = adviceFor(error instanceof InfluxError ? error.fault : 'other', settings);
    steps.push({ what: 'server', made: false, found: messageOf(error), advice });
  }
  return steps;
}

/** Name of the retention policy that is created; what is written without a name goes to the default one. */
const POLICY = 'upbeat';

/** Creates what is missing in InfluxDB 1 and adds a step for each thing. Names in statements are quoted. Rejects as the link does. */
async function setUpDatabase(
  link: InfluxLink,
  database: string,
  retentionMs: number,
  steps: SetupStep[],
): Promise<void> {
  const hasDatabase = async (): Promise<boolean> => {
    const [databases] = await link.query(['SHOW DATABASES']);
    return (databases?.rows ?? []).some(([one]) => one === database);
  };
  const made = (what: SetupStep['what'], found: string) =>
    steps.push({ what, made: true, found, advice: null });
  const name = quoteName(database);
  const terms = `DURATION ${Math.ceil(retentionMs)}ms REPLICATION 1`;
  const kept = formatDuration(retentionMs);
  if (!(await hasDatabase())) {
    await link.query([`CREATE DATABASE ${name} WITH ${terms} NAME ${quoteName(POLICY)}`]);
    // VictoriaMetrics accepts every statement.
    if (await hasDatabase()) made('database', `${database} was made, and keeps points for ${kept}`);
    else {
      const found = 'it takes points and has no databases';
      steps.push({ what: 'server', made: false, found, advice: null });
    }
    return;
  }
  steps.push({ what: 'database', made: false, found: `${database} is there`, advice: null });
  const [policies] = await link.query([`SHOW RETENTION POLICIES ON ${name}`]);
  const policy = defaultPolicy(policies ?? null);
  if (policy === null) {
    await link.query([`CREATE RETENTION POLICY ${quoteName(POLICY)} ON ${name} ${terms} DEFAULT`]);
    made('retention', `${POLICY} was made the default policy, and keeps points for ${kept}`);
    return;
  }
  steps.push({
    what: 'retention',
    made: false,
    found: `the default policy ${policy.name} keeps points ${keptText(policy.durationMs)}`,
    advice:
      policy.durationMs === retentionMs
        ? null
        : `storage.rawRetention is ${kept}: set it to what the server does, or run ALTER RETENTION POLICY ${quoteName(policy.name)} ON ${name} DURATION ${Math.ceil(retentionMs / HOUR_MS)}h SHARD DURATION ${shardOf(retentionMs)}`,
  });
}

function defaultPolicy(table: InfluxTable | null): { name: string; durationMs: number } | null {
  const place = (column: string) => table?.columns.indexOf(column) ?? -1;
  const row = table?.rows.find((values) => values[place('default')] === true);
  if (row === undefined) return null;
  return { name: String(row[place('name')]), durationMs: parseGoDuration(String(row[place('duration')])) };
}

/** The shard duration that the server chooses for a new policy; that of the old one may be too long for the new duration. */
function shardOf(retentionMs: number): string {
  const days = retentionMs / DAY_MS;
  return days < 2 ? '1h' : days <= 180 ? '1d' : '7d';
}

/** Parses a duration in the format of Go, such as `2160h0m0s`, into milliseconds. */
function parseGoDuration(text: string): number {
  const units: Readonly<Record<string, number>> = { h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS, ms: 1 };
  return [...text.matchAll(/([\d.]+)(ms|h|m|s)/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ''] ?? 0),
    0,
  );
}

function quoteName(name: string): string {
  return `"${name.replaceAll(/(["\\])/g, '\\$1').replaceAll('\n', '\\n')}"`;
}

type InfluxFinding = Pick<SetupStep, 'found' | 'advice'>;

/** A measurement of its own, so that no history contains the point; the bucket's retention deletes it. */
const MEASUREMENT = 'upbeat_doctor';

/** Writes a point and reads it back, as samples are written and histories are read. `now`: epoch milliseconds. Never rejects. */
export async function examineInflux(
  settings: InfluxSettings,
  now = systemClock.now(),
): Promise<InfluxFinding> {
  const link = openInfluxLink(settings);
  // A new value each time tells the point from those of other servers or buckets.
  const nonce = randomInt(2 ** 47);
  return (
    (await write(link, settings, `${MEASUREMENT} nonce=${nonce}i ${now}`)) ??
    (await readBack(link, settings, now, nonce))
  );
}

/**
 * The server's refusal of a point without an organisation; null: it takes it, as InfluxDB 1.8 and VictoriaMetrics do, or does
 * not answer now.
 */
export async function findMissingOrg(settings: InfluxSettings): Promise<string | null> {
  const { problem, fault } = await openInfluxLink(settings).send([
    `${MEASUREMENT} nonce=0i ${systemClock.now()}`,
  ]);
  return fault === 'org' ? problem : null;
}

/** Null: the point was stored. */
async function write(
  link: InfluxLink,
  settings: InfluxSettings,
  line: string,
): Promise<InfluxFinding | null> {
  const { problem, fault, dropped, refusal } = await link.send([line]);
  if (problem !== null) return { found: problem, advice: adviceFor(fault ?? 'other', settings) };
  if (dropped === 0) return null;
  return {
    found: `a point of now was refused: ${refusal}`,
    advice: 'compare the clocks of both machines, and the retention of the bucket',
  };
}

async function readBack(
  link: InfluxQueries,
  settings: InfluxSettings,
  at: number,
  nonce: number,
): Promise<InfluxFinding> {
  const { url, bucket } = settings;
  try {
    const [table = null] = await link.query([`SELECT nonce FROM ${MEASUREMENT} WHERE time = ${at}ms`]);
    // VictoriaMetrics responds to every statement with a list of databases.
    if (table !== null && !table.columns.includes('time'))
      return {
        found: `${url} took a point; it answers no InfluxQL, so the pages have no histories`,
        advice: null,
      };
    if (table?.rows.some((row) => numberReader(table)(row, 'nonce') === nonce) === true)
      return { found: `${url} has ${bucket}; a point was written and read back`, advice: null };
    return {
      found: `a point was written to ${bucket}, and InfluxQL does not find it`,
      advice:
        'histories are read from another bucket: see influx v1 dbrp list, and map the database to this one',
    };
  } catch (error) {
    const advice = adviceFor(error instanceof InfluxError ? error.fault : 'other', settings);
    return { found: `a point was written and could not be read: ${messageOf(error)}`, advice };
  }
}
