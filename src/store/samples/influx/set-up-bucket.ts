/** The bucket of InfluxDB 2, and the mapping by which InfluxQL finds it as a database (its API, `/api/v2`). */
import { formatDuration } from '../../../domain/durations.ts';
import { InfluxError, reasonOf } from './influx-link.ts';
import { authorizationOf, type InfluxSettings } from './influx-settings.ts';
import type { SetupStep } from './set-up-influx.ts';

interface Bucket {
  readonly id: string;
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
  const orgs = await ask(settings, 'GET', '/api/v2/orgs', org === null ? {} : { org });
  if (orgs.body === null) return false;
  const orgId = org !== null && orgs.status === 404 ? null : onlyId(listOf(accept(orgs), 'orgs'));
  if (orgId === null) {
    const found = org === null ? 'the server does not say whose bucket' : `there is no organisation ${org}`;
    steps.push({
      what: 'bucket',
      made: false,
      found,
      advice: 'set storage.influx.org to the organisation, or the token to one that may see it',
    });
    return true;
  }
  const bucket = await findOrMakeBucket(settings, orgId, retentionMs, steps);
  await findOrMakeMapping(settings, { orgId, bucketId: bucket.id, database: name }, steps);
  return true;
}

async function findOrMakeBucket(
  settings: InfluxSettings,
  orgId: string,
  retentionMs: number,
  steps: SetupStep[],
): Promise<Bucket> {
  const name = settings.bucket;
  const answer = await ask(settings, 'GET', '/api/v2/buckets', { name, orgID: orgId });
  // Some versions answer 404, others list buckets of the system instead.
  const buckets = answer.status === 404 ? [] : (listOf(accept(answer), 'buckets') as unknown as Bucket[]);
  const known = buckets.find((bucket) => bucket.name === name);
  const kept = formatDuration(retentionMs);
  const everySeconds = Math.ceil(retentionMs / 1_000);
  if (known === undefined) {
    const retentionRules = [{ type: 'expire', everySeconds }];
    const made = accept(
      await ask(settings, 'POST', '/api/v2/buckets', {}, { orgID: orgId, name, retentionRules }),
    );
    steps.push({
      what: 'bucket',
      made: true,
      found: `${name} was made, and keeps points for ${kept}`,
      advice: null,
    });
    return made as unknown as Bucket;
  }
  const seconds = known.retentionRules?.[0]?.everySeconds ?? 0;
  steps.push({
    what: 'bucket',
    made: false,
    found: `${name} is there, and keeps points ${seconds === 0 ? 'for ever' : `for ${formatDuration(seconds * 1_000)}`}`,
    advice:
      seconds === everySeconds
        ? null
        : `storage.rawRetention is ${kept}: set it to what the server does, or run influx bucket update --id ${known.id} --retention ${everySeconds}s`,
  });
  return known;
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
    throw new InfluxError('samples_away', `InfluxDB does not answer: ${reasonOf(error)}`);
  }
  if (status === 401 || status === 403 || status >= 500) throw refusal(status, text);
  return { status, body: readObject(text) };
}

function accept({ status, body }: Answer): Readonly<Record<string, unknown>> {
  if (status >= 300 || body === null) throw refusal(status, body === null ? '' : JSON.stringify(body));
  return body;
}

function refusal(status: number, text: string): InfluxError {
  return new InfluxError('samples_refused', `InfluxDB answered with HTTP ${status}: ${text.slice(0, 200)}`);
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

function onlyId(orgs: readonly Record<string, unknown>[]): string | null {
  const [one, other] = orgs;
  return one !== undefined && other === undefined ? String(one.id) : null;
}
