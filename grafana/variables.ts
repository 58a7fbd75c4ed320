/** What a viewer chooses at the head of a dashboard. */

import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  QueryVariableBuilder,
  VariableHide,
  type VariableModel,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { INFLUX, PROMETHEUS, refer } from './data-sources.ts';

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
