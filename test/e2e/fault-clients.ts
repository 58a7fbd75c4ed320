/** Clients of every kind, and what each sees of the program at present. */
import type { RunningProgram } from '../support/program.ts';
import { type ClientKind, type Row, WELL } from './fault-table.ts';

/** A request without an answer for this time waits. */
const WAITS_MS = 4_000;
/** The program gives a provider 10 s for each answer. */
const SIGN_IN_WAITS_MS = 25_000;
/** For what a client should see, on a machine that does much else. */
const PATIENCE_MS = 90_000;
const PAUSE_MS = 250;
const MAX_PAUSE_MS = 1_000;
/** A reader of events that is not told for this time, where it need not be, is told later. */
const UNTOLD_MS = 4_000;

/** What the clients need. */
export interface ClientOptions {
  readonly program: RunningProgram;
  /** A key with all scopes. */
  readonly key: string;
  /** Sets whether the checked site is down. */
  readonly turn: (isDown: boolean) => void;
}

/** What clients saw, in the words of the table if it is what they should see. */
export type Seen = Readonly<Record<ClientKind, string>>;

/** Clients of a program. */
export type Clients = ReturnType<typeof createClients>;

/** Creates clients of each kind. */
export function createClients({ program, key, turn }: ClientOptions) {
  const { siteUrl } = program;
  const authorization = `Bearer ${key}`;
  let written = 0;
  /** Answers that no client should ever see. */
  const faults: string[] = [];
  /** Requests that wait for an answer. */
  const waiting = new Set<Promise<number>>();

  const ask = async (path: string, init: RequestInit = {}): Promise<string> => {
    const asked = request(siteUrl + path, init);
    const pending = asked.then(({ status }) => status);
    waiting.add(pending);
    void pending.finally(() => waiting.delete(pending));
    const answer = await within(asked, WAITS_MS);
    if (answer === null) return 'waits';
    if (answer.status >= 500 && answer.status !== 503) faults.push(`${path}: ${answer.status}`);
    return wordOf(answer);
  };
  /** Signs in by the provider, which redirects each visitor back with a code. */
  const signIn = async (): Promise<string> => {
    const begun = await request(`${siteUrl}/sign-in/acme`, {});
    const { location, cookie } = begun;
    if (begun.status !== 302 || location === null) return wordOf(begun);
    const { state = '', nonce = '' } = Object.fromEntries(new URL(location).searchParams);
    const query = new URLSearchParams({ code: nonce, state });
    const ended = await request(`${siteUrl}/sign-in/acme/callback?${query}`, {
      headers: { cookie, accept: 'text/html' },
    });
    return ended.status === 303 ? 'signs in' : wordOf(ended);
  };
  const asks: Readonly<Record<Exclude<ClientKind, 'events' | 'readyz'>, () => Promise<string>>> = {
    signIn: () => trySignIn(signIn),
    status: () => ask('/api/v1/status/shop'),
    history: () => ask('/api/v1/services/shop/history'),
    badge: () => ask(`/api/badge/shop-example?theme=${++written % 2 === 0 ? 'dark' : 'light'}`),
    figure: () =>
      ask(`/api/badge/shop-example?variant=uptime&theme=${++written % 2 === 0 ? 'dark' : 'light'}`),
    drawn: () => ask(`/api/badge/shop-example?label=${++written}`),
    page: () => ask('/status/shop-example', { headers: { accept: 'text/html' } }),
    heartbeat: () =>
      ask('/api/v1/heartbeat', {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{"domain":"jobs.example.org","status":"ok"}',
      }),
    write: () =>
      ask('/api/v1/services/jobs-example-org', {
        method: 'PATCH',
        headers: { authorization, 'content-type': 'application/json' },
        body: `{"name":"Jobs ${++written}"}`,
      }),
    metrics: () => ask('/metrics'),
  };

  const readyz = async (): Promise<string> => {
    const answer = await program.get('/readyz').catch(() => null);
    if (answer === null) return 'no answer';
    const { degraded = [] } = answer.body as { degraded?: readonly string[] };
    // A monitor that has lost its registry starts no checks, which it says too if that lasts.
    const parts = degraded.filter((part) => part !== 'checks');
    return answer.status === 200 ? parts.join(', ') || '–' : `${answer.status}`;
  };

  /** Asks until a client sees what it should; otherwise what it saw last. */
  const until = async (wanted: string, look: () => Promise<string>): Promise<string> => {
    let seen = '';
    let pauseMs = PAUSE_MS;
    for (const endsAt = performance.now() + PATIENCE_MS; performance.now() < endsAt; ) {
      seen = await look();
      if (seen === wanted) return seen;
      await sleep(pauseMs);
      pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 1.25);
    }
    return seen;
  };

  /** Turns the site, and says whether the reader of events is told of it: at once, or only later. */
  const watchTurn = async (events: EventReader, isDown: boolean, wanted: string) => {
    turn(isDown);
    const told = events.next(isDown ? 'down' : 'up');
    const isTold = await within(
      told.then(() => true),
      wanted === 'tells' ? PATIENCE_MS : UNTOLD_MS,
    );
    return { seen: isTold === null ? 'later' : 'tells', told };
  };

  /** As {@link until}, where the words of the table may say what is seen first, and what later. */
  const untilSeen = async (kind: keyof typeof asks, wanted: string): Promise<string> => {
    const first = FIRST_SEEN[wanted];
    if (first === undefined) return await until(wanted, asks[kind]);
    const seen = await until(first, asks[kind]);
    if (seen !== first) return seen;
    const later = await until(WELL[kind], asks[kind]);
    return later === WELL[kind] ? wanted : `${first}, ${later}`;
  };

  const seeAnswers = async (wanted: Row): Promise<Seen> => {
    const kinds = Object.keys(asks) as (keyof typeof asks)[];
    const answers = await Promise.all(
      kinds.map(async (kind) => [kind, await untilSeen(kind, wanted[kind])] as const),
    );
    const seen = Object.fromEntries(answers) as Record<ClientKind, string>;
    return { ...seen, events: wanted.events, readyz: await until(wanted.readyz, readyz) };
  };

  return {
    /** What each kind of client sees, after it had the time to see what it should; `told`: the reader of events is told. */
    async see(
      wanted: Row,
      events: EventReader,
    ): Promise<{ readonly seen: Seen; readonly told: Promise<void> }> {
      const [watched, seen] = await Promise.all([watchTurn(events, true, wanted.events), seeAnswers(wanted)]);
      return { seen: { ...seen, events: watched.seen }, told: watched.told };
    },
    /** As {@link see}, without a change for the reader of events. */
    seeAnswers,
    /** How a stream of events that is opened now begins: its status, and its first words. */
    async beginEvents(): Promise<string> {
      const end = new AbortController();
      const response = await fetch(`${siteUrl}/api/v1/events?slug=shop`, { signal: end.signal });
      let text = '';
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString();
        if (text.includes('\n')) break;
      }
      end.abort();
      return `${response.status} ${text.slice(0, 'retry:'.length)}`;
    },
    /** A reader of events, from now on. */
    readEvents: () => openEvents(siteUrl),
    /** Turns the site up; resolves when the reader of events is told. */
    async recover(events: EventReader): Promise<void> {
      const { told } = await watchTurn(events, false, 'tells');
      await told;
    },
    /** Answers by faults of the program, since the start. */
    faults,
    /** Resolves with the statuses of the requests that have waited. */
    settle: () => Promise.all(waiting),
  };
}

/** What is seen first, by the words of the table, of what is well again while the part is still broken. */
const FIRST_SEEN: Readonly<Record<string, string>> = { 'waits, 200': 'waits', again: '0' };

/** What a client sees of an answer, in the words of the table. */
function wordOf({ status, age, code, retryAfter, hasHistory }: Awaited<ReturnType<typeof request>>): string {
  if (status === 200 && !hasHistory) return '200 without history';
  if (status === 200) return Number(age) >= 1 ? '200 old' : '200';
  if (code === '') return `${status}`;
  return `${status} ${code}${status === 503 && retryAfter === null ? ', without Retry-After' : ''}`;
}

/** A sign-in takes several requests, and waits for a provider as long as the program does. */
async function trySignIn(signIn: () => Promise<string>): Promise<string> {
  return (await within(signIn(), SIGN_IN_WAITS_MS)) ?? 'waits';
}

async function request(url: string, init: RequestInit) {
  const { status, headers, ...response } = await fetch(url, { ...init, redirect: 'manual' }).then(
    async (answer) => ({ status: answer.status, headers: answer.headers, text: await answer.text() }),
    // A connection that is reset is no answer.
    () => ({ status: 0, headers: new Headers(), text: '' }),
  );
  const isProblem = headers.get('content-type')?.includes('problem+json') === true;
  // The page of an error leads to its code in the documentation.
  const [, shown = ''] = /href="\/docs#(\w+)"/.exec(response.text) ?? [];
  const code = isProblem ? (JSON.parse(response.text) as { code: string }).code : shown;
  const hasHistory = !response.text.includes('Past checks cannot be read at the moment');
  const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
  const [age, retryAfter] = [headers.get('age'), headers.get('retry-after')];
  return { status, code, hasHistory, age, retryAfter, location: headers.get('location'), cookie };
}

/** A reader of events. */
export type EventReader = Awaited<ReturnType<typeof openEvents>>;

/** Opens a stream of events, which is read until it is closed. It is opened again where it ends, as browsers do. */
async function openEvents(siteUrl: string) {
  const end = new AbortController();
  let text = '';
  const looks = new Set<() => void>();
  const open = async () => {
    const [id = ''] = /^id: [\w-]+$(?![\s\S]*^id: )/m.exec(text) ?? [];
    const headers = id === '' ? {} : { 'last-event-id': id.slice('id: '.length) };
    return await fetch(`${siteUrl}/api/v1/events?slug=shop`, { headers, signal: end.signal });
  };
  const read = async (response: Response) => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      for (const look of looks) look();
    }
  };
  const first = await open();
  const reading = (async () => {
    await read(first).catch(() => {});
    while (!end.signal.aborted) {
      await sleep(PAUSE_MS);
      await open()
        .then(read)
        .catch(() => {});
    }
  })();
  return {
    /** Resolves when a change to the status is told from now on. */
    next: (to: string) =>
      new Promise<void>((resolve) => {
        const from = text.length;
        const look = () => {
          if (!text.includes(`"to":"${to}"`, from)) return;
          looks.delete(look);
          resolve();
        };
        looks.add(look);
      }),
    async close() {
      end.abort();
      await reading;
    },
  };
}

/** Null: it takes longer. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
