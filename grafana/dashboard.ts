/** What all dashboards have: id, links, data sources, time, and numbers for their panels. */
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
import { dataSourceVariable, INFLUX, PROMETHEUS, refer } from './queries.ts';
import { COLOURS } from './status-colours.ts';

/** What a dashboard is made of. */
export interface DashboardParts {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Beginning of the time that is shown at first, in Grafana's words: `now-6h`. */
  readonly from: string;
  readonly variables: readonly Builder<VariableModel>[];
  readonly annotations?: readonly Builder<AnnotationQuery>[];
  /** In reading order; they are laid out line by line. */
  readonly panels: readonly Builder<Panel>[];
}

/** Puts a dashboard together. */
export function buildDashboard(parts: DashboardParts): Dashboard {
  const { uid, title, description, from, variables, annotations = [], panels } = parts;
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
    .variables([dataSourceVariable(INFLUX), dataSourceVariable(PROMETHEUS), ...variables])
    .annotations([...annotations]);
  panels.forEach((panel, index) => {
    builder.withPanel({ build: () => ({ ...panel.build(), id: index + 1 }) });
  });
  return builder.build();
}

/** The mark of all of Upbeat's dashboards. */
export const TAG = 'upbeat';

/** Unique ids of the dashboards; part of their addresses. */
export const DASHBOARD_UIDS = {
  fleet: 'upbeat-fleet',
  service: 'upbeat-service',
  heartbeats: 'upbeat-heartbeats',
  program: 'upbeat-program',
} as const;

/** The slug in the cell that is clicked, for the addresses of links in tables. */
export const CELL_SLUG = `\${__value.raw}`;

/** The id of the service in the row of the cell that is clicked. The table has a column `service_id` for it. */
export const ROW_SERVICE_ID = `\${__data.fields.service_id}`;

/** The links at the head of each dashboard: the other dashboards with the same time and choice, and the site. */
export function headLinks(): Builder<DashboardLink>[] {
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

/** A page of the site. `path` may hold variables of Grafana. */
export function pageLink(title: string, path: string): DashboardLinkBuilder {
  return new DashboardLinkBuilder(title)
    .type(DashboardLinkType.Link)
    .icon('external link')
    .url(`\${site}${path}`)
    .targetBlank(true);
}

/** The data sources that are chosen, as a link takes them along. */
const SOURCES = [INFLUX, PROMETHEUS].map(({ variable }) => `\${${variable}:queryparam}`).join('&');

/** The dashboard of one service; `serviceId` may hold variables of Grafana. Time and data sources go along. */
export function serviceLink(serviceId: string): DashboardLinkBuilder {
  return new DashboardLinkBuilder('Show this service').url(
    `/d/${DASHBOARD_UIDS.service}?var-service=${serviceId}&${SOURCES}&\${__url_time_range}`,
  );
}

/** The service's page on the site. */
export function servicePage(slug: string): DashboardLinkBuilder {
  return pageLink("The service's page in Upbeat", `/status/${slug}`);
}

/** A category, or all of them. */
export function categoryVariable(measurement: string): Builder<VariableModel> {
  const query = `SHOW TAG VALUES FROM "${measurement}" WITH KEY = "category"`;
  return new QueryVariableBuilder('category')
    .label('Category')
    .description('Only services of this category.')
    .datasource(refer(INFLUX))
    .query(query)
    .definition(query)
    .refresh(VariableRefresh.OnDashboardLoad)
    .sort(VariableSort.AlphabeticalAsc)
    .includeAll(true)
    .allValue('.*')
    .current({ selected: true, text: 'All', value: '$__all' });
}

/**
 * One service of the category. Its value is the id of the service and its text the slug: both stand in the keys of the
 * series, and the expression takes them apart.
 */
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

/** Services of the category that report by themselves: any number of them. */
export function reporterVariable(): Builder<VariableModel> {
  return serviceVariable('upbeat_heartbeat')
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ selected: true, text: 'All', value: '$__all' });
}

/** Address of Upbeat's site, as it tells itself; links lead there. */
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

/** A mark's question, in the form that Grafana's InfluxDB data source takes. */
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

/** A mark for each thing that was said of an incident; `where` chooses the services and the time. */
export function incidentAnnotations(where: string): Builder<AnnotationQuery> {
  return annotation({
    name: 'Incidents',
    colour: COLOURS.vermillion,
    query: `SELECT "title", "status", "severity", "source" FROM "upbeat_incident" WHERE ${where}`,
    text: 'title',
    tags: 'status,severity,source',
  });
}

/** A mark for each change of status; `where` chooses the services and the time. */
export function transitionAnnotations(where: string): Builder<AnnotationQuery> {
  return annotation({
    name: 'Changes of status',
    colour: COLOURS.blue,
    query: `SELECT "reason", "from", "to" FROM "upbeat_transition" WHERE ${where}`,
    text: 'reason',
    tags: 'from,to',
  });
}

interface Mark {
  readonly name: string;
  readonly colour: string;
  readonly query: string;
  readonly text: string;
  readonly tags: string;
}

function annotation({ name, colour, query, text, tags }: Mark): Builder<AnnotationQuery> {
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
