/** What operators deploy with: files that name each other, settings and metrics that exist. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { SETTINGS } from '../src/config/environment.ts';
import { parseDuration } from '../src/domain/durations.ts';
import { createMetrics } from '../src/metrics/metrics.ts';
import { observeAlerts, observeProgram } from '../src/metrics/observe-program.ts';
import { createStatusTally } from '../src/store/status/memory-status-store.ts';
import { double } from './support/double.ts';
import { hasProgram } from './support/install-servers.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

interface ComposeService {
  readonly profiles?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly image?: string;
}
interface PrometheusConfig {
  readonly scrape_configs: readonly {
    readonly static_configs: readonly { readonly targets: readonly string[] }[];
    readonly dns_sd_configs: readonly { readonly names: readonly string[] }[];
  }[];
}
const compose = parse(read('compose.yaml'), { merge: true }) as {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, null>>;
};

t.test('it sets settings that there are', async (t) => {
  const known = new Set(SETTINGS.map(({ variable }) => variable));
  const named = [
    ...Object.values(compose.services)
      .flatMap(({ environment = {} }) => Object.keys(environment))
      .filter((name) => name.startsWith('UPBEAT_')),
    ...[...read('Dockerfile').matchAll(/\b(UPBEAT_\w+)=/g)].map(([, name = '']) => name),
  ];
  t.ok(named.length > 5);
  t.same(
    named.filter((name) => !known.has(name)),
    [],
  );
});

t.test(
  'the profile cluster has two judges, and a node that makes checks in each of three regions',
  async (t) => {
    const nodes = Object.entries(compose.services).flatMap(
      ([service, { environment = {}, profiles = [] }]) => {
        const { UPBEAT_NODE_NAME: name, UPBEAT_NODE_REGION: region, UPBEAT_NODE_ROLES: roles } = environment;
        return name === undefined ? [] : [{ service, name, region, roles, profiles }];
      },
    );
    const roles = `\${UPBEAT_NODE_ROLES:-judge,probe,serve}`;
    const probe = { roles: 'probe', profiles: ['cluster'] };
    t.same(nodes, [
      { service: 'upbeat', name: 'upbeat', region: undefined, roles, profiles: [] },
      { service: 'standby', name: 'standby', region: undefined, roles, profiles: ['cluster'] },
      { service: 'probe-ap', name: 'probe-ap', region: 'ap', ...probe },
      { service: 'probe-eu', name: 'probe-eu', region: 'eu', ...probe },
      { service: 'probe-us', name: 'probe-us', region: 'us', ...probe },
    ]);
    t.match(
      read('compose.yaml'),
      'UPBEAT_NODE_ROLES=judge,serve',
      'the head of the file says how to set the roles',
    );
    const [scraped] = (parse(read('deploy/prometheus.yaml')) as PrometheusConfig).scrape_configs;
    t.same(
      [...(scraped?.static_configs[0]?.targets ?? []), ...(scraped?.dns_sd_configs[0]?.names ?? [])],
      ['upbeat:8080', ...nodes.slice(1).map(({ service }) => service)],
      'Prometheus reads all of them',
    );
  },
);

t.test('it mounts what there is, and pins every image', async (t) => {
  for (const [name, { volumes = [], image }] of Object.entries(compose.services)) {
    for (const volume of volumes) {
      const [from = ''] = volume.split(':');
      t.ok(
        from.startsWith('./') ? existsSync(join(ROOT, from)) : from in compose.volumes,
        `${name}: ${from}`,
      );
    }
    if (image !== undefined) t.match(image, /:[\w.-]*\d/, name);
  }
});

t.test('it copies into the image what the program is made of, and nothing else', async (t) => {
  const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files = '']) =>
    files.split(' '),
  );
  const allowed = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'));
  t.same([...new Set(copied)].sort(), allowed.map((line) => line.slice(1)).sort());
  for (const file of copied) t.ok(existsSync(join(ROOT, file)), file);
});

t.test('the data directory of the image is closed to other users', async (t) => {
  t.match(read('Dockerfile'), /^RUN mkdir -m 700 \/data .*chown node:node \/data/m);
});

t.test('it alerts on metrics that there are', async (t) => {
  const metrics = createMetrics();
  observeProgram(metrics, {
    fleet: { report: () => ({ services: 0, restarts: 0, checksDone: 0, hosts: [] }) },
    record: { prober: () => ({ online: true, offlineSince: null, heldResults: 0, suspectCount: 0 }) },
    samples: { stats: () => ({ appended: 0, pending: 0, fileBytes: 0 }) },
    directory: { all: () => [], hidden: () => [] },
    status: double({ ...createStatusTally(), headOf: () => null }),
    openStreams: () => 0,
    feeds: { health: () => [], polls: () => ({ good: 0, failed: 0 }) },
    cluster: {
      shards: () => new Map(),
      results: () => ({
        backlog: 0,
        takeovers: 0,
        dropped: 0,
        refused: 0,
        contradicted: 0,
        unreadable: 0,
        delayMs: 0,
      }),
      votes: () => new Map(),
    },
    redis: null,
    stores: () => ({}),
    site: { url: 'http://localhost:8080', version: '1.0.0' },
  });
  observeAlerts(metrics, () => null);
  const text = await metrics.render();
  const { groups } = parse(read('deploy/alerts.yaml')) as {
    readonly groups: readonly {
      readonly rules: readonly { readonly alert: string; readonly expr: string }[];
    }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  t.ok(rules.length >= 7);
  for (const { alert, expr } of rules)
    for (const [name] of expr.matchAll(/\bupbeat_\w+/g))
      t.match(text, new RegExp(`^# TYPE ${name} `, 'm'), `${alert}: ${name}`);
});

t.test('InfluxDB keeps points as long as storage.rawRetention says', async (t) => {
  const { storage } = parse(read('config/upbeat.yaml')) as {
    readonly storage: { readonly rawRetention: string };
  };
  const wanted = parseDuration(storage.rawRetention);
  const kept = [
    compose.services.influxdb?.environment?.DOCKER_INFLUXDB_INIT_RETENTION,
    /INIT_RETENTION, value: (\w+)/.exec(read('deploy/kubernetes/influxdb.yaml'))?.[1],
  ];
  t.same(
    kept.map((text) => parseDuration(text ?? '')),
    [wanted, wanted],
  );
});

t.test(
  'Prometheus takes the alerts, and those of stores and samples fire',
  hasProgram('promtool') ? {} : { skip: 'promtool is not there: apt-get install prometheus' },
  async (t) => {
    const alerts = join(ROOT, 'deploy/alerts.yaml');
    const checked = spawnSync('promtool', ['check', 'rules', alerts], { encoding: 'utf8' });
    t.equal(checked.status, 0, checked.stderr);
    const values = (alert: string, series: string, values: string, at: string, fires: boolean) => {
      const [, store] = /store="(\w+)"/.exec(series) ?? [];
      const severity = alert === 'UpbeatStorageRefusesWrites' ? 'critical' : 'warning';
      const exp_labels = { job: 'upbeat', severity, ...(store === undefined ? {} : { store }) };
      return {
        interval: '1m',
        input_series: [{ series, values }],
        promql_expr_test: [],
        alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: fires ? [{ exp_labels }] : [] }],
      };
    };
    /** What the judge tells, beside nodes that make 10 checks a second; the alert has no label of a node. */
    const backlog = (results: string, fires: boolean) => ({
      interval: '1m',
      input_series: [
        { series: 'upbeat_results_backlog{job="upbeat",instance="judge"}', values: results },
        { series: 'upbeat_checks_total{job="upbeat",instance="probe"}', values: '0+600x20' },
      ],
      promql_expr_test: [],
      alert_rule_test: [
        {
          eval_time: '15m',
          alertname: 'UpbeatJudgeBehind',
          exp_alerts: fires ? [{ exp_labels: { severity: 'warning' } }] : [],
        },
      ],
    });
    const dropped = 'upbeat_results_dropped_total{job="upbeat"}';
    const lost = 'upbeat_samples_lost_total{job="upbeat"}';
    const offset = 'upbeat_clock_offset_seconds{job="upbeat"}';
    /** What two nodes tell of one region; the alert has no label of a node. */
    const roleValues = (role: string, nodes: Readonly<Record<string, number>>, fires: boolean) => ({
      interval: '1m',
      input_series: ['a', 'b'].flatMap((instance) =>
        Object.entries(nodes).map(([name, count]) => ({
          series: `upbeat_nodes{job="upbeat",instance="${instance}",region="eu",role="${name}"}`,
          values: `${count}x10`,
        })),
      ),
      promql_expr_test: [],
      alert_rule_test: [
        {
          eval_time: '5m',
          alertname: 'UpbeatRoleWithoutNode',
          exp_alerts: fires ? [{ exp_labels: { role, severity: 'critical' } }] : [],
        },
      ],
    });
    /** What a rule makes of some series after `at`; null: it does not fire. */
    const judged = (
      alertname: string,
      series: Readonly<Record<string, string>>,
      at: string,
      exp_labels: object | null,
    ) => ({
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [],
      alert_rule_test: [
        { eval_time: at, alertname, exp_alerts: exp_labels === null ? [] : [{ exp_labels }] },
      ],
    });
    /** Votes of three regions as their judge reports them. */
    const votes = (eu: string, us: string, ap: string) => ({
      'upbeat_region_votes{instance="judge",region="eu"}': eu,
      'upbeat_region_votes{instance="judge",region="us"}': us,
      'upbeat_region_votes{instance="judge",region="ap"}': ap,
    });
    const shards = (held: string, waiting: string, nodes: string) => ({
      'upbeat_shards{instance="judge",region="eu",state="held"}': held,
      'upbeat_shards{instance="judge",region="eu",state="waiting"}': waiting,
      'upbeat_nodes{instance="judge",region="eu",role="probe"}': nodes,
    });
    /** Two judges of which one holds the lease. */
    const fences = (a: string, b: string) => ({
      'upbeat_lease_fence{instance="a"}': a,
      'upbeat_lease_fence{instance="b"}': b,
    });
    const probes = (eu: string) => ({
      'upbeat_nodes{instance="judge",region="eu",role="probe"}': eu,
      'upbeat_nodes{instance="judge",region="us",role="probe"}': '2x900',
    });
    const critical = { severity: 'critical' };
    const warning = { severity: 'warning' };
    const pending = 'upbeat_samples_pending{job="upbeat"}';
    const connected = (store: string) => `upbeat_store_connected{job="upbeat",store="${store}"}`;
    // Only whether an alert fires is asked for: its words stand in the file.
    const rules = parse(read('deploy/alerts.yaml')) as {
      readonly groups: readonly { readonly rules: { annotations?: object }[] }[];
    };
    for (const { rules: list } of rules.groups) for (const rule of list) delete rule.annotations;
    const folder = t.testdir({
      'alerts.yaml': JSON.stringify(rules),
      'tests.yaml': JSON.stringify({
        rule_files: ['alerts.yaml'],
        evaluation_interval: '1m',
        tests: [
          roleValues('probe', { judge: 1, probe: 0 }, true),
          roleValues('probe', { judge: 1, probe: 1 }, false),
          judged('UpbeatRegionWithoutNode', probes('1x5 _x900'), '20m', { region: 'eu', ...warning }),
          judged('UpbeatRegionWithoutNode', probes('1x5 0x900'), '10m', { region: 'eu', ...warning }),
          judged('UpbeatRegionWithoutNode', probes('1x900'), '10m', null),
          judged('UpbeatRegionWithoutNode', probes('1x5 _x900'), '10h', null),
          judged('UpbeatRegionsWithoutVote', votes('1x20', '0x20', '0x20'), '10m', critical),
          judged('UpbeatRegionsWithoutVote', votes('1x5 _x20', '1x5 _x20', '1x5 _x20'), '20m', critical),
          judged('UpbeatRegionsWithoutVote', votes('1x20', '1x20', '1x5 _x20'), '10m', null),
          judged('UpbeatRegionsWithoutVote', { 'upbeat_region_votes{region="eu"}': '0x20' }, '10m', null),
          judged('UpbeatShardsUnheld', shards('60x20', '4x20', '1x20'), '10m', { region: 'eu', ...critical }),
          judged('UpbeatShardsUnheld', shards('64x20', '0x20', '1x20'), '10m', null),
          judged('UpbeatShardsUnheld', shards('0x20', '64x20', '0x20'), '10m', null),
          judged('UpbeatChecksStopped', { 'upbeat_checks_stopped_seconds{instance="a"}': '0 30' }, '1m', {
            ...{ instance: 'a', ...critical },
          }),
          judged(
            'UpbeatChecksStopped',
            { 'upbeat_checks_stopped_seconds{instance="a"}': '0 9 0' },
            '1m',
            null,
          ),
          judged('UpbeatChecksStopped', { 'upbeat_region_checks_stopped_seconds{region="eu"}': '30' }, '0m', {
            ...{ region: 'eu', ...critical },
          }),
          judged('UpbeatJudgesTakeTurns', fences('3 0 5 0 7', '0 4 0 6 0'), '4m', warning),
          judged('UpbeatJudgesTakeTurns', fences('3x5 _x10', '0x6 4x10'), '10m', null),
          judged('UpbeatBacklogGrows', { upbeat_results_backlog: '0+500x40' }, '30m', warning),
          judged('UpbeatBacklogGrows', { upbeat_results_backlog: '9000-100x40' }, '30m', null),
          judged('UpbeatBacklogGrows', { upbeat_results_backlog: '600x40' }, '30m', null),
          values('UpbeatClockOff', offset, '-90x20', '10m', true),
          values('UpbeatClockOff', offset, '0.4x20', '10m', false),
          backlog('0x5 700x15', true),
          backlog('500x20', false),
          values('UpbeatResultsDropped', dropped, '0x10 5x10', '15m', true),
          values('UpbeatSamplesLost', lost, '0x10 5x10', '15m', true),
          values('UpbeatSamplesLost', lost, '0x20', '15m', false),
          values('UpbeatSpoolDoesNotDrain', pending, '5000+10x60', '50m', true),
          values('UpbeatSpoolDoesNotDrain', pending, '90000-1000x60', '50m', false),
          values('UpbeatSpoolDoesNotDrain', pending, '40x60', '50m', false),
          values('UpbeatStorageRefusesWrites', connected('storage'), '1x5 0x10', '8m', true),
          values('UpbeatStorageRefusesWrites', connected('storage'), '1x5 0 1x10', '8m', false),
          values('UpbeatStorageRefusesWrites', connected('redis'), '0x15', '10m', false),
          values('UpbeatHistoryIncomplete', connected('history'), '0x30', '20m', true),
          values('UpbeatHistoryIncomplete', connected('influx'), '1x5 0x30', '20m', true),
          values('UpbeatHistoryIncomplete', connected('influx'), '1x5 0x5 1x30', '20m', false),
          values('UpbeatHistoryIncomplete', connected('redis'), '0x30', '20m', false),
        ],
      }),
    });
    const tested = spawnSync('promtool', ['test', 'rules', join(folder, 'tests.yaml')], { encoding: 'utf8' });
    t.equal(tested.status, 0, `${tested.stdout}${tested.stderr}`);
  },
);
