/** A probed service in a namespace of its own, whose outages are scripted, and which counts what it does on the wire. */
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { makeCertificate, TEST_CA_FILE } from '../../support/certificates.ts';
import type { NetworkNamespace } from '../../support/network-namespaces.ts';
import type { CatalogueEntry } from '../../support/program.ts';

/** What a service can suffer, with what the API is to say of it. `class` null: a slow answer is no failure. */
export const OUTAGES = {
  hang: { status: 'down', class: 'timeout' },
  refuse: { status: 'down', class: 'refused' },
  reset: { status: 'down', class: 'unreachable' },
  '503': { status: 'down', class: 'status' },
  '404': { status: 'down', class: 'status' },
  garbage: { status: 'down', class: 'protocol' },
  certificate: { status: 'down', class: 'tls' },
  cut: { status: 'down', class: 'timeout' },
  slow: { status: 'slow', class: null },
} as const;

/** Kind of an outage. */
export type OutageKind = keyof typeof OUTAGES;

/** What the API is to say of an outage. On a port with TLS, garbage and a reset end the handshake. */
export function expectedOf(kind: OutageKind, secure: boolean): { status: string; class: string | null } {
  const endsHandshake = secure && (kind === 'garbage' || kind === 'reset');
  return endsHandshake ? { status: 'down', class: 'tls' } : OUTAGES[kind];
}

/** A connection that reached the server. Epoch milliseconds of the machine's clock. */
export interface Connection {
  readonly at: number;
  readonly mode: OutageKind | 'good';
}

/** The service. */
export interface WireService {
  readonly slug: string;
  readonly secure: boolean;
  readonly entry: CatalogueEntry;
  readonly connections: readonly Connection[];
  /** Begins an outage; `slowMs` is how long answers take in one of kind `slow`. */
  fail(kind: OutageKind, slowMs: number): void;
  /** Ends it. */
  mend(): Promise<void>;
}

/** Starts it at port 80, or 443 with a certificate of the test authority. */
export async function startWireService(
  slug: string,
  namespace: NetworkNamespace,
  secure: boolean,
): Promise<WireService> {
  const connections: Connection[] = [];
  let mode: Connection['mode'] = 'good';
  let delayMs = 0;
  const answer: RequestListener = (_, response) => {
    const status = mode === '503' || mode === '404' ? Number(mode) : 200;
    const end = () => response.writeHead(status, { connection: 'close' }).end();
    if (mode === 'slow') setTimeout(end, delayMs);
    else end();
  };
  const speaking: Server = secure
    ? createHttpsServer(makeCertificate({ names: [namespace.address] }), answer)
    : createHttpServer(answer);
  const wrong = createHttpsServer(makeCertificate({ names: ['other.example'] }), answer);
  for (const server of [speaking, wrong]) server.on('tlsClientError', () => {});

  const front = createServer();
  front.on('connection', (socket: Socket) => {
    connections.push({ at: Date.now(), mode });
    socket.on('error', () => {});
    if (mode === 'hang') socket.resume();
    else if (mode === 'reset') socket.once('data', () => socket.resetAndDestroy());
    else if (mode === 'garbage') socket.once('data', () => socket.end('+OK ready\r\n\r\n'));
    else if (mode === 'certificate') wrong.emit('connection', socket);
    else speaking.emit('connection', socket);
  });
  const port = secure ? 443 : 80;
  let refuse = await namespace.serve(front, port);
  const scheme = secure ? 'https' : 'http';
  return {
    slug,
    secure,
    connections,
    entry: {
      slug,
      check: {
        kind: 'root',
        url: `${scheme}://${namespace.address}/`,
        ...(secure ? { caFile: TEST_CA_FILE } : {}),
      },
    },
    fail(kind, slowMs) {
      mode = kind;
      delayMs = slowMs;
      if (kind === 'refuse') refuse();
      if (kind === 'cut') namespace.cut();
    },
    async mend() {
      if (mode === 'refuse') refuse = await namespace.serve(front, port);
      if (mode === 'cut') namespace.restore();
      mode = 'good';
    },
  };
}
