/**
 * The list of name servers, and the sockets to each of them. Queries are sent over UDP, each with its own id. A
 * truncated reply is requested again over TCP. A socket is used for few queries, and for none after a missing reply, so
 * that source ports change (RFC 5452, 9.2) and a machine that has changed networks does not keep its old address.
 */
import { randomInt } from 'node:crypto';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { Resolver } from 'node:dns';
import { createConnection, isIP, isIPv6 } from 'node:net';
import type { Clock } from '../clock.ts';
import { HOUR_MS } from '../domain/durations.ts';
import { decodeReply, encodeQuery, type NameQuery, type NameReply } from './name-message.ts';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** Receives the outcome of one transmission until it is cancelled. */
export interface ReplyListener {
  onReply(reply: NameReply): void;
  /** Called for a truncated reply, with what it has; the query is being repeated over TCP. */
  onCut(reply: NameReply): void;
  /**
   * Called if the query could not be sent or was rejected. `code` is a system error code such as `ECONNREFUSED`, or `ETRUNCATED` if the
   * server truncated its reply and gave no other one over TCP.
   */
  onError(code: string): void;
}

export type ServerChannel = ReturnType<typeof openServerChannel>;

/** Maximum number of queries per socket. */
const MAX_QUERIES_A_SOCKET = 64;
/** Age after which a socket is not used for further queries. */
const MAX_SOCKET_AGE_MS = 10_000;
/** Time after which a server gets EDNS again, milliseconds: what was lost, or refused, may have been of another cause. */
const EDNS_RETRY_MS = HOUR_MS;
/** Number of bytes of the length before a message over TCP (RFC 1035, 4.2.2). */
const LENGTH_BYTES = 2;

interface Pending {
  readonly query: NameQuery;
  readonly listener: ReplyListener;
}

/** Opens the channel to a server. `onDatagram` is called for every datagram from it, late ones included. */
export function openServerChannel(server: ServerAddress, clock: Clock, onDatagram: () => void) {
  const sockets = new Set<QuerySocket>();
  let current: QuerySocket | null = null;
  // False where the server refuses queries with EDNS (RFC 6891, 7) or leaves them without a reply.
  let edns = true;
  let ednsSetAt = Number.NEGATIVE_INFINITY;
  let knowsEdns = false;

  const setEdns = (used: boolean): void => {
    edns = used;
    ednsSetAt = clock.monotonic();
  };

  const socketFor = (): QuerySocket => {
    if (current?.isUsedUp()) current.retire();
    if (current === null || current.retired) {
      const socket = new QuerySocket(server, clock, onDatagram, () => sockets.delete(socket));
      sockets.add(socket);
      current = socket;
    }
    return current;
  };

  const send = (query: NameQuery, listener: ReplyListener): (() => void) => {
    let giveUp = () => {};
    if (!edns && clock.monotonic() - ednsSetAt >= EDNS_RETRY_MS) setEdns(true);
    const withEdns = edns;
    giveUp = socketFor().send(query, withEdns, {
      onReply(reply) {
        if (withEdns && (reply.code === 'FORMERR' || reply.code === 'NOTIMP')) {
          setEdns(false);
          giveUp = send(query, listener);
          return;
        }
        if (withEdns) {
          knowsEdns = true;
          edns = true;
        }
        if (reply.truncated && reply.code === 'NOERROR') {
          giveUp = askOverTcp(server, query, onDatagram, listener);
          listener.onCut(reply);
        } else listener.onReply(reply);
      },
      onCut: listener.onCut,
      onError: listener.onError,
    });
    return () => giveUp();
  };

  return {
    /** Sends a query. The returned function cancels it; a later reply is dropped. */
    send,
    /**
     * Makes the next query use another socket, since there was no reply to the one of `sentAt` (monotonic milliseconds); and, until one with
     * EDNS had a reply, the other form. Queries of the same form that got no reply together change it once.
     */
    rotate(sentAt: number): void {
      current?.retire();
      current = null;
      if (knowsEdns || sentAt < ednsSetAt) return;
      setEdns(!edns);
    },
    close(): void {
      for (const socket of sockets) socket.close();
    },
  };
}

/** A connected UDP socket: the kernel passes on only packets from the server, and its refusals. */
class QuerySocket {
  retired = false;
  readonly #socket: UdpSocket;
  readonly #clock: Clock;
  readonly #openedAt: number;
  readonly #pending = new Map<number, Pending>();
  readonly #onClosed: () => void;
  #waiting: (() => void)[] | null = [];
  #used = 0;
  #closed = false;

  constructor(server: ServerAddress, clock: Clock, onDatagram: () => void, onClosed: () => void) {
    this.#clock = clock;
    this.#openedAt = clock.monotonic();
    this.#onClosed = onClosed;
    this.#socket = createSocket(isIPv6(server.host) ? 'udp6' : 'udp4');
    this.#socket.on('message', (packet) => {
      onDatagram();
      this.#receive(packet);
    });
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#fail(error.code ?? 'EUNKNOWN'));
    this.#socket.on('connect', () => {
      const waiting = this.#waiting ?? [];
      this.#waiting = null;
      for (const write of waiting) write();
    });
    this.#socket.unref();
    this.#socket.connect(server.port, server.host);
  }

  isUsedUp(): boolean {
    return (
      this.#used >= MAX_QUERIES_A_SOCKET || this.#clock.monotonic() - this.#openedAt >= MAX_SOCKET_AGE_MS
    );
  }

  send(query: NameQuery, edns: boolean, listener: ReplyListener): () => void {
    this.#used++;
    let id = randomInt(0x10000);
    while (this.#pending.has(id)) id = randomInt(0x10000);
    this.#pending.set(id, { query, listener });
    const packet = encodeQuery(id, query, edns);
    const write = () => {
      if (this.#closed || !this.#pending.has(id)) return;
      this.#socket.send(packet, (error: NodeJS.ErrnoException | null) => {
        if (error) this.#fail(error.code ?? 'EUNKNOWN');
      });
    };
    if (this.#waiting === null) write();
    else this.#waiting.push(write);
    return () => this.#release(id);
  }

  /** Stops taking queries and closes when the last one has ended. */
  retire(): void {
    this.retired = true;
    if (this.#pending.size === 0) this.close();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.retired = true;
    this.#pending.clear();
    this.#onClosed();
    this.#socket.close();
  }

  #receive(packet: Buffer): void {
    if (packet.length < 2) return;
    const id = packet.readUInt16BE(0);
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    const reply = decodeReply(packet, pending.query);
    if (reply === null) return;
    this.#release(id);
    pending.listener.onReply(reply);
  }

  #release(id: number): void {
    if (this.#pending.delete(id) && this.#pending.size === 0 && this.retired) this.close();
  }

  /** Fails all queries of the socket, because the kernel does not tell which of them was refused. */
  #fail(code: string): void {
    if (this.#closed) return;
    const failed = [...this.#pending.values()];
    this.close();
    for (const { listener } of failed) listener.onError(code);
  }
}

function askOverTcp(
  server: ServerAddress,
  query: NameQuery,
  onDatagram: () => void,
  listener: ReplyListener,
): () => void {
  const id = randomInt(0x10000);
  const socket = createConnection({ ...server, autoSelectFamily: false });
  const chunks: Buffer[] = [];
  let ended = false;
  const fail = () => listener.onError('ETRUNCATED');
  const end = (deliver: () => void) => {
    if (ended) return;
    ended = true;
    socket.destroy();
    deliver();
  };
  socket.on('connect', () => {
    const packet = encodeQuery(id, query, false);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt16BE(packet.length);
    socket.write(Buffer.concat([length, packet]));
  });
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    const received = Buffer.concat(chunks);
    const length = received.length < LENGTH_BYTES ? null : received.readUInt16BE(0);
    if (length === null || received.length < LENGTH_BYTES + length) return;
    onDatagram();
    const packet = received.subarray(LENGTH_BYTES, LENGTH_BYTES + length);
    const reply = packet.length >= 2 && packet.readUInt16BE(0) === id ? decodeReply(packet, query) : null;
    const isAnswer = reply !== null && (reply.code === 'NOERROR' || reply.code === 'NXDOMAIN');
    end(() => (isAnswer ? listener.onReply(reply) : fail()));
  });
  socket.on('error', () => end(fail));
  socket.on('close', () => end(fail));
  return () => end(() => {});
}

/** Returns the addresses of the name servers, each `ip` or `ip:port`, in the order of preference. */
export type ServerList = () => readonly string[];

const DNS_PORT = 53;
/** The time for which the system's list is cached, milliseconds. A machine that changes networks changes its name servers. */
const MAX_LIST_AGE_MS = 5000;

/**
 * Returns the servers of the settings, or the system's, which Node.js reads from `/etc/resolv.conf` or its equivalent.
 * Throws if a server of the settings is not `ip` or `ip:port`.
 */
export function createServerList(
  nameservers: readonly string[],
  clock: Clock,
  systemServers: () => readonly string[] = readSystemServers,
): ServerList {
  for (const text of nameservers) readServer(text);
  if (nameservers.length > 0) return () => nameservers;
  let servers = systemServers();
  let readAt = clock.monotonic();
  return () => {
    if (clock.monotonic() - readAt >= MAX_LIST_AGE_MS) {
      readAt = clock.monotonic();
      servers = systemServers();
    }
    return servers;
  };
}

/** Parses `1.2.3.4`, `1.2.3.4:53`, `::1` and `[::1]:53`. Throws for anything else. */
export function readServer(text: string): ServerAddress {
  if (isIP(text) !== 0) return { host: text, port: DNS_PORT };
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? '';
  const number = port === undefined ? DNS_PORT : Number(port);
  if (isIP(host) === 0 || number < 1 || number > 65_535) {
    throw new RangeError(`${text} is no name server: an address is expected, or an address and a port`);
  }
  return { host, port: number };
}

function readSystemServers(): readonly string[] {
  return new Resolver().getServers();
}
