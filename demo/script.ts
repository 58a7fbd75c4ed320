/** The play: how each simulated service behaves at which time, and what a monitor may report then. */
import type { Category } from '../src/domain/service.ts';
import type { ServiceStatus, Verdict } from '../src/domain/status.ts';
import type { Vendor } from './vendors/script.ts';

/** The behaviour of a service from `at` on, milliseconds into the period. */
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
  /** Address to listen on. */
  readonly host: '127.0.0.1' | '::1';
  readonly certificate: 'good' | 'ends-soon' | 'expired' | 'wrong-name' | 'self-signed';
  /** Members of the catalogue's `check` besides url and caFile. */
  readonly check: { readonly kind?: 'root' | 'health'; readonly accept?: readonly (string | number)[] };
  /** In order of time; the first is at 0. */
  readonly steps: readonly Step[];
  /** Its vendor, and its components of the vendor's page; without components: the whole page. Absent: it has no page. */
  readonly statusPage?: { readonly vendor: string; readonly components?: readonly string[] };
  /** For the printed list. */
  readonly story: string;
}

/** A time in which neither the fleet nor the control targets respond: the prober is offline. */
interface Outage {
  readonly from: number;
  readonly to: number;
}

/** The story of a service to which nothing happens. */
export const USUAL_STORY = 'operational';

/** A play, which repeats after `periodMs`. */
export interface Script {
  readonly periodMs: number;
  readonly services: readonly DemoService[];
  readonly outages: readonly Outage[];
  readonly vendors: readonly Vendor[];
}

/** A time with one behaviour; it starts `startMs` after the play began. */
interface Segment {
  readonly startMs: number;
  readonly behaviour: Behaviour;
}

/** The behaviour of a service `elapsedMs` after the play began; before it, that at the beginning. */
export function behaviourAt(script: Script, service: DemoService, elapsedMs: number): Behaviour {
  return segmentAt(script, service, elapsedMs).behaviour;
}

/** The segment at `elapsedMs`; the first one starts at minus infinity. */
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

/** What a monitor may report. */
interface Expectation {
  /** The current status, and the one before it until the current one must be detected. */
  readonly statuses: readonly ServiceStatus[];
  /**
   * The bounds of the status' start: the change of behaviour, and the time until which it must be detected. Milliseconds
   * since the play began; null: none.
   */
  readonly since: { readonly from: number; readonly to: number } | null;
}

/** What a monitor that started just before the play may report of a service `elapsedMs` after it began. */
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

/** Follows the verdict back over behaviours with the same verdict. */
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
  // The attempt, or the last second of a certificate, may have started a little before the change.
  return { from: first.startMs - 1_500, to: first.startMs + detectMs(first.behaviour, timing) };
}

/** Latency of a service: milliseconds, or `slow` for one that makes it slow. */
type Latency = number | 'slow';

/** The response of a health endpoint. */
interface HealthAnswer {
  readonly status: number;
  /** `status` in the body; null: the body is HTML. */
  readonly word: string | null;
}

/** An HTTP response. */
export interface AnswerBehaviour {
  readonly kind: 'answer';
  readonly status: number;
  readonly latency: Latency;
  /** The status for HEAD instead of `status`. */
  readonly headStatus?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Number of redirects before the response; `endless` has no end. */
  readonly redirects?: number | 'endless';
  /** The response of `/api/health`; absent: that of every path. */
  readonly health?: HealthAnswer;
  /** The verdict by the rules of checks. */
  readonly means: Verdict;
}

/** A behaviour of a simulated service. */
export type Behaviour =
  | AnswerBehaviour
  /** Fails single requests; the re-checks succeed, so that the service is never down. */
  | { readonly kind: 'stumble'; readonly latency: number; readonly everyMs: number }
  /** Accepts the request and never responds. */
  | { readonly kind: 'hang' }
  /** Resets the connection when the request has arrived. */
  | { readonly kind: 'reset' }
  /** Nothing listens. */
  | { readonly kind: 'refuse' }
  /** Responds in another protocol. */
  | { readonly kind: 'garbage' }
  /** The certificate has expired. That of the step before ends at the beginning of this one. */
  | { readonly kind: 'lapsed' }
  /** The certificate is not valid for any client. */
  | { readonly kind: 'untrusted' };

/** Settings of the program that determine how soon it must detect a change, milliseconds. */
export interface DemoTiming {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly slowOverMs: number;
  readonly confirmAfterMs: readonly number[];
  readonly firstSpreadMs: number;
  /** Additional time for a busy machine. */
  readonly slackMs: number;
}

/** Maximum time until a control target confirms that the prober is online: asked every 2 s, with a timeout of 3 s. */
const CONTROL_MS = 5_000;

/** A successful response. */
export function good(latency: Latency, more: Partial<AnswerBehaviour> = {}): AnswerBehaviour {
  return { kind: 'answer', status: 200, latency, means: latency === 'slow' ? 'slow' : 'up', ...more };
}

/** A response that makes the service down. */
export function failing(status: number, latency = 40): AnswerBehaviour {
  return { kind: 'answer', status, latency, means: 'down' };
}

/** A response of a health endpoint. */
export function healthy(word: string, means: Verdict, latency = 60): AnswerBehaviour {
  return { kind: 'answer', status: 200, latency, health: { status: 200, word }, means };
}

/** The verdict on a behaviour. */
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

/** A latency in milliseconds; `slow` is between the limit and the timeout. */
export function latencyMs(latency: Latency, timing: DemoTiming): number {
  return latency === 'slow' ? (timing.slowOverMs + timing.timeoutMs) / 2 : latency;
}

/** Milliseconds from the change to a behaviour until its verdict must be published. */
export function detectMs(behaviour: Behaviour, timing: DemoTiming): number {
  const { intervalMs, timeoutMs, confirmAfterMs, slackMs } = timing;
  // A check of the behaviour before may be in flight until its timeout.
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
