/**
 * One HTTP/1.1 request and its answer over a connection that is already made, by undici's parser and writer.
 * A line is a place for one exchange at a time; its undici client lives on from exchange to exchange, for making
 * one costs more than using it, and is thrown away after anything but a clean end.
 */
import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import type { Budget } from './budget.ts';
import type { Destination } from './destination.ts';
import { type AnswerProgress, answerFault, type Fault, timeoutFault } from './fault.ts';

/** Header names in lower case. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What is said over the connection. */
export interface ExchangeOrder {
  readonly destination: Destination;
  readonly method: string;
  /** Names and values in turn, without `Host`. */
  readonly headers: readonly string[];
  readonly body: string | Uint8Array | null;
  /** Whether the body of an answer is wanted; where not, reading ends with the headers. */
  readonly wantsBody: (statusCode: number, headers: Headers) => boolean;
  /** Most bytes of the body that are kept; reading ends when there are more. */
  readonly maxBodyBytes: number;
}

/** What came back. */
export interface Exchanged {
  /** 0: no answer. */
  readonly statusCode: number;
  readonly headers: Headers;
  /** Null: not wanted, or not all of it came. */
  readonly body: Buffer | null;
  /** The body is longer than `maxBodyBytes`; `body` has its beginning. */
  readonly overlong: boolean;
  /** Why no answer came, or not all of the body. */
  readonly fault: Fault | null;
  /** Arrival of the headers, monotonic milliseconds; null: none came. */
  readonly headersAt: number | null;
  /** From the request on the wire to the first byte of the answer; null: none came. */
  readonly firstByteMs: number | null;
}

/** A place for one exchange at a time. */
export interface Line {
  /** Says the request over `socket`, which is closed in the end. Rejects only for a request that is no request. */
  exchange(socket: Socket, order: ExchangeOrder, budget: Budget): Promise<Exchanged>;
  /** Lets go of the client. */
  close(): void;
}

/** Headers longer than this are a failure of the target. */
const MAX_HEADER_BYTES = 65_536;
/** The client never dials: it is handed sockets. Its address only fills a place. */
const NOWHERE = 'http://line.invalid';
const LOST = 'ERR_UPBEAT_CONNECTION_LOST';
const NO_HEADERS: Headers = {};

/** Opens a line. */
export function openLine(clock: Clock): Line {
  let client: Client | null = null;
  let handedOver: Socket | null = null;

  const newClient = () =>
    new Client(NOWHERE, {
      allowH2: false,
      pipelining: 1,
      // The budget is the only clock: undici's timers are up to a second coarse.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect(_options, callback) {
        const socket = handedOver;
        handedOver = null;
        // A socket is handed over once. When undici comes again, the connection was lost before the request went
        // out; an error with a code of undici's own would make it come for ever.
        queueMicrotask(() => {
          if (socket === null) callback(Object.assign(new Error('connection lost'), { code: LOST }), null);
          else callback(null, socket);
        });
      },
    });

  const discard = () => {
    const old = client;
    client = null;
    handedOver = null;
    old?.destroy(null, () => {});
  };

  return {
    exchange(socket, order, budget) {
      return new Promise((resolve, reject) => {
        client ??= newClient();
        handedOver = socket;
        const { destination } = order;
        const exchange = new Exchange(clock, order, budget, socket, (clean) => {
          if (!clean) discard();
          socket.on('close', dropListeners);
          socket.destroy();
          if (exchange.bug === null) resolve(exchange);
          else reject(exchange.bug);
        });
        const interrupt = () => exchange.interrupted();
        if (budget.over !== null) interrupt();
        else {
          budget.interrupt = interrupt;
          client.dispatch(
            {
              path: destination.path,
              method: order.method as Dispatcher.HttpMethod,
              headers: ['host', destination.hostHeader, ...order.headers],
              body: order.body,
              reset: true,
            },
            exchange,
          );
        }
      });
    },
    close: discard,
  };
}

/**
 * Lets a closed socket go without what listened to it. Node makes a part of each stream old at birth, so that a socket
 * stays in memory until the next full collection; what it holds need not.
 */
function dropListeners(this: Socket): void {
  this.removeAllListeners();
}

/** undici's handler and its own result in one object, for one is made for each request. */
class Exchange implements Dispatcher.DispatchHandler, Exchanged {
  statusCode = 0;
  headers: Headers = NO_HEADERS;
  body: Buffer | null = null;
  overlong = false;
  fault: Fault | null = null;
  headersAt: number | null = null;
  firstByteMs: number | null = null;
  /** The request itself was not one, such as a header with a line break. */
  bug: Error | null = null;
  readonly #clock: Clock;
  readonly #order: ExchangeOrder;
  readonly #budget: Budget;
  readonly #socket: Socket;
  readonly #done: (clean: boolean) => void;
  #settled = false;
  #sentAt = 0;
  #begunAt: number | null = null;
  #chunks: Buffer[] | null = null;
  #bodyBytes = 0;

  constructor(
    clock: Clock,
    order: ExchangeOrder,
    budget: Budget,
    socket: Socket,
    done: (clean: boolean) => void,
  ) {
    this.#clock = clock;
    this.#order = order;
    this.#budget = budget;
    this.#socket = socket;
    this.#done = done;
  }

  onRequestStart(): void {
    this.#sentAt = this.#clock.monotonic();
  }

  /** Comes with the first byte of every answer, informational ones too; the last is that of the real one. */
  onResponseStarted(): void {
    this.#begunAt = this.#clock.monotonic();
  }

  onResponseStart(controller: Dispatcher.DispatchController, statusCode: number, headers: Headers): void {
    if (this.#settled || statusCode < 200) return;
    this.headersAt = this.#clock.monotonic();
    this.#budget.step();
    this.firstByteMs = (this.#begunAt ?? this.headersAt) - this.#sentAt;
    this.statusCode = statusCode;
    this.headers = headers;
    if (this.#order.method === 'HEAD') return;
    if (this.#order.wantsBody(statusCode, headers)) this.#chunks = [];
    else {
      this.#settle(false);
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
    this.#settle(false);
    controller.abort(new Error('the body is too long'));
  }

  onResponseEnd(): void {
    if (this.#chunks !== null) this.body = Buffer.concat(this.#chunks);
    this.#settle(true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, thrown: Error): void {
    if (this.#settled) return;
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') this.bug = thrown;
    const error = code === LOST ? (this.#socket.errored ?? thrown) : thrown;
    this.fault = answerFault(error, this.#progress());
    this.#settle(false);
  }

  /** The budget is over. */
  interrupted(): void {
    const phase = this.headersAt === null ? 'first_byte' : 'body';
    this.fault = timeoutFault(phase, this.#budget.timeoutMs, false);
    this.#settle(false);
  }

  #progress(): AnswerProgress {
    if (this.headersAt !== null) return 'body';
    return this.#begunAt === null ? 'nothing' : 'headers';
  }

  #settle(clean: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#budget.interrupt = null;
    this.#chunks = null;
    this.#done(clean);
  }
}
