/** Judges the serving nodes against each other, and how long judgement paused when a monitor died. */
import type { Disturbance, NodeIdentity } from './disturbances.ts';
import type { SentHeartbeat } from './heartbeat-senders.ts';
import { describeDisturbance, isSteady } from './judge-checks.ts';
import type { HeardEvent, ReadFailure } from './readers.ts';

/** How far nodes were apart. Lists are in ascending order, milliseconds. */
export interface AgreementFigures {
  /** For each event and node: how much later than the first node it told the event. */
  readonly lagMs: readonly number[];
  readonly wrong: readonly string[];
}

/** How long judgement paused. Lists are in ascending order, milliseconds. */
export interface JudgementFigures {
  /** From each end or pause of a monitor to the next acknowledged heartbeat. */
  readonly pauseMs: readonly number[];
  readonly wrong: readonly string[];
}

/** Every serving node tells the same within this. */
const MAX_LAG_MS = 1_000;
/** A judge's death costs at most this much of judgement. */
const MAX_PAUSE_MS = 5_000;
/** A node counts when it was left alone, and its connection open, for this time before an event. */
const STEADY_MS = 3_000;
/** A former monitor that wakes has lost the lease: it ends, and its parent starts it again within this time. */
const RESTART_MS = 20_000;
/** Responses within this time after the end of a monitor were on their way by then. */
const DRAIN_MS = 150;
const MAX_LINES = 10;

/** Judges what clients of the nodes have heard; `positions` are those of the registry. */
export function judgeAgreement(
  heard: ReadonlyMap<NodeIdentity, readonly HeardEvent[]>,
  positions: readonly number[],
  disturbances: readonly Disturbance[],
): AgreementFigures {
  const wrong: string[] = [];
  for (const [{ name }, events] of heard) {
    const list = events.map(({ position }) => position);
    if (list.join() !== positions.join())
      wrong.push(
        `a client of ${name} has heard ${list.length} of ${positions.length} events, or not once and in order`,
      );
  }
  const firstMs = new Map<number, number>();
  for (const events of heard.values())
    for (const { position, atMs } of events)
      firstMs.set(position, Math.min(atMs, firstMs.get(position) ?? Number.POSITIVE_INFINITY));
  const lags = [...heard].flatMap(([node, events]) =>
    events.flatMap(({ position, atMs, connectedMs }) => {
      const first = firstMs.get(position) ?? atMs;
      const counts =
        connectedMs < first - STEADY_MS &&
        isSteady(disturbances, node, first - STEADY_MS, first + MAX_LAG_MS);
      return counts ? [{ node, position, lagMs: atMs - first }] : [];
    }),
  );
  const late = lags.filter(({ lagMs }) => lagMs > MAX_LAG_MS);
  for (const { node, position, lagMs } of late.slice(0, MAX_LINES))
    wrong.push(`${node.name} told event ${position} ${Math.round(lagMs)} ms after another node`);
  if (late.length > MAX_LINES) wrong.push(`and ${late.length - MAX_LINES} more were told too late`);
  return { lagMs: lags.map(({ lagMs }) => lagMs).sort((a, b) => a - b), wrong };
}

/** Judges the failures of reads: a node that was left alone for a while owes an answer. */
export function judgeReads(failures: readonly ReadFailure[], disturbances: readonly Disturbance[]): string[] {
  return failures
    .filter(({ node, atMs }) => isSteady(disturbances, node, atMs - RESTART_MS, atMs))
    .map(({ node, problem }) => `${node.name} did not answer: ${problem}`);
}

/** Judges the time without acknowledged heartbeats after each end or pause of a monitor. */
export function judgeJudgement(
  sent: readonly SentHeartbeat[],
  disturbances: readonly Disturbance[],
): JudgementFigures {
  const answered = sent.filter(({ status }) => status === 200).map(({ answeredMs }) => answeredMs);
  answered.sort((a, b) => a - b);
  const wrong: string[] = [];
  const pauses = disturbances
    .filter(({ wasMonitor }) => wasMonitor)
    .flatMap((disturbance) => {
      const next = answered.find((answeredMs) => answeredMs > disturbance.atMs + DRAIN_MS);
      if (next === undefined) return [];
      const pauseMs = next - disturbance.atMs;
      if (pauseMs > MAX_PAUSE_MS)
        wrong.push(
          `no heartbeat was acknowledged for ${Math.round(pauseMs)} ms: ${describeDisturbance(disturbance)}`,
        );
      return [pauseMs];
    });
  return { pauseMs: pauses.sort((a, b) => a - b), wrong };
}
