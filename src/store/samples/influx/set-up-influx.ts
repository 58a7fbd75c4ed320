/**
 * InfluxDB for `upbeat doctor`: the test, which writes a point and reads it back, and `--setup`, which creates what is
 * missing. What exists is never changed, only reported.
 */
import { randomInt } from 'node:crypto';
import { systemClock } from '../../../clock.ts';
import { DAY_MS, formatDuration, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../domain/durations.ts';
import { messageOf } from '../../../error.ts';
import {
  fetchText,
  type InfluxLink,
  type InfluxQueries,
  type InfluxTable,
  numberReader,
  openInfluxLink,
  responseError,
} from './influx-link.ts';
import { adviceFor, authorizationOf, InfluxError, type InfluxSettings } from './influx-settings.ts';

/** One thing that the setup needs at the server. */
export interface SetupStep {
  readonly what: 'organisation' | 'database' | 'bucket' | 'mapping' | 'retention' | 'server';
  /** It was created now. False: it existed, or could not be created. */
  readonly made: boolean;
  /** One sentence, without secrets. */
  readonly found: string;
  /** Advice on what to fix; null: none. */
  readonly advice: string | null;
}

interface Bucket {
  readonly id: string;
  readonly orgID?: string;
  readonly name: string;
  readonly retentionRules?: readonly { readonly everySeconds?: number }[];
}

interface Mapping {
  readonly bucketID: string;
  readonly database: string;
  readonly default: boolean;
  /** The server derives it from the bucket's name while there is no other. */
  readonly virtual?: boolean;
}

type JsonObject = Readonly<Record<string, unknown>>;

interface ApiResponse {
  readonly status: number;
  /** Null: it is not a JSON object. */
  readonly body: JsonObject | null;
}

/** The format of ids; a name of this format is taken for an id. */
const ID = /^[0-9a-f]{16}$/;
/** The policy that InfluxQL uses if none is named. */
const BUCKET_POLICY = 'autogen';

/**
 * Creates what is missing and adds a step for each thing. False: the server has no buckets, and nothing was done. Rejects
 * with an `InfluxError`.
 */
async function setUpBucket(
  settings: InfluxSettings,
  retentionMs: number,
  steps: SetupStep[],
): Promise<boolean> {
  const { org, bucket: name } = settings;
  const missingOrg = (found: string, advice: string): true => {
    steps.push({ what: 'organisation', made: false, found, advice });
    return true;
  };
  const response = await request(settings, '/api/v2/orgs', org === null ? {} : queryOf(org));
  if (response.body === null) return false;
  if (org === null) {
    const [one, other] = listOf(accept(response), 'orgs');
    const known = one !== undefined && other === undefined ? String(one.name) : 'its name or id';
    return missingOrg(
      'storage.influx.org is not set, and InfluxDB 2 takes nothing without it',
      `set storage.influx.org to ${known}`,
    );
  }
  if (response.status === 404)
    return missingOrg(`there is no organisation ${org}`, adviceFor('org', settings));
  const orgs = listOf(accept(response), 'orgs');
  const found = await findBucket(settings, org);
  // A token that may not see organisations can still see a bucket and its owner.
  const orgId = ID.test(org) ? org : (orgs[0]?.id ?? found?.orgID);
  if (orgId === undefined)
    return missingOrg(
      `the token does not see the organisation ${org}, whose id a new bucket needs`,
      'set storage.influx.org to its id, or storage.influx.token to one that may also read it (read:orgs)',
    );
  const bucket = found ?? (await makeBucket(settings, String(orgId), retentionMs, steps));
  if (found !== null) steps.push(compareRetention(found, retentionMs));
  await findOrMakeMapping(settings, { orgId: String(orgId), bucketId: bucket.id, database: name }, steps);
  return true;
}

/** The retention as in `for 90d`; 0: indefinitely. */
function keptText(ms: number): string {
  return ms === 0 ? 'indefinitely' : `for ${formatDuration(ms)}`;
}

/** Reads take an organisation by id or by name; only writes accept either for both. */
function queryOf(org: string): Record<string, string> {
  return ID.test(org) ? { orgID: org } : { org };
}

async function findBucket(settings: InfluxSettings, org: string): Promise<Bucket | null> {
  const name = settings.bucket;
  const response = await request(settings, '/api/v2/buckets', { name, ...queryOf(org) });
  // Some versions respond with 404, others list buckets of the system instead.
  const buckets = response.status === 404 ? [] : listOf<Bucket>(accept(response), 'buckets');
  return buckets.find((bucket) => bucket.name === name) ?? null;
}

async function makeBucket(
  settings: InfluxSettings,
  orgId: string,
  retentionMs: number,
  steps: SetupStep[],
): Promise<Bucket> {
  const name = settings.bucket;
  const retentionRules = [{ type: 'expire', everySeconds: Math.ceil(retentionMs / 1_000) }];
  const made = accept(await request(settings, '/api/v2/buckets', {}, { orgID: orgId, name, retentionRules }));
  const found = `${name} was made, and keeps points ${keptText(retentionMs)}`;
  steps.push({ what: 'bucket', made: true, found, advice: null });
  return made as unknown as Bucket;
}

function compareRetention({ id, name, retentionRules }: Bucket, retentionMs: number): SetupStep {
  const seconds = retentionRules?.[0]?.everySeconds ?? 0;
  const wanted = Math.ceil(retentionMs / 1_000);
  return {
    what: 'bucket',
    made: false,
    found: `${name} is there, and keeps points ${keptText(seconds * 1_000)}`,
    advice:
      seconds === wanted
        ? null
        : `storage.rawRetention is ${formatDuration(retentionMs)}: set it to what the server does, or run influx bucket update --id ${id} --retention ${wanted}s`,
  };
}

async function findOrMakeMapping(
  settings: InfluxSettings,
  { orgId, bucketId, database }: { orgId: string; bucketId: string; database: string },
  steps: SetupStep[],
): Promise<void> {
  const response = await request(settings, '/api/v2/dbrps', { orgID: orgId, db: database });
  const mappings = listOf<Mapping>(accept(response), 'content').filter(
    (mapping) => mapping.database === database,
  );
  const known =
    mappings.find((mapping) => mapping.default) ?? mappings.find(({ virtual }) => virtual !== true);
  if (known === undefined) {
    const mapping = {
      orgID: orgId,
      bucketID: bucketId,
      database,
      retention_policy: BUCKET_POLICY,
      default: true,
    };
    accept(await request(settings, '/api/v2/dbrps', {}, mapping));
    const found = `the database ${database} was mapped to the bucket, for InfluxQL`;
    steps.push({ what: 'mapping', made: true, found, advice: null });
    return;
  }
  const isOurs = known.bucketID === bucketId && known.default;
  const where = known.bucketID === bucketId ? 'the bucket, but not by default' : 'another bucket';
  steps.push({
    what: 'mapping',
    made: false,
    found: `the database ${database} is mapped to ${isOurs ? 'the bucket' : where}`,
    advice: isOurs
      ? null
      : 'histories would be read from elsewhere: see influx v1 dbrp list, update and delete',
  });
}

/** Sends a request: a POST if it has a body, else a GET. Rejects if no response arrives, or one that denies access or reports a fault of the server. */
async function request(
  settings: InfluxSettings,
  path: string,
  query: Record<string, string>,
  body?: object,
): Promise<ApiResponse> {
  const { status, text } = await fetchText(`${settings.url}${path}?${new URLSearchParams(query)}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...authorizationOf(settings), 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (status === 401 || status === 403 || status >= 500) throw responseError(status, text);
  return { status, body: parseObject(text) };
}

function accept({ status, body }: ApiResponse): JsonObject {
  if (status >= 300 || body === null) throw responseError(status, body === null ? '' : JSON.stringify(body));
  return body;
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

function listOf<Item = JsonObject>(body: JsonObject, name: string): readonly Item[] {
  const list = body[name];
  return Array.isArray(list) ? list : [];
}

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

/** Writes a point and reads it back, as samples are written and histories are read. Never rejects. */
export async function examineInflux(settings: InfluxSettings): Promise<InfluxFinding> {
  const now = systemClock.now();
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
