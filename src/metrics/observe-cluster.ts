/** Registers the metrics of a node of a cluster. */
import { type NodeState, regionsOf } from '../domain/node.ts';
import type { Service } from '../domain/service.ts';
import { failingRegions } from '../domain/status/agree.ts';
import type { Scope } from '../domain/status/current.ts';
import type { StatusReads } from '../store/ports/status.ts';
import type { Metrics } from './metrics.ts';

/** Results of checks on their way from the nodes of a cluster to its judge. */
export interface ResultFigures {
  /** Results of all nodes that the judge has not committed. */
  readonly backlog: number;
  /** Number of times that a shard has moved from one node to another since Redis was last empty. */
  readonly takeovers: number;
  /** Results that this node has dropped because too many were waiting. */
  readonly dropped: number;
  /** Results of this node that were refused because another node had taken over their shard. */
  readonly refused: number;
  /** Failures of this node that a neighbour has contradicted. */
  readonly contradicted: number;
  /** Entries that this judge could not read, or whose node's clock is off by more than a day. */
  readonly unreadable: number;
  /** The time for which the oldest results that this judge has read wait to be committed, milliseconds; 0: none wait. */
  readonly delayMs: number;
}

export interface ClusterFigures {
  /** By region; empty if this process is not the monitor. */
  shards(): ReadonlyMap<string, { readonly held: number; readonly waiting: number }>;
  results(): ResultFigures;
  /** Returns true if each region has a vote; empty if this process is not the monitor. */
  votes(): ReadonlyMap<string, boolean>;
}

/** Nodes, and statuses of services, as this process knows them. */
export interface KnownStatuses {
  readonly nodes?: () => readonly NodeState[];
  readonly directory: { hidden(): readonly Pick<Service, 'id'>[] };
  readonly status: StatusReads;
}

const SCOPES: readonly Scope[] = ['global', 'partial'];

export function observeCluster(metrics: Metrics, figures: ClusterFigures, known: KnownStatuses): void {
  metrics.gaugeByAll(
    'upbeat_shards',
    'Shards of each region that a node holds, and that wait for one. Only the monitor reports them.',
    ['region', 'state'],
    () =>
      [...figures.shards()].flatMap(([region, { held, waiting }]) => [
        { labels: { region, state: 'held' }, value: held },
        { labels: { region, state: 'waiting' }, value: waiting },
      ]),
  );
  metrics.gaugeBy(
    'upbeat_region_votes',
    '1: the region has a vote; 0: its nodes are offline. Only the monitor reports it.',
    'region',
    () => Object.fromEntries([...figures.votes()].map(([region, hasVote]) => [region, hasVote ? 1 : 0])),
  );
  observeScopes(metrics, known);
  metrics.gauge(
    'upbeat_results_backlog',
    'Results of all nodes that the judge has not committed.',
    () => figures.results().backlog,
  );
  metrics.gauge(
    'upbeat_results_delay_seconds',
    'How long the oldest results that the judge has read wait to be committed; 0 in all other processes.',
    () => figures.results().delayMs / 1_000,
  );
  metrics.counter(
    'upbeat_takeovers_total',
    'Shards that have passed from one node to another.',
    () => figures.results().takeovers,
  );
  metrics.counter(
    'upbeat_results_dropped_total',
    'Results that this node dropped, since too many waited.',
    () => figures.results().dropped,
  );
  metrics.counter(
    'upbeat_results_refused_total',
    'Results of this node that were refused, since another node had taken over.',
    () => figures.results().refused,
  );
  metrics.counter(
    'upbeat_failures_contradicted_total',
    'Failed checks of this node that another node of its region has contradicted.',
    () => figures.results().contradicted,
  );
  metrics.counter(
    'upbeat_result_entries_unreadable_total',
    'Entries of results that this judge could not use.',
    () => figures.results().unreadable,
  );
}

/** Observes public services on which the regions disagree. */
function observeScopes(metrics: Metrics, { status, directory, nodes = () => [] }: KnownStatuses): void {
  const { counts } = status;
  const hidden = () => directory.hidden().flatMap(({ id }) => status.get(id) ?? []);
  // The list and the records of a copy do not change at the same moment.
  const without = (count: number, ofHidden: number) => Math.max(0, count - ofHidden);
  metrics.gaugeBy(
    'upbeat_services_failing',
    'Public services that fail, by scope: global, in as many regions as the quorum needs; partial, in fewer.',
    'scope',
    () => {
      const scopes = hidden().map(({ scope }) => scope);
      return Object.fromEntries(
        SCOPES.map((scope) => [
          scope,
          without(counts.withScope(scope), scopes.filter((one) => one === scope).length),
        ]),
      );
    },
  );
  metrics.gaugeBy(
    'upbeat_region_services_failing',
    'Public services that fail as seen from each region that has a vote, where several regions check.',
    'region',
    () => {
      const live = regionsOf(nodes()).map(({ region }) => region);
      const failing = counts.failing();
      const ofHidden = Map.groupBy(hidden().flatMap(failingRegions), ({ region }) => region);
      const regions = [...new Set([...live, ...failing.keys()])].sort();
      return Object.fromEntries(
        regions.map((region) => [
          region,
          without(failing.get(region) ?? 0, ofHidden.get(region)?.length ?? 0),
        ]),
      );
    },
  );
}
