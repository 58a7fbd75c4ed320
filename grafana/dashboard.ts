/** The parts that all dashboards share: links, variables and annotations. */
import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  type AnnotationQuery,
  AnnotationQueryBuilder,
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  type DashboardLink,
  DashboardLinkBuilder,
  DashboardLinkType,
  type Panel,
  QueryVariableBuilder,
  VariableHide,
  type VariableModel,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { type DataSource, dataSourceVariable, INFLUX, PROMETHEUS, refer } from './queries.ts';
import { COLOURS } from './status-colours.ts';

/** The parts of a dashboard. */
interface DashboardParts {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Start of the initial time range in Grafana's notation, such as `now-6h`. */
  readonly from: string;
  /** The data sources that it queries. Default both. */
  readonly sources?: readonly DataSource[];
  readonly variables: readonly Builder<VariableModel>[];
  readonly annotations?: readonly Builder<AnnotationQuery>[];
  /** In reading order; Grafana lays them out row by row. */
  readonly panels: readonly Builder<Panel>[];
}

/** Builds a dashboard. */
export function buildDashboard(parts: DashboardParts): Dashboard {
  const { uid, title, description, from, variables, annotations = [], panels } = parts;
  const { sources = [INFLUX, PROMETHEUS] } = parts;
  const builder = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([TAG])
    .timezone('browser')
    .editable()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from, to: 'now' })
    .refresh('1m')
    .links(headLinks())
    .variables([...sources.map(dataSourceVariable), ...variables])
    .annotations([...annotations]);
  panels.forEach((panel, index) => {
    builder.withPanel({ build: () => ({ ...panel.build(), id: index + 1 }) });
  });
  return builder.build();
}

/** The tag of all dashboards. */
const TAG = 'upbeat';

/** Unique ids of the dashboards, which are part of their URLs. */
export const DASHBOARD_UIDS = {
  fleet: 'upbeat-fleet',
  service: 'upbeat-service',
  heartbeats: 'upbeat-heartbeats',
  program: 'upbeat-program',
  cluster: 'upbeat-cluster',
  services: 'upbeat-services',
} as const;

/** The slug in the clicked cell, for links in tables. */
export const CELL_SLUG = `\${__value.raw}`;

/** The id of the service in the row of the clicked cell. The table must have a column `service_id`. */
export const ROW_SERVICE_ID = `\${__data.fields.service_id}`;

/** The links at the top: the other dashboards with the same time range and variables, and the site. */
function headLinks(): Builder<DashboardLink>[] {
  return [
    new DashboardLinkBuilder('Upbeat')
      .type(DashboardLinkType.Dashboards)
      .tags([TAG])
      .asDropdown(true)
      .includeVars(true)
      .keepTime(true),
    pageLink('Home page', '/'),
    pageLink('API', '/docs'),
  ];
}

/** A link to a page of the site. `path` may contain variables of Grafana. */
function pageLink(title: string, path: string): DashboardLinkBuilder {
  return new DashboardLinkBuilder(title)
    .type(DashboardLinkType.Link)
    .icon('external link')
    .url(`\${site}${path}`)
    .targetBlank(true);
}

/** The selected data sources as parameters of a URL. */
const SOURCES = [INFLUX, PROMETHEUS].map(({ variable }) => `\${${variable}:queryparam}`).join('&');

/** A link to the dashboard of a service with the same time range and data sources. `serviceId` may contain variables. */
export function serviceLink(serviceId: string): DashboardLinkBuilder {
  return new DashboardLinkBuilder('Show this service').url(
    `/d/${DASHBOARD_UIDS.service}?var-service=${serviceId}&${SOURCES}&\${__url_time_range}`,
  );
}

/** A link to the page of a service on the site. */
export function servicePage(slug: string): DashboardLinkBuilder {
  return pageLink("The service's page in Upbeat", `/status/${slug}`);
}

/** Variable: a category, or all. */
export function categoryVariable(measurement: string): Builder<VariableModel> {
  return tagVariable(measurement, 'category')
    .label('Category')
    .description('Only services of this category.');
}

/** Variable: a region, or all. All of them include checks that name no region. */
export function regionVariable(): Builder<VariableModel> {
  return tagVariable('upbeat_check', 'region').label('Region').description('Only checks of this region.');
}

function tagVariable(measurement: string, tag: string): QueryVariableBuilder {
  const query = `SHOW TAG VALUES FROM "${measurement}" WITH KEY = "${tag}"`;
  return new QueryVariableBuilder(tag)
    .datasource(refer(INFLUX))
    .query(query)
    .definition(query)
    .refresh(VariableRefresh.OnDashboardLoad)
    .sort(VariableSort.AlphabeticalAsc)
    .includeAll(true)
    .allValue('.*')
    .current({ selected: true, text: 'All', value: '$__all' });
}

/** Variable: a service of the category. Its value is the id of the service and its text the slug, both from series keys. */
export function serviceVariable(measurement: string): QueryVariableBuilder {
  const query = `SHOW SERIES FROM "${measurement}" WHERE "category" =~ /^$category$/`;
  return new QueryVariableBuilder('service')
    .label('Service')
    .description("The service, by the name that its page's address has.")
    .datasource(refer(INFLUX))
    .query(query)
    .definition(query)
    .regex('/service=(?<text>[^,]+),service_id=(?<value>\\d+)/')
    .refresh(VariableRefresh.OnDashboardLoad)
    .sort(VariableSort.AlphabeticalAsc);
}

/** Variable: any number of services of the category that send heartbeats. */
export function reporterVariable(): Builder<VariableModel> {
  return serviceVariable('upbeat_heartbeat')
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ selected: true, text: 'All', value: '$__all' });
}

/** Variable: a label of a metric in Prometheus, or all. */
export function labelVariable(metric: string, label: string): QueryVariableBuilder {
  const query = `label_values(${metric}, ${label})`;
  return new QueryVariableBuilder(label)
    .datasource(refer(PROMETHEUS))
    .query({ query, refId: label })
    .definition(query)
    .refresh(VariableRefresh.OnDashboardLoad)
    .sort(VariableSort.AlphabeticalAsc)
    .includeAll(true)
    .allValue('.*')
    .current({ selected: true, text: 'All', value: '$__all' });
}

/** Variable: the URL of the site, for links. */
export function siteVariable(): Builder<VariableModel> {
  const query = 'label_values(upbeat_site_info, url)';
  return new QueryVariableBuilder('site')
    .label('Site')
    .description("Address of Upbeat's pages.")
    .hide(VariableHide.HideVariable)
    .datasource(refer(PROMETHEUS))
    .query({ query, refId: 'site' })
    .definition(query)
    .refresh(VariableRefresh.OnDashboardLoad);
}

/** The query of an annotation, as Grafana's InfluxDB data source expects it. */
export interface AnnotationTarget extends Dataquery {
  readonly refId: string;
  readonly name: string;
  readonly query: string;
  readonly queryType: 'tags';
  readonly rawQuery: true;
  readonly fromAnnotations: true;
  readonly titleColumn: string;
  readonly textColumn: string;
  /** Separated by commas. */
  readonly tagsColumn: string;
  readonly timeEndColumn: '';
}

/** Annotations for the updates of incidents; `where` selects services and time. */
export function incidentAnnotations(where: string): Builder<AnnotationQuery> {
  return annotation({
    name: 'Incidents',
    colour: COLOURS.vermillion,
    query: `SELECT "title", "status", "severity", "source" FROM "upbeat_incident" WHERE ${where}`,
    text: 'title',
    tags: 'status,severity,source',
  });
}

/** Annotations for changes of status; `where` selects services and time. */
export function transitionAnnotations(where: string): Builder<AnnotationQuery> {
  return annotation({
    name: 'Changes of status',
    colour: COLOURS.blue,
    query: `SELECT "reason", "from", "to" FROM "upbeat_transition" WHERE ${where}`,
    text: 'reason',
    tags: 'from,to',
  });
}

function annotation({
  name,
  colour,
  query,
  text,
  tags,
}: Readonly<Record<'name' | 'colour' | 'query' | 'text' | 'tags', string>>): Builder<AnnotationQuery> {
  const target: AnnotationTarget = {
    refId: name,
    name,
    query,
    queryType: 'tags',
    rawQuery: true,
    fromAnnotations: true,
    titleColumn: '',
    textColumn: text,
    tagsColumn: tags,
    timeEndColumn: '',
    _implementsDataqueryVariant: () => {},
  };
  return new AnnotationQueryBuilder()
    .name(name)
    .datasource(refer(INFLUX))
    .enable(true)
    .iconColor(colour)
    .target({ build: () => target });
}
