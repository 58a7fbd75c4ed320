/**
 * Every query of every panel, variable and mark, sent as Grafana sends it, to a real InfluxDB and to a real reader of
 * `/metrics`, while Upbeat watches a fleet: each must have an answer, in the columns that the panels speak of.
 */
import type { VariableModel } from '@grafana/grafana-foundation-sdk/dashboard';
import t from 'tap';
import { hasProgram } from '../support/install-servers.ts';
import {
  annotationTargets,
  type FoundDashboard,
  influxTargets,
  panelsOf,
  readDashboards,
  variablesOf,
} from './dashboard-files.ts';
import { type Choice, influxQuery, type Option, type View, variableOptions } from './grafana-words.ts';
import { lackOf, lackOfPanel } from './panel-answers.ts';
import { columnsOf, labelValues, queryInflux } from './query-servers.ts';
import {
  CHECKED,
  EARLIER_ID,
  EARLIER_REGION,
  REPORTERS,
  startWatchedFleet,
  TROUBLED,
  type WatchedFleet,
} from './watched-fleet.ts';

const missing = ['influxd', 'victoria-metrics'].filter((program) => !hasProgram(program));
const NEEDS =
  missing.length === 0 ? {} : { skip: `${missing.join(' and ')} is not there: apt-get install it` };

const WITHIN_MS = 120_000;
const TIMEOUT_MS = WITHIN_MS + 60_000;
/** A look at all panels takes half a second of CPU time. */
const LOOK_AGAIN_MS = 2_500;
/** What Grafana takes for a panel without a smallest width, where the range is short: the data source's. */
const MIN_WIDTH = '15s';
const HOUR_MS = 3_600_000;
const ALL: Choice = { all: '.*' };

/** One query. `run` resolves with what is missing in the answer; null: nothing. */
interface Query {
  readonly what: string;
  run(): Promise<string | null>;
}

t.setTimeout(TIMEOUT_MS);

t.test('it has an answer to every query', { ...NEEDS, timeout: TIMEOUT_MS }, async (t) => {
  const fleet = await startWatchedFleet(t);
  // That of the cluster has its data where several regions check (test/cluster/regions.test.ts), that of services in a
  // Prometheus (services.test.ts).
  const dashboards = readDashboards().filter(
    ({ name }) => name !== 'cluster.json' && name !== 'services.json',
  );
  let open = [...dashboards.flatMap((found) => queriesOf(found, fleet)), ...truths(fleet)];
  t.ok(open.length > 70, `there are ${open.length} queries`);
  let problems: string[] = [];
  for (const deadline = performance.now() + WITHIN_MS; ; ) {
    const answers = await Promise.all(open.map(async (query) => [query, await query.run()] as const));
    open = answers.filter(([, lack]) => lack !== null).map(([query]) => query);
    problems = answers.flatMap(([{ what }, lack]) => (lack === null ? [] : [`${what}: ${lack}`]));
    if (open.length === 0 || performance.now() > deadline) break;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  t.comment(`${Math.round((Date.now() - fleet.startAt) / 1_000)} s after the play began`);
  if (problems.length > 0) t.comment(fleet.output());
  t.same(problems, []);
});

function queriesOf(found: FoundDashboard, fleet: WatchedFleet): Query[] {
  const { name, dashboard } = found;
  const viewOf = async (interval = MIN_WIDTH): Promise<View> => {
    const now = Date.now();
    return { from: now - HOUR_MS, to: now, interval, variables: await choicesOf(found, fleet) };
  };
  const panels = panelsOf(dashboard).map((panel): Query => {
    const what = `${name}, panel ${panel.title}`;
    return { what, run: async () => lackOfPanel(panel, await viewOf(panel.interval), fleet) };
  });
  const marks = annotationTargets(dashboard).map((target): Query => {
    const columns = [target.textColumn, ...target.tagsColumn.split(',')];
    const run = async () => {
      const series = await queryInflux(fleet, influxQuery(target.query, await viewOf()));
      return lackOf(columns, columnsOf(series, null));
    };
    return { what: `${name}, mark ${target.name}`, run };
  });
  const variables = variablesOf(dashboard)
    .filter(({ type }) => type === 'query')
    .map((variable): Query => {
      const run = async () => {
        const options = await optionsOf(variable, fleet);
        const texts = options.map(({ text }) => text);
        return lackOf(expectedOf(name, variable.name, fleet), texts);
      };
      return { what: `${name}, variable ${variable.name}`, run };
    });
  return [...panels, ...marks, ...variables];
}

/** What a variable offers at present, of every category. */
async function optionsOf(
  { query, regex, datasource }: VariableModel,
  fleet: WatchedFleet,
): Promise<readonly Option[]> {
  if (datasource?.type !== 'influxdb') return variableOptions(await labelValues(fleet, textOf(query)), regex);
  const view: View = { from: 0, to: Date.now(), interval: MIN_WIDTH, variables: { category: ALL } };
  const series = await queryInflux(fleet, influxQuery(String(query), view));
  // Grafana takes the second column where there is one: keys stand in the first.
  const values = series.flatMap((one) => one.values.map(([first, second = first]) => String(second)));
  return variableOptions(values, regex);
}

/** What is known of the fleet, and must be seen on its dashboard. */
function truths(fleet: WatchedFleet): Query[] {
  const overview = readDashboards().find(({ name }) => name === 'fleet-overview.json');
  const rowsOf = async (title: string) => {
    const panel =
      overview === undefined ? undefined : panelsOf(overview.dashboard).find((one) => one.title === title);
    const [target] = panel === undefined ? [] : influxTargets(panel);
    const now = Date.now();
    const view: View = {
      from: now - HOUR_MS,
      to: now,
      interval: MIN_WIDTH,
      variables: { category: ALL, region: ALL },
    };
    return (await queryInflux(fleet, influxQuery(target?.query ?? '', view)))[0]?.values ?? [];
  };
  const one = readDashboards().find(({ name }) => name === 'one-service.json');
  const checksOf = async (serviceId: string, region: Choice = ALL) => {
    const panel = one && panelsOf(one.dashboard).find(({ title }) => title === 'Checks');
    const [target] = panel === undefined ? [] : influxTargets(panel);
    const [from, to] = [Date.now() - 3 * HOUR_MS, Date.now()];
    const view = { from, to, interval: MIN_WIDTH, variables: { category: ALL, region, service: serviceId } };
    return Number((await queryInflux(fleet, influxQuery(target?.query ?? '', view)))[0]?.values[0]?.[1] ?? 0);
  };
  const everything = CHECKED.length + REPORTERS.length;
  return [
    {
      what: 'each service is up, slow or down',
      async run() {
        const counts = await Promise.all(
          ['Operational', 'Slow', 'Down'].map(async (title) => Number((await rowsOf(title))[0]?.[1])),
        );
        const sum = counts.reduce((total, count) => total + count, 0);
        return sum === everything ? null : `${counts.join(' + ')} is not ${everything}`;
      },
    },
    {
      what: 'services that had one slug are two',
      async run() {
        if (one === undefined) return 'there is no dashboard of one service';
        const { service } = await choicesOf(one, fleet);
        const counts = [await checksOf(EARLIER_ID), await checksOf(String(service))];
        return counts[0] === 1 && (counts[1] ?? 0) > 1 ? null : counts.join();
      },
    },
    {
      what: 'checks without a region are among all of them, and not in one region',
      async run() {
        if (one === undefined) return 'there is no dashboard of one service';
        const { service } = await choicesOf(one, fleet);
        const counts = [
          await checksOf(EARLIER_ID, EARLIER_REGION),
          await checksOf(EARLIER_ID, 'us'),
          await checksOf(String(service), EARLIER_REGION),
          await checksOf(String(service)),
        ];
        return counts.slice(0, 3).join() === '1,0,0' && (counts[3] ?? 0) > 1 ? null : counts.join();
      },
    },
    {
      what: 'the slow one is the slowest',
      async run() {
        const slowest = [...(await rowsOf('Slowest'))].sort((a, b) => Number(b[1]) - Number(a[1]));
        return slowest[0]?.[2] === 'slow' ? null : JSON.stringify(slowest);
      },
    },
    {
      what: 'the troubled one has changed, and was not always up',
      async run() {
        const changes = (await rowsOf('Flapping')).find((row) => row[2] === TROUBLED);
        const uptime = (await rowsOf('Worst uptime')).find((row) => row[2] === TROUBLED);
        const isTrue = Number(changes?.[1]) >= 2 && Number(uptime?.[1]) < 1;
        return isTrue ? null : JSON.stringify([changes, uptime]);
      },
    },
  ];
}

/** What a viewer has chosen: services by their texts, as the variable offers them. */
async function choicesOf(
  { name, dashboard }: FoundDashboard,
  fleet: WatchedFleet,
): Promise<Record<string, Choice>> {
  const variable = variablesOf(dashboard).find((one) => one.name === 'service');
  if (variable === undefined) return { category: ALL, region: ALL };
  const options = await optionsOf(variable, fleet);
  const idsOf = (texts: readonly string[]) =>
    options.filter(({ text }) => texts.includes(text)).map(({ value }) => value);
  return name === 'heartbeats.json'
    ? { category: ALL, service: idsOf(REPORTERS) }
    : { category: ALL, region: ALL, service: idsOf([TROUBLED]).find((id) => id !== EARLIER_ID) ?? 'none' };
}

/** What a variable must offer. */
function expectedOf(name: string, variable: string, { siteUrl }: WatchedFleet): readonly string[] {
  if (variable === 'site') return [siteUrl];
  if (variable === 'region') return [EARLIER_REGION];
  const reporters = name === 'heartbeats.json';
  if (variable === 'category') return reporters ? ['developer'] : ['ai', 'cloud', 'developer'];
  return reporters ? REPORTERS : CHECKED;
}

function textOf(query: unknown): string {
  return typeof query === 'object' && query !== null && 'query' in query
    ? String(query.query)
    : String(query);
}
