/** The dashboards as files: current, whole, and asking only for what there is. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DashboardLink, GridPos } from '@grafana/grafana-foundation-sdk/dashboard';
import t from 'tap';
import { parse } from 'yaml';
import { allDashboards } from '../../grafana/all-dashboards.ts';
import { createMetrics, renderServiceSeries } from '../../src/metrics/metrics.ts';
import { observeProgram } from '../../src/metrics/observe-program.ts';
import { createStatusTally } from '../../src/store/status/memory-status-store.ts';
import { double } from '../support/double.ts';
import {
  annotationTargets,
  GRAFANA_FOLDER,
  influxTargets,
  panelsOf,
  prometheusTargets,
  readDashboards,
  variablesOf,
} from './dashboard-files.ts';

const GRID_COLUMNS = 24;
const MEASUREMENTS = [
  'upbeat_check',
  'upbeat_transition',
  'upbeat_scope',
  'upbeat_incident',
  'upbeat_heartbeat',
  'upbeat_dependency',
];
const UNIT_OF_TEXT = 'none';

const found = readDashboards();
const uids = found.map(({ dashboard }) => dashboard.uid);

interface ProvisionedSource {
  readonly uid: string;
  readonly type: string;
}
const sources = (
  parse(readFileSync(join(GRAFANA_FOLDER, 'provisioning/datasources/upbeat.yaml'), 'utf8')) as {
    readonly datasources: readonly ProvisionedSource[];
  }
).datasources;

t.test('it keeps the files as the code makes them: npm run dashboards', async (t) => {
  const made = allDashboards();
  t.same(
    found.map(({ name }) => name),
    made.map(({ name }) => name).sort(),
  );
  for (const { name, text } of made)
    t.equal(text, readFileSync(join(GRAFANA_FOLDER, 'dashboards', name), 'utf8'), name);
});

t.test('it gives each dashboard an id, a title and a description of its own', async (t) => {
  t.equal(new Set(uids).size, found.length);
  t.equal(new Set(found.map(({ dashboard }) => dashboard.title)).size, found.length);
  for (const { name, dashboard } of found) {
    // Grafana's bound on ids that are part of an address.
    t.match(dashboard.uid, /^[a-z0-9-]{1,40}$/, name);
    t.ok((dashboard.description ?? '').length > 20, name);
    t.same(dashboard.tags, ['upbeat'], name);
  }
});

t.test('it gives each panel an id, a title, a description, a unit and queries', async (t) => {
  for (const { name, dashboard } of found) {
    const panels = panelsOf(dashboard);
    t.ok(panels.length >= 10, name);
    t.same(
      panels.map(({ id }) => id),
      panels.map((_, index) => index + 1),
      `${name}: ids`,
    );
    for (const panel of panels) {
      const what = `${name}: ${panel.title}`;
      t.ok((panel.title ?? '').length > 3, what);
      t.match(panel.description, /^[A-Z].{15,}\.$/s, `${what}: description`);
      t.type(panel.fieldConfig?.defaults.unit, 'string', `${what}: unit`);
      if (panel.type === 'timeseries') t.not(panel.fieldConfig?.defaults.unit, UNIT_OF_TEXT, `${what}: unit`);
      const targets = [...influxTargets(panel), ...prometheusTargets(panel)];
      t.ok(targets.length > 0, `${what}: queries`);
      t.equal(targets.length, panel.targets?.length, `${what}: all are of a known data source`);
      t.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, `${what}: letters`);
    }
  }
});

t.test('it lays no panel over another', async (t) => {
  for (const { name, dashboard } of found) {
    const taken = new Map<string, string>();
    for (const { title = '', gridPos } of panelsOf(dashboard)) {
      const { x, y, w, h } = gridPos as GridPos;
      t.ok(x >= 0 && w > 0 && x + w <= GRID_COLUMNS, `${name}: ${title} stays inside`);
      for (let row = y; row < y + h; row++)
        for (let column = x; column < x + w; column++) {
          const cell = `${row} ${column}`;
          if (taken.has(cell)) t.fail(`${name}: ${title} lies over ${taken.get(cell)}`);
          taken.set(cell, title);
        }
    }
    // A line that is not full is a hole in the page.
    t.equal(taken.size % GRID_COLUMNS, 0, `${name}: no holes`);
  }
});

t.test('it asks data sources that are provisioned, chosen by variables', async (t) => {
  const provisioned = new Map(sources.map(({ uid, type }) => [uid, type]));
  for (const { name, dashboard } of found) {
    const variables = variablesOf(dashboard);
    const chosen = new Map(
      variables
        .filter(({ type }) => type === 'datasource')
        .map(({ name: variable, query, current }) => {
          t.equal(provisioned.get(String(current?.value)), query, `${name}: ${variable}`);
          return [`\${${variable}}`, query];
        }),
    );
    const asked = [
      ...panelsOf(dashboard).flatMap((panel) => [
        panel.datasource,
        ...influxTargets(panel).map(({ datasource }) => datasource),
      ]),
      ...variables.flatMap(({ datasource }) => (datasource === undefined ? [] : [datasource])),
      ...(dashboard.annotations.list ?? []).map(({ datasource }) => datasource),
    ];
    for (const source of asked) t.equal(chosen.get(source?.uid ?? ''), source?.type, name);
    const names = new Set(variables.map((variable) => variable.name));
    for (const [, used = ''] of JSON.stringify(dashboard).matchAll(/\$\{?([a-z]\w*)/g))
      t.ok(
        names.has(used) || used === 'timeFilter' || used.startsWith('tag_') || used === 'col',
        `${name}: $${used}`,
      );
  }
});

t.test('it chooses and groups services by their id, since a slug may have been another one’s', async (t) => {
  for (const { name, dashboard } of found)
    for (const { query } of [
      ...panelsOf(dashboard).flatMap(influxTargets),
      ...annotationTargets(dashboard),
    ]) {
      t.notMatch(query, /"service" *=/, `${name}: ${query}`);
      for (const [, tags = ''] of query.matchAll(/GROUP BY ((?:time\(\S+\)|"\w+"|, )+)/g))
        if (tags.includes('"service"')) t.match(tags, '"service_id"', `${name}: ${query}`);
    }
});

t.test('it links to dashboards that there are, and to pages of the site', async (t) => {
  for (const { name, dashboard } of found) {
    const links = [...linksIn(dashboard)];
    t.ok(links.some(({ type }) => type === 'dashboards') && links.length >= 3, name);
    for (const { url = '', type } of links) {
      if (type === 'dashboards') continue;
      const uid = /^\/d\/([^/?]+)/.exec(url)?.[1];
      if (uid === undefined) t.match(url, /^\$\{site\}\/(?:docs|status\/\$\{[\w.]+(?::text)?\})?$/, name);
      else t.ok(uids.includes(uid), `${name}: ${url}`);
    }
  }
});

t.test('it asks only for metrics that the program has', async (t) => {
  const text = await everyMetric();
  for (const { name, dashboard } of found)
    for (const panel of panelsOf(dashboard))
      for (const { expr } of prometheusTargets(panel))
        for (const [metric] of expr.matchAll(/\bupbeat_\w+/g))
          t.match(text, new RegExp(`^# TYPE ${metric.replace(/_bucket$/, '')} `, 'm'), `${name}: ${metric}`);
});

t.test('it asks InfluxDB only for what docs/influxdb.md describes, one statement at a time', async (t) => {
  const docs = readFileSync(join(GRAFANA_FOLDER, '../docs/influxdb.md'), 'utf8');
  const described = new Set([...docs.matchAll(/`(\w+)`/g)].map(([, word = '']) => word));
  for (const { name, dashboard } of found) {
    const queries = [...panelsOf(dashboard).flatMap(influxTargets), ...annotationTargets(dashboard)].map(
      ({ query }) => query,
    );
    for (const query of queries) {
      for (const [, measurement = ''] of query.matchAll(/FROM "(\w+)"/g))
        t.ok(MEASUREMENTS.includes(measurement), `${name}: ${measurement}`);
      // Names that a query gives itself are no fields.
      const given = new Set([...query.matchAll(/ AS "(\w+)"/g)].map(([, word = '']) => word));
      for (const [, word = ''] of query.matchAll(/"(\w+)"/g))
        t.ok(described.has(word) || given.has(word), `${name}: ${word}`);
      // Without it a dashboard would read everything that there is.
      t.match(query, /\$timeFilter/, `${name}: ${query}`);
      // Grafana reads the answer to the first statement alone.
      t.notMatch(query, /;/, name);
    }
  }
});

t.test('it shows no other number of a table as a status', async (t) => {
  for (const { name, dashboard } of found)
    for (const { title, type, fieldConfig } of panelsOf(dashboard))
      if (type === 'table') t.same(fieldConfig?.defaults.mappings ?? [], [], `${name}: ${title}`);
});

t.test('it is found by Grafana: what is provisioned is what compose.yaml mounts', async (t) => {
  const root = join(GRAFANA_FOLDER, '..');
  const compose = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), { merge: true }) as {
    readonly services: {
      readonly grafana: {
        readonly volumes: readonly string[];
        readonly environment: Readonly<Record<string, string>>;
      };
    };
  };
  const { volumes, environment } = compose.services.grafana;
  const mounts = new Map(
    volumes.map((volume) => volume.split(':').slice(0, 2).reverse() as [string, string]),
  );
  const { providers } = parse(
    readFileSync(join(GRAFANA_FOLDER, 'provisioning/dashboards/upbeat.yaml'), 'utf8'),
  ) as { readonly providers: readonly { readonly options: { readonly path: string } }[] };
  t.same(
    providers.map(({ options }) => mounts.get(options.path)),
    ['./grafana/dashboards'],
  );
  t.equal(mounts.get('/etc/grafana/provisioning'), './grafana/provisioning');
  const home = environment.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH ?? '';
  const [folder] = providers.map(({ options }) => options.path);
  t.ok(existsSync(home.replace(folder ?? '', join(GRAFANA_FOLDER, 'dashboards'))), home);
});

/** Every link in a dashboard, wherever it stands. */
function* linksIn(node: unknown): Generator<Partial<DashboardLink>> {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'links' && Array.isArray(value)) yield* value;
    // An override of a column keeps its links as the value of a property.
    if (key === 'value' && 'id' in node && node.id === 'links' && Array.isArray(value)) yield* value;
    yield* linksIn(value);
  }
}

/** `/metrics` of a program that has everything. */
async function everyMetric(): Promise<string> {
  const metrics = createMetrics();
  observeProgram(metrics, {
    fleet: { report: () => ({ services: 0, restarts: 0, checksDone: 0, hosts: [] }) },
    record: { prober: () => ({ online: true, offlineSince: null, heldResults: 0, suspectCount: 0 }) },
    samples: { stats: () => ({ appended: 0, pending: 0, fileBytes: 0 }) },
    directory: { all: () => [], hidden: () => [] },
    status: double({ ...createStatusTally(), headOf: () => null }),
    openStreams: () => 0,
    feeds: {
      health: () => [{ feedId: 'rss https://status.example', readAt: 1_000, problem: null }],
      polls: () => ({ good: 0, failed: 0 }),
    },
    stores: () => ({ influx: { problem: null } }),
    site: { url: 'http://localhost:8080', version: '1.0.0' },
    node: { name: 'eu-1', region: 'eu' },
    alerts: () => null,
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
  });
  return (await metrics.render()) + (await renderServiceSeries([], 0, () => null));
}
