/**
 * Asks name servers, and repeats a query until its deadline. Every query that was sent stays open, so that a response
 * counts however late it comes. ADR 10 says why this is not left to c-ares.
 */
import { type Cancel, type Clock, systemClock } from '../clock.ts';
import { HOUR_MS } from '../domain/durations.ts';
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

/** The result of a query. */
export type NameResult =
  /** At least one record. */
  | { readonly kind: 'records'; readonly records: readonly NameRecord[] }
  /** The name does not exist (`ENOTFOUND`), has no such record (`ENODATA`), or cannot be asked for (`EBADNAME`). */
  | { readonly kind: 'none'; readonly code: string }
  /** No usable response: `ESERVFAIL`, `EREFUSED`, `ETIMEOUT`, or a code of the system such as `ECONNREFUSED`. */
  | { readonly kind: 'failed'; readonly code: string };

/** A query in flight. */
export type PendingQuery = Pick<ReturnType<typeof startQuery>, 'result' | 'extend'>;

/** The client of a thread. */
export type NameClient = ReturnType<typeof createNameClient>;

/** A query without a reply is followed by another after this long, and then after twice as long each time. */
const FIRST_RESEND_MS = 500;
const MAX_RESEND_MS = 4000;
/** After an error, the same or the next server is asked again this much later. */
const ERROR_RESEND_MS = 250;
/** A query fails before its deadline after this many errors for each server. */
const MAX_ERRORS_A_SERVER = 3;
/**
 * A query that met errors ends this much before its deadline, so that the error is reported and not the time-out of the
 * request that waits for it. One that met silence ends later: there the time-out says all.
 */
const MARGIN_MS = 5;
/** A server that was silent is asked last; this often it gets a copy of a query, to learn whether it is back. */
const PROBE_SILENT_MS = 10_000;
/** Period of the timer that does nothing but keep the process alive. */
const ALIVE_MS = HOUR_MS;

/** Codes of the system that say that nothing could be sent at all. */
const UNSENT_CODES = new Set([
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTUNREACH',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENFILE',
]);

/** A name server and what is known of it. */
interface KnownServer {
  readonly channel: ServerChannel;
  /** It refused a query, or left one without a reply until the next was due, and has not replied since. */
  silent: boolean;
  lastReplyAt: number;
  probedAt: number;
}

/** Opens a client. It asks the servers of the list as it is at each query. */
export function createNameClient(serverList: ServerList, clock: Clock) {
  const known = new Map<string, KnownServer>();
  const queries = new Set<ReturnType<typeof startQuery>>();
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

  /** Servers in the order in which they are asked: as listed, silent ones last. */
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

  // Timers of the clock and the sockets do not keep the process alive; a query in flight does.
  let alive: NodeJS.Timeout | null = null;

  return {
    /**
     * Queries the name servers until `until` (monotonic milliseconds), and for `graceMs` longer if none has responded: what
     * a late event loop took of an attempt is returned to it. Never rejects.
     */
    query(query: NameQuery, until: number, graceMs = MARGIN_MS): PendingQuery {
      alive ??= setInterval(() => {}, ALIVE_MS);
      const pending = startQuery(query, until, graceMs, servers, clock);
      queries.add(pending);
      void pending.result.then(() => {
        queries.delete(pending);
        if (queries.size > 0 || alive === null) return;
        clearInterval(alive);
        alive = null;
      });
      return pending;
    },
    /** When a name server last responded, monotonic milliseconds; -Infinity: never. */
    lastReplyAt: (): number => lastReplyAt,
    /** Gives up the queries in flight, which fail with `ECANCELLED`. */
    close(): void {
      for (const pending of queries) pending.finish({ kind: 'failed', code: 'ECANCELLED' });
      for (const { channel } of known.values()) channel.close();
      known.clear();
      listed = [];
    },
  };
}

/** One query: what was sent for it, what was received so far, and when it is sent again. */
function startQuery(
  query: NameQuery,
  deadlineAt: number,
  graceMs: number,
  listServers: () => KnownServer[],
  clock: Clock,
) {
  /** The servers that were asked, with the time of the last transmission. */
  const asked = new Map<KnownServer, number>();
  const giveUps: (() => void)[] = [];
  const { promise: result, resolve } = Promise.withResolvers<NameResult>();
  let until = deadlineAt;
  let resendAt = 0;
  let resendMs = FIRST_RESEND_MS;
  let turn = 0;
  let errors = 0;
  let unsent = 0;
  let errorCode: string | null = null;
  let cancelTimer: Cancel = () => {};
  let isEnded = false;

  function finish(answer: NameResult): void {
    if (isEnded) return;
    isEnded = true;
    cancelTimer();
    for (const giveUp of giveUps) giveUp();
    resolve(answer);
  }

  function sendNext(): void {
    const servers = listServers();
    const server = servers.find((each) => !asked.has(each)) ?? servers[turn++ % servers.length];
    resendAt = clock.monotonic() + resendMs;
    resendMs = Math.min(MAX_RESEND_MS, resendMs * 2);
    if (server === undefined) errorCode ??= 'ECONNREFUSED';
    else send(server);
  }

  function send(server: KnownServer): void {
    // A query that is repeated goes out by another socket: the one before may be the reason for the silence.
    if (asked.has(server)) server.channel.rotate();
    asked.set(server, clock.monotonic());
    const giveUp = server.channel.send(query, {
      onReply: (reply) => take(reply),
      onError: (code) => fail(server, code),
    });
    giveUps.push(giveUp);
  }

  /** Sends a copy to each silent server now and then; the first reply counts, from any server. */
  function probeSilent(): void {
    const now = clock.monotonic();
    for (const server of listServers()) {
      if (!server.silent || asked.has(server) || now - server.probedAt < PROBE_SILENT_MS) continue;
      server.probedAt = now;
      send(server);
    }
  }

  function take(reply: NameReply): void {
    if (isEnded) return;
    const { code, records } = reply;
    if (code === 'NXDOMAIN') finish({ kind: 'none', code: 'ENOTFOUND' });
    else if (code !== 'NOERROR') noteError(code === 'REFUSED' ? 'EREFUSED' : 'ESERVFAIL');
    else if (records.length === 0) finish({ kind: 'none', code: 'ENODATA' });
    else finish({ kind: 'records', records });
  }

  /** The server replied that it cannot answer. */
  function noteError(code: string): void {
    errorCode = code;
    errors++;
    if (errors >= MAX_ERRORS_A_SERVER * listServers().length) finish({ kind: 'failed', code });
    else resendSoon();
  }

  /** The query could not be sent, or was turned away. */
  function fail(server: KnownServer, code: string): void {
    if (isEnded) return;
    server.silent = true;
    errorCode ??= code;
    // Without a network there is no answer to wait for. A name server that is being restarted is waited for.
    if (UNSENT_CODES.has(code)) {
      unsent++;
      if (unsent >= MAX_ERRORS_A_SERVER * listServers().length) finish({ kind: 'failed', code });
      else resendSoon();
    } else if (hasUnasked()) resendSoon();
    else schedule();
  }

  /** Queries a server that was not asked yet at once, otherwise one of the others after a moment. */
  function resendSoon(): void {
    if (hasUnasked()) sendNext();
    else resendAt = Math.min(resendAt, clock.monotonic() + ERROR_RESEND_MS);
    schedule();
  }

  function hasUnasked(): boolean {
    return listServers().some((server) => !asked.has(server));
  }

  function schedule(): void {
    cancelTimer();
    if (isEnded) return;
    const now = clock.monotonic();
    const at = Math.min(resendAt, endsAt());
    // Sockets are read before time counts as over: a reply may have arrived while the event loop was blocked.
    cancelTimer = clock.after(Math.max(0, at - now), () => setImmediate(wake));
  }

  function endsAt(): number {
    return errorCode === null ? until + graceMs : until - MARGIN_MS;
  }

  function wake(): void {
    if (isEnded) return;
    const now = clock.monotonic();
    // A timer may fire a fraction of a millisecond early.
    if (now >= endsAt() - 1) finish({ kind: 'failed', code: errorCode ?? 'ETIMEOUT' });
    else {
      if (now >= resendAt - 1) {
        for (const [server, sentAt] of asked) if (server.lastReplyAt < sentAt) server.silent = true;
        sendNext();
      }
      schedule();
    }
  }

  if (query.name === '.' || isQueryableName(query.name)) {
    sendNext();
    probeSilent();
    schedule();
  } else finish({ kind: 'none', code: 'EBADNAME' });
  return {
    result,
    /** Repeats the query until then at least (monotonic milliseconds). */
    extend(later: number): void {
      if (later <= until) return;
      until = later;
      if (!isEnded) schedule();
    },
    finish,
  };
}

/** How {@link queryNameServers} reaches the name servers. */
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

/** Queries all types at once. Results in the order of the types; throws if a name server cannot be read. */
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
