/**
 * A server that holds the documented APIs of the services that channels send to. It refuses what they refuse, in their words: wrong
 * shapes, lengths over the published limits, unknown tokens, markup that mentions people. Path of a hosted service: `/<host>/…`.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChannelKind, ChannelSettings } from '../../../src/domain/alert/channel.ts';
import { CHAT_RECEIVERS } from './receivers-chats.ts';
import { INCIDENT_RECEIVERS } from './receivers-incidents.ts';
import { PUSH_RECEIVERS } from './receivers-push.ts';
import { ROOM_RECEIVERS } from './receivers-rooms.ts';

/** A request that a receiver gets. */
export interface ReceivedRequest {
  readonly method: string;
  /** Without the host of a hosted service at its front. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Null: the body is no JSON. */
  readonly json: unknown;
}

/** Its response. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A message that a service took. */
export interface Taken {
  readonly json: unknown;
  /** What it answers or belongs to; null: nothing. */
  readonly thread: string | null;
  /** The message that it takes the place of. Absent: it is a new one. */
  readonly edited?: string;
}

/** What a service remembers. */
export interface Memory {
  readonly taken: Taken[];
  /** Identifiers that were given out: threads, transactions. */
  readonly known: Map<string, string>;
}

/** A service. */
export interface Receiver {
  readonly kind: ChannelKind;
  /** Of channels of the same kind. */
  readonly name?: string;
  /** Settings that it accepts; `origin` is that of the server. */
  readonly settings: (origin: string) => ChannelSettings;
  /** Settings that it refuses, and what the problem says. */
  readonly refused: readonly {
    readonly settings: (origin: string) => ChannelSettings;
    readonly problem: object;
    readonly outcome?: 'failed';
  }[];
  readonly take: (request: ReceivedRequest, memory: Memory) => Reply;
  /** Its own way to ask for less, and how long that is; undefined: it does not say. */
  readonly tooMany: Reply;
  readonly retryAfterMs: number | undefined;
  /** How a recovery finds its alert: `reference` of the alert, the thread of the message, or not at all. */
  readonly threads: 'reference' | 'thread' | 'none';
  /** It edits a message; a text: the identifier of one that it does not know, where it says so. */
  readonly edits?: true | string;
  /** Whether success is in the body. */
  readonly needsBody?: boolean;
}

/** All services. */
export const RECEIVERS: readonly Receiver[] = [
  ...ROOM_RECEIVERS,
  ...CHAT_RECEIVERS,
  ...PUSH_RECEIVERS,
  ...INCIDENT_RECEIVERS,
];

/** How the server answers instead of the service. */
export type Mood = { readonly reply: Reply } | 'hangs' | 'endless' | null;

/** Handles the requests of a service; what it takes is added to `taken`. */
export function takeRequests(receiver: Receiver, taken: Taken[]) {
  const memory: Memory = { taken, known: new Map() };
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    send(response, receiver.take(await read(request), memory));
  };
}

/** Starts the server for one service. */
export async function startReceiver(receiver: Receiver) {
  const memory: Memory = { taken: [], known: new Map() };
  const state: { mood: Mood; requests: ReceivedRequest[]; onRequest: () => void } = {
    mood: null,
    requests: [],
    onRequest: () => {},
  };
  const server = createServer(async (request, response) => {
    const received = await read(request);
    state.requests.push(received);
    state.onRequest();
    if (state.mood === 'hangs') return;
    if (state.mood === 'endless') return pour(response);
    send(response, state.mood === null ? receiver.take(received, memory) : state.mood.reply);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    state,
    taken: memory.taken,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function read(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  // Not `toString`: what is no UTF-8 fails here.
  const body = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  const url = new URL(request.url ?? '/', 'http://receiver.example');
  const path = url.pathname.replace(/^\/[a-z0-9-]+(?:\.[a-z0-9-]+)+(?=\/|$)/, '');
  let json: unknown = null;
  try {
    json = JSON.parse(body);
  } catch {}
  return {
    method: request.method ?? '',
    path,
    query: url.searchParams,
    headers: request.headers,
    body,
    json,
  };
}

function send(response: ServerResponse, { status, headers = {}, body = '' }: Reply): void {
  const isText = typeof body === 'string';
  response
    .writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers })
    .end(isText ? body : JSON.stringify(body));
}

/** A body without end, at the pace of its reader. */
function pour(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const write = () => {
    while (!response.destroyed && response.write('x'.repeat(16_384)));
  };
  response.on('drain', write).on('error', () => {});
  write();
}
