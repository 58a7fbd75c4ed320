/** The play: which simulated service behaves how at which time, and what a monitor may say of it then. */
import type { Category } from '../src/domain/category.ts';
import type { ServiceStatus, Verdict } from '../src/domain/status.ts';
import type { Vendor } from './vendors/script.ts';

/** From `at` (milliseconds into the period) on, a service behaves so. */
export interface Step {
  readonly at: number;
  readonly behaviour: Behaviour;
}

/** A simulated service. */
export interface DemoService {
  readonly slug: string;
  readonly name: string;
  readonly domain: string;
  readonly category: Category;
  readonly transport: 'http' | 'https';
  /** Address that it listens on. */
  readonly host: '127.0.0.1' | '::1';
  readonly certificate: 'good' | 'ends-soon' | 'expired' | 'wrong-name' | 'self-signed';
  /** Of the catalogue's `check`, beside url and caFile. */
  readonly check: { readonly kind?: 'root' | 'health'; readonly accept?: readonly (string | number)[] };
  /** In order of time; the first is at 0. */
  readonly steps: readonly Step[];
  /** The vendor whose page speaks of it, and its parts of that page; absent: the whole page, or no page. */
  readonly statusPage?: { readonly vendor: string; readonly components?: readonly string[] };
  /** For the printed list. */
  readonly story: string;
}

/** A time in which neither the fleet nor the control targets answer: the prober's own connection is away. */
export interface Outage {
  readonly from: number;
  readonly to: number;
}

/** A play that is repeated for ever. Times in milliseconds. */
export interface Script {
  readonly periodMs: number;
  readonly services: readonly DemoService[];
  readonly outages: readonly Outage[];
  /** Whose pages speak of the services. */
  readonly vendors: readonly Vendor[];
}

/** A stretch of one behaviour, in milliseconds since the play began. */
export interface Segment {
  readonly startMs: number;
  readonly behaviour: Behaviour;
}

/** How a service behaves `elapsedMs` after the play began; before it, as at its beginning. */
export function behaviourAt(script: Script, service: DemoService, elapsedMs: number): Behaviour {
  return segmentAt(script, service, elapsedMs).behaviour;
}

/** The stretch that `elapsedMs` lies in; the first of all begins at minus infinity. */
export function segmentAt(script: Script, service: DemoService, elapsedMs: number): Segment {
  const cycle = Math.max(0, Math.floor(elapsedMs / script.periodMs));
  const inPeriod = Math.max(0, elapsedMs) - cycle * script.periodMs;
  const step = service.steps.findLast(({ at }) => at <= inPeriod);
  if (step === undefined) throw new Error(`${service.slug} has no step at 0`);
  const first = cycle === 0 && step === service.steps[0];
  return {
    startMs: first ? Number.NEGATIVE_INFINITY : cycle * script.periodMs + step.at,
    behaviour: step.behaviour,
  };
}

/** Whether the prober is cut off `elapsedMs` after the play began. */
export function isCutOff(script: Script, elapsedMs: number): boolean {
  if (elapsedMs < 0) return false;
  const inPeriod = elapsedMs % script.periodMs;
  return script.outages.some(({ from, to }) => from <= inPeriod && inPeriod < to);
}

/** What a monitor may say, and since when. */
export interface Expectation {
  /** One word once the present behaviour has lasted long enough; before, the word before it too. */
  readonly statuses: readonly ServiceStatus[];
  /**
   * Where the one status must have begun: between the change of behaviour and the time it must have been seen.
   * Milliseconds since the play began; null: anywhere.
   */
  readonly since: { readonly from: number; readonly to: number } | null;
}

/** What a monitor that started just before the play may say of a service `elapsedMs` after it began. */
export function expected(
  script: Script,
  service: DemoService,
  elapsedMs: number,
  timing: DemoTiming,
): Expectation {
  const segment = segmentAt(script, service, elapsedMs);
  const verdict = verdictOf(segment.behaviour);
  const dueMs = detectMs(segment.behaviour, timing);
  if (segment.startMs === Number.NEGATIVE_INFINITY) {
    const settled = elapsedMs >= timing.firstSpreadMs + dueMs;
    return { statuses: settled ? [verdict] : ['unknown', verdict], since: null };
  }
  if (elapsedMs < segment.startMs + dueMs) {
    const before = expected(script, service, segment.startMs - 1, timing);
    return { statuses: [...new Set<ServiceStatus>([verdict, ...before.statuses])], since: null };
  }
  return { statuses: [verdict], since: sinceOf(script, service, segment, verdict, timing) };
}

/** Follows the verdict back over behaviours that mean the same. */
function sinceOf(
  script: Script,
  service: DemoService,
  segment: Segment,
  verdict: Verdict,
  timing: DemoTiming,
): Expectation['since'] {
  let first = segment;
  for (;;) {
    const before = segmentAt(script, service, first.startMs - 1);
    if (verdictOf(before.behaviour) !== verdict) break;
    if (before.startMs === Number.NEGATIVE_INFINITY) return null;
    first = before;
  }
  // The attempt may have started, and a certificate's whole second may have ended, a little before the change.
  return { from: first.startMs - 1_500, to: first.startMs + detectMs(first.behaviour, timing) };
}

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
