/**
 * Outgoing requests that are not checks: feeds, webhooks, verification of domains, sign-in. They use the same resolver,
 * guard and connections as checks, but the strict parser of a maintained client, undici. Checks must accept what browsers accept, so they use
 * `exchange.ts` (ADR 11).
 */

import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { Dispatcher, Client as UndiciClient } from 'undici';
import { type Clock, systemClock } from '../clock.ts';
import { describeAddressProblem, type FailureCause } from '../domain/failure.ts';
import type { Timing } from '../domain/result.ts';
import { type AddressPolicy, createAddressGuard, readDestination } from './address-guard.ts';
import { createTrustStore } from './connection.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import type { DialParts } from './dial.ts';
import { type Exchanged, type ExchangeOrder, ExchangeResult } from './exchange.ts';
import { type Fault, type ResponseProgress, responseFault, targetFault, timeoutFault } from './fault.ts';
import { decodeContent } from './read-body.ts';
import { createResolver } from './resolver.ts';
import type { Headers } from './response-head.ts';
import { sendRequest, type WebResponse } from './send-request.ts';

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
function exchangeByClient(
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
    if (!deadline.interruptBy(interrupt)) return;

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

export interface OutboundSettings {
  /** `User-Agent` of every request; see `userAgentOf`. */
  readonly userAgent: string;
  /** `ip` or `ip:port`; empty: the system's. */
  readonly nameservers: readonly string[];
  /** Instead of `/etc/hosts`, for tests. */
  readonly hostsFile?: string;
}

export interface OutboundRequest {
  readonly url: string;
  /** Default GET. */
  readonly method?: string;
  /** Without `Host` and `User-Agent`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Deadline of the whole request with its redirects, milliseconds. */
  readonly timeoutMs: number;
  /** Maximum size of the body before and after decoding, bytes; use at most 4 MiB. */
  readonly maxBodyBytes: number;
  /** Addresses and ports that may be dialled. For URLs of owners it never allows private blocks. */
  readonly policy: AddressPolicy;
  /** Maximum number of redirects to follow, GET and HEAD only; default 0: a 3xx is a response like any other. */
  readonly redirects?: number;
  /** Path of a PEM bundle that is trusted in addition to the system's authorities; default none. */
  readonly caFile?: string | null;
  /** Ends the request early; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The outcome of a request. */
export interface OutboundResponse {
  /** 0: no response came. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Headers;
  /** Decoded; null where `fault` is set. */
  readonly body: Buffer | null;
  /** Why no complete response arrived; null: it did, whatever its status. */
  readonly fault: Fault | null;
  readonly timing: Timing;
  /** URL of the response, after redirects. */
  readonly url: string;
}

/** The client of a thread. */
export type Outbound = ReturnType<typeof createOutbound>;

export type Requests = Pick<Outbound, 'request'>;

/** Creates the client. `onForbidden` is called for each refused address. Throws if a name server is invalid. */
export function createOutbound(
  settings: OutboundSettings,
  clock: Clock = systemClock,
  onForbidden?: DialParts['onForbidden'],
) {
  const parts = { clock, resolver: createResolver({ ...settings, clock }), onForbidden };
  const trusts = createTrustStore();
  return {
    /** Resolves for every outcome; rejects only for an abort or an invalid request. */
    async request(request: OutboundRequest): Promise<OutboundResponse> {
      const { method = 'GET', body = null, redirects = 0, caFile = null, signal } = request;
      signal?.throwIfAborted();
      const destination = readDestination(request.url);
      if ('problem' in destination)
        throw new TypeError(`${request.url} is ${describeAddressProblem(destination.problem)}`);
      const guard = createAddressGuard(request.policy);
      const deadline = startDeadline(clock, request.timeoutMs);
      const abort = () => deadline.abort();
      signal?.addEventListener('abort', abort, { once: true });
      try {
        const order = {
          destination,
          method,
          headers: flatten(settings.userAgent, request.headers ?? {}),
          body,
          wantsBody: () => true,
          maxBodyBytes: request.maxBodyBytes,
          // A redirected POST would lose or repeat its body, so the caller receives the 3xx.
          redirects: method === 'GET' || method === 'HEAD' ? redirects : 0,
          guard,
          trust: () => trusts.trust(caFile),
          fresh: false,
        };
        const response = await sendRequest(parts, order, deadline, exchangeByClient);
        if (deadline.over === 'aborted') throw signal?.reason;
        const { body: received, fault } = await readWhole(response, request.maxBodyBytes);
        const { statusCode: status, headers, timing, url } = response;
        return { status, headers, body: received, fault, timing, url };
      } finally {
        signal?.removeEventListener('abort', abort);
        deadline.close();
      }
    },
    close: (): void => parts.resolver.close(),
  };
}

async function readWhole(
  response: WebResponse,
  maxBytes: number,
): Promise<Pick<OutboundResponse, 'body' | 'fault'>> {
  if (response.fault !== null) return { body: null, fault: response.fault };
  const { body, overlong, headers } = response;
  const content =
    overlong || body === null ? null : await decodeContent({ bytes: body, cut: false }, headers, maxBytes);
  if (content !== null && 'damaged' in content)
    return {
      body: null,
      fault: targetFault('body', 'body', { code: 'body_undecodable', coding: content.damaged }),
    };
  if (overlong || content?.cut === true)
    return { body: null, fault: targetFault('body', 'body', { code: 'body_too_long', maxBytes }) };
  return { body: content?.bytes ?? Buffer.alloc(0), fault: null };
}

function flatten(userAgent: string, headers: Readonly<Record<string, string>>): string[] {
  const flat = ['user-agent', userAgent];
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  if (!names.has('accept-encoding')) flat.push('accept-encoding', 'gzip, deflate, br');
  for (const [name, value] of Object.entries(headers)) flat.push(name, value);
  return flat;
}
