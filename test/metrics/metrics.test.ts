/** The figures for Prometheus. */

import { Histogram, Registry } from 'prom-client';
import t from 'tap';
import type { CurrentStatus } from '../../src/domain/status/current.ts';
import { addRequestDurations, createMetrics } from '../../src/metrics/metrics.ts';
import { observeCluster } from '../../src/metrics/observe-cluster.ts';
import { observeProgram } from '../../src/metrics/observe-program.ts';
import { createStatusTally } from '../../src/store/status/memory-status-store.ts';
import { check, current, inRegion, NOW, node } from '../site/site-world.ts';
import { double } from '../support/double.ts';

const lines = async (metrics: ReturnType<typeof createMetrics>, name: string) =>
  (await metrics.render()).split('\n').filter((line) => line.startsWith(name));

function tallyOf(records: readonly CurrentStatus[]) {
  const tally = createStatusTally();
  for (const record of records) tally.change(undefined, record);
  return tally;
}

t.test('it asks for values when it is read, not before', async (t) => {
  const metrics = createMetrics();
  let online = 1;
  let asked = 0;
  metrics.gauge('upbeat_prober_online', 'Whether the prober is online.', () => {
    asked++;
    return online;
  });
  t.equal(asked, 0);
  t.strictSame(await lines(metrics, 'upbeat_prober_online'), ['upbeat_prober_online 1']);
  online = 0;
  t.strictSame(await lines(metrics, 'upbeat_prober_online'), ['upbeat_prober_online 0']);
});

t.test('it shows a value for each word, and forgets words that are gone', async (t) => {
  const metrics = createMetrics();
  let counts: Record<string, number> = { up: 3, down: 1 };
  metrics.gaugeBy('upbeat_services', 'Services by status.', 'status', () => counts);
  t.strictSame(await lines(metrics, 'upbeat_services'), [
    'upbeat_services{status="up"} 3',
    'upbeat_services{status="down"} 1',
  ]);
  counts = { up: 4 };
  t.strictSame(await lines(metrics, 'upbeat_services'), ['upbeat_services{status="up"} 4']);
});

t.test('it shows the lag of the event loop without the interval of the timer that measures it', async (t) => {
  const metrics = createMetrics();
  const names = ['min', 'mean', 'stddev', 'p50', 'p90', 'p99', 'max'];
  const lag = async () => {
    const all = await lines(metrics, 'upbeat_nodejs_eventloop_lag_');
    return new Map(all.map((line) => line.split(' ') as [string, string]));
  };
  const nameOf = (what: string) => `upbeat_nodejs_eventloop_lag_${what}_seconds`;
  const first = await lag();
  t.same([...first.keys()].sort(), ['upbeat_nodejs_eventloop_lag_seconds', ...names.map(nameOf)].sort());
  for (const name of names) t.equal(first.get(nameOf(name)), '0', `${name} before the first measurement`);
  let shortest: number;
  do {
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    shortest = Number((await lag()).get(nameOf('min')));
    // The machine may be busy for a while.
  } while (shortest === 0 || shortest >= 0.5);
});

t.test('it never lets a counter fall', async (t) => {
  const metrics = createMetrics();
  let done = 5;
  metrics.counter('upbeat_checks_total', 'Checks that ended.', () => done);
  t.strictSame(await lines(metrics, 'upbeat_checks_total'), ['upbeat_checks_total 5']);
  done = 3;
  t.strictSame(await lines(metrics, 'upbeat_checks_total'), ['upbeat_checks_total 5']);
  done = 9;
  t.strictSame(await lines(metrics, 'upbeat_checks_total'), ['upbeat_checks_total 9']);
});

t.test('it counts requests and their times, and keeps two sets apart', async (t) => {
  const [one, two] = [createMetrics(), createMetrics()];
  one.noteRequest('/healthz', 200, 0.002);
  one.noteRequest('/healthz', 200, 0.3);
  t.strictSame(await lines(one, 'upbeat_http_requests_total'), [
    'upbeat_http_requests_total{route="/healthz",status="200"} 2',
  ]);
  const durations = await lines(one, 'upbeat_http_request_duration_seconds');
  t.ok(durations.includes('upbeat_http_request_duration_seconds_bucket{le="0.0025",route="/healthz"} 1'));
  t.ok(durations.includes('upbeat_http_request_duration_seconds_count{route="/healthz"} 2'));
  t.strictSame(await lines(two, 'upbeat_http_requests_total'), []);
  one.noteRequest('/healthz', 200, 0.002);
  one.noteRequest('/healthz', 503, 0.002);
  t.strictSame(
    await lines(one, 'upbeat_http_requests_total'),
    [
      'upbeat_http_requests_total{route="/healthz",status="200"} 3',
      'upbeat_http_requests_total{route="/healthz",status="503"} 1',
    ],
    'a scrape counts nothing twice',
  );
  t.match(one.contentType, /^text\/plain/);
});

t.test('it reports facts as labels', async (t) => {
  const metrics = createMetrics();
  metrics.info('upbeat_site_info', 'The site.', { url: 'https://up.example', version: '1.2.3' });
  t.strictSame(await lines(metrics, 'upbeat_site_info'), [
    'upbeat_site_info{url="https://up.example",version="1.2.3"} 1',
  ]);
});

t.test('a node of a cluster reports shards, votes, results, and where regions disagree', async (t) => {
  const metrics = createMetrics();
  const votes = new Map([
    ['eu', true],
    ['us', false],
  ]);
  const inRegions = (...failing: readonly string[]) =>
    ['eu', 'us'].map((region) => inRegion(region, 0, { status: failing.includes(region) ? 'down' : 'up' }));
  const statuses = [
    current(1, check(NOW), { regions: inRegions('us'), scope: 'partial' }),
    current(2, check(NOW), { regions: inRegions('eu', 'us'), scope: 'global' }),
    current(3, check(NOW), { regions: inRegions(), scope: null }),
    current(4, check(NOW)),
    current(5, check(NOW), { regions: inRegions('eu', 'us'), scope: 'global' }),
  ];
  observeCluster(
    metrics,
    {
      shards: () => new Map([['eu', { held: 60, waiting: 4 }]]),
      results: () => ({
        backlog: 5,
        takeovers: 6,
        dropped: 7,
        refused: 8,
        contradicted: 4,
        unreadable: 9,
        delayMs: 1_250,
      }),
      votes: () => votes,
    },
    {
      nodes: () => [node('a', { region: 'eu' }), node('b', { region: 'ap' })],
      directory: { hidden: () => [{ id: 5 }] },
      status: double({
        ...tallyOf(statuses),
        get: (id: number) => statuses.find((one) => one.serviceId === id) ?? null,
      }),
    },
  );
  const text = (await metrics.render()).split('\n');
  t.strictSame(
    text.filter((line) => /^upbeat_(?:shards|region|services|results|takeovers|failures)/.test(line)),
    [
      'upbeat_shards{region="eu",state="held"} 60',
      'upbeat_shards{region="eu",state="waiting"} 4',
      'upbeat_region_votes{region="eu"} 1',
      'upbeat_region_votes{region="us"} 0',
      'upbeat_services_failing{scope="global"} 1',
      'upbeat_services_failing{scope="partial"} 1',
      'upbeat_region_services_failing{region="ap"} 0',
      'upbeat_region_services_failing{region="eu"} 1',
      'upbeat_region_services_failing{region="us"} 2',
      'upbeat_results_backlog 5',
      'upbeat_results_delay_seconds 1.25',
      'upbeat_takeovers_total 6',
      'upbeat_results_dropped_total 7',
      'upbeat_results_refused_total 8',
      'upbeat_failures_contradicted_total 4',
    ],
  );
});

t.test('it reports which nodes live, which stores answer, and what was given up', async (t) => {
  const metrics = createMetrics();
  let problem: string | null = null;
  observeProgram(metrics, {
    fleet: { report: () => ({ services: 0, restarts: 0, checksDone: 0, hosts: [] }) },
    record: { prober: () => ({ online: true, offlineSince: null, heldResults: 0, suspectCount: 0 }) },
    samples: { stats: () => ({ appended: 0, pending: 0, fileBytes: 0 }), lost: () => 7 },
    directory: { all: () => [], hidden: () => [] },
    status: double({ ...createStatusTally(), headOf: () => null }),
    openStreams: () => 0,
    feeds: { health: () => [], polls: () => ({ good: 0, failed: 0 }) },
    stores: () => ({ influx: { problem }, redis: { problem: null } }),
    nodes: () => [
      node('a', { region: 'us', roles: ['judge', 'probe'] }),
      node('b', { region: 'us', roles: ['probe'] }),
    ],
    site: { url: 'https://up.example', version: '1.2.3' },
    node: { name: 'eu-1', region: 'eu' },
    fence: () => 12,
  });
  t.strictSame(await lines(metrics, 'upbeat_node_info'), ['upbeat_node_info{node="eu-1",region="eu"} 1']);
  t.strictSame(await lines(metrics, 'upbeat_lease_fence'), ['upbeat_lease_fence 12']);
  t.strictSame(await lines(metrics, 'upbeat_nodes'), [
    'upbeat_nodes{region="us",role="judge"} 1',
    'upbeat_nodes{region="us",role="probe"} 2',
    'upbeat_nodes{region="us",role="serve"} 0',
  ]);
  t.strictSame(await lines(metrics, 'upbeat_samples_lost_total'), ['upbeat_samples_lost_total 7']);
  t.strictSame(await lines(metrics, 'upbeat_store_connected'), [
    'upbeat_store_connected{store="influx"} 1',
    'upbeat_store_connected{store="redis"} 1',
  ]);
  problem = 'connection refused';
  t.strictSame(await lines(metrics, 'upbeat_store_connected'), [
    'upbeat_store_connected{store="influx"} 0',
    'upbeat_store_connected{store="redis"} 1',
  ]);
});

const OPTIONS = { name: 'seconds', help: 'Durations.', buckets: [0.001, 0.25, 1] };

t.test('it writes what the histogram of the library writes', async (t) => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const note = addRequestDurations(ours, OPTIONS);
  const histogram = new Histogram({ ...OPTIONS, labelNames: ['route'], registers: [theirs] });
  t.equal(await ours.metrics(), await theirs.metrics(), 'before the first request');
  for (const [route, seconds] of [
    ['/b', 0.001],
    ['/a/:slug', 0.0011],
    ['/b', 0],
    ['/b', 0.3],
    ['/a/:slug', 1],
    ['/b', 60],
  ] as const) {
    note(route, seconds);
    histogram.observe({ route }, seconds);
  }
  t.equal(await ours.metrics(), await theirs.metrics());
  t.match(await ours.metrics(), 'seconds_bucket{le="0.25",route="/b"} 2');
});

t.test('it is empty after the registry was reset', async (t) => {
  const registry = new Registry();
  const note = addRequestDurations(registry, OPTIONS);
  note('/a', 1);
  registry.resetMetrics();
  t.notMatch(await registry.metrics(), 'route=');
});
