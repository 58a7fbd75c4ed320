/**
 * One HTTP/1.1 request and its answer over a connection that is already made, by undici: for everything that is no
 * check. Feeds, webhooks and sign-in want the strict parser of a kept client; a check has to take what browsers take,
 * and reads responses by `exchange.ts`. See ADR 11.
 */
import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
// The client alone: the whole package costs each thread 4 MB more.
import Client from 'undici/lib/dispatcher/client.js';
import type { Clock } from '../clock.ts';
import type { FailureCause } from '../domain/failure.ts';
import type { Deadline } from './deadline.ts';
import type { Exchanged, ExchangeOrder } from './exchange.ts';
import { type Fault, responseFault, targetFault, timeoutFault } from './fault.ts';
import type { Headers } from './response-head.ts';

/** Longer headers are a fault of the server. */
const MAX_HEADER_BYTES = 65_536;
/** The client never dials: it is handed the socket. Its address only fills a place. */
const NOWHERE = 'http://connection.invalid';
const LOST = 'ERR_UPBEAT_CONNECTION_LOST';
const NO_HEADERS: Headers = {};
/** Codes for a request that is no request: a bug of the caller. */
const BUG_CODES = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED']);
const PROTOCOL_PROBLEMS = new Map<string, FailureCause>([
  ['UND_ERR_HEADERS_OVERFLOW', { code: 'headers_too_long', maxBytes: MAX_HEADER_BYTES }],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', { code: 'length_mismatch' }],
]);

/** Sends the request over `socket`, which is closed in the end. Rejects only for a request that is no request. */
export function exchangeByClient(
  clock: Clock,
  socket: Socket,
  order: ExchangeOrder,
  deadline: Deadline,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const client = clientOf(socket);
    const exchange = new ClientExchange(clock, order, deadline, socket, (bug) => {
      client.destroy(null, () => {});
      socket.destroy();
      if (bug === null) resolve(exchange);
      else reject(bug);
    });
    const interrupt = () => exchange.interrupted();
    if (deadline.over !== null) {
      interrupt();
      return;
    }
    deadline.interrupt = interrupt;
    const { destination, method, headers, body } = order;
    client.dispatch(
      {
        path: destination.path,
        method: method as Dispatcher.HttpMethod,
        headers: ['host', destination.hostHeader, ...headers],
        body,
        reset: true,
      },
      exchange,
    );
  });
}

/** A client for the one socket. The deadline is the only clock: undici's timers are up to a second coarse. */
function clientOf(socket: Socket): Client {
  let handedOver = false;
  return new Client(NOWHERE, {
    allowH2: false,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect(_options, callback) {
      // When undici comes again, the connection was lost before the request went out. An error with a code of its own
      // would make it arrive endlessly.
      const lost = handedOver;
      handedOver = true;
      queueMicrotask(() => {
        if (lost) callback(Object.assign(new Error('connection lost'), { code: LOST }), null);
        else callback(null, socket);
      });
    },
  });
}

/** undici's handler, and the result. */
class ClientExchange implements Dispatcher.DispatchHandler, Exchanged {
  statusCode = 0;
  headers: Headers = NO_HEADERS;
  body: Buffer | null = null;
  overlong = false;
  fault: Fault | null = null;
  headersAt: number | null = null;
  firstByteMs: number | null = null;
  readonly #clock: Clock;
  readonly #order: ExchangeOrder;
  readonly #deadline: Deadline;
  readonly #socket: Socket;
  readonly #done: (bug: Error | null) => void;
  #settled = false;
  #sentAt = 0;
  #begunAt: number | null = null;
  #chunks: Buffer[] | null = null;
  #bodyBytes = 0;

  constructor(
    clock: Clock,
    order: ExchangeOrder,
    deadline: Deadline,
    socket: Socket,
    done: (bug: Error | null) => void,
  ) {
    this.#clock = clock;
    this.#order = order;
    this.#deadline = deadline;
    this.#socket = socket;
    this.#done = done;
  }

  onRequestStart(): void {
    this.#sentAt = this.#clock.monotonic();
  }

  onResponseStarted(): void {
    this.#begunAt = this.#clock.monotonic();
  }

  onResponseStart(controller: Dispatcher.DispatchController, statusCode: number, headers: Headers): void {
    if (this.#settled || statusCode < 200) return;
    this.headersAt = this.#clock.monotonic();
    this.#deadline.step();
    this.firstByteMs = (this.#begunAt ?? this.headersAt) - this.#sentAt;
    this.statusCode = statusCode;
    this.headers = headers;
    if (this.#order.method === 'HEAD') return;
    if (this.#order.wantsBody(statusCode, headers)) this.#chunks = [];
    else {
      this.#settle();
      controller.abort(new Error('the headers were enough'));
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled || this.#chunks === null) return;
    // A copy: the parser uses its memory again.
    const room = this.#order.maxBodyBytes - this.#bodyBytes;
    this.#chunks.push(Buffer.from(chunk.subarray(0, room)));
    this.#bodyBytes += chunk.length;
    if (chunk.length <= room) return;
    this.overlong = true;
    this.body = Buffer.concat(this.#chunks);
    this.#settle();
    controller.abort(new Error('the body is too long'));
  }

  onResponseEnd(): void {
    if (this.#chunks !== null) this.body = Buffer.concat(this.#chunks);
    this.#settle();
  }

  onResponseError(_controller: Dispatcher.DispatchController, thrown: Error): void {
    if (this.#settled) return;
    const { code = '' } = thrown as NodeJS.ErrnoException;
    const error = code === LOST ? (this.#socket.errored ?? thrown) : thrown;
    this.fault = this.#faultOf(error);
    this.#settle(BUG_CODES.has(code) ? thrown : null);
  }

  /** The deadline is over. */
  interrupted(): void {
    const phase = this.headersAt === null ? 'first_byte' : 'body';
    this.fault = timeoutFault(phase, this.#deadline.timeoutMs, false);
    this.#settle();
  }

  #faultOf(error: NodeJS.ErrnoException): Fault {
    const phase = this.headersAt === null ? 'first_byte' : 'body';
    const known = PROTOCOL_PROBLEMS.get(error.code ?? '');
    if (known !== undefined) return targetFault('protocol', phase, known);
    if (error.name === 'HTTPParserError' && !/\bEOF\b/.test(error.message)) {
      const problem = /\((.+)\)$/.exec(error.message)?.[1] ?? error.message;
      return targetFault('protocol', phase, { code: 'invalid_http', error: problem });
    }
    if (this.headersAt !== null) return responseFault(error.code ?? null, 'body');
    return responseFault(error.code ?? null, this.#begunAt === null ? 'nothing' : 'headers');
  }

  #settle(bug: Error | null = null): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#deadline.interrupt = null;
    this.#chunks = null;
    this.#done(bug);
  }
}
