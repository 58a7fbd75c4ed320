/** How the program itself is: `/healthz`, `/readyz`, `/metrics`. */
import { formatTime } from '../domain/durations.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { ApiAnswer, Route } from './exchange.ts';

/** The state of the program, as `/readyz` and the pages tell it. */
export interface Readiness {
  /** `serving` answers 200; before loading has ended and while stopping it is 503. */
  readonly phase: 'starting' | 'serving' | 'stopping';
  /** `monitor`: this process probes. `serving`: it only serves, beside the monitor of its data directory. */
  readonly role: 'monitor' | 'serving';
  readonly prober: {
    readonly online: boolean;
    readonly offlineSince: number | null;
    readonly reason: string | null;
  };
  /** Other parts by name; `problem` null: the part is well. */
  readonly parts: Readonly<Record<string, { readonly problem: string | null }>>;
}

/** The routes. They have no limits, so that monitors of the monitor are never refused. */
export function systemRoutes(readiness: () => Readiness, metrics: Metrics): Route[] {
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
        return { status: 200, headers, body: await metrics.render() };
      },
    },
  ];
}

function plain(status: number, body: object): ApiAnswer {
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' };
  return { status, headers, body: JSON.stringify(body) };
}

function viewReadiness({ phase, role, prober, parts }: Readiness): object {
  const broken = Object.entries(parts).filter(([, { problem }]) => problem !== null);
  return {
    status: phase === 'serving' ? 'ready' : phase,
    role,
    degraded: [...(prober.online ? [] : ['prober']), ...broken.map(([name]) => name)],
    prober: {
      online: prober.online,
      offline_since: prober.offlineSince === null ? null : formatTime(prober.offlineSince),
      reason: prober.reason,
    },
    parts,
  };
}
