/**
 * The dashboard and the alerts of services over Prometheus alone: a real Prometheus with the configuration of
 * deploy/prometheus.yaml reads the series of services, and answers every query as Grafana sends it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { check, current, NOW, service, startApi } from '../site/site-world.ts';
import { startPrometheus } from '../support/influx-server.ts';
import { hasProgram } from '../support/install-servers.ts';
import { panelsOf, prometheusTargets, readDashboards, variablesOf } from './dashboard-files.ts';
import { prometheusQuery, type View } from './grafana-words.ts';
import { lackOfPanel } from './panel-answers.ts';
import { labelValues, type MetricServers, queryPrometheus } from './query-servers.ts';

const ROOT = join(import.meta.dirname, '../..');
const NEEDS = hasProgram('prometheus') ? {} : { skip: 'prometheus is not there: apt-get install prometheus' };
const WITHIN_MS = 60_000;
const DAY_MS = 86_400_000;
const ALL = { all: '.*' };

interface Rules {
  readonly groups: readonly { readonly rules: { readonly alert: string; annotations?: object }[] }[];
}
interface Config {
  readonly rule_files: readonly string[];
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly metric_relabel_configs?: object[];
  }[];
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Prometheus with the repository's configuration, but for addresses and intervals; it reads `port`. */
async function startReading(t: Test, port: number) {
  const folder = t.testdir({
    'alerts.yaml': read('deploy/alerts.yaml'),
    'service-alerts.yaml': read('deploy/service-alerts.yaml'),
  });
  const config = parse(read('deploy/prometheus.yaml')) as Config;
  const file = join(folder, 'prometheus.yaml');
  const changed = {
    ...config,
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: config.rule_files.map((path) => path.replace('/etc/prometheus', folder)),
    scrape_configs: config.scrape_configs.map(({ dns_sd_configs: _, ...job }: Record<string, unknown>) => ({
      ...job,
      scrape_interval: '1s',
      static_configs: [{ targets: [`127.0.0.1:${port}`] }],
    })),
  };
  writeFileSync(file, stringify(changed));
  return await startPrometheus(t, { folder: join(folder, 'data') }, file);
}

t.test(
  'it answers every query of the dashboard of services, from the configuration in deploy/',
  NEEDS,
  async (t) => {
    const world = await startApi({
      services: [
        service(1, 'shop', { domain: 'shop.example' }),
        service(2, 'bank', { category: 'finance' }),
        service(3, 'slow', { category: 'cloud' }),
        service(4, 'never'),
      ],
    });
    t.teardown(world.close);
    const endsAt = Date.now() + 9 * DAY_MS;
    await world.status.put([
      current(1, check(NOW, { responseTimeMs: 120, certificateExpiresAt: endsAt })),
      current(2, check(NOW, { status: 'down', responseTimeMs: null, statusCode: 0 })),
      current(
        3,
        check(NOW, { status: 'slow', responseTimeMs: 4_000, certificateExpiresAt: endsAt + 90 * DAY_MS }),
      ),
    ]);
    const { url } = await startReading(t, world.port);
    const servers: MetricServers = { influxUrl: '', database: '', prometheusUrl: url, scrapeInterval: '1s' };
    const found = readDashboards().find(({ name }) => name === 'services.json');
    if (found === undefined) throw new Error('there is no dashboard of services');
    const { dashboard } = found;
    const viewOf = (interval = '15s'): View => {
      const to = Date.now();
      return { from: to - 3_600_000, to, interval, variables: { category: ALL, service: ALL } };
    };
    const open = new Map(
      panelsOf(dashboard).map((panel) => [
        panel.title ?? '',
        () => lackOfPanel(panel, viewOf(panel.interval), servers),
      ]),
    );
    t.equal(open.size, panelsOf(dashboard).length);
    const lacks = new Map<string, string>();
    for (const deadline = performance.now() + WITHIN_MS; open.size > 0 && performance.now() < deadline; ) {
      for (const [title, run] of open) {
        const lack = await run();
        if (lack === null) open.delete(title);
        else lacks.set(title, lack);
      }
      if (open.size > 0) await new Promise((resolve) => setTimeout(resolve, 500));
    }
    t.strictSame(
      [...open.keys()].map((title) => `${title}: ${lacks.get(title)}`),
      [],
    );

    const options: Readonly<Record<string, readonly string[]>> = {
      category: ['cloud', 'developer', 'finance'],
      service: ['bank', 'shop', 'slow'],
    };
    for (const { name, type, query } of variablesOf(dashboard)) {
      if (type !== 'query' || name === 'site') continue;
      const text = typeof query === 'object' && query !== null && 'query' in query ? query.query : query;
      t.strictSame(await labelValues(servers, String(text)), options[name], `the variable ${name}`);
    }

    const figureOf = async (title: string) => {
      const panel = panelsOf(dashboard).find((one) => one.title === title);
      const [target] = panel === undefined ? [] : prometheusTargets(panel);
      const expr = prometheusQuery(target?.expr ?? '', viewOf(), '1s');
      const answer = await fetch(`${url}/api/v1/query`, {
        method: 'POST',
        body: new URLSearchParams({ query: expr }),
      });
      const { data } = (await answer.json()) as { data: { result: { value: [number, string] }[] } };
      return Number(data.result[0]?.value[1]);
    };
    t.strictSame(
      [
        await figureOf('Operational or slow'),
        await figureOf('Down'),
        await figureOf('Certificates that end soon'),
        await figureOf('Services without series'),
      ],
      [2, 1, 1, 0],
      'the figures are those of the fleet',
    );
    const down = await queryPrometheus(servers, 'upbeat_service_up == 0', null);
    t.match(down, [{ service: 'bank', category: 'finance' }]);
    const own = await queryPrometheus(
      servers,
      '{job="upbeat-services", __name__!~"upbeat_service.*|up|scrape_.*"}',
      null,
    );
    t.strictSame(own, [], 'the job of services brings nothing that the other job has');
    const rules = (await (await fetch(`${url}/api/v1/rules`)).json()) as {
      data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
    };
    const loaded = rules.data.groups.flatMap((group) => group.rules);
    t.ok(
      loaded.some(({ name }) => name === 'UpbeatServiceDown') &&
        loaded.some(({ name }) => name === 'UpbeatDown'),
    );
    t.strictSame(
      loaded.filter(({ lastError }) => lastError !== undefined),
      [],
      'no rule fails',
    );
  },
);

t.test(
  'the alerts of services fire when they should, and only then',
  hasProgram('promtool') ? {} : { skip: 'promtool is not there: apt-get install prometheus' },
  async (t) => {
    const file = join(ROOT, 'deploy/service-alerts.yaml');
    const checked = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    t.equal(checked.status, 0, checked.stderr);
    const labels = { service: 'shop', domain: 'shop.example', category: 'ai' };
    /** What two processes tell of a service. */
    const seriesOf = (metric: string, values: string) =>
      ['a', 'b'].map((instance) => ({
        series: `${metric}{service="shop",domain="shop.example",category="ai",instance="${instance}"}`,
        values,
      }));
    const judged = (alertname: string, input_series: object[], at: string, exp_labels: object | null) => ({
      interval: '1m',
      input_series,
      promql_expr_test: [],
      alert_rule_test: [
        { eval_time: at, alertname, exp_alerts: exp_labels === null ? [] : [{ exp_labels }] },
      ],
    });
    const up = (values: string) => seriesOf('upbeat_service_up', values);
    const response = (values: string) => seriesOf('upbeat_service_response_seconds', values);
    // Tests begin at time 0.
    const expiry = (days: number) =>
      seriesOf('upbeat_service_certificate_expiry_seconds', `${days * 86_400}x200`);
    const without = (values: string) => [{ series: 'upbeat_services_without_series{instance="a"}', values }];
    const critical = { ...labels, severity: 'critical' };
    const warning = { ...labels, severity: 'warning' };
    const soon = 'UpbeatServiceCertificateEndsSoon';
    const rules = parse(read('deploy/service-alerts.yaml')) as Rules;
    const names = rules.groups.flatMap((group) => group.rules.map(({ alert }) => alert));
    for (const group of rules.groups) for (const rule of group.rules) delete rule.annotations;
    const tests = [
      judged('UpbeatServiceDown', up('1x5 0x10'), '8m', critical),
      judged('UpbeatServiceDown', up('1x5 0 1x10'), '8m', null),
      judged('UpbeatServiceDown', up('1x20'), '10m', null),
      judged('UpbeatServiceSlow', response('4x30'), '20m', warning),
      judged('UpbeatServiceSlow', response('4x10 0.2 4x20'), '20m', null),
      judged('UpbeatServiceSlow', response('3x30'), '20m', null),
      judged('UpbeatServiceFlaps', up('1 0 1 0 1 0 1 1x20'), '10m', warning),
      judged('UpbeatServiceFlaps', up('1 0 1 0 1 1x20'), '10m', null),
      judged(soon, expiry(10), '2h', warning),
      judged(soon, expiry(10), '30m', null),
      judged(soon, expiry(20), '2h', null),
      judged('UpbeatServiceCertificateEnds', expiry(1), '10m', critical),
      judged('UpbeatServiceCertificateEnds', expiry(3), '10m', null),
      judged('UpbeatServicesWithoutSeries', without('7x30'), '20m', { severity: 'info' }),
      judged('UpbeatServicesWithoutSeries', without('0x30'), '20m', null),
      judged('UpbeatServiceSeriesMissing', without('0x30'), '20m', { severity: 'warning' }),
      judged('UpbeatServiceSeriesMissing', up('1x30'), '20m', null),
    ];
    t.strictSame(
      [...new Set(tests.map(({ alert_rule_test: [one] }) => one?.alertname))],
      names,
      'every alert is tried',
    );
    const folder = t.testdir({
      'service-alerts.yaml': JSON.stringify(rules),
      'tests.yaml': JSON.stringify({ rule_files: ['service-alerts.yaml'], evaluation_interval: '1m', tests }),
    });
    const tested = spawnSync('promtool', ['test', 'rules', join(folder, 'tests.yaml')], { encoding: 'utf8' });
    t.equal(tested.status, 0, `${tested.stdout}${tested.stderr}`);
  },
);
