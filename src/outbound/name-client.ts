/**
 * Queries name servers and repeats a query until its deadline. Every query that was sent stays open, so that a late
 * response still counts. ADR 10 explains why c-ares is not used.
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
export type PendingQuery = Pick<ReturnType<typeof startQuery>, 'result' | 'extend' | 'finish'>;

/** The client of a thread. */
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
/** How often a silent server gets a copy of a query to find out whether it responds again, milliseconds. */
const PROBE_SILENT_MS = 10_000;
/** Period of the timer that keeps the process alive and does nothing else. */
const ALIVE_MS = HOUR_MS;

/** System error codes that mean that nothing could be sent. */
const UNSENT_CODES = new Set([
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTUNREACH',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENFILE',
]);

/** A name server with its state. */
interface KnownServer {
  readonly channel: ServerChannel;
  /** Whether the server refused a query, or did not reply before the next one was due, and has not replied since. */
  silent: boolean;
  lastReplyAt: number;
  probedAt: number;
}

/** Creates a client. Each query reads the current list of servers. */
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
    /** Cancels the queries in flight, which fail with `ECANCELLED`. */
    close(): void {
      for (const pending of queries) pending.finish({ kind: 'failed', code: 'ECANCELLED' });
      for (const { channel } of known.values()) channel.close();
      known.clear();
      listed = [];
    },
  };
}

/** Starts a query, repeats it, and collects its replies. */
function startQuery(
  query: NameQuery,
  deadlineAt: number,
  graceMs: number,
  listServers: () => KnownServer[],
  clock: Clock,
) {
  /** The servers that were queried, with the time of the last transmission. */
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
    // A repeated query uses another socket, because the previous one may be the reason for the missing reply.
    if (asked.has(server)) server.channel.rotate();
    asked.set(server, clock.monotonic());
    const giveUp = server.channel.send(query, {
      onReply: (reply) => take(reply),
      onError: (code) => fail(server, code),
    });
    giveUps.push(giveUp);
  }

  /** Sends a copy to each silent server every `PROBE_SILENT_MS`. The first reply of any server counts. */
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

  /** Called when a server replied with an error. */
  function noteError(code: string): void {
    errorCode = code;
    errors++;
    if (errors >= MAX_ERRORS_A_SERVER * listServers().length) finish({ kind: 'failed', code });
    else resendSoon();
  }

  /** Called when the query could not be sent or was refused. */
  function fail(server: KnownServer, code: string): void {
    if (isEnded) return;
    server.silent = true;
    errorCode ??= code;
    // Without a network, no reply can arrive. Other errors are retried: the name server may be restarting.
    if (UNSENT_CODES.has(code)) {
      unsent++;
      if (unsent >= MAX_ERRORS_A_SERVER * listServers().length) finish({ kind: 'failed', code });
      else resendSoon();
    } else if (hasUnasked()) resendSoon();
    else schedule();
  }

  /** Queries a server that has not been queried yet immediately, otherwise another one after `ERROR_RESEND_MS`. */
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
    // `setImmediate` lets sockets be read first: a reply may have arrived while the event loop was blocked.
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
    /** Extends the deadline of the query to at least `later` (monotonic milliseconds). */
    extend(later: number): void {
      if (later <= until) return;
      until = later;
      if (!isEnded) schedule();
    },
    finish,
  };
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
