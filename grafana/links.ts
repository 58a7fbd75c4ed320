/** Ways from one dashboard to the next, and to Upbeat's own pages. */

import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  type DashboardLink,
  DashboardLinkBuilder,
  DashboardLinkType,
} from '@grafana/grafana-foundation-sdk/dashboard';

import { INFLUX, PROMETHEUS } from './data-sources.ts';

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
