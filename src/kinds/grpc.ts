/** Kind `grpc`: asks a gRPC server for its health by `grpc.health.v1.Health/Check`, as load balancers do. */

import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  IncomingHttpStatusHeader,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Cancel, Clock } from '../clock.ts';
import { type Failure, failureOf, oneLine } from '../domain/failure.ts';
import { hostInUrl } from '../domain/host-name.ts';
import { percentDecoded } from '../domain/printable-text.ts';
import { Type } from '../json-schema.ts';
import type { Deadline } from '../outbound/deadline.ts';
import { type Fault, isTlsCode, responseFault, targetFault, timeoutFault } from '../outbound/fault.ts';
import type { Headers } from '../outbound/response-head.ts';
import { attemptOf, defineKind, PortSetting, webAttemptOf } from './check-kind.ts';
import {
  CLIENT_CERTIFICATE_SETTINGS,
  clientCertificateOf,
  connect,
  refuseClientCertificate,
  timingOf,
} from './connect.ts';
import { isBlocked, judgeStatus } from './response-rules.ts';

const METHOD_PATH = '/grpc.health.v1.Health/Check';
/** Maximum number of bytes that a server may send in an attempt, of all frames. */
const MAX_CONNECTION_BYTES = 262_144;
/** The interval at which the received bytes are counted, milliseconds. */
const COUNT_INTERVAL_MS = 50;
/** Maximum size of the response message, bytes; the message of a health service has two. */
const MAX_MESSAGE_BYTES = 4_096;
/** Length of the prefix of a message: a flag for compression and the length. */
const PREFIX_BYTES = 5;

/** The check of a gRPC server. */
export const grpcCheck = defineKind({
  settings: Type.Object({
    service: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    plain: Type.Optional(Type.Boolean()),
    port: Type.Optional(PortSetting),
    ...CLIENT_CERTIFICATE_SETTINGS,
  }),
  portOf,
  destinationOf: (settings) => `${settings.plain === true ? 'grpc' : 'grpcs'}:${portOf(settings)}`,
  refuse: refuseClientCertificate,
  prepare: (tools) => async (run, settings) => {
    const { service = '', plain = false, port } = settings;
    const client = clientCertificateOf(settings);
    const { clock, userAgent } = tools;
    const { target, deadline } = run;
    const url = `${plain ? 'http' : 'https'}://${hostInUrl(target.domain)}${port === undefined ? '' : `:${port}`}/`;
    const connected = await connect(tools, run, 'grpc', { url, protocols: ['h2'], client });
    if ('attempt' in connected) return connected.attempt;
    const { socket, phases, startedAt } = connected;
    const call = new HealthCall(clock, socket, deadline, client !== null);
    call.begin(url, userAgent, service);
    const reply = await call.reply;
    phases.firstByteMs = reply.firstByteMs;
    const timing = timingOf(phases, reply.headersAt === null ? null : reply.headersAt - startedAt);
    const { certificateExpiresAt } = phases;
    const found = { timing, certificateExpiresAt, fault: reply.fault, lostMs: deadline.lostMs };
    const { statusCode, headers } = reply;
    if (reply.fault === null && statusCode !== 200) {
      // A proxy responded, or a web server.
      const failure = isBlocked(reply) ? null : judgeStatus(reply, [200]);
      const judgement = { failure, via: 'grpc', memory: target.memory } as const;
      return webAttemptOf(run.startedAt, { ...found, statusCode, headers }, judgement, clock.now);
    }
    const failure = reply.fault === null ? judgeReply(reply, service) : null;
    return attemptOf(run, 'grpc', { ...found, answered: reply.answered, failure });
  },
});

function portOf({ plain = false, port }: { readonly plain?: boolean; readonly port?: number }): number {
  return port ?? (plain ? 80 : 443);
}

/** The answer of the server. */
interface Reply {
  readonly answered: boolean;
  /** HTTP status; 0: no response arrived. */
  readonly statusCode: number;
  readonly headers: Headers;
  /** Fields after the message; empty: there are none. */
  readonly trailers: Headers;
  /** The bytes between headers and trailers. */
  readonly body: Buffer;
  readonly fault: Fault | null;
  /** Milliseconds from the request to the headers of the response; null: none arrived. */
  readonly firstByteMs: number | null;
  /** The time at which the headers arrived, monotonic milliseconds; null: they did not. */
  readonly headersAt: number | null;
}

/** One call over an open connection, by the HTTP/2 client of Node.js. */
class HealthCall {
  readonly #clock: Clock;
  readonly #socket: Socket;
  readonly #deadline: Deadline;
  readonly #ended = Promise.withResolvers<Reply>();
  readonly #sentAt: number;
  readonly #offersCertificate: boolean;
  #session: ClientHttp2Session | null = null;
  #stopCounting: Cancel = () => {};
  #settled = false;
  #headers: IncomingHttpHeaders & IncomingHttpStatusHeader = {};
  #trailers: IncomingHttpHeaders = {};
  #chunks: Buffer[] = [];
  #bodyBytes = 0;
  #headersAt: number | null = null;

  constructor(clock: Clock, socket: Socket, deadline: Deadline, offersCertificate: boolean) {
    this.#offersCertificate = offersCertificate;
    this.#clock = clock;
    this.#socket = socket;
    this.#deadline = deadline;
    this.#sentAt = clock.monotonic();
  }

  get reply(): Promise<Reply> {
    return this.#ended.promise;
  }

  begin(url: string, userAgent: string, service: string): void {
    if (!this.#deadline.interruptBy(() => this.#onDeadline())) return;
    // Loaded with the first check of this kind, since it takes memory in every thread.
    const { connect: openSession } = process.getBuiltinModule('node:http2');
    const session = openSession(url, {
      createConnection: () => this.#socket,
      settings: { enablePush: false },
      maxSessionMemory: 1,
    });
    this.#session = session;
    holdSession(session);
    session.on('error', (error) => this.#onError(error));
    session.on('goaway', (code) => {
      if (code !== 0) this.#onReset(code);
    });
    session.on('close', () => this.#onLoss());
    this.#count();
    const stream = session.request({
      ':method': 'POST',
      ':path': METHOD_PATH,
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': userAgent,
      'grpc-timeout': `${this.#deadline.timeoutMs}m`,
    });
    this.#listen(stream);
    stream.end(encodeRequest(service));
    this.#deadline.sent();
  }

  /** Frames without an event, such as those of a flood, count too. */
  #count(): void {
    this.#stopCounting = this.#clock.after(COUNT_INTERVAL_MS, () => {
      if (this.#socket.bytesRead > MAX_CONNECTION_BYTES) this.#failForSize(MAX_CONNECTION_BYTES);
      else this.#count();
    });
  }

  #listen(stream: ClientHttp2Stream): void {
    stream.on('response', (headers) => {
      if (this.#settled) return;
      this.#deadline.step();
      this.#headers = headers;
      this.#headersAt = this.#clock.monotonic();
    });
    stream.on('data', (chunk: Buffer) => {
      this.#bodyBytes += chunk.length;
      if (this.#bodyBytes > PREFIX_BYTES + MAX_MESSAGE_BYTES) this.#failForSize(MAX_MESSAGE_BYTES);
      else this.#chunks.push(chunk);
    });
    stream.on('trailers', (trailers) => {
      this.#trailers = trailers;
    });
    stream.on('error', (error) => this.#onError(error));
    stream.on('close', () => {
      const { rstCode } = stream;
      if (this.#socket.destroyed) this.#onLoss();
      else if (rstCode !== 0) this.#onReset(rstCode);
      else this.#end(null, true);
    });
  }

  /** Called for violations of HTTP/2, and for errors of the connection. */
  #onError({ code = '', message }: NodeJS.ErrnoException): void {
    if (code === 'ERR_HTTP2_ERROR')
      this.#end(targetFault('protocol', this.#phase, { code: 'http2_invalid', error: message }), false);
    else if (code === 'ECONNRESET' || isTlsCode(code)) this.#onLoss(code);
  }

  /** The server refused the stream, or ended the connection with a reason (RFC 9113, 7). */
  #onReset(code: number): void {
    const error = ERROR_NAMES[code] ?? `error ${code}`;
    this.#end(targetFault('protocol', this.#phase, { code: 'http2_reset', error }), true);
  }

  #onLoss(code: string | null = null): void {
    const progress = this.#headersAt === null ? 'nothing' : 'body';
    this.#end(responseFault(code, progress, this.#offersCertificate), this.#headersAt !== null);
  }

  #onDeadline(): void {
    const answered = this.#headersAt !== null;
    this.#end(timeoutFault(this.#phase, this.#deadline.timeoutMs, false), answered);
  }

  #failForSize(maxBytes: number): void {
    this.#end(targetFault('content', this.#phase, { code: 'answer_too_long', maxBytes }), true);
  }

  get #phase(): 'first_byte' | 'body' {
    return this.#headersAt === null ? 'first_byte' : 'body';
  }

  #end(fault: Fault | null, answered: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#deadline.interrupt = null;
    this.#stopCounting();
    if (this.#session === null) this.#socket.destroy();
    else this.#session.destroy();
    this.#ended.resolve({
      answered,
      statusCode: this.#headers[':status'] ?? 0,
      headers: this.#headers,
      trailers: this.#trailers,
      body: Buffer.concat(this.#chunks),
      fault,
      firstByteMs: this.#headersAt === null ? null : this.#headersAt - this.#sentAt,
      headersAt: this.#headersAt,
    });
  }
}

/** Names of the codes of resets (RFC 9113, 7). */
const ERROR_NAMES = [
  ...['NO_ERROR', 'PROTOCOL_ERROR', 'INTERNAL_ERROR', 'FLOW_CONTROL_ERROR', 'SETTINGS_TIMEOUT'],
  ...['STREAM_CLOSED', 'FRAME_SIZE_ERROR', 'REFUSED_STREAM', 'CANCEL', 'COMPRESSION_ERROR'],
  ...['CONNECT_ERROR', 'ENHANCE_YOUR_CALM', 'INADEQUATE_SECURITY', 'HTTP_1_1_REQUIRED'],
];

/** Names of gRPC's status codes. */
const STATUS_NAMES = [
  ...['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE'],
  ...['UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'],
];

/** Names of `grpc.health.v1.HealthCheckResponse.ServingStatus`. */
const SERVING_NAMES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/** Judges a response with HTTP status 200; null: the service is serving. */
function judgeReply({ headers, trailers, body }: Reply, service: string): Failure | null {
  const type = String(headers['content-type'] ?? '');
  if (!/^application\/grpc(?:[+;]|$)/i.test(type))
    return failureOf('protocol', 'first_byte', { code: 'grpc_content_type', text: oneLine(type) });
  const status = trailers['grpc-status'] ?? headers['grpc-status'];
  if (status === undefined) return failureOf('protocol', 'body', { code: 'grpc_status_missing' });
  // Texts of the server are stored with the failure.
  const name = STATUS_NAMES[Number(status)] ?? oneLine(String(status));
  if (name === 'OK') return judgeServing(body);
  if (name === 'UNIMPLEMENTED') return failureOf('content', 'body', { code: 'grpc_unimplemented' });
  if (name === 'NOT_FOUND')
    return failureOf('content', 'body', { code: 'grpc_service_unknown', text: service });
  // It is percent-encoded; text that is not is taken as it is.
  const raw = String(trailers['grpc-message'] ?? headers['grpc-message'] ?? '');
  const message = oneLine(percentDecoded(raw, raw));
  return failureOf('content', 'body', { code: 'grpc_status', status: name, message });
}

function judgeServing(body: Buffer): Failure | null {
  const status = decodeResponse(body);
  if (status === null) return failureOf('protocol', 'body', { code: 'grpc_message_invalid' });
  const word = SERVING_NAMES[status] ?? String(status);
  if (word === 'SERVING') return null;
  const code = word === 'NOT_SERVING' ? 'reported_down' : 'reported_unknown';
  return failureOf('body', 'body', { code, word });
}

/** `HealthCheckRequest` with its prefix. An empty service stands for the whole server. */
function encodeRequest(service: string): Buffer {
  const name = Buffer.from(service);
  const length = name.length < 0x80 ? [name.length] : [(name.length & 0x7f) | 0x80, name.length >> 7];
  const message = service === '' ? name : Buffer.concat([Buffer.from([FIELD_SERVICE, ...length]), name]);
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Tag of the field `service`: number 1, with a length. */
const FIELD_SERVICE = 0x0a;
/** Tag of the field `status`: number 1, a varint. */
const FIELD_STATUS = 0x08;

/** The status in a `HealthCheckResponse` with its prefix; null: it is none, or compressed, which was not offered. */
function decodeResponse(body: Buffer): number | null {
  if (body.length < PREFIX_BYTES || body[0] !== 0) return null;
  const message = body.subarray(PREFIX_BYTES);
  if (body.readUInt32BE(1) !== message.length) return null;
  // A field with its default, 0, is not sent.
  if (message.length === 0) return 0;
  const [tag, status] = message;
  return message.length === 2 && tag === FIELD_STATUS && status !== undefined && status < 0x80
    ? status
    : null;
}

// Protects the program from a fault of Node.js 24. It frees the streams of a destroyed session of HTTP/2 in the next turn of the
// event loop. If a garbage collection frees the session before that, and a stream has received headers that were not delivered,
// such as more than 128 fields, Node.js aborts the whole process: `Http2Session::~Http2Session()`, `Assertion failed:
// (current_nghttp2_memory_) == (0)`. Any server could end the program so.

/** The native parts of sessions that may not be freed yet. */
const held = new Set<object>();

/**
 * Keeps the native part of a session that is connecting in memory until it and its streams have been closed for a turn of
 * the event loop. A version of Node.js that keeps it elsewhere fails `test/kinds/grpc.test.ts`.
 */
function holdSession(session: ClientHttp2Session): void {
  session.once('connect', () => {
    const native = nativePartOf(session);
    if (native === null) return;
    held.add(native);
    // Callbacks of setImmediate run after Node.js has freed the streams that were destroyed before.
    session.once('close', () => setImmediate(() => held.delete(native)));
  });
}

/** Number of sessions that are kept in memory now. */
export function countHeldSessions(): number {
  return held.size;
}

/** The object under an internal symbol; null: there is none. */
function nativePartOf(session: ClientHttp2Session): object | null {
  const symbol = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'kHandle');
  const native: unknown = symbol === undefined ? null : Reflect.get(session, symbol);
  return typeof native === 'object' ? native : null;
}
