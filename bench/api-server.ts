/**
 * One of the servers that `bench/api.ts` compares, in a process of its own: `node bench/api-server.ts KIND [REDIS]`, where
 * REDIS is the address of a Redis for its rate limits. It sends its port to the parent, and its CPU time, its memory and the
 * longest turn of its event loop after the message `cpu`. After the message `change` it sends a transition to every event stream,
 * and after `{ changes, perSecond }` so many in a row, and then `{ changed }`.
 */

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import rateLimit from '@fastify/rate-limit';
import fastify from 'fastify';
import { createEventIds } from '../src/api/events.ts';
import { viewLatestCheck, viewService } from '../src/api/service-view.ts';
import { systemClock } from '../src/clock.ts';
import type { CurrentStatus, Transition } from '../src/domain/status/current.ts';
import { readRedisAddress } from '../src/domain/store-address.ts';
import type { LimitServer } from '../src/http/rate-limits.ts';
import { silentLog } from '../src/log.ts';
import { drawBadge } from '../src/render/badge.ts';
import { drawChart } from '../src/render/chart.ts';
import { drawHeatmap } from '../src/render/heatmap.ts';
import { createMemoryStatusStore } from '../src/store/status/memory-status-store.ts';
import { createServiceDirectory } from '../src/view/service-directory.ts';
import { double } from '../test/support/double.ts';
import { NO_LIMIT, serveApp } from './serve-app.ts';
import { makeServices } from './services.ts';

const SERVICES = makeServices(1_200);
const [SERVICE] = SERVICES;
if (SERVICE === undefined) throw new Error('no services');

const CURRENT: CurrentStatus = {
  serviceId: SERVICE.id,
  seq: 1,
  observedAt: systemClock.now(),
  status: 'up',
  since: systemClock.now(),
  latest: {
    status: 'up',
    responseTimeMs: 123,
    statusCode: 200,
    checkedAt: systemClock.now(),
    source: 'root',
    reported: null,
    failure: null,
    blocked: false,
    timing: { dnsMs: 1, connectMs: 10, tlsMs: 20, firstByteMs: 90, totalMs: 123 },
    certificateExpiresAt: null,
  },
};
const BODY = Buffer.from(
  JSON.stringify({
    ...viewService(SERVICE, CURRENT, false),
    latest_check: viewLatestCheck(CURRENT.latest, SERVICE.check),
  }),
);
const BADGE = { name: SERVICE.name, status: 'up', theme: 'light', ageText: null } as const;

/** Sends a transition to every event stream. */
let publish: (transition: Transition) => void = () => {};
let position = 0;
/** As `event-clients.ts` reads them. */
const eventIds = createEventIds(new Uint8Array(32));
const changes: Transition[] = [];
const STARTS: Readonly<Record<string, () => Promise<number>>> = { bare, fastify: peer, upbeat };

const port = await STARTS[process.argv[2] ?? '']?.();
process.send?.({ port });
const turns = monitorEventLoopDelay({ resolution: 1 });
process.on(
  'message',
  (message: 'change' | 'cpu' | { readonly changes: number; readonly perSecond: number }) => {
    if (message === 'change') publish(makeChange(systemClock.now()));
    else if (message === 'cpu') {
      const longestTurnMs = turns.max / 1e6;
      process.send?.({ cpu: process.cpuUsage(), rss: process.memoryUsage.rss(), longestTurnMs });
      turns.enable();
      turns.reset();
    } else makeChanges(message.changes, message.perSecond);
  },
);
process.on('disconnect', () => process.exit());

/** The floor: `node:http` that sends the same bytes for every request. */
async function bare(): Promise<number> {
  const png = drawBadge(BADGE);
  const streams = new Set<ServerResponse>();
  publish = (transition) => {
    const recorded_at = new Date(transition.recordedAt).toISOString();
    const data = JSON.stringify({ ...transition, recorded_at });
    const text = `id: ${eventIds.ofEvent(transition.position)}\nevent: status\ndata: ${data}\n\n`;
    for (const response of streams) response.write(text);
  };
  const server = createServer((request, response) => {
    if (request.url === '/api/v1/events') {
      streams.add(response);
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(': begin\n\n');
      return;
    }
    const isBadge = request.url?.startsWith('/api/badge/') === true;
    const body = isBadge ? png : BODY;
    response.writeHead(200, {
      'Content-Type': isBadge ? 'image/png' : 'application/json; charset=utf-8',
      'Content-Length': body.byteLength,
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** The peer: Fastify with its own limiter, a lookup, CORS and validators over prepared bytes. */
async function peer(): Promise<number> {
  const app = fastify();
  await app.register(rateLimit, { max: NO_LIMIT, timeWindow: 60_000 });
  const prepared = new Map(SERVICES.map(({ slug }) => [slug, { body: BODY, etag: '"prepared"' }]));
  app.get<{ Params: { slug: string } }>('/api/v1/status/:slug', (request, reply) => {
    const found = prepared.get(request.params.slug);
    if (found === undefined) return reply.code(404).send({ code: 'service_not_found' });
    reply.headers({
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Expose-Headers': 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset',
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-cache',
      ETag: found.etag,
    });
    if (request.headers['if-none-match'] === found.etag) return reply.code(304).send();
    return reply.send(found.body);
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return (app.server.address() as AddressInfo).port;
}

/** The whole application. */
async function upbeat(): Promise<number> {
  const listeners = new Set<(transition: Transition) => void>();
  publish = (transition) => {
    for (const listener of listeners) listener(transition);
  };
  const directory = createServiceDirectory();
  directory.load(SERVICES);
  const status = createMemoryStatusStore({ log: silentLog });
  await status.put([CURRENT]);
  const app = await serveApp({
    directory,
    status,
    keys: double({ findKey: async () => null, touchKeys: async () => {} }),
    heartbeats: { takeHeartbeat: () => Promise.reject(new Error('no heartbeats here')), noteRefusal() {} },
    registry: double({
      addHeartbeatLog: () => Promise.reject(new Error('no heartbeats here')),
      dependenciesOf: async () => ({ reportedAt: null, dependencies: [], changes: [] }),
      getFact: async () => null,
      unreadTimesSince: async () => [],
      failingDependencies: async () => [],
      incidentsOfServicesSince: async () => [],
      countFailingDependencies: async () => 0,
      listIncidents: async () => [],
      incidentsOfServices: async () => [],
      incidentsPostedOn: async () => [],
      maintenancesOfServices: async () => [],
      maintenancesPostedOn: async () => [],
      recentHeartbeats: async () => [],
      summariesOf: async () => [],
      heartbeatLogs: async () => [],
      findPage: async () => null,
      countIncidents: async () => 0,
      transitionsAfter: async (after, limit) => changes.slice(Math.max(0, after), Math.max(0, after) + limit),
      lastTransition: async () => position,
      findOwnerIncident: async () => null,
      maintenancesPostedOf: async () => [],
      announcedWindows: async () => [],
      findIncident: async () => null,
      incidentsSince: async () => [],
      incidentsBeside: async () => ({ older: null, newer: null }),
      listMaintenances: async () => [],
      countMaintenances: async () => 0,
    }),
    renderBadge: async (text) => drawBadge(text),
    pictures: { chart: async (picture) => drawChart(picture), heatmap: (picture) => drawHeatmap(picture) },
    eventIds,
    watchTransitions(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    limitServer: await openLimits(process.argv[3]),
  });
  return app.port;
}

function makeChange(at: number): Transition {
  position += 1;
  const { serviceId } = CURRENT;
  const change: Transition = {
    position,
    serviceId,
    seq: position,
    slug: 'service-0',
    from: 'up',
    to: 'down',
    at,
    recordedAt: at,
    reason: null,
  };
  changes.push(change);
  return change;
}

/** Changes that are recorded at equal distances. One whose time was missed is recorded late, at the time that it was due. */
function makeChanges(count: number, perSecond: number): void {
  const startedAt = systemClock.now();
  let made = 0;
  const timer = setInterval(() => {
    while (made < count) {
      const at = startedAt + (made * 1_000) / perSecond;
      if (at > systemClock.now()) return;
      made++;
      publish(makeChange(Math.floor(at)));
    }
    clearInterval(timer);
    process.send?.({ changed: count });
  }, 1);
}

/** The shared counters of limits; null: they are counted in the process. */
async function openLimits(url: string | undefined): Promise<LimitServer | null> {
  const address = readRedisAddress(url ?? '');
  if (address === null) return null;
  const { openRedisLimitServer } = await import('../src/store/status/redis-parts.ts');
  const server = openRedisLimitServer({ address, clock: systemClock, log: silentLog });
  while (!server.ready) await new Promise((resolve) => setTimeout(resolve, 10));
  return server;
}
