/** The state of the program: `/healthz`, `/readyz`, `/metrics`. */
import type { Clock } from '../clock.ts';
import { formatTime } from '../domain/durations.ts';
import { countNodesByRegion } from '../domain/node.ts';
import type { HttpResponse, Route } from '../http/route.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { PartState, Readiness } from '../view/monitor.ts';

/** How long metrics are reused, as a multiple of the time that it took to collect them. */
const REUSE_FACTOR = 9;
/** Maximum time for which metrics are reused, milliseconds. */
const MAX_REUSE_MS = 250;

/** The routes. They have no rate limits, so that the monitoring of this monitor is never refused. */
export function systemRoutes(
  readiness: () => Readiness,
  metrics: Pick<Metrics, 'contentType' | 'render'>,
  clock: Pick<Clock, 'monotonic'>,
): Route[] {
  const readFigures = createFigures(metrics, clock);
  return [
    { path: '/healthz', bucket: 'none', handle: () => plain(200, { status: 'ok' }) },
    {
      path: '/readyz',
      bucket: 'none',
      handle() {
        const state = readiness();
        return plain(state.phase === 'serving' ? 200 : 503, viewReadiness(state));
      },
    },
    {
      path: '/metrics',
      bucket: 'none',
      async handle() {
        const headers = { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' };
        return { status: 200, headers, body: await readFigures() };
      },
    },
  ];
}

/**
 * Collects metrics once for concurrent requests and caches them for a moment. The cost grows with the number of
 * services, and the route has no rate limit. With the cache, collecting takes at most a tenth of this thread's time or
 * runs at most four times per second, however many requests there are.
 */
function createFigures(
  { render }: Pick<Metrics, 'render'>,
  { monotonic }: Pick<Clock, 'monotonic'>,
): () => Promise<string> {
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

function viewReadiness({ phase, role, node, nodes, prober, parts }: Readiness): object {
  const broken = Object.entries(parts).filter(([, { problem }]) => problem !== null);
  return {
    status: phase === 'serving' ? 'ready' : phase,
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
  };
}

function viewPart({ missingSince, ...part }: PartState): object {
  if (missingSince === undefined) return part;
  return { ...part, missing_since: missingSince === null ? null : formatTime(missingSince) };
}
