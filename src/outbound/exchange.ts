/** One HTTP/1.1 request and its response over a connection of its own, for checks. ADR 11 explains why no library is used. */
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Destination } from './address-guard.ts';
import type { Deadline } from './deadline.ts';
import { type Fault, type ResponseProgress, responseFault, targetFault, timeoutFault } from './fault.ts';
import type { Inlet } from './inlet.ts';
import { type BodyProgress, type BodyReader, createBodyReader, framingOf } from './response-body.ts';
import { type Headers, HeadReader, type ResponseHead } from './response-head.ts';

/** Not imported by name, because Node.js would load `fetch` and WebSocket with it, which take 6 MB per thread. */
const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http');

/** A request, and the limits for reading its response. */
export interface ExchangeOrder {
  readonly destination: Destination;
  readonly method: string;
  /** Alternating names and values, without `Host`. */
  readonly headers: readonly string[];
  readonly body: string | Uint8Array | null;
  /** Returns true if the body of a response is read; otherwise reading ends with the headers. */
  readonly wantsBody: (statusCode: number, headers: Headers) => boolean;
  /** Maximum number of bytes of the body; reading ends when there are more. */
  readonly maxBodyBytes: number;
}

/** An open connection that has not been read from. */
export interface Connection {
  readonly socket: Socket;
  /** Takes what the socket receives. */
  readonly inlet: Inlet;
  /** As {@link Trust}; absent: no. */
  readonly offersCertificate?: boolean | undefined;
}

export type Exchanged = Readonly<Omit<ExchangeResult, 'phase'>>;

const NO_HEADERS: Headers = Object.freeze(Object.create(null));
const NOTHING = Buffer.alloc(0);

/**
 * Sends the request over `socket`, which is closed afterwards. Interim responses are skipped (RFC 9110, 15.2). Rejects
 * only for an invalid request, with a code of Node.js such as `ERR_INVALID_CHAR`.
 */
export function exchange(
  clock: Clock,
  connection: Connection,
  order: ExchangeOrder,
  deadline: Deadline,
): Promise<Exchanged> {
  let request: string | Buffer;
  try {
    request = writeRequest(order);
  } catch (error) {
    connection.socket.destroy();
    return Promise.reject(error);
  }
  const exchange = new Exchange(clock, connection, order, deadline);
  exchange.begin(request);
  return exchange.result;
}

const BODY_METHODS = new Set(['POST', 'PUT', 'PATCH']);
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TARGET = /^\/[\x21-\x7e]*$/;

/** The request as it is sent. Throws if a part of it contains a line break or another invalid character. */
function writeRequest({ destination, method, headers, body }: ExchangeOrder): string | Buffer {
  if (!TOKEN.test(method)) throw invalid(`${method} is no method`);
  if (!TARGET.test(destination.path)) throw invalid(`${destination.path} is no path`);
  validateHeaderValue('host', destination.hostHeader);
  let head = `${method} ${destination.path} HTTP/1.1\r\nhost: ${destination.hostHeader}\r\nconnection: close\r\n`;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? '';
    const value = headers[at + 1] ?? '';
    validateHeaderName(name);
    validateHeaderValue(name, value);
    head += `${name}: ${value}\r\n`;
  }
  if (body === null) return BODY_METHODS.has(method) ? `${head}content-length: 0\r\n\r\n` : `${head}\r\n`;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return Buffer.concat([Buffer.from(`${head}content-length: ${bytes.length}\r\n\r\n`, 'latin1'), bytes]);
}

function invalid(problem: string): Error {
  return Object.assign(new TypeError(problem), { code: 'ERR_INVALID_ARG_VALUE' });
}

/** The result of an exchange. Its initial values are those of an exchange that has not started. */
export class ExchangeResult {
  /** 0: no response. */
  statusCode = 0;
  headers: Headers = NO_HEADERS;
  /** Null: not wanted, or incomplete. */
  body: Buffer | null = null;
  /** True if the body is longer than `maxBodyBytes`; `body` then contains its beginning. */
  overlong = false;
  /** Why there is no response or only a part of the body; null: no fault. */
  fault: Fault | null = null;
  /** The time at which the headers arrived, monotonic milliseconds; null: they did not. */
  headersAt: number | null = null;
  /** Milliseconds from the sent request to the first byte of the response; null: none arrived. */
  firstByteMs: number | null = null;

  /** The part of the response that the exchange waits for. */
  get phase(): 'first_byte' | 'body' {
    return this.headersAt === null ? 'first_byte' : 'body';
  }
}

/** The exchange and its result in one object, because one is created for each request. */
class Exchange extends ExchangeResult {
  readonly #clock: Clock;
  readonly #order: ExchangeOrder;
  readonly #deadline: Deadline;
  readonly #connection: Connection;
  readonly #ended = Promise.withResolvers<Exchanged>();
  readonly #head = new HeadReader();
  #reader: BodyReader | null = null;
  #settled = false;
  #sentAt = 0;
  #begunAt: number | null = null;
  /** True if an interim response has arrived. */
  #interim = false;
  #kept: Buffer = NOTHING;
  #bodyBytes = 0;

  constructor(clock: Clock, connection: Connection, order: ExchangeOrder, deadline: Deadline) {
    super();
    this.#clock = clock;
    this.#order = order;
    this.#deadline = deadline;
    this.#connection = connection;
  }

  get result(): Promise<Exchanged> {
    return this.#ended.promise;
  }

  begin(request: string | Buffer): void {
    const { socket, inlet } = this.#connection;
    if (!this.#deadline.interruptBy(() => this.#onDeadline())) return;
    if (socket.destroyed || socket.readableEnded) {
      this.#onEnd(socket.errored);
      return;
    }
    const onEnd = () => this.#onEnd(socket.errored);
    socket.on('end', onEnd);
    socket.on('close', onEnd);
    // An alert of TLS after the handshake does not destroy the socket, which then merely ends.
    socket.on('error', (error) => this.#onEnd(error));
    // Header values have been checked to be Latin-1.
    if (typeof request === 'string') socket.write(request, 'latin1');
    else socket.write(request);
    this.#deadline.sent();
    this.#sentAt = this.#clock.monotonic();
    inlet.open((chunk) => {
      this.#onData(chunk);
      return !this.#settled;
    });
  }

  #onData(chunk: Buffer): void {
    let at = 0;
    while (!this.#settled && at < chunk.length) {
      if (this.#reader !== null) {
        this.#onProgress(this.#reader.read(chunk, at));
        return;
      }
      if (!this.#head.begun) this.#begunAt = this.#clock.monotonic();
      const progress = this.#head.read(chunk, at);
      if (progress === null) return;
      if ('problem' in progress) {
        this.#fail(targetFault('protocol', 'first_byte', progress.problem));
        return;
      }
      at = this.#head.bodyOffset;
      if (progress.statusCode < 200) this.#interim = true;
      else this.#onHead(progress);
    }
    // A body of length 0 has ended although no chunk of it will arrive.
    if (!this.#settled && this.#reader !== null) this.#onProgress(this.#reader.read(chunk, chunk.length));
  }

  #onHead({ statusCode, headers }: ResponseHead): void {
    const framing = framingOf(this.#order.method, statusCode, headers);
    if (framing.kind === 'invalid') {
      this.#fail(targetFault('protocol', 'first_byte', framing.problem));
      return;
    }
    this.headersAt = this.#clock.monotonic();
    this.#deadline.step();
    this.firstByteMs = Math.max(0, (this.#begunAt ?? this.headersAt) - this.#sentAt);
    this.statusCode = statusCode;
    this.headers = headers;
    const { method, wantsBody } = this.#order;
    if (method === 'HEAD' || !wantsBody(statusCode, headers)) this.#settle();
    else this.#reader = createBodyReader(framing, (data) => this.#onBody(data));
  }

  #onBody(data: Buffer): void {
    if (this.#settled) return;
    const { maxBodyBytes } = this.#order;
    const wanted = Math.min(maxBodyBytes, this.#bodyBytes + data.length);
    if (wanted > this.#kept.length) {
      // The buffer doubles, so that a body of many small chunks is not copied for each of them.
      const grown = Buffer.allocUnsafe(Math.min(maxBodyBytes, Math.max(wanted, 2 * this.#kept.length)));
      this.#kept.copy(grown, 0, 0, this.#bodyBytes);
      this.#kept = grown;
    }
    data.copy(this.#kept, this.#bodyBytes, 0, wanted - this.#bodyBytes);
    this.overlong = this.#bodyBytes + data.length > maxBodyBytes;
    this.#bodyBytes = wanted;
    if (!this.overlong) return;
    this.body = this.#kept.subarray(0, wanted);
    this.#settle();
  }

  #onProgress(progress: BodyProgress): void {
    if (this.#settled || progress === 'more') return;
    if (progress === 'ended') {
      this.body = this.#kept.subarray(0, this.#bodyBytes);
      this.#settle();
    } else this.#fail(targetFault('protocol', 'body', progress.problem));
  }

  /** Called when the connection has ended; `error` is null if the server closed it. */
  #onEnd(error: NodeJS.ErrnoException | null): void {
    if (this.#settled) return;
    if (this.#reader !== null && error === null) this.#onProgress(this.#reader.end());
    else this.#fail(responseFault(error?.code ?? null, this.#progress(), this.#connection.offersCertificate));
  }

  #onDeadline(): void {
    this.#fail(timeoutFault(this.phase, this.#deadline.timeoutMs, false));
  }

  #progress(): ResponseProgress {
    if (this.headersAt !== null) return 'body';
    if (this.#head.begun) return 'headers';
    return this.#interim ? 'interim' : 'nothing';
  }

  #fail(fault: Fault): void {
    this.fault = fault;
    this.#settle();
  }

  #settle(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#deadline.interrupt = null;
    this.#kept = NOTHING;
    // The request goes on with the next hop, whose time counts too.
    if (isRedirect(this.statusCode)) this.finish();
    else if (ended.push(this) === 1) setImmediate(finishEnded);
  }

  /** Closes the connection and reports the result. */
  finish(): void {
    this.#connection.socket.on('close', dropListeners);
    this.#connection.socket.destroy();
    this.#ended.resolve(this);
  }
}

const isRedirect = (statusCode: number) => statusCode >= 300 && statusCode < 400;

/**
 * Exchanges that have ended. They are finished when all sockets of the iteration have been read, because the work after a response would
 * delay the responses that arrived with it, and count as their targets' time.
 */
let ended: Exchange[] = [];

function finishEnded(): void {
  const all = ended;
  ended = [];
  for (const exchange of all) exchange.finish();
}

/**
 * Removes the listeners of a closed socket. V8 may allocate a part of each stream in the old generation, so that a socket stays
 * in memory until the next full garbage collection. Without listeners, the objects that they reference do not.
 */
function dropListeners(this: Socket): void {
  this.removeAllListeners();
}
