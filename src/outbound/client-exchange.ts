/**
 * One HTTP/1.1 request and its response over an open connection, by undici, for all requests except checks. Feeds, webhooks and
 * sign-in use the strict parser of a maintained client. Checks must accept what browsers accept, so they use `exchange.ts` (ADR 11).
 */
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { Dispatcher, Client as UndiciClient } from 'undici';
import type { Clock } from '../clock.ts';
import type { FailureCause } from '../domain/failure.ts';
import type { Deadline } from './deadline.ts';
import { type Exchanged, type ExchangeOrder, ExchangeResult } from './exchange.ts';
import { type Fault, type ResponseProgress, responseFault, targetFault, timeoutFault } from './fault.ts';

let loaded: typeof UndiciClient | null = null;

/**
 * Loads the client, with the first request: with Node's HTTP/2 it takes 2.4 MB and 60 ms of CPU time. The whole package would take
 * another 4 MB per thread.
 */
function loadClient(): typeof UndiciClient {
  loaded ??= createRequire(import.meta.url)('undici/lib/dispatcher/client.js') as typeof UndiciClient;
  return loaded;
}

/** Maximum size of the response headers; more is a failure of the target. */
const MAX_HEADER_BYTES = 65_536;
/** A placeholder: the client gets an open socket and never connects. */
const PLACEHOLDER_ORIGIN = 'http://connection.invalid';
const LOST = 'ERR_UPBEAT_CONNECTION_LOST';
/** Error codes of an invalid request, which is a bug of the caller. */
const BUG_CODES = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED']);
const PROTOCOL_PROBLEMS = new Map<string, FailureCause>([
  ['UND_ERR_HEADERS_OVERFLOW', { code: 'headers_too_long', maxBytes: MAX_HEADER_BYTES }],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', { code: 'length_mismatch' }],
]);

/** Sends the request over `socket`, which is closed afterwards. Rejects only for an invalid request. */
export function exchangeByClient(
  clock: Clock,
  socket: Socket,
  order: ExchangeOrder,
  deadline: Deadline,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const client = clientOf(socket);
    const result = new ExchangeResult();
    let isSettled = false;
    let sentAt = 0;
    let begunAt: number | null = null;
    let chunks: Buffer[] | null = null;
    let bodyBytes = 0;

    const settle = (bug: Error | null = null) => {
      if (isSettled) return;
      isSettled = true;
      deadline.interrupt = null;
      chunks = null;
      client.destroy(null, () => {});
      socket.destroy();
      if (bug === null) resolve(result);
      else reject(bug);
    };
    const interrupt = () => {
      result.fault = timeoutFault(result.phase, deadline.timeoutMs, false);
      settle();
    };
    if (deadline.over !== null) {
      interrupt();
      return;
    }
    deadline.interrupt = interrupt;

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {
        sentAt = clock.monotonic();
      },
      onResponseStarted() {
        begunAt = clock.monotonic();
      },
      onResponseStart(controller, statusCode, headers) {
        if (isSettled || statusCode < 200) return;
        result.headersAt = clock.monotonic();
        deadline.step();
        result.firstByteMs = (begunAt ?? result.headersAt) - sentAt;
        result.statusCode = statusCode;
        result.headers = headers;
        if (order.method === 'HEAD') return;
        if (order.wantsBody(statusCode, headers)) chunks = [];
        else {
          settle();
          controller.abort(new Error('the headers were enough'));
        }
      },
      onResponseData(controller, chunk) {
        if (isSettled || chunks === null) return;
        // A copy, because the parser reuses its memory.
        const room = order.maxBodyBytes - bodyBytes;
        chunks.push(Buffer.from(chunk.subarray(0, room)));
        bodyBytes += chunk.length;
        if (chunk.length <= room) return;
        result.overlong = true;
        result.body = Buffer.concat(chunks);
        settle();
        controller.abort(new Error('the body is too long'));
      },
      onResponseEnd() {
        if (chunks !== null) result.body = Buffer.concat(chunks);
        settle();
      },
      onResponseError(_controller, thrown: NodeJS.ErrnoException) {
        if (isSettled) return;
        const { code = '' } = thrown;
        const error = code === LOST ? (socket.errored ?? thrown) : thrown;
        result.fault = faultOf(error, result, begunAt === null ? 'nothing' : 'headers');
        settle(BUG_CODES.has(code) ? thrown : null);
      },
    };
    const { destination, method, headers, body } = order;
    client.dispatch(
      {
        path: destination.path,
        method: method as Dispatcher.HttpMethod,
        headers: ['host', destination.hostHeader, ...headers],
        body,
        reset: true,
      },
      handler,
    );
  });
}

/** Creates a client for the socket. It has no timeouts but the deadline, because undici's timers are up to 1 s late. */
function clientOf(socket: Socket): UndiciClient {
  let handedOver = false;
  const Client = loadClient();
  return new Client(PLACEHOLDER_ORIGIN, {
    allowH2: false,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect(_options, callback) {
      // A second call means that the connection was lost before the request was sent. The error has a code of our own,
      // because undici would otherwise retry forever.
      const lost = handedOver;
      handedOver = true;
      queueMicrotask(() => {
        if (lost) callback(Object.assign(new Error('connection lost'), { code: LOST }), null);
        else callback(null, socket);
      });
    },
  });
}

/** Converts an error of undici or of the connection to a fault. `progress`: how much of the headers had arrived. */
function faultOf(error: NodeJS.ErrnoException, { phase }: ExchangeResult, progress: ResponseProgress): Fault {
  const known = PROTOCOL_PROBLEMS.get(error.code ?? '');
  if (known !== undefined) return targetFault('protocol', phase, known);
  if (error.name === 'HTTPParserError' && !/\bEOF\b/.test(error.message)) {
    const problem = /\((.+)\)$/.exec(error.message)?.[1] ?? error.message;
    return targetFault('protocol', phase, { code: 'invalid_http', error: problem });
  }
  return responseFault(error.code ?? null, phase === 'body' ? 'body' : progress);
}
