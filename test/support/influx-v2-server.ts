/**
 * A double of InfluxDB 2 on loopback: organisations, buckets, mappings, rights of tokens, writes, and the one question
 * of `upbeat doctor`. Its answers are those that a real 2.9.1 gave (influx2-scenarios.ts); `test/store/influx2-answers.test.ts`
 * asks both the same.
 */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { RecordedAnswer } from './influx2-scenarios.ts';
import type { Scope } from './run-servers.ts';

/** A right of a token; without `id` it holds for all resources of the type. */
export interface Influx2Permission {
  readonly action: 'read' | 'write';
  readonly type: 'buckets' | 'orgs';
  readonly id?: string;
}

/** A server with the organisation `acme`, real or not. */
export interface Influx2Server {
  readonly url: string;
  /** Of the administrator. */
  readonly token: string;
  readonly orgId: string;
  /** Makes a bucket; `everySeconds` 0: it keeps points indefinitely. Returns its id. */
  makeBucket(name: string, everySeconds?: number): Promise<string>;
  makeToken(permissions: readonly Influx2Permission[]): Promise<string>;
  /** Maps a database of InfluxQL to a bucket. */
  makeMapping(database: string, bucketId: string): Promise<void>;
  /** Buckets beside those of the server's own. */
  listBuckets(): Promise<
    readonly { readonly id: string; readonly name: string; readonly everySeconds: number }[]
  >;
}

/** The double, and what it can be made to do. */
export interface InfluxV2Double extends Influx2Server {
  /** Requests that change something beside points, as `METHOD path`. */
  readonly changes: string[];
  /** Lines stored, of all buckets. */
  readonly lines: string[];
  /** Write requests answered. */
  writes: number;
  /** Answers every write so; null: as the server does. */
  fault: Partial<RecordedAnswer> | null;
}

/** How versions differ. */
export interface InfluxV2Options {
  /** A bucket without a mapping is found by its name (2.3 and newer); default true. */
  readonly virtualMappings?: boolean;
  /** A bucket that is not there is answered 404 (2.1 and newer), else with an empty list; default true. */
  readonly missingIs404?: boolean;
}

/** Answers of a real server by scenario. */
export const RECORDED = JSON.parse(
  readFileSync(join(import.meta.dirname, '../store/fixtures/influx2-answers.json'), 'utf8'),
) as Readonly<Record<string, RecordedAnswer>>;

const ORG = { id: '0a5a5a5a5a5a5a5a', name: 'acme' };
const ADMIN = 'the-token-of-the-administrator';

interface Bucket {
  readonly id: string;
  readonly name: string;
  readonly everySeconds: number;
  /** Lines by series and time. */
  readonly points: Map<string, string>;
}

/** Starts the double; it is closed after the test. */
export async function startInfluxV2(scope: Scope, options: InfluxV2Options = {}): Promise<InfluxV2Double> {
  const { virtualMappings = true, missingIs404 = true } = options;
  const buckets: Bucket[] = [];
  const mappings: { id: string; database: string; bucketID: string; default: boolean }[] = [];
  const tokens = new Map<string, readonly Influx2Permission[]>();
  const may = (token: string, action: 'read' | 'write', type: string, id?: string): boolean =>
    token === ADMIN ||
    (tokens.get(token) ?? []).some(
      (one) => one.action === action && one.type === type && (one.id === undefined || one.id === id),
    );

  const recorded = (name: string, changes: Readonly<Record<string, string>> = {}): RecordedAnswer => {
    const found = RECORDED[name];
    if (found === undefined) throw new Error(`no answer was recorded for ${name}`);
    let { body } = found;
    for (const [from, to] of Object.entries(changes)) body = body.replaceAll(from, to);
    return { ...found, body };
  };
  const resource = (status: number, body: object): RecordedAnswer => ({
    status,
    headers: recorded('orgs_not_shown').headers,
    body: JSON.stringify(body),
  });
  const isOrg = (org: string | null): boolean => org === ORG.name || org === ORG.id;
  const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

  const takeLines = (url: URL, token: string, body: string): RecordedAnswer => {
    const org = url.searchParams.get('org') ?? '';
    const name = url.searchParams.get('bucket') ?? '';
    if (org === '') return recorded('no_org');
    if (!isOrg(org))
      return /^[0-9a-f]{16}$/.test(org)
        ? recorded('unknown_org_id')
        : recorded('unknown_org', { nobody: inJson(org) });
    const bucket = buckets.find((one) => one.name === name);
    if (bucket === undefined) return recorded('unknown_bucket', { nowhere: inJson(name) });
    if (!may(token, 'write', 'buckets', bucket.id)) return recorded('token_reads_only');
    const lines = body.split('\n').filter((line) => line !== '');
    const malformed = lines.filter((line) => !/^\S+(?:\\ \S*)* \S.*=.* -?\d+$/.test(line));
    if (malformed.length > 0) {
      const message = malformed.map((line) => `unable to parse '${line}': missing fields`).join('\n');
      return { ...recorded('malformed'), body: JSON.stringify({ code: 'invalid', message }) };
    }
    const oldest = bucket.everySeconds === 0 ? 0 : Date.now() - bucket.everySeconds * 1_000;
    const timeOf = (line: string) => Number(line.slice(line.lastIndexOf(' ') + 1));
    const hasText = (line: string) => / up="/.test(line);
    const [old, wrong] = [lines.filter((line) => timeOf(line) < oldest), lines.filter(hasText)];
    for (const line of lines)
      if (!old.includes(line) && !wrong.includes(line))
        bucket.points.set(`${line.split(' ')[0]} ${timeOf(line)}`, line);
    if (wrong.length > 0) return recorded('wrong_type', { 'dropped=1': `dropped=${wrong.length}` });
    if (old.length === 0) return recorded('written');
    return recorded('too_old', {
      'dropped 1 points': `dropped ${old.length} points`,
      'dropped=1': `dropped=${old.length}`,
      BUCKET_ID: bucket.id,
    });
  };

  const mappingsOf = (token: string) => {
    const mapped = new Set(mappings.map(({ bucketID }) => bucketID));
    const virtual = buckets
      .filter(({ id }) => virtualMappings && !mapped.has(id))
      .map(({ id, name }) => ({ id, database: name, bucketID: id, default: true, virtual: true }));
    return [...mappings.map((one) => ({ ...one, virtual: false })), ...virtual]
      .filter(({ bucketID }) => may(token, 'read', 'buckets', bucketID))
      .map((one) => ({ ...one, retention_policy: 'autogen', orgID: ORG.id }));
  };

  const answerQuery = (url: URL, token: string, form: URLSearchParams): RecordedAnswer => {
    const read = (name: string) => url.searchParams.get(name) ?? form.get(name) ?? '';
    const [db, statement] = [read('db'), read('q')];
    const mapping = mappingsOf(token).find(({ database }) => database === db);
    const bucket = buckets.find(({ id }) => id === mapping?.bucketID);
    if (bucket === undefined) return recorded('query_unknown_database', { nowhere: inJson(db) });
    const [, field = '', measurement = '', at] =
      /^SELECT (\w+) FROM (\w+)(?: WHERE time = (\d+)ms)?/.exec(statement) ?? [];
    const rows = [...bucket.points.values()].flatMap((line) => {
      const time = Number(line.slice(line.lastIndexOf(' ') + 1));
      const value = new RegExp(`[ ,]${field}=(-?\\d+)i`).exec(line)?.[1];
      const isWanted = line.startsWith(measurement) && (at === undefined || Number(at) === time);
      return isWanted && value !== undefined ? [[time, Number(value)]] : [];
    });
    const series = { name: measurement, columns: ['time', field], values: rows };
    const result = { statement_id: 0, ...(rows.length === 0 ? {} : { series: [series] }) };
    return { ...recorded('query_answered'), body: JSON.stringify({ results: [result] }) };
  };

  const answer = (method: string, url: URL, token: string, text: string): RecordedAnswer => {
    const query = (name: string) => url.searchParams.get(name);
    if (url.pathname === '/ping') return { status: 204, headers: recorded('written').headers, body: '' };
    if (token !== ADMIN && !tokens.has(token))
      return recorded(url.pathname === '/query' ? 'query_unknown_token' : 'unknown_token');
    const body = () => JSON.parse(text) as Readonly<Record<string, unknown>>;
    switch (`${method} ${url.pathname}`) {
      case 'POST /api/v2/write': {
        double.writes++;
        return double.fault === null
          ? takeLines(url, token, text)
          : { ...recorded('unknown_token'), ...double.fault };
      }
      case 'GET /query':
      case 'POST /query':
        return answerQuery(url, token, new URLSearchParams(text));
      case 'GET /api/v2/orgs': {
        const isKnown = (query('org') ?? ORG.name) === ORG.name && (query('orgID') ?? ORG.id) === ORG.id;
        if (!isKnown) return recorded('orgs_unknown', { nobody: inJson(query('org') ?? '') });
        return may(token, 'read', 'orgs', ORG.id)
          ? resource(200, { links: { self: '/api/v2/orgs' }, orgs: [ORG] })
          : recorded('orgs_not_shown');
      }
      case 'GET /api/v2/buckets': {
        const name = query('name') ?? '';
        if (query('org') !== null && query('org') !== ORG.name)
          return recorded('orgs_unknown', { nobody: inJson(query('org') ?? '') });
        const found = buckets.filter(
          (one) =>
            one.name === name &&
            may(token, 'read', 'buckets', one.id) &&
            (query('orgID') ?? ORG.id) === ORG.id,
        );
        const isThere = buckets.some((one) => one.name === name);
        if (!isThere && missingIs404) return recorded('bucket_missing', { nowhere: inJson(name) });
        return resource(200, { buckets: found.map(viewBucket) });
      }
      case 'POST /api/v2/buckets': {
        if (!may(token, 'write', 'buckets')) return recorded('bucket_not_allowed', { ORG_ID: ORG.id });
        const { orgID, name, retentionRules } = body();
        if (orgID !== ORG.id || typeof name !== 'string' || !Array.isArray(retentionRules))
          return resource(400, { code: 'invalid', message: 'invalid bucket' });
        double.changes.push('POST /api/v2/buckets');
        const { everySeconds = 0 } = (retentionRules[0] ?? {}) as { readonly everySeconds?: number };
        return resource(201, viewBucket(addBucket(name, everySeconds)));
      }
      case 'GET /api/v2/dbrps':
        if (query('orgID') !== ORG.id && query('org') !== ORG.name)
          return resource(404, { code: 'not found', message: 'organization not found' });
        return resource(200, {
          content: mappingsOf(token).filter(({ database }) => database === query('db')),
        });
      case 'POST /api/v2/dbrps': {
        const { bucketID, database } = body();
        if (!may(token, 'write', 'buckets', String(bucketID)))
          return recorded('bucket_not_allowed', { ORG_ID: ORG.id });
        double.changes.push('POST /api/v2/dbrps');
        const mapping = {
          id: `00000000000d000${mappings.length}`,
          database: String(database),
          bucketID: String(bucketID),
          default: body().default === true,
        };
        mappings.push(mapping);
        return resource(201, mapping);
      }
      default:
        return resource(404, { code: 'not found', message: 'path not found' });
    }
  };

  const addBucket = (name: string, everySeconds: number): Bucket => {
    const bucket = {
      id: `00000000000b000${buckets.length}`,
      name,
      everySeconds,
      points: new Map<string, string>(),
    };
    buckets.push(bucket);
    return bucket;
  };

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const text = await readBody(request);
    const token = (request.headers.authorization ?? '').replace(/^Token /, '');
    const { status, headers, body } = answer(request.method ?? '', url, token, text);
    response.writeHead(status, headers).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const double: InfluxV2Double = {
    url: `http://127.0.0.1:${port}`,
    token: ADMIN,
    orgId: ORG.id,
    changes: [],
    writes: 0,
    fault: null,
    get lines() {
      return buckets.flatMap(({ points }) => [...points.values()]);
    },
    makeBucket: async (name, everySeconds = 0) => addBucket(name, everySeconds).id,
    async makeToken(permissions) {
      const token = `token-${tokens.size}`;
      tokens.set(token, permissions);
      return token;
    },
    async makeMapping(database, bucketID) {
      mappings.push({ id: `00000000000d000${mappings.length}`, database, bucketID, default: true });
    },
    listBuckets: async () => buckets.map(({ id, name, everySeconds }) => ({ id, name, everySeconds })),
  };
  return double;
}

function viewBucket({ id, name, everySeconds }: Bucket): object {
  return { id, orgID: ORG.id, type: 'user', name, retentionRules: [{ type: 'expire', everySeconds }] };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
