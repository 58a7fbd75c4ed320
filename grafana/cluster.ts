/** The dashboard of a cluster: its nodes, who checks what, results on their way, and where regions disagree. */
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  buildDashboard,
  CELL_SLUG,
  DASHBOARD_UIDS,
  ROW_SERVICE_ID,
  serviceLink,
  servicePage,
  siteVariable,
} from './dashboard.ts';
import { HIDDEN, linkedCells, type PanelProperties, stacked, stat, table, timeSeries } from './panels.ts';
import { lines, PROMETHEUS, present, rows, series } from './queries.ts';
import { COLOURS, countSteps, noneSteps, steps } from './status-colours.ts';

type Facts = Omit<PanelProperties, 'from'>;
const lineChart = (properties: Facts) => timeSeries({ ...properties, from: PROMETHEUS }).min(0);
const number = (properties: Facts) => stat({ ...properties, from: PROMETHEUS });

/** Adds the name and the region of the node to a metric of each process. */
const byNode = (metric: string) =>
  `sum by (node, region) (${metric} * on (job, instance) group_left (node, region) upbeat_node_info)`;
const NODE = '{{node}} ({{region}})';

/** Builds the dashboard. */
export function cluster(): Dashboard {
  return buildDashboard({
    uid: DASHBOARD_UIDS.cluster,
    title: 'Upbeat: the cluster',
    description:
      'Nodes by region and role, who checks what, results on their way to the judge, and where regions disagree.',
    from: 'now-6h',
    variables: [siteVariable()],
    panels: [...atAGlance(), ...nodes(), ...results(), ...judges(), ...regions()],
  });
}

function atAGlance() {
  return [
    number({
      title: 'Live nodes by role',
      description: 'A node counts for each of its roles. An alert fires if a role has none.',
      unit: 'short',
      width: 8,
      queries: [present('max by (role) (sum by (instance, role) (upbeat_nodes))', '{{role}}')],
    }).thresholds(steps([null, COLOURS.vermillion], [1, COLOURS.green])),
    number({
      title: 'Shards without a node',
      description: 'Shards of all regions that wait for a node: their services are not checked from there.',
      unit: 'short',
      width: 4,
      queries: [present('sum(max by (region) (upbeat_shards{state="waiting"}))', 'shards')],
    }).thresholds(noneSteps()),
    number({
      title: 'Regions without a vote',
      description: 'Regions whose nodes are offline. A region that has no node any more is not counted.',
      unit: 'short',
      width: 4,
      queries: [
        present(
          'count(max by (region) (upbeat_region_votes)) - sum(max by (region) (upbeat_region_votes))',
          'regions',
        ),
      ],
    }).thresholds(noneSteps()),
    number({
      title: 'Results that wait',
      description: 'Results of all nodes that the judge has not committed.',
      unit: 'short',
      width: 4,
      queries: [present('max(upbeat_results_backlog)', 'results')],
    }).thresholds(countSteps(10_000, 100_000)),
    number({
      title: 'Delay of the judge',
      description: 'How long the oldest results that the judge has read wait to be committed.',
      unit: 's',
      width: 4,
      queries: [present('max(upbeat_results_delay_seconds)', 'delay')],
    }).thresholds(steps([null, COLOURS.green], [5, COLOURS.yellow], [60, COLOURS.vermillion])),
  ];
}

function nodes() {
  return [
    lineChart({
      title: 'Nodes by region and role',
      description: 'Live nodes. A node that was not seen for six seconds is not counted.',
      unit: 'short',
      width: 12,
      queries: [series('max by (region, role) (upbeat_nodes)', '{{region}} {{role}}')],
    }),
    stacked({
      title: 'Shards by region and state',
      description: 'Each region has 64 shards. Held: a node checks them. Waiting: no node does.',
      unit: 'short',
      width: 12,
      from: PROMETHEUS,
      queries: [series('max by (region, state) (upbeat_shards)', '{{region}} {{state}}')],
    }),
    lineChart({
      title: 'Checks per second by node',
      description: 'Completed checks. The nodes of one region make about the same number.',
      unit: 'ops',
      width: 12,
      queries: [series(byNode('rate(upbeat_checks_total[$__rate_interval])'), NODE)],
    }),
    timeSeries({
      title: 'Clock offset by node',
      description: 'The clock of each node minus Redis’ clock. An alert fires from one second on.',
      unit: 's',
      width: 12,
      from: PROMETHEUS,
      queries: [series(byNode('upbeat_clock_offset_seconds'), NODE)],
    }),
  ];
}

function results() {
  return [
    lineChart({
      title: 'Backlog of results',
      description: 'Results of all nodes that the judge has not committed. It grows while there is no judge.',
      unit: 'short',
      width: 8,
      queries: [series('max(upbeat_results_backlog)', 'results')],
    }),
    lineChart({
      title: 'Delay of results',
      description: 'How long the oldest results that the judge has read wait to be committed.',
      unit: 's',
      width: 8,
      queries: [series('max(upbeat_results_delay_seconds)', 'delay')],
    }),
    lineChart({
      title: 'Results that do not count',
      description:
        'Dropped: too many waited at a node. Refused: another node had taken the shard over. Unreadable: entries, also of clocks that are off by more than a day.',
      unit: 'short',
      width: 8,
      queries: [
        series('sum(increase(upbeat_results_dropped_total[$__rate_interval]))', 'dropped'),
        series('sum(increase(upbeat_results_refused_total[$__rate_interval]))', 'refused'),
        series('sum(increase(upbeat_result_entries_unreadable_total[$__rate_interval]))', 'unreadable'),
      ],
    }),
  ];
}

function judges() {
  return [
    lineChart({
      title: 'Takeovers of shards',
      description: 'Shards that passed from one node to another: nodes joined, stopped or died.',
      unit: 'short',
      width: 8,
      queries: [series('max(increase(upbeat_takeovers_total[$__rate_interval]))', 'shards')],
    }),
    lineChart({
      title: 'The monitor',
      description:
        'One for the node that is the monitor: exactly one at a time. An alert fires if nodes take turns.',
      unit: 'short',
      width: 8,
      queries: [series(byNode('upbeat_monitor'), NODE)],
    }).max(1),
    lineChart({
      title: 'Changes of the monitor',
      description: 'How many times a process has become the monitor. Each step is a new one.',
      unit: 'short',
      width: 8,
      queries: [series('max(upbeat_lease_fence)', 'changes')],
    }),
  ];
}

function regions() {
  return [
    lineChart({
      title: 'Connections of nodes',
      description: 'One: the node reaches the internet. Zero: it is offline, and calls nothing down.',
      unit: 'short',
      width: 8,
      queries: [series(byNode('upbeat_prober_online'), NODE)],
    }).max(1),
    lineChart({
      title: 'Votes of regions',
      description: 'One: the region has a vote. Zero: its nodes are offline. A region without nodes ends.',
      unit: 'short',
      width: 8,
      queries: [series('max by (region) (upbeat_region_votes)', '{{region}}')],
    }).max(1),
    lineChart({
      title: 'Failing services by scope',
      description:
        'Global: the quorum of the regions sees the failure. Partial: fewer do, and the status stays as it is.',
      unit: 'short',
      width: 8,
      queries: [series('max by (scope) (upbeat_services_failing)', '{{scope}}')],
    }),
    lineChart({
      title: 'Failing services by region',
      description: 'As each region sees them. One region far above the others has trouble of its own.',
      unit: 'short',
      width: 12,
      queries: [series('max by (region) (upbeat_region_services_failing)', '{{region}}')],
    }),
    timeSeries({
      title: 'Failed checks by region',
      description: 'Share of the checks of each region that failed. Suspect checks do not count.',
      unit: 'percentunit',
      width: 12,
      queries: [
        lines(
          `SELECT mean("down") AS "failed" FROM "upbeat_check"
            WHERE $timeFilter AND "suspect" = 0 AND "region" != '' GROUP BY time($__interval), "region" fill(none)`,
          '$tag_region',
        ),
      ],
    })
      .min(0)
      .max(1),
    table({
      title: 'Regional disagreement',
      description:
        'The last fifty changes of scope, newest first, with the regions in which the service fails.',
      unit: 'none',
      width: 24,
      queries: [
        rows(`SELECT "service", "service_id", "from", "to", "regions", "reason" FROM "upbeat_scope"
          WHERE $timeFilter ORDER BY time DESC LIMIT 50`),
      ],
    })
      .overrideByName('service', [linkedCells(serviceLink(ROW_SERVICE_ID), servicePage(CELL_SLUG))])
      .overrideByName('service_id', [HIDDEN]),
  ];
}
