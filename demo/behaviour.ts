/** What a simulated service does, and what the specification says a monitor must call it. */
import type { Verdict } from '../src/domain/status.ts';

/** How long a simulated service takes: milliseconds, or well over the limit between up and slow. */
export type Latency = number | 'slow';

/** What a simulated health endpoint answers. */
export interface HealthAnswer {
  readonly status: number;
  /** Word of the body's `status`; null: an HTML page instead of JSON. */
  readonly word: string | null;
}

/** An HTTP answer, with everything that can be special about one. */
export interface AnswerBehaviour {
  readonly kind: 'answer';
  readonly status: number;
  readonly latency: Latency;
  /** What HEAD gets instead of `status`. */
  readonly headStatus?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Redirects before the answer; `endless` never gets there. */
  readonly redirects?: number | 'endless';
  /** What `/api/health` gets; absent: the same as every path. */
  readonly health?: HealthAnswer;
  /** What decisions.md makes of it. */
  readonly means: Verdict;
}

/** One way for a simulated service to behave. */
export type Behaviour =
  | AnswerBehaviour
  /** Fails one request now and then; the re-check that follows is good, so that it never counts. */
  | { readonly kind: 'stumble'; readonly latency: number; readonly everyMs: number }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' }
  /** Breaks the connection when the request has arrived. */
  | { readonly kind: 'reset' }
  /** Nothing listens. */
  | { readonly kind: 'refuse' }
  /** Answers in another protocol. */
  | { readonly kind: 'garbage' }
  /** The certificate has run out. The step before it has one that ends at this very moment. */
  | { readonly kind: 'lapsed' }
  /** A certificate that no client may accept. */
  | { readonly kind: 'untrusted' };

/** Settings of the program that decide how soon a change must show. Milliseconds. */
export interface DemoTiming {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly slowOverMs: number;
  readonly confirmAfterMs: readonly number[];
  readonly firstSpreadMs: number;
  /** For a machine that is busy with other things. */
  readonly slackMs: number;
}

/** The control targets are asked at most every 2 s, and given 3 s (decisions; architecture). */
const CONTROL_MS = 5_000;

/** A good answer. */
export function good(latency: Latency, more: Partial<AnswerBehaviour> = {}): AnswerBehaviour {
  return { kind: 'answer', status: 200, latency, means: latency === 'slow' ? 'slow' : 'up', ...more };
}

/** An answer that means: down. */
export function failing(status: number, latency = 40): AnswerBehaviour {
  return { kind: 'answer', status, latency, means: 'down' };
}

/** A health endpoint's word. */
export function healthy(word: string, means: Verdict, latency = 60): AnswerBehaviour {
  return { kind: 'answer', status: 200, latency, health: { status: 200, word }, means };
}

/** What a monitor must say of a service that has behaved so for long enough. */
export function verdictOf(behaviour: Behaviour): Verdict {
  switch (behaviour.kind) {
    case 'answer':
      return behaviour.means;
    case 'stumble':
      return 'up';
    default:
      return 'down';
  }
}

/** How long a latency is in milliseconds; `slow` lies between the limit and the time-out. */
export function latencyMs(latency: Latency, timing: DemoTiming): number {
  return latency === 'slow' ? (timing.slowOverMs + timing.timeoutMs) / 2 : latency;
}

/** Milliseconds from a change to this behaviour until its verdict must be published. */
export function detectMs(behaviour: Behaviour, timing: DemoTiming): number {
  const { intervalMs, timeoutMs, confirmAfterMs, slackMs } = timing;
  // A check of the behaviour before may be under way, and wait for its time-out.
  const begin = intervalMs + timeoutMs + slackMs;
  const attempt = attemptMs(behaviour, timing);
  if (verdictOf(behaviour) !== 'down') return begin + attempt;
  const confirmed = confirmAfterMs.reduce((sum, ms) => sum + ms + attempt, attempt);
  return begin + confirmed + (behaviour.kind === 'answer' ? 0 : CONTROL_MS);
}

function attemptMs(behaviour: Behaviour, timing: DemoTiming): number {
  if (behaviour.kind === 'hang') return timing.timeoutMs;
  return 'latency' in behaviour ? latencyMs(behaviour.latency, timing) : 0;
}
