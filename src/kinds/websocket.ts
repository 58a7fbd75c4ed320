/** Kind `websocket`: the opening handshake of RFC 6455 and, if the owner expects one, the first message of the server. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { WebSocket as WebSocketClient } from 'ws';
import type { Clock } from '../clock.ts';
import { type Failure, failureOf } from '../domain/failure.ts';
import { hostInUrl } from '../domain/host-name.ts';
import { Type } from '../json-schema.ts';
import type { Deadline } from '../outbound/deadline.ts';
import { type Fault, isTlsCode, responseFault, targetFault, timeoutFault } from '../outbound/fault.ts';
import type { Headers } from '../outbound/response-head.ts';
import { matchesExpression } from './assertions.ts';
import { defineKind, PortSetting, webAttemptOf } from './check-kind.ts';
import {
  CLIENT_CERTIFICATE_SETTINGS,
  clientCertificateOf,
  connect,
  refuseClientCertificate,
  timingOf,
} from './connect.ts';
import { isBlocked, judgeStatus } from './response-rules.ts';

/** Loads the client with the first check of this kind, since it takes memory in every thread. */
const load = createRequire(import.meta.url);

/** Maximum size of the head of the server's response, that of browsers, bytes. */
const MAX_HEADER_BYTES = 262_144;
/** Maximum number of interim responses (1xx) before the handshake. */
const MAX_INTERIM_RESPONSES = 20;
/** Maximum size of a message, bytes. */
const MAX_MESSAGE_BYTES = 65_536;
/** Maximum number of fragments of a message. */
const MAX_FRAGMENTS = 1_000;
/** Maximum number of pings and pongs before the first message. */
const MAX_CONTROL_FRAMES = 100;
/** Time for the close frame to leave, milliseconds. */
const CLOSE_TIMEOUT_MS = 1_000;
/** Status code of a close without a problem (RFC 6455, 7.4.1). */
const NORMAL_CLOSURE = 1000;
/** The status that a handshake must have. */
const SWITCHING_PROTOCOLS = [101];

export const websocketCheck = defineKind({
  settings: Type.Object({
    path: Type.Optional(Type.String({ format: 'path', maxLength: 2_000 })),
    plain: Type.Optional(Type.Boolean()),
    port: Type.Optional(PortSetting),
    subprotocol: Type.Optional(Type.String({ format: 'token', maxLength: 200 })),
    send: Type.Optional(Type.String({ minLength: 1, maxLength: 4_000, writeOnly: true })),
    contains: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    matches: Type.Optional(Type.String({ format: 'expression', maxLength: 500 })),
    ...CLIENT_CERTIFICATE_SETTINGS,
  }),
  refuse: refuseClientCertificate,
  portOf,
  destinationOf: (settings) => `${settings.plain === true ? 'ws' : 'wss'}:${portOf(settings)}`,
  prepare: (tools) => async (run, settings) => {
    const { clock, userAgent } = tools;
    const { target, deadline } = run;
    const { path = '/', plain = false, port } = settings;
    // A fragment is not sent, and the client refuses URLs that have one.
    const [sent = ''] = path.split('#');
    const url = `${plain ? 'http' : 'https'}://${hostInUrl(target.domain)}${port === undefined ? '' : `:${port}`}${sent}`;
    const connected = await connect(tools, run, 'websocket', {
      url,
      protocols: ['http/1.1'],
      client: clientCertificateOf(settings),
    });
    if ('attempt' in connected) return connected.attempt;
    const { socket, phases, startedAt } = connected;
    const talk = new Talk(clock, socket, deadline, settings);
    // `http` becomes `ws`, and `https` becomes `wss`.
    talk.begin(url.replace('http', 'ws'), userAgent);
    const said = await talk.said;
    phases.firstByteMs = said.firstByteMs;
    const response = {
      ...said,
      timing: timingOf(phases, said.answeredAt === null ? null : said.answeredAt - startedAt),
      certificateExpiresAt: phases.certificateExpiresAt,
      lostMs: deadline.lostMs,
    };
    const failure = said.fault === null && !isBlocked(response) ? said.failure : null;
    const judgement = { failure, via: 'websocket', memory: target.memory } as const;
    return webAttemptOf(run.startedAt, response, judgement, clock.now);
  },
});

function portOf({ plain = false, port }: { readonly plain?: boolean; readonly port?: number }): number {
  return port ?? (plain ? 80 : 443);
}

/** The settings of the owner. */
interface Wanted {
  readonly subprotocol?: string;
  readonly send?: string;
  readonly contains?: string;
  readonly matches?: string;
  readonly clientCertificate?: string;
}

/** The answer of the server. */
interface Said {
  /** Status of the response to the handshake; 0: none arrived. */
  readonly statusCode: number;
  readonly headers: Headers;
  readonly fault: Fault | null;
  /** The failure of the response or the message; null: none. */
  readonly failure: Failure | null;
  /** Milliseconds from the request to the response of the handshake; null: none arrived. */
  readonly firstByteMs: number | null;
  /** The time at which the handshake, or the message that is waited for, was complete, monotonic milliseconds; null: it was not. */
  readonly answeredAt: number | null;
}

/** A handshake and what follows it, by the `ws` client over an open connection. */
class Talk {
  readonly #clock: Clock;
  readonly #socket: Socket;
  readonly #deadline: Deadline;
  readonly #wanted: Wanted;
  readonly #ended = Promise.withResolvers<Said>();
  readonly #sentAt: number;
  #client: WebSocketClient | null = null;
  #settled = false;
  #statusCode = 0;
  #headers: Headers = {};
  #firstByteMs: number | null = null;
  #answeredAt: number | null = null;
  #controlFrames = 0;

  constructor(clock: Clock, socket: Socket, deadline: Deadline, wanted: Wanted) {
    this.#clock = clock;
    this.#socket = socket;
    this.#deadline = deadline;
    this.#wanted = wanted;
    this.#sentAt = clock.monotonic();
  }

  get said(): Promise<Said> {
    return this.#ended.promise;
  }

  begin(url: string, userAgent: string): void {
    if (!this.#deadline.interruptBy(() => this.#onDeadline())) return;
    const { WebSocket }: { WebSocket: typeof WebSocketClient } = load('ws');
    const { subprotocol } = this.#wanted;
    const options = {
      createConnection: () => this.#socket,
      headers: { 'user-agent': userAgent },
      perMessageDeflate: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      maxPayload: MAX_MESSAGE_BYTES,
      maxFragments: MAX_FRAGMENTS,
      // Pings are counted here.
      maxPendingAutoPongs: 0,
      closeTimeout: CLOSE_TIMEOUT_MS,
      finishRequest: (request: ClientRequest) => this.#sendRequest(request),
    };
    const client = new WebSocket(url, subprotocol === undefined ? [] : [subprotocol], options);
    this.#client = client;
    client.on('upgrade', (response) => this.#onHead(response));
    client.on('unexpected-response', (_request, response) => this.#onOtherResponse(response));
    client.on('open', () => this.#onOpen());
    client.on('message', (data) => this.#onMessage(String(data)));
    client.on('ping', () => this.#onControlFrame());
    client.on('pong', () => this.#onControlFrame());
    client.on('error', (error) => this.#onError(error));
    client.on('close', (code) => this.#onClose(code));
  }

  #sendRequest(request: ClientRequest): void {
    let interim = 0;
    request.on('information', () => {
      interim++;
      if (interim > MAX_INTERIM_RESPONSES) this.#refuseHandshake('Too many interim responses');
    });
    request.end();
    this.#deadline.sent();
  }

  #onHead({ statusCode = 0, headers }: IncomingMessage): void {
    if (this.#settled) return;
    this.#deadline.step();
    this.#firstByteMs = this.#clock.monotonic() - this.#sentAt;
    this.#statusCode = statusCode;
    this.#headers = headers;
  }

  #onOtherResponse(response: IncomingMessage): void {
    this.#onHead(response);
    if (this.#statusCode === 101) this.#refuseHandshake('Missing Upgrade header');
    this.#answer(judgeStatus({ statusCode: this.#statusCode, headers: this.#headers }, SWITCHING_PROTOCOLS));
  }

  #onOpen(): void {
    const { send, contains, matches } = this.#wanted;
    if (send !== undefined) this.#client?.send(send);
    if (contains === undefined && matches === undefined) this.#answer(null);
  }

  #onMessage(text: string): void {
    if (this.#settled) return;
    this.#deadline.step();
    this.#answer(judgeMessage(text, this.#wanted));
  }

  #onControlFrame(): void {
    this.#controlFrames++;
    if (this.#controlFrames > MAX_CONTROL_FRAMES)
      this.#fail('protocol', 'body', { code: 'frame_invalid', error: 'Too many pings before a message' });
  }

  /** Called for errors of the handshake and of frames; `close` follows those of the connection. */
  #onError(error: NodeJS.ErrnoException & { readonly reason?: string }): void {
    const { code = '', reason, message } = error;
    const isReset = this.#socket.errored !== null;
    if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
      this.#fail('content', 'body', { code: 'message_too_long', maxBytes: MAX_MESSAGE_BYTES });
    else if (code.startsWith('WS_ERR_'))
      this.#fail('protocol', 'body', { code: 'frame_invalid', error: message });
    else if (this.#statusCode !== 0) this.#refuseHandshake(message);
    else if (code === 'HPE_HEADER_OVERFLOW')
      this.#fail('protocol', 'first_byte', { code: 'headers_too_long', maxBytes: MAX_HEADER_BYTES });
    else if (code.startsWith('HPE_'))
      this.#fail('protocol', 'first_byte', { code: 'invalid_http', error: reason ?? message });
    else
      this.#end(
        responseFault(
          isReset || isTlsCode(code) ? code : null,
          'nothing',
          this.#wanted.clientCertificate !== undefined,
        ),
        null,
      );
  }

  #onClose(closeCode: number): void {
    const failure = failureOf('content', 'body', { code: 'closed_before_message', closeCode });
    this.#end(null, failure);
  }

  #onDeadline(): void {
    const { timeoutMs } = this.#deadline;
    if (this.#statusCode === 0) this.#end(timeoutFault('first_byte', timeoutMs, false), null);
    else this.#fail('timeout', 'body', { code: 'no_message', timeoutMs });
  }

  #refuseHandshake(error: string): void {
    this.#fail('protocol', 'first_byte', { code: 'websocket_handshake_invalid', error });
  }

  #fail(...failure: Parameters<typeof targetFault>): void {
    this.#end(targetFault(...failure), null);
  }

  #answer(failure: Failure | null): void {
    this.#answeredAt = this.#clock.monotonic();
    this.#end(null, failure);
  }

  #end(fault: Fault | null, failure: Failure | null): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#deadline.interrupt = null;
    const client = this.#client;
    if (fault === null && client?.readyState === client?.OPEN) {
      client?.close(NORMAL_CLOSURE);
      this.#socket.destroySoon();
    } else this.#socket.destroy();
    this.#ended.resolve({
      statusCode: this.#statusCode,
      headers: this.#headers,
      fault,
      failure,
      firstByteMs: this.#firstByteMs,
      answeredAt: this.#answeredAt,
    });
  }
}

/** The failure of a first message that is not as expected; null: it is. Bytes that are no UTF-8 are replaced. */
function judgeMessage(text: string, { contains, matches }: Wanted): Failure | null {
  if (contains !== undefined && !text.includes(contains))
    return failureOf('content', 'body', { code: 'message_lacks', text: contains });
  if (matches !== undefined && !matchesExpression(matches, text))
    return failureOf('content', 'body', { code: 'message_unmatched', text: matches });
  return null;
}
