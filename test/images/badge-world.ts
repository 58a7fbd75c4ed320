/** The badge routes on samples and statuses that a test fills, with pictures as they are really drawn. */

import type { Bucket } from '../../src/domain/sample.ts';
import type { Service } from '../../src/domain/service.ts';
import type { HttpResponse } from '../../src/http/route.ts';
import { type BadgeText, badgeRoutes } from '../../src/images/badge.ts';
import { silentLog } from '../../src/log.ts';
import { drawBadge } from '../../src/render/badge.ts';
import type { SampleQuery } from '../../src/store/ports/samples.ts';
import { createMemoryStatusStore } from '../../src/store/status/memory-status-store.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';
import { NOW } from '../site/site-world.ts';

/** A bucket of so many good and bad checks. */
export function bucket({ from, to }: SampleQuery, more: Partial<Bucket> = {}): Bucket {
  const { upCount = 0, slowCount = 0, downCount = 0 } = more;
  const count = upCount + slowCount + downCount;
  return {
    startAt: from,
    endAt: to,
    count,
    upCount,
    slowCount,
    downCount,
    suspectCount: 0,
    uptimeRatio: count === 0 ? null : (upCount + slowCount) / count,
    meanMs: null,
    p50Ms: null,
    p95Ms: null,
    p99Ms: null,
    ...more,
  };
}

/** Starts the routes for some services. */
export function startBadges(services: readonly Service[]) {
  const directory = createServiceDirectory();
  directory.load(services);
  const status = createMemoryStatusStore({ log: silentLog });
  const drawn: BadgeText[] = [];
  const queries: SampleQuery[] = [];
  const world = {
    now: NOW,
    directory,
    status,
    drawn,
    queries,
    /** What the samples answer. */
    answer: async (query: SampleQuery): Promise<Bucket[]> => [bucket(query)],
    async get(path: string): Promise<HttpResponse> {
      const { pathname, search } = new URL(path, 'https://upbeat.test');
      const slug = decodeURIComponent(pathname.slice('/api/badge/'.length));
      return await handle({
        method: 'GET',
        params: { slug },
        query: search.slice(1),
        headers: {},
        client: '203.0.113.1',
      });
    },
  };
  const [route] = badgeRoutes({
    directory,
    status,
    samples: {
      query(query) {
        queries.push(query);
        return world.answer(query);
      },
    },
    async renderBadge(text) {
      drawn.push(text);
      return drawBadge(text);
    },
    intervalMs: 300_000,
    slowOverMs: 3_000,
    now: () => world.now,
    listenedAt: () => world.now,
  });
  if (route === undefined) throw new Error('there is no route');
  const { handle } = route;
  return world;
}
