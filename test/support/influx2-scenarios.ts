/**
 * Requests to InfluxDB 2 that end in each kind of answer. The answers of a real server are kept in
 * `test/store/fixtures/influx2-answers.json` (recorded by `test/store/record-influx2.ts`); the double gives them again.
 */
import type { Influx2Server } from './influx-v2-server.ts';

/** An answer, without what differs between two runs. */
export interface RecordedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What scenarios need: a server with the bucket `upbeat` that keeps 90 days, and tokens of several rights. */
export interface ScenarioWorld {
  readonly server: Influx2Server;
  readonly bucketId: string;
  readonly tokens: Readonly<Record<'reader' | 'writer' | 'both' | 'buckets' | 'orgs', string>>;
  readonly now: number;
}

interface Ask {
  readonly path: string;
  readonly token: string;
  readonly method?: string;
  readonly body?: string;
}

const DAY_MS = 86_400_000;
/** What is kept of the headers. */
const HEADERS = [
  'content-type',
  'x-platform-error-code',
  'x-influxdb-version',
  'x-influxdb-build',
  'retry-after',
];

const line = (at: number, fields = 'up=1i') => `upbeat_check,service_id=1 ${fields} ${at}`;
const write = (query: Record<string, string>) =>
  `/api/v2/write?${new URLSearchParams({ precision: 'ms', ...query })}`;
const query = (db: string, q = 'SELECT up FROM upbeat_check LIMIT 1') =>
  `/query?${new URLSearchParams({ db, epoch: 'ms', q })}`;
const UPBEAT = { org: 'acme', bucket: 'upbeat' };

/** Every scenario by its name. */
export const SCENARIOS: Readonly<Record<string, (world: ScenarioWorld) => Ask>> = {
  written: ({ tokens, now }) => ({ path: write(UPBEAT), token: tokens.writer, body: line(now) }),
  written_by_org_id: ({ server, tokens, now }) => ({
    path: write({ ...UPBEAT, org: server.orgId }),
    token: tokens.writer,
    body: line(now),
  }),
  no_org: ({ tokens, now }) => ({
    path: write({ ...UPBEAT, org: '' }),
    token: tokens.writer,
    body: line(now),
  }),
  unknown_org: ({ tokens, now }) => ({
    path: write({ ...UPBEAT, org: 'nobody' }),
    token: tokens.writer,
    body: line(now),
  }),
  unknown_org_id: ({ tokens, now }) => ({
    path: write({ ...UPBEAT, org: 'aaaaaaaaaaaaaaaa' }),
    token: tokens.writer,
    body: line(now),
  }),
  unknown_bucket: ({ tokens, now }) => ({
    path: write({ ...UPBEAT, bucket: 'nowhere' }),
    token: tokens.writer,
    body: line(now),
  }),
  unknown_token: ({ now }) => ({ path: write(UPBEAT), token: 'unknown', body: line(now) }),
  token_reads_only: ({ tokens, now }) => ({ path: write(UPBEAT), token: tokens.reader, body: line(now) }),
  malformed: ({ tokens, now }) => ({
    path: write(UPBEAT),
    token: tokens.writer,
    body: ['nonsense', line(now + 1), 'more_nonsense', line(now + 2)].join('\n'),
  }),
  too_old: ({ tokens, now }) => ({
    path: write(UPBEAT),
    token: tokens.writer,
    body: [line(now - 100 * DAY_MS), line(now + 3)].join('\n'),
  }),
  wrong_type: ({ tokens, now }) => ({
    path: write(UPBEAT),
    token: tokens.writer,
    body: [line(now + 4, 'up="text"'), line(now + 5)].join('\n'),
  }),
  query_answered: ({ tokens, now }) => ({
    path: query('upbeat', `SELECT up FROM upbeat_check WHERE time = ${now}ms`),
    token: tokens.reader,
  }),
  query_unknown_token: () => ({ path: query('upbeat'), token: 'unknown' }),
  query_unknown_database: ({ tokens }) => ({ path: query('nowhere'), token: tokens.reader }),
  query_token_writes_only: ({ tokens }) => ({ path: query('upbeat'), token: tokens.writer }),
  orgs_not_shown: ({ tokens }) => ({ path: '/api/v2/orgs?org=acme', token: tokens.both }),
  orgs_unknown: ({ tokens }) => ({ path: '/api/v2/orgs?org=nobody', token: tokens.orgs }),
  bucket_missing: ({ tokens, server }) => ({
    path: `/api/v2/buckets?name=nowhere&orgID=${server.orgId}`,
    token: tokens.buckets,
  }),
  bucket_not_allowed: ({ tokens, server }) => ({
    method: 'POST',
    path: '/api/v2/buckets',
    token: tokens.both,
    body: JSON.stringify({ orgID: server.orgId, name: 'another', retentionRules: [] }),
  }),
};

/** Makes the bucket and the tokens. */
export async function makeScenarioWorld(server: Influx2Server): Promise<ScenarioWorld> {
  const bucketId = await server.makeBucket('upbeat', (90 * DAY_MS) / 1_000);
  const id = bucketId;
  const read = { action: 'read', type: 'buckets' } as const;
  const written = { action: 'write', type: 'buckets' } as const;
  const [reader, writer, both, buckets, orgs] = await Promise.all([
    server.makeToken([{ ...read, id }]),
    server.makeToken([{ ...written, id }]),
    server.makeToken([
      { ...read, id },
      { ...written, id },
    ]),
    server.makeToken([read, written]),
    server.makeToken([read, written, { action: 'read', type: 'orgs', id: server.orgId }]),
  ]);
  if (!reader || !writer || !both || !buckets || !orgs) throw new Error('a token was not made');
  return { server, bucketId, tokens: { reader, writer, both, buckets, orgs }, now: Date.now() };
}

/** Asks; the answer is without ids and times of this run. */
export async function askScenario(name: string, world: ScenarioWorld): Promise<RecordedAnswer> {
  const scenario = SCENARIOS[name];
  if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
  const {
    path,
    token,
    body,
    method = path.startsWith('/query') || body === undefined ? 'GET' : 'POST',
  } = scenario(world);
  const response = await fetch(world.server.url + path, {
    method,
    headers: { authorization: `Token ${token}`, 'content-type': 'text/plain' },
    ...(body === undefined ? {} : { body }),
  });
  const headers = Object.fromEntries(
    HEADERS.flatMap((header) => {
      const value = response.headers.get(header);
      return value === null ? [] : [[header, value]];
    }),
  );
  const text = (await response.text())
    .replaceAll(world.server.orgId, 'ORG_ID')
    .replaceAll(world.bucketId, 'BUCKET_ID')
    .replaceAll(String(world.now), 'NOW')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .trim();
  return { status: response.status, headers, body: isPretty(text) ? JSON.stringify(JSON.parse(text)) : text };
}

/** Its answers about resources are indented. */
function isPretty(text: string): boolean {
  return text.startsWith('{\n');
}
