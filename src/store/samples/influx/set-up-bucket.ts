/** The bucket of InfluxDB 2, and the mapping by which InfluxQL finds it as a database (its API, `/api/v2`). */
import { formatDuration } from '../../../domain/durations.ts';
import { adviceFor, faultOf, InfluxError } from './influx-fault.ts';
import { reasonOf } from './influx-link.ts';
import { authorizationOf, type InfluxSettings } from './influx-settings.ts';

/** One thing that is needed there. */
export interface SetupStep {
  readonly what: 'organisation' | 'database' | 'bucket' | 'mapping' | 'retention' | 'server';
  /** It was made now. False: it was there, or it could not be made. */
  readonly made: boolean;
  /** One sentence, without secrets. */
  readonly found: string;
  /** What to mend; null: nothing. */
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
  /** Made by the server of the bucket's name, while there is no other. */
  readonly virtual?: boolean;
}

interface Answer {
  readonly status: number;
  /** Null: it is not JSON. */
  readonly body: Readonly<Record<string, unknown>> | null;
}

/** How an id looks; a name of this form is taken for one. */
const ID = /^[0-9a-f]{16}$/;
const TIMEOUT_MS = 10_000;
/** The policy that InfluxQL means where none is named. */
const POLICY = 'autogen';

/**
 * Makes what is missing and adds a step for each thing. False: the server has no buckets, and nothing was done. Rejects
 * with an {@link InfluxError}.
 */
export async function setUpBucket(
  settings: InfluxSettings,
  retentionMs: number,
  steps: SetupStep[],
): Promise<boolean> {
  const { org, bucket: name } = settings;
  const shown = await ask(settings, 'GET', '/api/v2/orgs', org === null ? {} : queryOf(org));
  if (shown.body === null) return false;
  if (org === null) {
    const [one, other] = listOf(accept(shown), 'orgs');
    const known = one !== undefined && other === undefined ? String(one.name) : 'its name or id';
    steps.push({
      what: 'organisation',
      made: false,
      found: 'storage.influx.org is not set, and InfluxDB 2 takes nothing without it',
      advice: `set storage.influx.org to ${known}`,
    });
    return true;
  }
  const orgs = shown.status === 404 ? null : listOf(accept(shown), 'orgs');
  if (orgs === null) {
    steps.push({
      what: 'organisation',
      made: false,
      found: `there is no organisation ${org}`,
      advice: adviceFor('org', settings),
    });
    return true;
  }
  const found = await findBucket(settings, org);
  // A token that may not see organisations can still see a bucket, and so whose it is.
  const orgId = ID.test(org) ? org : (orgs[0]?.id ?? found?.orgID);
  if (orgId === undefined) {
    steps.push({
      what: 'organisation',
      made: false,
      found: `the token does not see the organisation ${org}, whose id a new bucket needs`,
      advice:
        'set storage.influx.org to its id, or storage.influx.token to one that may also read it (read:orgs)',
    });
    return true;
  }
  const bucket = found ?? (await makeBucket(settings, String(orgId), retentionMs, steps));
  if (found !== null) steps.push(compareRetention(found, retentionMs));
  await findOrMakeMapping(settings, { orgId: String(orgId), bucketId: bucket.id, database: name }, steps);
  return true;
}

/** An organisation is asked for by its id or by its name; only writes take either for both. */
function queryOf(org: string): Record<string, string> {
  return ID.test(org) ? { orgID: org } : { org };
}

async function findBucket(settings: InfluxSettings, org: string): Promise<Bucket | null> {
  const name = settings.bucket;
  const answer = await ask(settings, 'GET', '/api/v2/buckets', { name, ...queryOf(org) });
  // Some versions answer 404, others list buckets of the system instead.
  const buckets = answer.status === 404 ? [] : (listOf(accept(answer), 'buckets') as unknown as Bucket[]);
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
  const made = accept(
    await ask(settings, 'POST', '/api/v2/buckets', {}, { orgID: orgId, name, retentionRules }),
  );
  const found = `${name} was made, and keeps points for ${formatDuration(retentionMs)}`;
  steps.push({ what: 'bucket', made: true, found, advice: null });
  return made as unknown as Bucket;
}

function compareRetention({ id, name, retentionRules }: Bucket, retentionMs: number): SetupStep {
  const seconds = retentionRules?.[0]?.everySeconds ?? 0;
  const wanted = Math.ceil(retentionMs / 1_000);
  return {
    what: 'bucket',
    made: false,
    found: `${name} is there, and keeps points ${seconds === 0 ? 'for ever' : `for ${formatDuration(seconds * 1_000)}`}`,
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
  const answer = await ask(settings, 'GET', '/api/v2/dbrps', { orgID: orgId, db: database });
  const mappings = (listOf(accept(answer), 'content') as unknown as Mapping[]).filter(
    (mapping) => mapping.database === database,
  );
  const known =
    mappings.find((mapping) => mapping.default) ?? mappings.find(({ virtual }) => virtual !== true);
  if (known === undefined) {
    const mapping = { orgID: orgId, bucketID: bucketId, database, retention_policy: POLICY, default: true };
    accept(await ask(settings, 'POST', '/api/v2/dbrps', {}, mapping));
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

/** Asks; what is no HTTP answer rejects, and so does one that says that we may not. */
async function ask(
  settings: InfluxSettings,
  method: 'GET' | 'POST',
  path: string,
  query: Record<string, string>,
  body?: object,
): Promise<Answer> {
  const init = {
    method,
    headers: { ...authorizationOf(settings), 'content-type': 'application/json' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  let text: string;
  let status: number;
  try {
    const response = await fetch(`${settings.url}${path}?${new URLSearchParams(query)}`, init);
    status = response.status;
    text = await response.text();
  } catch (error) {
    throw new InfluxError('unreachable', `InfluxDB does not answer: ${reasonOf(error)}`);
  }
  if (status === 401 || status === 403 || status >= 500) throw refusal(status, text);
  return { status, body: readObject(text) };
}

function accept({ status, body }: Answer): Readonly<Record<string, unknown>> {
  if (status >= 300 || body === null) throw refusal(status, body === null ? '' : JSON.stringify(body));
  return body;
}

function refusal(status: number, text: string): InfluxError {
  return new InfluxError(
    faultOf(status, text),
    `InfluxDB answered with HTTP ${status}: ${text.slice(0, 200)}`,
  );
}

function readObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function listOf(body: Readonly<Record<string, unknown>>, name: string): readonly Record<string, unknown>[] {
  const list = body[name];
  return Array.isArray(list) ? list : [];
}
