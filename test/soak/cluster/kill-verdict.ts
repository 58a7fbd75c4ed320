/** What a trial by kills came to: its figures, and everything that is wrong. */
import { type CheckFigures, judgeChecks } from './judge-checks.ts';
import { judgeAgreement, judgeJudgement, judgeReads } from './judge-nodes.ts';
import {
  judgeDeliveries,
  judgeHeartbeats,
  judgeIncidents,
  judgeOrder,
  judgeOutages,
  judgeReports,
} from './judge-registry.ts';
import type { KillTrace } from './kill-run.ts';

/** A figure with what it counts. */
export type Row = readonly [what: string, figure: string];

/** Beyond the interval and a takeover: confirmations, the answers of the other regions, and a takeover of the judge. */
const EXTRA_DETECTION_MS = 20_000 + 10_000;

/** Counts, and judges by the contract. */
export function judgeKills(trace: KillTrace): {
  readonly rows: readonly Row[];
  readonly wrong: readonly string[];
} {
  const { transitions, incidents, deliveries, received, sent, phases, disturbances, outages } = trace;
  const { slugs, intervalMs, slugOf, disagreements, failures } = trace;
  const checks: CheckFigures = judgeChecks(trace);
  const outage = judgeOutages(transitions, outages, slugs, intervalMs + EXTRA_DETECTION_MS);
  const positions = transitions.map(({ position }) => position);
  const agreement = judgeAgreement(trace.heard, positions, disturbances);
  const judgement = judgeJudgement(sent, disturbances);
  const owned = new Set(phases.map(({ domain }) => slugOf(domain)));
  const wrong = [
    ...checks.wrong,
    ...judgeOrder(transitions),
    ...outage.wrong,
    ...judgeReports(transitions, phases, slugOf),
    ...judgeIncidents(transitions, incidents),
    ...judgeDeliveries(transitions, incidents, deliveries, received, (slug) => owned.has(slug)),
    ...judgeHeartbeats(sent, trace.heartbeats, slugOf),
    ...agreement.wrong,
    ...judgement.wrong,
    ...disagreements.map(
      ({ slug, said }) => `for a second, nodes disagreed on ${slug}: ${JSON.stringify(said)}`,
    ),
    ...judgeReads(failures, disturbances),
    ...trace.complaints,
  ];
  const count = (kind: string) => disturbances.filter((one) => one.kind === kind).length;
  const acknowledged = sent.filter(({ status }) => status === 200).length;
  const everywhere = outages.filter(({ region }) => region === null).length;
  const rows: readonly Row[] = [
    ['kills', `${count('kill')}`],
    ...killsByRoles(trace),
    [
      'of them, and of pauses and stops, of the monitor',
      `${disturbances.filter((one) => one.wasMonitor).length}`,
    ],
    ['pauses, graceful stops, starts', `${count('pause')}, ${count('stop')}, ${count('start')}`],
    ['checks counted at the services', `${checks.checks}`],
    [
      'longest time without a check of a service in a region (99th percentile)',
      `${seconds(checks.longestGapMs)} (${seconds(checks.gapP99Ms)})`,
    ],
    [
      `checks repeated after ${checks.disturbances} disturbances of probing nodes; most after one`,
      `${checks.repeated}; ${checks.mostRepeated}`,
    ],
    ['results of woken nodes refused by their fence', `${trace.refused}`],
    ['outages everywhere, and in one region', `${everywhere}, ${outages.length - everywhere}`],
    ['from failure to down, median and longest', `${middle(outage.downMs)}, ${last(outage.downMs)}`],
    ['from recovery to up, median and longest', `${middle(outage.upMs)}, ${last(outage.upMs)}`],
    ['transitions, own incidents', `${transitions.length}, ${incidents.length}`],
    ['webhooks registered, deliveries received', `${deliveries.length}, ${received.length}`],
    ['heartbeats sent, acknowledged', `${sent.length}, ${acknowledged}`],
    [
      'pause of judgement at the end of a monitor, median and longest',
      `${middle(judgement.pauseMs)}, ${last(judgement.pauseMs)}`,
    ],
    [
      'serving nodes apart in an event, 99th percentile and longest',
      `${percentile(agreement.lagMs)}, ${last(agreement.lagMs)}`,
    ],
    ['lists of all services read and compared', `${trace.reads}`],
    ['longest time that the trial itself, with the targets, did not run', seconds(trace.ownDelayMs)],
  ];
  return { rows, wrong };
}

function killsByRoles({ disturbances }: KillTrace): Row[] {
  const kills = Map.groupBy(
    disturbances.filter(({ kind }) => kind === 'kill'),
    ({ node }) => node.roles.join(' and '),
  );
  return [...kills].map(([roles, list]) => [`kills of nodes that ${roles}`, `${list.length}`]);
}

function middle(list: readonly number[]): string {
  return seconds(list[Math.floor(list.length / 2)] ?? 0);
}

function percentile(list: readonly number[]): string {
  return seconds(list[Math.floor(list.length * 0.99)] ?? 0);
}

function last(list: readonly number[]): string {
  return seconds(list.at(-1) ?? 0);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
