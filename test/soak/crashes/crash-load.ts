/** Clients of a program that is being killed: senders of heartbeats and an owner who creates services. Each notes what was acknowledged. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deed } from './crash-aim.ts';

/** A heartbeat that was answered with 200. */
export interface AcknowledgedBeat {
  readonly domain: string;
  /** Epoch milliseconds; unique for the domain. */
  readonly timestamp: number;
  /** When the answer was read, monotonic milliseconds. */
  readonly answeredMs: number;
}

/** The clients. */
export interface CrashLoad {
  readonly beats: readonly AcknowledgedBeat[];
  /** Domains of services whose creation was acknowledged. */
  readonly created: ReadonlySet<string>;
  /** Domains of all creations that were sent. */
  readonly asked: ReadonlySet<string>;
  /** Answers that no kill explains, such as that what is sent again had been made by another request. */
  readonly contradictions: readonly string[];
  /** Answers other than success, as `status code`, with their number. */
  readonly refusals: ReadonlyMap<string, number>;
  /** Resolves when no request is in flight. */
  stop(): Promise<void>;
}

/** Options of {@link startLoad}. */
export interface LoadOptions {
  readonly siteUrl: string;
  /** Keys of different accounts. The first one sends heartbeats; each creates {@link CREATED_BY_KEY} services. */
  readonly keys: readonly string[];
  readonly domains: readonly string[];
  /** Called when a heartbeat is sent that changes the status of its service, or a creation for the first time. */
  readonly onDeed: (deed: Deed) => void;
}

const TIMEOUT_MS = 10_000;
/** Pause of a client whose connection failed: the program is not there. */
const AWAY_MS = 40;
const WRITE_PAUSE_MS = 60;
/** An account may register 200 domains a day. */
export const CREATED_BY_KEY = 150;
/** So many heartbeats of a domain say the same, then as many the opposite. */
const BEATS_OF_A_WORD = 25;

/** Starts the clients. Each sends its next request when the one before was answered, and a creation again until it is. */
export function startLoad({ siteUrl, keys, domains, onDeed }: LoadOptions): CrashLoad {
  const beats: AcknowledgedBeat[] = [];
  const created = new Set<string>();
  const asked = new Set<string>();
  const refusals = new Map<string, number>();
  const contradictions: string[] = [];
  const end = new AbortController();

  /** Posts; null: there was no answer. */
  const post = async (
    key: string,
    path: string,
    body: object,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    try {
      const response = await fetch(siteUrl + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const { code } = (await response.json()) as { readonly code?: string };
      if (!response.ok) {
        const what = `${response.status} ${code}`;
        refusals.set(what, (refusals.get(what) ?? 0) + 1);
        if (response.status < 500)
          contradictions.push(`${path} was answered ${what}: ${JSON.stringify(body)}`);
      }
      return response.status;
    } catch {
      return null;
    }
  };

  const beat = async (domain: string): Promise<void> => {
    let last = 0;
    for (let n = 0; !end.signal.aborted; n++) {
      const timestamp = Math.max(Date.now(), last + 1);
      last = timestamp;
      if (n % BEATS_OF_A_WORD === 0) onDeed('transition');
      const status = Math.floor(n / BEATS_OF_A_WORD) % 2 === 0 ? 'ok' : 'failing';
      const answer = await post(keys[0] ?? '', '/api/v1/heartbeat', {
        domain,
        status,
        timestamp: new Date(timestamp).toISOString(),
      });
      if (answer === 200) beats.push({ domain, timestamp, answeredMs: performance.now() });
      else await sleep(AWAY_MS);
    }
  };

  const create = async (): Promise<void> => {
    for (let n = 0; !end.signal.aborted; n++) {
      const key = keys[Math.floor(n / CREATED_BY_KEY)];
      if (key === undefined) return;
      const domain = `made-${n}.example.net`;
      asked.add(domain);
      const body = { domain, name: domain, category: 'developer', paused: true };
      onDeed('creation');
      for (;;) {
        const answer = await post(key, '/api/v1/services', body, { 'idempotency-key': domain });
        if (answer === 201) {
          created.add(domain);
          break;
        }
        if (end.signal.aborted) return;
        await sleep(AWAY_MS);
      }
      await sleep(WRITE_PAUSE_MS);
    }
  };

  const running = [...domains.map(beat), create()];
  return {
    ...{ beats, created, asked, contradictions, refusals },
    async stop() {
      end.abort();
      await Promise.all(running);
    },
  };
}
