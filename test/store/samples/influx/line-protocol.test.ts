/** What stands in a real InfluxDB beside the verdicts of checks: phases, changes, incidents, heartbeats, dependencies. */

import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import type { Incident } from '../../../../src/domain/incident/incident.ts';
import { NO_TIMING } from '../../../../src/domain/result.ts';
import type { Transition } from '../../../../src/domain/status/current.ts';
import type { ObservedHeartbeat } from '../../../../src/store/ports/samples.ts';
import { createDependencyLines, incidentLines } from '../../../../src/store/samples/influx/line-protocol.ts';
import { anyText } from '../../../support/any-text.ts';
import { startVictoria } from '../../../support/influx-server.ts';
import { useInflux } from '../../../support/run-servers.ts';
import {
  labelsOf,
  NEEDS_INFLUX,
  NEEDS_VICTORIA,
  openInflux,
  rowsOf,
  settingsOf,
  until,
} from '../../influx-world.ts';
import { sampleAt } from '../../samples-contract.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
/** A whole minute, as vendors tell times. */
const T0 = Math.floor(Date.now() / MINUTE) * MINUTE - 60 * MINUTE;
const TAGS = { category: 'developer', service: 'service, =1', service_id: '1' };

const incident: Incident = {
  id: 'statuspage-0123456789abcdef-shop',
  serviceId: 1,
  source: 'vendor',
  title: 'Checkout "fails"\nfor some, = all\\',
  description: '',
  severity: 'critical',
  status: 'resolved',
  startedAt: T0,
  resolvedAt: T0 + MINUTE,
  sourceUrl: 'https://status.example/1',
  goodChecks: 0,
  updates: [
    { at: T0, status: 'investigating', text: '' },
    { at: T0 + MINUTE, status: 'monitoring', text: '' },
    { at: T0 + MINUTE, status: 'resolved', text: '' },
  ],
};

const transition: Transition = {
  position: 1,
  serviceId: 1,
  slug: 'old-slug',
  seq: 1,
  from: 'up',
  to: 'down',
  at: T0,
  recordedAt: T0 + 6_000,
  reason: { code: 'text', text: 'it answered "503"' },
};

const heartbeat: ObservedHeartbeat = {
  service: { id: 1, slug: 'service, =1', category: 'developer', publicDependencies: true },
  at: T0,
  status: 'slow',
  responseTimeMs: 42,
  dependencies: [
    { name: 'main, database', status: 'up', latencyMs: 42 },
    { name: 'queue', status: 'down', latencyMs: null },
    { name: 'mail', status: 'slow', latencyMs: 0 },
  ],
};

t.test('it writes every observation, each once however often it is passed on', NEEDS_INFLUX, async (t) => {
  const folder = t.testdir();
  const { url, database } = await useInflux(t);
  const settings = settingsOf(url, database);
  const rows = (measurement: string, where = '') =>
    rowsOf(url, database, `SELECT * FROM ${measurement} ${where}`);

  for (const turn of ['first', 'again']) {
    const store = await openInflux({ settings, dataDir: join(folder, 'data') });
    await store.append([
      sampleAt(T0, {
        latencyMs: 145,
        detail: {
          timing: { dnsMs: 1.23456, connectMs: 12, tlsMs: 31.5, firstByteMs: 100.0004, totalMs: 144.73456 },
          certificateExpiresAt: T0 + 30 * DAY + 5,
          failure: null,
        },
      }),
      sampleAt(T0 + 1, {
        status: 'down',
        latencyMs: null,
        statusCode: 0,
        detail: {
          timing: { ...NO_TIMING, dnsMs: 0.5 },
          certificateExpiresAt: T0 - DAY,
          failure: 'forbidden_address',
        },
      }),
      sampleAt(T0 + 2),
    ]);
    const { observations } = store;
    observations.transition(transition);
    observations.transition({
      ...transition,
      position: 2,
      seq: 2,
      from: 'down',
      to: 'up',
      at: T0 + 1,
      reason: null,
    });
    observations.transition({
      ...transition,
      position: 3,
      seq: 3,
      from: 'up',
      to: 'up',
      at: T0 + 2,
      reason: null,
      scope: { from: null, to: 'partial', regions: ['eu', 'us'] },
    });
    observations.incident({ ...incident, status: 'investigating', updates: incident.updates.slice(0, 1) });
    observations.incident(incident);
    observations.incident({ ...incident, id: 'own-1-7', source: 'own', title: 'Down', severity: 'major' });
    // Another incident of the same service, moved by its vendor in the same minute.
    observations.incident({ ...incident, id: 'statuspage-fedcba9876543210-shop', title: 'Search' });
    observations.incident({
      ...incident,
      id: 'statuspage-1111111111111111-shop',
      updates: [{ at: T0 - 91 * DAY, status: 'resolved', text: '' }],
    });
    observations.heartbeat(heartbeat);
    observations.heartbeat({
      ...heartbeat,
      at: T0 + 1,
      status: 'up',
      responseTimeMs: null,
      dependencies: null,
    });
    observations.heartbeat({
      ...heartbeat,
      service: { id: 2, slug: 'secret', category: 'developer' },
      status: 'down',
    });
    await store.flush();
    t.equal(store.problem(), null, turn);
    await until(() => store.stats().pending === 0);
    t.equal(store.lost(), 0);
    await store.close();
  }

  const verdict = { slow: 0, suspect: 0 };
  t.strictSame(await rows('upbeat_check'), [
    {
      time: T0,
      ...TAGS,
      ...verdict,
      up: 1,
      down: 0,
      status_code: 200,
      latency_ms: 145,
      timed: 1,
      dns_ms: 1.235,
      connect_ms: 12,
      tls_ms: 31.5,
      first_byte_ms: 100,
      total_ms: 144.735,
      certificate_days: 30,
    },
    {
      time: T0 + 1,
      ...TAGS,
      ...verdict,
      up: 0,
      down: 1,
      status_code: 0,
      timed: 0,
      dns_ms: 0.5,
      certificate_days: -2,
      failure: 'forbidden_address',
    },
    { time: T0 + 2, ...TAGS, ...verdict, up: 1, down: 0, status_code: 200, latency_ms: 100, timed: 1 },
  ]);
  t.strictSame(await rows('upbeat_transition'), [
    { time: T0, ...TAGS, from: 'up', to: 'down', status: 2, reason: 'it answered "503"' },
    { time: T0 + 1, ...TAGS, from: 'down', to: 'up', status: 0 },
  ]);
  t.strictSame(
    await rows('upbeat_scope'),
    [{ time: T0 + 2, ...TAGS, from: 'none', to: 'partial', regions: 'eu,us' }],
    'no change of the status',
  );
  t.strictSame(await rows('upbeat_heartbeat', "WHERE service_id = '1'"), [
    { time: T0, ...TAGS, status: 1, checks: 3, checks_failing: 1, response_ms: 42 },
    { time: T0 + 1, ...TAGS, status: 0, checks: 0, checks_failing: 0 },
  ]);
  t.match(await rows('upbeat_heartbeat', "WHERE service_id = '2'"), [{ service: 'secret', status: 2 }]);
  const named = { service: 'service, =1', service_id: '1', time: T0 };
  t.strictSame(
    await rows('upbeat_dependency'),
    [
      { ...named, dependency: 'mail', ok: 1, latency_ms: 0 },
      { ...named, dependency: 'main, database', ok: 1, latency_ms: 42 },
      { ...named, dependency: 'queue', ok: 0 },
    ],
    'only of the service whose owner made them public',
  );

  const incidents = await rows('upbeat_incident');
  const of = (id: string) => incidents.filter(({ incident_id }) => incident_id === id);
  const title = 'Checkout "fails" for some, = all\\';
  const told = of(incident.id);
  const offset = Number(told[0]?.time) - T0;
  t.ok(offset >= 0 && offset < 1_000, 'within the second that the vendor told');
  t.strictSame(
    told,
    [T0, T0 + MINUTE, T0 + MINUTE + 1].map((at, index) => ({
      time: at + offset,
      ...TAGS,
      source: 'vendor',
      incident_id: incident.id,
      title,
      status: ['investigating', 'monitoring', 'resolved'][index],
      severity: 'critical',
    })),
  );
  t.same(
    of('own-1-7').map(({ time, source, severity }) => [time, source, severity]),
    [T0, T0 + MINUTE, T0 + MINUTE + 1].map((at) => [at, 'own', 'major']),
  );
  t.equal(of('statuspage-fedcba9876543210-shop').length, 3);
  t.equal(incidents.length, 9, 'what is older than the retention is left out');
});

t.test('it writes any text of owners and vendors unchanged on one line', NEEDS_INFLUX, async (t) => {
  const { url, database } = await useInflux(t);
  const store = await openInflux({ settings: settingsOf(url, database), dataDir: t.testdir() });
  const text = anyText({ minLength: 1, maxLength: 64 });
  const texts = fc
    .sample(text, { numRuns: 80, seed: 7 })
    .concat(['\\', 'a\\', '"', '\n', ' ', ',=', 'a\\,b']);
  for (const [index, one] of texts.entries()) {
    store.observations.transition({ ...transition, at: T0 + index, reason: { code: 'text', text: one } });
    store.observations.heartbeat({
      ...heartbeat,
      // Not all of one service, which may have fifty.
      service: { ...heartbeat.service, id: 1 + (index % 3) },
      at: T0 + index,
      dependencies: [{ name: one, status: 'up', latencyMs: index }],
    });
  }
  await store.flush();
  await until(() => store.stats().pending === 0);
  t.equal(store.lost(), 0);
  await store.close();
  const plain = (one: string) => one.toWellFormed().replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ');
  t.same(
    (await rowsOf(url, database, 'SELECT reason FROM upbeat_transition')).map(({ reason }) => reason),
    texts.map(plain),
  );
  t.same(
    (await rowsOf(url, database, 'SELECT latency_ms, dependency FROM upbeat_dependency')).map(
      ({ dependency }) => dependency,
    ),
    texts.map((one) => plain(one).replaceAll('\\', '/').trim() || '-'),
  );
});

t.test('it writes the same to VictoriaMetrics, where text is 0', NEEDS_VICTORIA, async (t) => {
  const folder = t.testdir();
  const server = await startVictoria(t, { folder: join(folder, 'victoria') });
  const settings = settingsOf(server.url, 'upbeat', { api: 'v2', org: 'acme', token: 'any' });
  const store = await openInflux({ settings, dataDir: join(folder, 'data') });
  store.observations.transition(transition);
  store.observations.heartbeat(heartbeat);
  await store.flush();
  t.equal(store.problem(), null);
  await store.close();
  const valuesOf = async (name: string) => {
    await fetch(`${server.url}/internal/force_flush`);
    const match = encodeURIComponent(`{__name__="${name}"}`);
    const text = await (await fetch(`${server.url}/api/v1/export?match[]=${match}`)).text();
    const lines = text.trim().split('\n').filter(Boolean);
    return lines.map((line) => (JSON.parse(line) as { values: number[] }).values);
  };
  await until(async () => (await valuesOf('upbeat_transition_status')).length === 1);
  t.same(await valuesOf('upbeat_transition_status'), [[2]]);
  t.same(await valuesOf('upbeat_transition_reason'), [[0]]);
  await until(async () => (await valuesOf('upbeat_dependency_ok')).length === 3);
});

t.test('it bounds the series that an owner can make', async (t) => {
  const lines = createDependencyLines();
  const beat = (at: number, names: readonly string[]) =>
    lines({
      ...heartbeat,
      at,
      dependencies: names.map((name) => ({ name, status: 'up', latencyMs: null })),
    }).length;
  const names = Array.from({ length: 100 }, (_, index) => `name ${index}`);
  t.equal(beat(T0, names.slice(0, 50)), 50);
  t.equal(beat(T0 + 1, names.slice(50)), 0, 'made-up names are left out');
  t.equal(beat(T0 + 2, names.slice(0, 50)), 50, 'known ones go on');
  t.equal(beat(T0 + DAY, names.slice(1, 50)), 49);
  t.equal(beat(T0 + DAY + 3, names.slice(50)), 1, 'one that was not told for a day makes room');
});

t.test('every update has a distinct time, which never changes', (t) => {
  const update = fc.record({
    at: fc.oneof(
      fc.nat(9).map((minute) => T0 + minute * MINUTE),
      fc.nat(999).map((ms) => T0 + ms),
    ),
    status: fc.constantFrom('investigating' as const, 'resolved' as const),
    text: fc.constant(''),
  });
  fc.assert(
    fc.property(fc.array(update, { minLength: 1, maxLength: 20 }), fc.nat(20), (updates, first) => {
      const inOrder = updates.toSorted((a, b) => a.at - b.at);
      const timesOf = (some: typeof inOrder) =>
        incidentLines({ ...incident, updates: some }, labelsOf, 0).map((line) =>
          Number(line.split(' ').at(-1)),
        );
      const times = timesOf(inOrder);
      const early = timesOf(inOrder.slice(0, first));
      return (
        new Set(times).size === times.length &&
        early.every((at, index) => at === times[index]) &&
        times.every((at, index) => Math.abs(at - (inOrder[index]?.at ?? 0)) < 1_100)
      );
    }),
  );
  t.end();
});
