/** The badge routes on samples and statuses that a test fills, with pictures as they are really drawn. */

import type { BadgePicture } from '../../src/domain/picture.ts';
import type { Bucket, Sample } from '../../src/domain/sample.ts';
import type { Service } from '../../src/domain/service.ts';
import type { HttpResponse } from '../../src/http/route.ts';
import { badgeRoutes } from '../../src/images/badge.ts';
import { silentLog } from '../../src/log.ts';
import { drawBadge } from '../../src/render/badge.ts';
import type { SampleQuery, SampleStore } from '../../src/store/ports/samples.ts';
import { createMemoryStatusStore } from '../../src/store/status/memory-status-store.ts';
import { createHistoryReads } from '../../src/view/history-reads.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';
import { createServiceFinder } from '../../src/view/service-finder.ts';
import { NOW } from '../site/site-world.ts';
import { double } from '../support/double.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openSampleStore } from '../support/sample-store.ts';

/** How many checks found what; the response times of all of them have this median and 95th percentile. */
export interface Past {
  readonly upCount?: number;
  readonly slowCount?: number;
  readonly downCount?: number;
  readonly p50Ms?: number;
  readonly p95Ms?: number;
}

/** Samples of service 1, one in each second of the past before `before`. */
export function samplesOf(
  { upCount = 0, slowCount = 0, downCount = 0, p50Ms, p95Ms = p50Ms }: Past,
  before: number,
): Sample[] {
  const count = upCount + slowCount + downCount;
  return Array.from({ length: count }, (_, index) => ({
    serviceId: 1,
    at: before - (index + 1) * 1_000,
    status: index < upCount ? 'up' : index < upCount + slowCount ? 'slow' : 'down',
    latencyMs: (index < 0.6 * count ? p50Ms : p95Ms) ?? null,
    statusCode: 200,
    suspect: false,
  }));
}

/** Starts the routes for some services, over an embedded sample store that is empty. */
export function startBadges(t: { teardown(task: () => unknown): void }, services: readonly Service[]) {
  const directory = createServiceDirectory();
  directory.load(services);
  const status = createMemoryStatusStore({ log: silentLog });
  const drawn: BadgePicture[] = [];
  const queries: SampleQuery[] = [];
  let store: SampleStore | null = null;
  const openStore = () => {
    store ??= openSampleStore({ now: () => world.now });
    return store;
  };
  t.teardown(() => store?.close());
  const world = {
    now: NOW,
    directory,
    status,
    drawn,
    queries,
    /** The clock of the time that a badge waits for past checks; times of checks go by `now`. */
    clock: createFakeClock(NOW),
    /** Stores samples of service 1 from before the present time. */
    fill: (past: Past) => openStore().append(samplesOf(past, world.now)),
    /** What the store answers in place of its buckets: a fault. */
    fault: null as (() => Promise<Bucket[]>) | null,
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
  const [route] = badgeRoutes(
    double({
      finder: createServiceFinder(directory.shown, async () => new Set()),
      directory: directory.shown,
      badgeAddresses: null,
      status,
      samples: double({
        query(query) {
          queries.push(query);
          return world.fault?.() ?? openStore().query(query);
        },
      }),
      async renderBadge(text) {
        if (!('shield' in text)) drawn.push(text);
        return drawBadge(text);
      },
      beginHistory: createHistoryReads(world.clock),
      intervalMs: 300_000,
      slowOverMs: 3_000,
      now: () => world.now,
      listenedAt: () => world.now,
    }),
  );
  if (route === undefined) throw new Error('there is no route');
  const { handle = () => Promise.reject(new Error('badges cannot be read')) } = route;
  return world;
}
