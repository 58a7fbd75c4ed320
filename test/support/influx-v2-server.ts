/**
 * A loopback server that holds what InfluxDB 2 documents of organisations, buckets and mappings (its OpenAPI
 * description: `/api/v2/orgs`, `/buckets`, `/dbrps`). InfluxDB 2 itself is in no distribution.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

/** A bucket as it is stored. */
export interface StoredBucket {
  readonly id: string;
  readonly orgID: string;
  readonly name: string;
  readonly retentionRules: readonly object[];
}

/** A mapping as it is stored. */
export interface StoredMapping {
  readonly id: string;
  readonly orgID: string;
  readonly bucketID: string;
  readonly database: string;
  readonly retention_policy: string;
  readonly default: boolean;
}

/** The server, and what it holds. */
export interface InfluxV2Server {
  readonly url: string;
  readonly token: string;
  readonly buckets: StoredBucket[];
  readonly mappings: StoredMapping[];
  /** Requests that change something, as `METHOD path`. */
  readonly changes: string[];
}

/** How versions differ. */
export interface InfluxV2Options {
  /** Every bucket without a mapping is found by its name all the same (2.3 and newer). */
  readonly virtualMappings?: boolean;
  /** A bucket that is not there is answered 404; else with the buckets of the system. */
  readonly missingIs404?: boolean;
  /** The token may read and not write. */
  readonly readOnly?: boolean;
}

const ORG = { id: '0a5a5a5a5a5a5a5a', name: 'acme' };
const SYSTEM: StoredBucket = {
  id: '000000000000000a',
  orgID: ORG.id,
  name: '_tasks',
  retentionRules: [{ type: 'expire', everySeconds: 259_200 }],
};

/** Starts the server with the organisation `acme`; it is closed after the test. */
export async function startInfluxV2(t: Test, options: InfluxV2Options = {}): Promise<InfluxV2Server> {
  const token = 'a-token-of-acme';
  const buckets: StoredBucket[] = [];
  const mappings: StoredMapping[] = [];
  const changes: string[] = [];

  const listMappings = () => {
    const mapped = new Set(mappings.map(({ bucketID }) => bucketID));
    const virtual = buckets.filter(({ id }) => !mapped.has(id));
    const shown = options.virtualMappings === true ? virtual : [];
    return [
      ...mappings,
      ...shown.map(({ id, orgID, name }) => ({
        id,
        orgID,
        bucketID: id,
        database: name,
        retention_policy: 'autogen',
        default: true,
        virtual: true,
      })),
    ];
  };

  const answer = (method: string, url: URL, body: Readonly<Record<string, unknown>>): [number, object] => {
    const query = (name: string) => url.searchParams.get(name);
    switch (`${method} ${url.pathname}`) {
      case 'GET /api/v2/orgs':
        return query('org') === null || query('org') === ORG.name
          ? [200, { orgs: [ORG] }]
          : [404, { code: 'not found', message: `organization name "${query('org')}" not found` }];
      case 'GET /api/v2/buckets': {
        if (query('orgID') !== ORG.id) return [400, { code: 'invalid', message: 'invalid ID' }];
        const found = buckets.filter(({ name }) => name === query('name'));
        if (found.length > 0) return [200, { buckets: found }];
        return options.missingIs404 === true
          ? [404, { code: 'not found', message: `bucket "${query('name')}" not found` }]
          : [200, { buckets: [SYSTEM] }];
      }
      case 'POST /api/v2/buckets': {
        const { orgID, name, retentionRules } = body;
        if (orgID !== ORG.id || typeof name !== 'string' || !Array.isArray(retentionRules))
          return [400, { code: 'invalid', message: 'invalid bucket' }];
        if (buckets.some((bucket) => bucket.name === name))
          return [422, { code: 'conflict', message: `bucket with name ${name} already exists` }];
        const bucket = { id: `00000000000b000${buckets.length}`, orgID, name, retentionRules };
        buckets.push(bucket);
        return [201, bucket];
      }
      case 'GET /api/v2/dbrps':
        if (query('orgID') !== ORG.id) return [400, { code: 'invalid', message: 'invalid ID' }];
        return [200, { content: listMappings().filter(({ database }) => database === query('db')) }];
      case 'POST /api/v2/dbrps': {
        const { orgID, bucketID, database, retention_policy, default: isDefault } = body;
        const isValid =
          orgID === ORG.id &&
          buckets.some(({ id }) => id === bucketID) &&
          typeof database === 'string' &&
          typeof retention_policy === 'string';
        if (!isValid) return [400, { code: 'invalid', message: 'invalid ID' }];
        const id = `00000000000d000${mappings.length}`;
        const mapping = {
          id,
          orgID: String(orgID),
          bucketID: String(bucketID),
          database,
          retention_policy,
          default: isDefault === true,
        };
        mappings.push(mapping);
        return [201, mapping];
      }
      default:
        return [404, { code: 'not found', message: 'path not found' }];
    }
  };

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const method = request.method ?? '';
    const send = (status: number, body: object) =>
      response
        .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
        .end(JSON.stringify(body));
    const body = await readBody(request);
    if (request.headers.authorization !== `Token ${token}`)
      return send(401, { code: 'unauthorized', message: 'unauthorized access' });
    if (method === 'POST' && options.readOnly === true)
      return send(403, { code: 'forbidden', message: 'insufficient permissions for write' });
    if (method !== 'GET') changes.push(`${method} ${url.pathname}`);
    return send(...answer(method, url, body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, token, buckets, mappings, changes };
}

async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}
