/** The play: which simulated service behaves how at which time, and what a monitor may say of it then. */
import type { Category } from '../src/domain/category.ts';
import type { ServiceStatus, Verdict } from '../src/domain/status.ts';
import { type Behaviour, type DemoTiming, detectMs, verdictOf } from './behaviour.ts';
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
