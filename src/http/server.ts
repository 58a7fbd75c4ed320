/** The HTTP server, with bounds on the time and memory that a client can take. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { retry } from '../async/retry.ts';
import { systemClock } from '../clock.ts';
import { errorCodeOf } from '../error.ts';
import type { Log } from '../log.ts';
import { HttpError, PROBLEMS, problemBody } from './problem.ts';

/** Not imported by name: Node would load its `fetch` and WebSocket with it, 6 MB. */
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

/**
 * An idle connection is closed after this time, milliseconds: a client that does not read would keep its response in
 * our memory. Event streams send something more often.
 */
const MAX_IDLE_MS = 60_000;

/** Longest request line with headers, bytes. */
const MAX_HEADER_BYTES = 16_384;
/** How long a client may take to close after its request was refused, milliseconds. */
const LINGER_MS = 5_000;

/**
 * Makes a server that closes slow and oversized requests. What Node cannot parse as a request is answered here, with the
 * body of every other error (decisions, Errors); `siteUrl` is the start of the address that explains the error.
 */
export function createHttpServer(listener: RequestListener, siteUrl = ''): Server {
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      // Longer than the minute for which load balancers keep connections, so that they close them, not we.
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Node's own refusal has no body; ours has one.
      requireHostHeader: false,
    },
    (request, response) => {
      if (hasOneHost(request)) listener(request, response);
      else refuse(response, new HttpError('bad_request', 'A request of HTTP/1.1 has one Host header.'));
    },
  );
  const refuse = (response: ServerResponse, error: HttpError) => {
    const { status, headers, body } = refusalOf(error, siteUrl);
    response.writeHead(status, headers).end(body);
  };
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) =>
    refuse(response, new HttpError('expectation_failed', 'Only Expect: 100-continue is known here.')),
  );
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    const error = new HttpError(
      'method_not_allowed',
      'CONNECT is not possible here.',
      {},
      { Allow: 'GET, HEAD' },
    );
    socket.on('error', () => socket.destroy());
    socket.end(formatRefusal(error, siteUrl));
  });
  server.timeout = MAX_IDLE_MS;
  server.on('clientError', (error: NodeJS.ErrnoException, socket: AnsweringSocket) => {
    // After the start of a response, a second one would be read as part of the first.
    if (!socket.writable || socket._httpMessage?.headersSent === true) {
      socket.destroy();
      return;
    }
    // If the connection were closed at once, a client that is still sending might not see the response.
    if (socket instanceof Socket) socket.setTimeout(LINGER_MS, () => socket.destroy());
    socket.end(formatRefusal(describe(error), siteUrl));
  });
  return server;
}

/** The socket with its current response, which Node's own handler of these errors reads as well. */
interface AnsweringSocket extends Duplex {
  readonly _httpMessage?: { readonly headersSent: boolean } | null;
}

/** RFC 9112, 3.2: a request of HTTP/1.1 without Host, or with more than one, is answered with 400. */
function hasOneHost({ httpVersionMajor, httpVersionMinor, rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersionMajor === 1 && httpVersionMinor === 0);
}

/** The error for what Node could not parse as a request. */
function describe({ code }: NodeJS.ErrnoException): HttpError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new HttpError('headers_too_large', `Request line and headers are over ${MAX_HEADER_BYTES} bytes.`);
  return code === 'ERR_HTTP_REQUEST_TIMEOUT'
    ? new HttpError('request_timeout', 'The request did not arrive in time.')
    : new HttpError('bad_request', 'This is not a request by the rules of HTTP/1.1.');
}

/** A response after which the connection is closed. */
function refusalOf(error: HttpError, siteUrl: string) {
  const { status } = PROBLEMS[error.code];
  const body = problemBody(error, siteUrl);
  const headers: Readonly<Record<string, string>> = {
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    Connection: 'close',
    ...error.headers,
  };
  return { status, headers, body };
}

/** The same as raw bytes, for a connection without a request. */
function formatRefusal(error: HttpError, siteUrl: string): string {
  const { status, headers, body } = refusalOf(error, siteUrl);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}

/** Listens; resolves with the port. Rejects with a message that says what to do, and the code of the system. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const listening = () => {
      server.off('error', failed);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    };
    const failed = (error: NodeJS.ErrnoException) => {
      // A caller that retries would add a listener each time.
      server.off('listening', listening);
      const hint =
        error.code === 'EADDRINUSE'
          ? `port ${port} is in use; choose another by http.port or UPBEAT_HTTP_PORT`
          : error.code === 'EACCES'
            ? `port ${port} needs more rights; choose one above 1023`
            : error.message;
      reject(Object.assign(new Error(`cannot listen on ${host}: ${hint}`), { code: error.code }));
    };
    server.once('error', failed);
    server.listen(port, host, listening);
  });
}

/** How long a port in use is retried: {@link LISTEN_RETRIES} times with this pause, milliseconds. */
const LISTEN_RETRY_MS = 200;
const LISTEN_RETRIES = 30;
/** Minimum time between two log lines about connections that cannot be accepted, milliseconds. */
const LOG_AGAIN_MS = 60_000;

/**
 * Listens and resolves with the port. With `patient`, a port in use is retried for 6 s, because another process may be
 * stopping. Rejects as {@link listen} does. A connection that cannot be accepted later, for example because the process
 * may open no more files, is logged.
 */
export async function listenWithRetry(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  patient: boolean,
  log: Log,
): Promise<number> {
  const listeningPort = await retry(() => listen(server, host, port), {
    maxRetries: patient ? LISTEN_RETRIES : 0,
    pauseMs: LISTEN_RETRY_MS,
    isTransient: (error) => errorCodeOf(error) === 'EADDRINUSE',
    onFirstRetry: () => log.info({ port }, 'waiting for another process to release the port'),
  });
  let silentUntilMs = 0;
  server.on('error', (error) => {
    const nowMs = systemClock.monotonic();
    if (nowMs < silentUntilMs) return;
    silentUntilMs = nowMs + LOG_AGAIN_MS;
    log.warn({ error }, 'a connection could not be accepted');
  });
  return listeningPort;
}
