/** The state of the program: `/healthz`, `/readyz`, `/metrics`. */
import type { Clock } from '../clock.ts';
import { formatTime } from '../domain/durations.ts';
import { countNodesByRegion } from '../domain/node.ts';
import type { HttpResponse, Route } from '../http/route.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { PartState, Readiness } from '../view/monitor.ts';

/** Metrics are reused for this many times the time that it took to collect them. */
const SHOWN_AGAIN = 9;
/** But for no longer than this, milliseconds. */
const MAX_SHOWN_MS = 250;

/** The routes. They have no limits, so that what monitors this monitor is never refused. */
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
 * Collects metrics once for all requests of a moment. The cost grows with the number of services, and the route has no
 * limit: however many requests there are, collecting takes a tenth of this thread's time, or runs four times a second.
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
    newestUntil = endedAt + Math.min(MAX_SHOWN_MS, (endedAt - beganAt) * SHOWN_AGAIN);
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
