/** The HTTP server, with limits for the time and memory that a client can take. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { retry } from '../async/retry.ts';
import { errorCodeOf } from '../error.ts';
import type { Log } from '../log.ts';
import { HttpError, PROBLEMS, problemBody } from './problem.ts';

/** Not imported by name, because Node.js would load `fetch` and WebSocket with it, which take 6 MB. */
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

/**
 * Time after which an idle connection is closed, milliseconds, because a client that does not read keeps its response
 * in our memory. Event streams send data more often.
 */
const MAX_IDLE_MS = 60_000;

/** Maximum size of the request line and headers, bytes. */
const MAX_HEADER_BYTES = 16_384;
/** Time for a client to close the connection after its request was refused, milliseconds. */
const LINGER_MS = 5_000;

/**
 * Creates a server that closes slow and oversized requests. Requests that Node.js cannot parse get a response here,
 * with the same body as other errors (decisions, Errors). `siteUrl` is the start of the URL that explains the error.
 */
export function createHttpServer(listener: RequestListener, siteUrl = ''): Server {
  /** Connections that close after a refusal. Node.js has read further requests of the same packet by then. */
  const refused = new WeakSet<Duplex>();
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      // Longer than the 60 seconds of load balancers, so that they close idle connections and not this server.
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The response of Node.js to this error has no body; ours has one.
      requireHostHeader: false,
    },
    (request, response) => {
      // What follows a refused request may be what its sender takes for its body.
      if (refused.has(request.socket)) return;
      if (!isPlainlyFramed(request))
        refuse(
          response,
          new HttpError('bad_request', 'A body has a Content-Length, or is chunked by HTTP/1.1.'),
        );
      else if (hasOneHost(request)) listener(request, response);
      else refuse(response, new HttpError('bad_request', 'A request of HTTP/1.1 has one Host header.'));
    },
  );
  const refuse = (response: ServerResponse, error: HttpError) => {
    const { status, headers, body } = refusalOf(error, siteUrl);
    if (response.socket !== null) refused.add(response.socket);
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
    // After the start of a response, the client would read a second one as part of the first.
    if (!socket.writable || socket._httpMessage?.headersSent === true) {
      socket.destroy();
      return;
    }
    // If the connection were closed immediately, a client that is still sending might not get the response.
    if (socket instanceof Socket) socket.setTimeout(LINGER_MS, () => socket.destroy());
    socket.end(formatRefusal(describe(error), siteUrl));
  });
  return server;
}

/** The socket with its current response, which the default handler of Node.js reads as well. */
interface AnsweringSocket extends Duplex {
  readonly _httpMessage?: { readonly headersSent: boolean } | null;
}

/**
 * Returns true if every recipient agrees where a request ends, so that none can be hidden in the body of another one. The
 * parser of Node.js refuses most others; it takes `Transfer-Encoding` in HTTP/1.0, which a proxy may not know (RFC 9112, 6.1),
 * further codings before `chunked`, and other versions.
 */
function isPlainlyFramed({ httpVersionMajor, httpVersionMinor, headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  if (httpVersionMajor !== 1) return false;
  return coding === undefined || (httpVersionMinor === 1 && coding.toLowerCase() === 'chunked');
}

/** Returns true if a request has one Host. An HTTP/1.1 request without Host or with several gets 400 (RFC 9112, 3.2). */
function hasOneHost({ httpVersionMajor, httpVersionMinor, rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersionMajor === 1 && httpVersionMinor === 0);
}

/** The error for a request that Node.js could not parse. */
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

/** The same response as text, for a connection without a parsed request. */
function formatRefusal(error: HttpError, siteUrl: string): string {
  const { status, headers, body } = refusalOf(error, siteUrl);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}

/** Listens and resolves with the port. Rejects with a message that says what to do and with the system's error code. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const listening = () => {
      server.off('error', failed);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    };
    const failed = (error: NodeJS.ErrnoException) => {
      // Otherwise a caller that retries would add a listener each time.
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

/** Pause between attempts to listen on a port in use, milliseconds. There are {@link LISTEN_RETRIES} retries. */
const LISTEN_RETRY_MS = 200;
const LISTEN_RETRIES = 30;

/**
 * Listens and resolves with the port. With `patient`, a port in use is retried for 6 s, because another process may be
 * stopping. Rejects as {@link listen} does.
 */
export function listenWithRetry(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  patient: boolean,
  log: Log,
): Promise<number> {
  return retry(() => listen(server, host, port), {
    maxRetries: patient ? LISTEN_RETRIES : 0,
    pauseMs: LISTEN_RETRY_MS,
    isTransient: (error) => errorCodeOf(error) === 'EADDRINUSE',
    onFirstRetry: () => log.info({ port }, 'waiting for another process to release the port'),
  });
}
