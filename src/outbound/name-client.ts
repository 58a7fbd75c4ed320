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

/** What a question came to. */
export type NameAnswer =
  /** At least one record. */
  | { readonly kind: 'records'; readonly records: readonly NameRecord[] }
  /** The name does not exist (`ENOTFOUND`), has no such record (`ENODATA`), or cannot be asked for (`EBADNAME`). */
  | { readonly kind: 'none'; readonly code: string }
  /** No usable answer: `ESERVFAIL`, `EREFUSED`, `ETIMEOUT`, or a code of the system such as `ECONNREFUSED`. */
  | { readonly kind: 'failed'; readonly code: string };

/** A question under way. */
export interface OpenQuestion {
  readonly answer: Promise<NameAnswer>;
  /** Goes on asking until then at least (monotonic milliseconds). */
  extend(until: number): void;
}

/** The client of a thread. */
export interface NameClient {
  /**
   * Asks until `until` (monotonic milliseconds); where nothing but silence was met, for `graceMs` longer: what a late
   * event loop took of an attempt is returned to it. Never rejects.
   */
  ask(query: NameQuery, until: number, graceMs?: number): OpenQuestion;
  /** When a name server last said anything, monotonic milliseconds; -Infinity: never. */
  heardAt(): number;
  /** Gives up what is open: it is answered with `ECANCELLED`. */
  close(): void;
}

/** A query without a reply is followed by another after this long, and then after twice as long each time. */
const FIRST_RESEND_MS = 500;
const MAX_RESEND_MS = 4000;
/** After an error, the same or the next server is asked again this much later. */
const ERROR_RESEND_MS = 250;
/** A question fails before its time once it has met this many errors for each server. */
const MAX_ERRORS_A_SERVER = 3;
/**
 * At the end of its time a question that met errors is answered this much earlier, so that the error is told and not
 * the time-out of the request behind it. One that met silence is answered later: there the time-out says all.
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
  /** It refused a query, or let one wait until the next was due, and has not spoken since. */
  silent: boolean;
  heardAt: number;
  probedAt: number;
}

/** Opens a client. It asks the servers of the list as it is at each query. */
export function createNameClient(serverList: ServerList, clock: Clock): NameClient {
  const known = new Map<string, KnownServer>();
  const questions = new Set<Question>();
  let listed: readonly string[] = [];
  let heardAt = Number.NEGATIVE_INFINITY;

  const open = (text: string): KnownServer => {
    const channel = openServerChannel(readServer(text), clock, () => {
      heardAt = clock.monotonic();
      server.heardAt = heardAt;
      server.silent = false;
    });
    const never = Number.NEGATIVE_INFINITY;
    const server: KnownServer = { channel, silent: false, heardAt: never, probedAt: never };
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

  // Timers of the clock and the sockets do not keep the process alive; a question that is open does.
  let alive: NodeJS.Timeout | null = null;
  const end = (question: Question) => {
    questions.delete(question);
    if (questions.size > 0 || alive === null) return;
    clearInterval(alive);
    alive = null;
  };

  return {
    ask(query, until, graceMs = MARGIN_MS) {
      const question = new Question(query, until, graceMs, servers, clock, () => end(question));
      questions.add(question);
      alive ??= setInterval(() => {}, ALIVE_MS);
      question.begin();
      return question;
    },
    heardAt: () => heardAt,
    close() {
      for (const question of questions) question.finish({ kind: 'failed', code: 'ECANCELLED' });
      for (const { channel } of known.values()) channel.close();
      known.clear();
      listed = [];
    },
  };
}

/** One question: what was sent for it, what was said so far, and when it is sent again. */
class Question implements OpenQuestion {
  readonly answer: Promise<NameAnswer>;
  readonly #query: NameQuery;
  readonly #servers: () => KnownServer[];
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  /** The servers that were asked, with the time of the last query. */
  readonly #asked = new Map<KnownServer, number>();
  readonly #giveUps: (() => void)[] = [];
  #resolve: (answer: NameAnswer) => void = () => {};
  readonly #graceMs: number;
  #until: number;
  #resendAt = 0;
  #resendMs = FIRST_RESEND_MS;
  #turn = 0;
  #errors = 0;
  #unsent = 0;
  #errorCode: string | null = null;
  #cancelTimer: Cancel = () => {};
  #ended = false;

  constructor(
    query: NameQuery,
    until: number,
    graceMs: number,
    servers: () => KnownServer[],
    clock: Clock,
    onEnd: () => void,
  ) {
    this.#query = query;
    this.#until = until;
    this.#graceMs = graceMs;
    this.#servers = servers;
    this.#clock = clock;
    this.#onEnd = onEnd;
    this.answer = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  begin(): void {
    if (this.#query.name !== '.' && !isQueryableName(this.#query.name)) {
      this.finish({ kind: 'none', code: 'EBADNAME' });
      return;
    }
    this.#sendNext();
    this.#probeSilent();
    this.#schedule();
  }

  extend(until: number): void {
    if (until <= this.#until) return;
    this.#until = until;
    if (!this.#ended) this.#schedule();
  }

  finish(answer: NameAnswer): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelTimer();
    for (const giveUp of this.#giveUps) giveUp();
    this.#onEnd();
    this.#resolve(answer);
  }

  #sendNext(): void {
    const servers = this.#servers();
    const server = servers.find((each) => !this.#asked.has(each)) ?? servers[this.#turn++ % servers.length];
    this.#resendAt = this.#clock.monotonic() + this.#resendMs;
    this.#resendMs = Math.min(MAX_RESEND_MS, this.#resendMs * 2);
    if (server === undefined) this.#errorCode ??= 'ECONNREFUSED';
    else this.#send(server);
  }

  #send(server: KnownServer): void {
    // A query that is repeated goes out by another socket: the one before may be the reason for the silence.
    if (this.#asked.has(server)) server.channel.rotate();
    this.#asked.set(server, this.#clock.monotonic());
    const giveUp = server.channel.send(this.#query, {
      onReply: (reply) => this.#take(reply),
      onError: (code) => this.#fail(server, code),
    });
    this.#giveUps.push(giveUp);
  }

  /** A copy for each silent server now and then; the first answer counts, from any server. */
  #probeSilent(): void {
    const now = this.#clock.monotonic();
    for (const server of this.#servers()) {
      if (!server.silent || this.#asked.has(server) || now - server.probedAt < PROBE_SILENT_MS) continue;
      server.probedAt = now;
      this.#send(server);
    }
  }

  #take(reply: NameReply): void {
    if (this.#ended) return;
    const { code, records } = reply;
    if (code === 'NXDOMAIN') this.finish({ kind: 'none', code: 'ENOTFOUND' });
    else if (code !== 'NOERROR') this.#noteError(code === 'REFUSED' ? 'EREFUSED' : 'ESERVFAIL');
    else if (records.length === 0) this.finish({ kind: 'none', code: 'ENODATA' });
    else this.finish({ kind: 'records', records });
  }

  /** The server says that it cannot answer. */
  #noteError(code: string): void {
    this.#errorCode = code;
    this.#errors++;
    if (this.#errors >= MAX_ERRORS_A_SERVER * this.#servers().length) this.finish({ kind: 'failed', code });
    else this.#resendSoon();
  }

  /** The query could not be sent, or was turned away. */
  #fail(server: KnownServer, code: string): void {
    if (this.#ended) return;
    server.silent = true;
    this.#errorCode ??= code;
    // Without a network there is no answer to wait for. A name server that is being restarted is waited for.
    if (UNSENT_CODES.has(code)) {
      this.#unsent++;
      if (this.#unsent >= MAX_ERRORS_A_SERVER * this.#servers().length) this.finish({ kind: 'failed', code });
      else this.#resendSoon();
    } else if (this.#hasUnasked()) this.#resendSoon();
    else this.#schedule();
  }

  /** Asks a server that was not asked yet at once, else one of the others after a moment. */
  #resendSoon(): void {
    if (this.#hasUnasked()) this.#sendNext();
    else this.#resendAt = Math.min(this.#resendAt, this.#clock.monotonic() + ERROR_RESEND_MS);
    this.#schedule();
  }

  #hasUnasked(): boolean {
    return this.#servers().some((server) => !this.#asked.has(server));
  }

  #schedule(): void {
    this.#cancelTimer();
    if (this.#ended) return;
    const now = this.#clock.monotonic();
    const at = Math.min(this.#resendAt, this.#endsAt());
    // Sockets are read before time counts as over: an answer may have come while the event loop stood still.
    const wake = () => setImmediate(() => this.#wake());
    this.#cancelTimer = this.#clock.after(Math.max(0, at - now), wake);
  }

  #endsAt(): number {
    return this.#errorCode === null ? this.#until + this.#graceMs : this.#until - MARGIN_MS;
  }

  #wake(): void {
    if (this.#ended) return;
    const now = this.#clock.monotonic();
    // A timer may fire a fraction of a millisecond early.
    if (now >= this.#endsAt() - 1) this.finish({ kind: 'failed', code: this.#errorCode ?? 'ETIMEOUT' });
    else {
      if (now >= this.#resendAt - 1) {
        for (const [server, sentAt] of this.#asked) if (server.heardAt < sentAt) server.silent = true;
        this.#sendNext();
      }
      this.#schedule();
    }
  }
}

/** How the question is asked. */
export interface NameQuestionSettings {
  /** `ip` or `ip:port`; empty: the system's. */
  readonly nameservers: readonly string[];
  readonly timeoutMs: number;
}

/** Every TXT record of the name, its parts joined; empty if the name has none or no server answers. Never rejects. */
export async function readTxtRecords(name: string, settings: NameQuestionSettings): Promise<string[]> {
  return textsOf(await askNameServers(name, ['TXT'], settings));
}

/** Every address of the name, of both families; empty if it has none or no server answers. Never rejects. */
export async function readAddresses(name: string, settings: NameQuestionSettings): Promise<string[]> {
  return textsOf(await askNameServers(name, ['A', 'AAAA'], settings));
}

/** Asks for each type at once. One answer a type, in their order; throws where a name server cannot be read. */
export async function askNameServers(
  name: string,
  types: readonly RecordType[],
  { nameservers, timeoutMs }: NameQuestionSettings,
): Promise<NameAnswer[]> {
  const client = createNameClient(createServerList(nameservers, systemClock), systemClock);
  const until = systemClock.monotonic() + timeoutMs;
  const answers = await Promise.all(types.map((type) => client.ask({ name, type }, until).answer));
  client.close();
  return answers;
}

function textsOf(answers: readonly NameAnswer[]): string[] {
  return answers.flatMap((answer) =>
    answer.kind === 'records' ? answer.records.map(({ text }) => text) : [],
  );
}
