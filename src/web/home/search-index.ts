/** `/search.json`: every service of the home page in few bytes, for the search as one types. */

import type { Clock } from '../../clock.ts';
import { dashDomain } from '../../domain/service.ts';
import type { Route } from '../../http/route.ts';
import type { StatusStore } from '../../store/ports/status.ts';
import type { ServiceDirectory } from '../../view/service-directory.ts';
import type { SearchRow } from '../parts/page-messages.ts';
import { NO_FILTER, readHomeView } from './home-view.ts';

/** How long an index is cached, milliseconds. */
const KEPT_MS = 1_000;

/** What the index is made of. */
export interface SearchIndexSources {
  readonly directory: Pick<ServiceDirectory, 'all' | 'pageName'>;
  readonly status: Pick<StatusStore, 'get'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** The route. Its entity tag changes with the list and with any status. */
export function searchIndex({ directory, status, clock }: SearchIndexSources): Route {
  let kept: { readonly until: number; readonly body: string } | null = null;
  const make = () => {
    const rows = readHomeView(directory, status, NO_FILTER).groups.flatMap(({ category, entries }) =>
      entries.map(({ service, page, current }): SearchRow => {
        const { name, domain } = service;
        return [name, domain, page === dashDomain(domain) ? 0 : page, category, current.status];
      }),
    );
    return JSON.stringify(rows);
  };
  return {
    path: '/search.json',
    bucket: 'pages',
    handle() {
      const now = clock.monotonic();
      if (kept === null || kept.until <= now) kept = { until: now + KEPT_MS, body: make() };
      return {
        status: 200,
        headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-cache' },
        body: kept.body,
      };
    },
  };
}
