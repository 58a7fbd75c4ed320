/** Serves the simulated vendors: one HTTP server on loopback each, with validators, gzip and scripted faults. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { DAY_MS } from '../../src/domain/durations.ts';
import { escapeMarkup, type VendorDocument } from './render.ts';
import { type Fault, faultAt, type Vendor, vendorStateAt } from './script.ts';
import { VENDOR_KINDS } from './vendor-kinds.ts';

/** The running servers. */
export interface VendorServers {
  /** The URLs for the catalogue, by the slug of the vendor. */
  readonly pages: ReadonlyMap<string, VendorPage>;
  /** Begins the play at this time, epoch milliseconds. Nothing is published before. */
  begin(startAt: number): void;
  /** Number of responses by status. */
  readonly answers: ReadonlyMap<number, number>;
  close(): Promise<void>;
}

/** The URLs of a vendor's page. */
export interface VendorPage {
  readonly url: string;
  /** Null: it follows from `url`. */
  readonly feedUrl: string | null;
}

/** Generation times in documents change this often, so that most polls find nothing new. */
const BUILT_EVERY_MS = 15_000;
/** Kinds whose servers send `Last-Modified` only, and those that also send `ETag`. */
const DATED = new Set(['aws', 'azure', 'rss']);
const DATED_AND_TAGGED = new Set(['gcp', 'atom']);

/** The last version of a document. */
interface Version {
  readonly tag: string;
  readonly changedAt: number;
}

/** Starts the servers. While `isCutOff(elapsedMs)` is true, every connection is reset. */
export async function startVendors(
  vendors: readonly Vendor[],
  isCutOff: (elapsedMs: number) => boolean,
): Promise<VendorServers> {
  let startAt = Number.POSITIVE_INFINITY;
  const answers = new Map<number, number>();
  const servers: { readonly server: Server; readonly sockets: Set<Socket> }[] = [];
  const pages = new Map<string, VendorPage>();
  for (const vendor of vendors) {
    const versions = new Map<string, Version>();
    const sockets = new Set<Socket>();
    const server = createServer((request, response) => {
      const now = Date.now();
      if (isCutOff(now - startAt)) return void request.socket.destroy();
      response.once('close', () => {
        answers.set(response.statusCode, (answers.get(response.statusCode) ?? 0) + 1);
      });
      answer(vendor, versions, startAt, now, request, response);
    });
    server.on('clientError', (_error, socket) => void socket.destroy());
    server.on('connection', (socket: Socket) => {
      socket.on('error', () => {});
      sockets.add(socket);
      socket.once('close', () => void sockets.delete(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push({ server, sockets });
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { pagePath = '', feedPath } = VENDOR_KINDS[vendor.kind];
    pages.set(vendor.slug, {
      url: `${base}${pagePath}`,
      feedUrl: feedPath === undefined ? null : `${base}${feedPath(vendor)}`,
    });
  }
  return {
    pages,
    answers,
    begin: (at) => {
      startAt = at;
    },
    async close() {
      for (const { server, sockets } of servers) {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

function answer(
  vendor: Vendor,
  versions: Map<string, Version>,
  startAt: number,
  now: number,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const fault = faultAt(vendor, now - startAt);
  if (fault !== null && fault.kind !== 'cut') return void refuse(fault, response);
  const path = new URL(request.url ?? '/', 'http://vendor.test').pathname;
  const { render, pagePath = '/' } = VENDOR_KINDS[vendor.kind];
  const baseUrl = `http://127.0.0.1:${request.socket.localPort}`;
  const state = vendorStateAt(vendor, startAt, now);
  const document = render(vendor, state, now - (now % BUILT_EVERY_MS), baseUrl).get(path);
  if (document !== undefined) {
    send(vendor, versions, path, document, now, fault, request, response);
    return;
  }
  const isPage = path === pagePath || /^\/(?:en-us|incident|maintenance|\d{4}-\d\d\/)/.test(path);
  response.writeHead(isPage ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
  const list = state.incidents.map(({ title, updates }) => {
    const told = updates.map(({ status, text }) => `<li>${status}: ${escapeMarkup(text)}</li>`);
    return `<h2>${escapeMarkup(title)}</h2><ul>${told.join('')}</ul>`;
  });
  response.end(
    `<!doctype html><title>${escapeMarkup(vendor.name)} status</title>${isPage ? list.join('') : ''}`,
  );
}

function refuse(fault: Exclude<Fault, { kind: 'cut' }>, response: ServerResponse): void {
  if (fault.kind === 'unavailable') {
    response.writeHead(503, { 'retry-after': String(fault.retryAfterSeconds) });
    return void response.end('Service Unavailable');
  }
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end('<!doctype html><title>Status</title><div id="root"></div>');
}

function send(
  vendor: Vendor,
  versions: Map<string, Version>,
  path: string,
  { contentType, body }: VendorDocument,
  now: number,
  fault: Fault | null,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const tag = `W/"${createHash('sha1').update(body).digest('hex').slice(0, 20)}"`;
  const known = versions.get(path);
  const changedAt = known?.tag === tag ? known.changedAt : now;
  versions.set(path, { tag, changedAt });
  const headers: Record<string, string> = {
    'cache-control': 'max-age=0, must-revalidate',
    vary: 'accept-encoding',
  };
  const changedSecond = changedAt - (changedAt % 1_000);
  const dated = DATED.has(vendor.kind) || DATED_AND_TAGGED.has(vendor.kind);
  // A date is a validator only after its second, during which the document may still change.
  if (dated && now >= changedSecond + 1_000) headers['last-modified'] = new Date(changedSecond).toUTCString();
  if (!DATED.has(vendor.kind)) headers.etag = tag;
  if (matches(request, headers)) return void response.writeHead(304, headers).end();
  const zipped = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  const content = zipped ? gzipSync(body) : body;
  if (zipped) headers['content-encoding'] = 'gzip';
  response.writeHead(200, {
    ...headers,
    'content-type': contentType,
    'content-length': content.length,
    expires: new Date(now - DAY_MS).toUTCString(),
  });
  if (fault === null) return void response.end(request.method === 'HEAD' ? undefined : content);
  response.write(content.subarray(0, Math.ceil(content.length / 2)), () => request.socket.destroy());
}

/** If-None-Match precedes If-Modified-Since (RFC 9110, 13.2.2). */
function matches(request: IncomingMessage, headers: Readonly<Record<string, string>>): boolean {
  const tags = request.headers['if-none-match'];
  if (tags !== undefined) return headers.etag !== undefined && tags.includes(headers.etag);
  const since = request.headers['if-modified-since'];
  const modified = headers['last-modified'];
  return since !== undefined && modified !== undefined && Date.parse(modified) <= Date.parse(since);
}
