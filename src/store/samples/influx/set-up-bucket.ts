/** The bucket of InfluxDB 2, and the mapping by which InfluxQL finds it as a database (its API, `/api/v2`). */
import { formatDuration } from '../../../domain/durations.ts';
import { fetchText, responseError } from './influx-link.ts';
import { adviceFor, authorizationOf, type InfluxSettings } from './influx-settings.ts';

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
const POLICY = 'autogen';

/**
 * Creates what is missing and adds a step for each thing. False: the server has no buckets, and nothing was done. Rejects
 * with an `InfluxError`.
 */
export async function setUpBucket(
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
export function keptText(ms: number): string {
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
    const mapping = { orgID: orgId, bucketID: bucketId, database, retention_policy: POLICY, default: true };
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
