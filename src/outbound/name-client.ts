/**
 * Queries name servers and repeats a query until its deadline. Every query that was sent stays open, so that a late
 * response still counts. ADR 10 explains why c-ares is not used.
 */
import { type Cancel, type Clock, systemClock } from '../clock.ts';
import { HOUR_MS } from '../domain/durations.ts';
import { isOwnCode } from './fault.ts';
import {
  isQueryableName,
  type NameQuery,
  type NameRecord,
  type NameReply,
  type RecordType,
} from './name-message.ts';
import {
  createServerList,
  openServerChannel,
  readServer,
  type ServerChannel,
  type ServerList,
} from './name-socket.ts';

export type NameResult =
  /** At least one record. `cut`: there are more, which no name server sent. */
  | { readonly kind: 'records'; readonly records: readonly NameRecord[]; readonly cut: boolean }
  /** The name does not exist (`ENOTFOUND`), has no such record (`ENODATA`), or cannot be asked for (`EBADNAME`). */
  | { readonly kind: 'none'; readonly code: string }
  /**
   * No usable response: `ESERVFAIL`, `EREFUSED`, `ETIMEOUT`, `ETRUNCATED` (a truncated reply without a record, and none over TCP), or a
   * code of the system such as `ECONNREFUSED`.
   */
  | { readonly kind: 'failed'; readonly code: string };

export type NameClient = ReturnType<typeof createNameClient>;

/** Time without a reply after which a query is sent again, milliseconds; it doubles each time. */
const FIRST_RESEND_MS = 500;
const MAX_RESEND_MS = 4000;
/** Time after an error until the same or the next server is queried again, milliseconds. */
const ERROR_RESEND_MS = 250;
/** Number of errors per server after which a query fails before its deadline. */
const MAX_ERRORS_A_SERVER = 3;
/**
 * A query with errors ends this long before its deadline, milliseconds, so that the error is reported instead of the
 * timeout of the request that waits for it. A query without any reply ends later, because then the timeout says enough.
 */
const MARGIN_MS = 5;
/** Maximum time that a query waits for the whole reply if records of a truncated one are there, milliseconds. */
const MAX_CUT_MS = 1500;
/** The part of the time left that it waits at most, so that the rest is enough to use them; twice that if there are none. */
const CUT_SHARE = 1 / 3;
/** The interval at which a silent server gets a copy of a query to find out whether it responds again, milliseconds. */
const PROBE_SILENT_MS = 10_000;
/** Period of the timer that keeps the process alive and does nothing else. */
const ALIVE_MS = HOUR_MS;

interface KnownServer {
  readonly channel: ServerChannel;
  /** True if the server refused a query, or did not reply before the next one was due, and has not replied since. */
  silent: boolean;
  lastReplyAt: number;
  probedAt: number;
}

/** Creates a client. Each query reads the current list of servers. */
export function createNameClient(serverList: ServerList, clock: Clock) {
  const known = new Map<string, KnownServer>();
  const queries = new Set<PendingQuery>();
  let listed: readonly string[] = [];
  let lastReplyAt = Number.NEGATIVE_INFINITY;

  const open = (text: string): KnownServer => {
    const channel = openServerChannel(readServer(text), clock, () => {
      lastReplyAt = clock.monotonic();
      server.lastReplyAt = lastReplyAt;
      server.silent = false;
    });
    const never = Number.NEGATIVE_INFINITY;
    const server: KnownServer = { channel, silent: false, lastReplyAt: never, probedAt: never };
    return server;
  };

  /** Servers in the order of queries: as listed, silent ones last. */
  const servers = (): KnownServer[] => {
    const list = serverList();
    if (list !== listed) {
      listed = list;
      for (const [text, { channel }] of known) {
        if (list.includes(text)) continue;
        channel.close();
        known.delete(text);
      }
      for (const text of list) if (!known.has(text)) known.set(text, open(text));
    }
    const all = list.flatMap((text) => known.get(text) ?? []);
    return [...all.filter(({ silent }) => !silent), ...all.filter(({ silent }) => silent)];
  };

  // The timers of the clock and the sockets do not keep the process alive; this timer does while a query is in flight.
  let alive: NodeJS.Timeout | null = null;

  return {
    /**
     * Queries the name servers until `until` (monotonic milliseconds), and for `graceMs` longer if none has responded,
     * because the deadline of an attempt is extended by delays of the event loop. Never rejects.
     */
    query(query: NameQuery, until: number, graceMs = MARGIN_MS): PendingQuery {
      alive ??= setInterval(() => {}, ALIVE_MS);
      const pending = new PendingQuery({ query, until, graceMs }, servers, clock);
      queries.add(pending);
      void pending.result.then(() => {
        queries.delete(pending);
        if (queries.size > 0 || alive === null) return;
        clearInterval(alive);
        alive = null;
      });
      return pending;
    },
    /** The time at which a name server last responded, monotonic milliseconds; -Infinity: never. */
    lastReplyAt: (): number => lastReplyAt,
    /** Cancels the queries in flight, which fail with `ECANCELLED`. */
    close(): void {
      for (const pending of queries) pending.finish({ kind: 'failed', code: 'ECANCELLED' });
      for (const { channel } of known.values()) channel.close();
      known.clear();
      listed = [];
    },
  };
}

/** A query, how long it waits for a reply (monotonic milliseconds), and how much longer if none arrives. */
interface TimedQuery {
  readonly query: NameQuery;
  readonly until: number;
  readonly graceMs: number;
}

/** A query in flight, which is repeated until its replies say enough. */
export class PendingQuery {
  readonly #query: NameQuery;
  readonly #graceMs: number;
  readonly #listServers: () => KnownServer[];
  readonly #clock: Clock;
  /** The servers that were queried, with the time of the last transmission. */
  readonly #asked = new Map<KnownServer, number>();
  readonly #giveUps: (() => void)[] = [];
  readonly #ended = Promise.withResolvers<NameResult>();
  #until: number;
  #resendAt = 0;
  #resendMs = FIRST_RESEND_MS;
  #turn = 0;
  #errors = 0;
  #unsent = 0;
  #errorCode: string | null = null;
  /** The most records of a truncated reply; null: none was truncated. */
  #cut: readonly NameRecord[] | null = null;
  #cutUntil = Number.POSITIVE_INFINITY;
  /** Servers that reported an error, and have not merely been silent. */
  readonly #failed = new Set<KnownServer>();
  #cancelTimer: Cancel = () => {};
  #isEnded = false;
  /** Never rejects. */
  readonly result: Promise<NameResult>;

  constructor({ query, until, graceMs }: TimedQuery, listServers: () => KnownServer[], clock: Clock) {
    this.result = this.#ended.promise;
    this.#query = query;
    this.#graceMs = graceMs;
    this.#listServers = listServers;
    this.#clock = clock;
    this.#until = until;
    if (query.name === '.' || isQueryableName(query.name)) {
      this.#sendNext();
      this.#probeSilent();
      this.#schedule();
    } else this.finish({ kind: 'none', code: 'EBADNAME' });
  }

  /** Extends the deadline of the query to at least `later` (monotonic milliseconds). */
  extend(later: number): void {
    if (later <= this.#until) return;
    this.#until = later;
    if (!this.#isEnded) this.#schedule();
  }

  finish(answer: NameResult): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#cancelTimer();
    for (const giveUp of this.#giveUps) giveUp();
    this.#ended.resolve(answer);
  }

  #sendNext(): void {
    const servers = this.#listServers();
    const server = servers.find((each) => !this.#asked.has(each)) ?? servers[this.#turn++ % servers.length];
    this.#resendAt = this.#clock.monotonic() + this.#resendMs;
    this.#resendMs = Math.min(MAX_RESEND_MS, this.#resendMs * 2);
    if (server === undefined) this.#errorCode ??= 'ECONNREFUSED';
    else this.#send(server);
  }

  #send(server: KnownServer): void {
    // A repeated query uses another socket, because the previous one may be the reason for the missing reply.
    const sentAt = this.#asked.get(server);
    if (sentAt !== undefined) server.channel.rotate(sentAt);
    this.#asked.set(server, this.#clock.monotonic());
    const giveUp = server.channel.send(this.#query, {
      onReply: (reply) => this.#take(server, reply),
      onCut: (reply) => this.#noteCut(reply),
      onError: (code) => this.#fail(server, code),
    });
    this.#giveUps.push(giveUp);
  }

  /** Sends a copy to each silent server every `PROBE_SILENT_MS`. The first reply of any server counts. */
  #probeSilent(): void {
    const now = this.#clock.monotonic();
    for (const server of this.#listServers()) {
      if (!server.silent || this.#asked.has(server) || now - server.probedAt < PROBE_SILENT_MS) continue;
      server.probedAt = now;
      this.#send(server);
    }
  }

  #take(server: KnownServer, { code, records, truncated }: NameReply): void {
    if (this.#isEnded) return;
    if (code === 'NXDOMAIN') this.finish({ kind: 'none', code: 'ENOTFOUND' });
    else if (code !== 'NOERROR') this.#noteError(server, code === 'REFUSED' ? 'EREFUSED' : 'ESERVFAIL');
    else if (records.length > 0) this.finish({ kind: 'records', records, cut: truncated });
    else if (this.#cut === null || this.#cut.length === 0) this.finish({ kind: 'none', code: 'ENODATA' });
    else this.#finishCut();
  }

  #noteCut({ records }: NameReply): void {
    if (this.#isEnded) return;
    if (this.#cut === null || records.length > this.#cut.length) this.#cut = records;
    const now = this.#clock.monotonic();
    const shareMs = Math.max(0, this.#until - now) * CUT_SHARE;
    this.#cutUntil = Math.min(
      this.#cutUntil,
      now + (this.#cut.length > 0 ? Math.min(MAX_CUT_MS, shareMs) : 2 * shareMs),
    );
    this.#schedule();
  }

  #finishFailed(code: string): void {
    if (this.#cut === null) this.finish({ kind: 'failed', code });
    else this.#finishCut();
  }

  /** Ends the query with what truncated replies had. */
  #finishCut(): void {
    const records = this.#cut ?? [];
    if (records.length > 0) this.finish({ kind: 'records', records, cut: true });
    else this.finish({ kind: 'failed', code: 'ETRUNCATED' });
  }

  /** Called when a server replied with an error. What it says of the zone counts before what it says of us. */
  #noteError(server: KnownServer, code: string): void {
    this.#failed.add(server);
    if (this.#errorCode !== 'ESERVFAIL') this.#errorCode = code;
    this.#errors++;
    if (this.#errors >= MAX_ERRORS_A_SERVER * this.#listServers().length) this.#finishFailed(this.#errorCode);
    else this.#resendSoon();
  }

  /** Called when the query could not be sent or was refused. */
  #fail(server: KnownServer, code: string): void {
    if (this.#isEnded) return;
    this.#failed.add(server);
    if (code === 'ETRUNCATED') {
      if (this.#hasUnasked()) this.#resendSoon();
      else if (this.#haveAllFailed()) this.#finishCut();
      return;
    }
    server.silent = true;
    this.#errorCode ??= code;
    // Without a network, no reply can arrive. Other errors are retried: the name server may be restarting.
    if (isOwnCode(code) || code === 'EHOSTUNREACH') {
      this.#unsent++;
      if (this.#unsent >= MAX_ERRORS_A_SERVER * this.#listServers().length) this.#finishFailed(code);
      else this.#resendSoon();
    } else if (this.#hasUnasked()) this.#resendSoon();
    else this.#schedule();
  }

  /** Queries a server that has not been queried yet immediately, otherwise another one after `ERROR_RESEND_MS`. */
  #resendSoon(): void {
    if (this.#hasUnasked()) this.#sendNext();
    else this.#resendAt = Math.min(this.#resendAt, this.#clock.monotonic() + ERROR_RESEND_MS);
    this.#schedule();
  }

  #haveAllFailed(): boolean {
    return [...this.#asked.keys()].every((server) => this.#failed.has(server));
  }

  #hasUnasked(): boolean {
    return this.#listServers().some((server) => !this.#asked.has(server));
  }

  #schedule(): void {
    this.#cancelTimer();
    if (this.#isEnded) return;
    const now = this.#clock.monotonic();
    const at = Math.min(this.#resendAt, this.#endsAt(), this.#cutUntil);
    // `setImmediate` lets sockets be read first: a reply may have arrived while the event loop was blocked.
    this.#cancelTimer = this.#clock.after(Math.max(0, at - now), () => setImmediate(() => this.#wake()));
  }

  #endsAt(): number {
    return this.#errorCode === null ? this.#until + this.#graceMs : this.#until - MARGIN_MS;
  }

  /** A server that was merely silent may have waited for those of the zone. */
  #endCode(): string {
    if (this.#errorCode === null || this.#errorCode === 'ESERVFAIL') return this.#errorCode ?? 'ETIMEOUT';
    return this.#haveAllFailed() ? this.#errorCode : 'ETIMEOUT';
  }

  #wake(): void {
    if (this.#isEnded) return;
    const now = this.#clock.monotonic();
    // A timer may fire a fraction of a millisecond early.
    if (this.#cut !== null && now >= Math.min(this.#endsAt(), this.#cutUntil) - 1) this.#finishCut();
    else if (now >= this.#endsAt() - 1) this.finish({ kind: 'failed', code: this.#endCode() });
    else {
      if (now >= this.#resendAt - 1) {
        for (const [server, sentAt] of this.#asked) if (server.lastReplyAt < sentAt) server.silent = true;
        this.#sendNext();
      }
      this.#schedule();
    }
  }
}

/** Settings of {@link queryNameServers}. */
export interface NameQuerySettings {
  /** `ip` or `ip:port`; empty: the system's. */
  readonly nameservers: readonly string[];
  readonly timeoutMs: number;
}

/** Every TXT record of the name, its parts joined; empty if the name has none or no server answers. Never rejects. */
export async function readTxtRecords(name: string, settings: NameQuerySettings): Promise<string[]> {
  return textsOf(await queryNameServers(name, ['TXT'], settings));
}

/** Every address of the name, of both families; empty if it has none or no server answers. Never rejects. */
export async function readAddresses(name: string, settings: NameQuerySettings): Promise<string[]> {
  return textsOf(await queryNameServers(name, ['A', 'AAAA'], settings));
}

/** Queries all types at once. Returns results in the order of the types. Throws if a name server is invalid. */
export async function queryNameServers(
  name: string,
  types: readonly RecordType[],
  { nameservers, timeoutMs }: NameQuerySettings,
): Promise<NameResult[]> {
  const client = createNameClient(createServerList(nameservers, systemClock), systemClock);
  const until = systemClock.monotonic() + timeoutMs;
  const answers = await Promise.all(types.map((type) => client.query({ name, type }, until).result));
  client.close();
  return answers;
}

function textsOf(answers: readonly NameResult[]): string[] {
  return answers.flatMap((answer) =>
    answer.kind === 'records' ? answer.records.map(({ text }) => text) : [],
  );
}
