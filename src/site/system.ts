/** The state of the program: `/healthz`, `/readyz`, `/metrics`. */
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import type { Clock } from '../clock.ts';
import { formatTime } from '../domain/durations.ts';
import { countNodesByRegion } from '../domain/node.ts';
import { CATEGORIES, type Category } from '../domain/service.ts';
import { enumParameter, readParameters } from '../http/parameters.ts';
import type { HttpResponse, Route } from '../http/route.ts';
import { Type } from '../json-schema.ts';
import { MAX_SERIES_SERVICES, type Metrics, renderServiceSeries } from '../metrics/metrics.ts';
import type { StatusReads } from '../store/ports/status.ts';
import type { PartState, Readiness } from '../view/monitor.ts';
import type { ShownDirectory } from '../view/service-directory.ts';
import type { ServiceSearch } from '../view/service-search.ts';

/** The time for which metrics are reused, as a multiple of the time that it took to collect them. */
const REUSE_FACTOR = 9;
/** Maximum time for which metrics are reused, milliseconds. */
const MAX_REUSE_MS = 250;
/** Maximum number of filters whose series are kept for a moment. */
const MAX_SERIES_FILTERS = 16;

const QUERY = {
  services: enumParameter(['0', '1'], 'Whether the series of single services follow.', '0'),
  category: enumParameter(CATEGORIES, 'Only services of this category.'),
  q: Type.String({ description: 'Only services with this part in their name, domain or slug.' }),
};

/** The routes. They have no rate limits, so that the monitoring of this monitor is never refused. */
export function systemRoutes(sources: {
  readonly readiness: () => Readiness;
  readonly metrics: Metrics;
  readonly search: ServiceSearch;
  readonly directory: ShownDirectory;
  readonly status: StatusReads;
  readonly clock: Clock;
}): Route[] {
  const { readiness, metrics, search, directory, status, clock } = sources;
  const readFigures = createFigures(metrics.render, clock);
  const readSeries = new BoundedMap<string, () => Promise<string>>(MAX_SERIES_FILTERS);
  const seriesOf = (category: Category | null, text: string | null): Promise<string> => {
    const render = () => {
      const filter = { category, status: null, text };
      const { services, total } = search.list(filter, { sort: 'slug', from: 0, limit: MAX_SERIES_SERVICES });
      return renderServiceSeries(services, total, ({ id }) => status.get(id));
    };
    const key = JSON.stringify([category, text, directory.withdrawals]);
    return getOrInsert(readSeries, key, () => createFigures(render, clock))();
  };
  return [
    {
      path: '/healthz',
      bucket: 'none',
      access: 'everyone',
      open: true,
      handle: () => plain(200, { status: 'ok' }),
    },
    {
      path: '/readyz',
      bucket: 'none',
      access: 'everyone',
      // Orchestrators ask without a key.
      open() {
        const { phase } = readiness();
        return plain(phase === 'serving' ? 200 : 503, { status: wordOf(phase) });
      },
      handle() {
        const state = readiness();
        return plain(state.phase === 'serving' ? 200 : 503, viewReadiness(state));
      },
    },
    {
      path: '/metrics',
      bucket: 'none',
      access: 'everyone',
      async handle({ query }) {
        const { services, category, q } = readParameters(query, QUERY);
        const headers = { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' };
        const figures = await readFigures();
        const series = services === '1' ? await seriesOf(category ?? null, q ?? null) : '';
        return { status: 200, headers, body: figures + series };
      },
    },
  ];
}

/**
 * Collects metrics once for concurrent requests and caches them for a moment. The cost grows with the number of
 * services, and the route has no rate limit. With the cache, collecting takes at most a tenth of this thread's time or
 * runs at most four times per second, however many requests there are.
 */
function createFigures(render: () => Promise<string>, { monotonic }: Clock): () => Promise<string> {
  let gathering: Promise<string> | null = null;
  let newest = '';
  let newestUntil = Number.NEGATIVE_INFINITY;
  const gather = async () => {
    const beganAt = monotonic();
    newest = await render();
    const endedAt = monotonic();
    newestUntil = endedAt + Math.min(MAX_REUSE_MS, (endedAt - beganAt) * REUSE_FACTOR);
    return newest;
  };
  return async () => {
    if (monotonic() < newestUntil) return newest;
    gathering ??= gather().finally(() => {
      gathering = null;
    });
    return await gathering;
  };
}

function plain(status: number, body: object): HttpResponse {
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' };
  return { status, headers, body: JSON.stringify(body) };
}

function wordOf(phase: Readiness['phase']): string {
  return phase === 'serving' ? 'ready' : phase;
}

function viewReadiness({ phase, role, node, nodes, prober, parts, events }: Readiness): object {
  const broken = Object.entries(parts).filter(([, { problem }]) => problem !== null);
  return {
    status: wordOf(phase),
    role,
    node: node.name,
    region: node.region,
    roles: node.roles,
    nodes: countNodesByRegion(nodes),
    degraded: [...(prober.online ? [] : ['prober']), ...broken.map(([name]) => name)],
    prober: {
      online: prober.online,
      offline_since: prober.offlineSince === null ? null : formatTime(prober.offlineSince),
      reason: prober.reason,
    },
    parts: Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, viewPart(part)])),
    events: events.map(({ lastAt, ...event }) => ({ ...event, last_at: formatTime(lastAt) })),
  };
}

function viewPart({ missingSince, ...part }: PartState): object {
  if (missingSince === undefined) return part;
  return { ...part, missing_since: missingSince === null ? null : formatTime(missingSince) };
}
