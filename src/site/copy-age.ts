/** The age of the copy of statuses that a serving process answers from, while it receives no changes. */

import type { Route } from '../http/route.ts';
import type { StatusStore } from '../store/ports/status.ts';

/** Routes whose responses are made from statuses. */
const FROM_STATUSES = new Set([
  '/api/v1/status/:slug',
  '/api/v1/services',
  '/api/badge/:slug',
  '/api/chart/:slug',
]);

/**
 * Adds `Age` (RFC 9111, 5.1) to responses made from statuses, from one second on. A store without an age is always
 * current: it is that of the monitor.
 */
export function withCopyAge(
  routes: readonly Route[],
  { ageMs }: Pick<StatusStore, 'ageMs'>,
): readonly Route[] {
  if (ageMs === undefined) return routes;
  return routes.map((route) => {
    if (!FROM_STATUSES.has(route.path)) return route;
    return {
      ...route,
      async handle(request) {
        const answer = await route.handle(request);
        const seconds = Math.floor(ageMs() / 1_000);
        return seconds < 1 ? answer : { ...answer, headers: { ...answer.headers, Age: String(seconds) } };
      },
    };
  });
}
