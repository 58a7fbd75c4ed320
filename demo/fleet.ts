/** The simulated services: HTTP and HTTPS servers on loopback that follow a script. */
import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { DAY_MS } from '../src/domain/durations.ts';
import { type CertificatePair, makeCertificate } from '../test/support/certificates.ts';
import {
  type AnswerBehaviour,
  type Behaviour,
  behaviourAt,
  type DemoService,
  type DemoTiming,
  good,
  isCutOff,
  latencyMs,
  type Script,
} from './script.ts';

/** The running fleet. */
export interface Fleet {
  /** Address of each service's check, by slug. */
  readonly urls: ReadonlyMap<string, string>;
  /** URLs that respond unless the prober is cut off. */
  readonly controlUrls: readonly string[];
  /** Begins the play at this time, epoch milliseconds. Before, every service behaves as at the beginning. */
  begin(startAt: number): void;
  /** Number of requests, including those without a response. */
  readonly requests: number;
  close(): Promise<void>;
}

interface Listener {
  readonly service: DemoService | null;
  readonly server: Server | HttpsServer;
  readonly port: number;
  readonly sockets: Set<Socket>;
  /** The period in which the certificate ends; -1: it does not end during the play. */
  lapsesInCycle: number;
  stumbledAt: number;
}

/** Below the ephemeral ports, so that no other program gets a port that is closed for a while. */
const FIRST_PORT = 20_000;
const PORTS = 12_000;
const TICK_MS = 100;
const NAMES = ['127.0.0.1', '::1', 'localhost'];

/** Starts a server for each service and two control targets. */
export async function startFleet(script: Script, timing: DemoTiming): Promise<Fleet> {
  let startAt = Number.POSITIVE_INFINITY;
  let requests = 0;
  const elapsed = () => Date.now() - startAt;
  const shared = makeCertificate({ names: NAMES });
  let nextPort = FIRST_PORT + (process.pid % PORTS);
  const listeners: Listener[] = [];

  const open = async (service: DemoService | null): Promise<Listener> => {
    const handler = (request: IncomingMessage, response: ServerResponse) => {
      requests++;
      if (service === null) return void response.writeHead(204).end();
      respond(listener, service, behaviourAt(script, service, elapsed()), timing, request, response);
    };
    const server =
      service?.transport === 'https'
        ? createHttpsServer(certificateOf(service, shared), handler)
        : createHttpServer(handler);
    // Clients may abort the handshake or refuse the certificate.
    server.on('tlsClientError', () => {});
    server.on('clientError', (_error, socket) => void socket.destroy());
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      socket.on('error', () => {});
      if (isCutOff(script, elapsed())) return void socket.destroy();
      sockets.add(socket);
      socket.once('close', () => void sockets.delete(socket));
    });
    const port = await listen(server, service?.host ?? '127.0.0.1', () => nextPort++);
    const listener: Listener = { service, server, port, sockets, lapsesInCycle: -1, stumbledAt: 0 };
    return listener;
  };

  const services = hasIpv6()
    ? script.services
    : script.services.map((service) => ({ ...service, host: '127.0.0.1' as const }));
  for (const service of [...services, null, null]) listeners.push(await open(service));

  const tick = setInterval(() => {
    const now = elapsed();
    const cutOff = isCutOff(script, now);
    for (const listener of listeners) {
      if (cutOff) for (const socket of listener.sockets) socket.destroy();
      if (listener.service !== null) follow(listener, listener.service, script, now, startAt, shared);
    }
  }, TICK_MS);

  return {
    urls: new Map(
      listeners.flatMap(({ service, port }) =>
        service === null ? [] : [[service.slug, urlOf(service, port)] as const],
      ),
    ),
    controlUrls: listeners
      .filter(({ service }) => service === null)
      .map(({ port }) => `http://127.0.0.1:${port}/`),
    begin: (at) => {
      startAt = at;
    },
    get requests() {
      return requests;
    },
    async close() {
      clearInterval(tick);
      for (const { server, sockets } of listeners) {
        for (const socket of sockets) socket.destroy();
        if (server.listening) await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

/** Makes a listener follow the script: closes it while it refuses connections, and replaces its certificate. */
function follow(
  listener: Listener,
  service: DemoService,
  script: Script,
  now: number,
  startAt: number,
  shared: CertificatePair,
): void {
  const behaviour = behaviourAt(script, service, now);
  const { server, sockets, port } = listener;
  if (behaviour.kind === 'refuse') {
    if (server.listening) server.close();
    for (const socket of sockets) socket.destroy();
  } else if (!server.listening) {
    server.listen(port, service.host);
  }
  const lapse = service.steps.find((step) => step.behaviour.kind === 'lapsed');
  if (lapse === undefined || now < 0 || behaviour.kind === 'lapsed') return;
  const cycle = Math.floor(now / script.periodMs);
  // Certificates end at whole seconds. Rounded up, the end follows the step of the script.
  const endsAt = Math.ceil((startAt + cycle * script.periodMs + lapse.at) / 1_000) * 1_000;
  const wanted = Date.now() < endsAt ? cycle : -1;
  if (wanted === listener.lapsesInCycle || !('setSecureContext' in server)) return;
  listener.lapsesInCycle = wanted;
  server.setSecureContext(
    wanted === -1 ? shared : makeCertificate({ names: NAMES, notAfter: new Date(endsAt) }),
  );
}

function respond(
  listener: Listener,
  service: DemoService,
  behaviour: Behaviour,
  timing: DemoTiming,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  switch (behaviour.kind) {
    case 'answer':
      answer(service, behaviour, timing, request, response);
      break;
    case 'stumble': {
      const now = Date.now();
      const falls = now - listener.stumbledAt > behaviour.everyMs;
      if (falls) listener.stumbledAt = now;
      answer(service, good(behaviour.latency, { status: falls ? 503 : 200 }), timing, request, response);
      break;
    }
    case 'hang':
      break;
    case 'garbage':
      request.socket.end('SSH-2.0-OpenSSH_9.6\r\n');
      break;
    case 'reset':
    case 'refuse':
    case 'lapsed':
    case 'untrusted':
      request.socket.destroy();
  }
}

function answer(
  service: DemoService,
  behaviour: AnswerBehaviour,
  timing: DemoTiming,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { health, redirects = 0 } = behaviour;
  const path = request.url ?? '/';
  const reply = () => {
    if (path === '/api/health' && health !== undefined) {
      const isJson = health.word !== null;
      response.writeHead(health.status, { 'content-type': isJson ? 'application/json' : 'text/html' });
      return void response.end(isJson ? JSON.stringify({ status: health.word }) : '<!doctype html><p>Hello');
    }
    const hop = Number(/^\/hop\/(\d+)$/.exec(path)?.[1] ?? 0);
    if (redirects === 'endless' || hop < redirects) {
      return void response.writeHead(302, { location: `/hop/${hop + 1}` }).end();
    }
    const status = request.method === 'HEAD' ? (behaviour.headStatus ?? behaviour.status) : behaviour.status;
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...behaviour.headers });
    response.end(`<!doctype html><title>${service.name}</title><h1>${service.name}</h1>`);
  };
  const wait = latencyMs(behaviour.latency, timing);
  // Latencies vary upwards, except those that make a service slow.
  const scatter = behaviour.latency === 'slow' ? 0 : wait * 0.4 * Math.random() ** 2;
  setTimeout(reply, wait + scatter);
}

function certificateOf(service: DemoService, shared: CertificatePair): CertificatePair {
  switch (service.certificate) {
    case 'good':
      return shared;
    case 'ends-soon':
      return makeCertificate({ names: NAMES, notAfter: new Date(Date.now() + 3 * DAY_MS) });
    case 'expired':
      return makeCertificate({
        names: NAMES,
        notBefore: new Date(Date.now() - 90 * DAY_MS),
        notAfter: new Date(Date.now() - DAY_MS),
      });
    case 'wrong-name':
      return makeCertificate({ names: ['somewhere-else.test'] });
    case 'self-signed':
      return makeCertificate({ names: NAMES, selfSigned: true });
  }
}

function urlOf({ transport, host, check }: DemoService, port: number): string {
  const authority = host === '::1' ? `[::1]:${port}` : `${host}:${port}`;
  return `${transport}://${authority}/${check.kind === 'health' ? 'api/health' : ''}`;
}

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
}

/** Listens on the first free port that `next` names. */
async function listen(server: Server, host: string, next: () => number): Promise<number> {
  for (;;) {
    server.listen(FIRST_PORT + ((next() - FIRST_PORT) % PORTS), host);
    try {
      await once(server, 'listening');
      server.on('error', (error) => console.error(`demo: ${error.message}`));
      return (server.address() as AddressInfo).port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}
