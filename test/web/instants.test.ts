/**
 * The pages, the pictures and the API under clocks that stand at awkward instants, over the real sample store, for
 * services that were first checked minutes to days before: nothing depends on the time of day or on the server's zone.
 */
import t, { type Test } from 'tap';
import type { Sample } from '../../src/domain/sample.ts';
import type { SampleStore } from '../../src/store/ports/samples.ts';
import { RANGE_NAMES } from '../../src/view/time-ranges.ts';
import { check, current, incident, service, startApi } from '../site/site-world.ts';
import { listAt, numberAt } from '../support/json.ts';
import { openSampleStore } from '../support/sample-store.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const INTERVAL = 5 * MINUTE;

/** In Berlin the clock goes forward on 29 March 2026 and back on 25 October 2026, at 01:00 UTC. */
const INSTANTS = [
  '2026-11-20T00:00:00.000Z',
  '2026-11-20T00:00:30.000Z',
  '2026-11-20T12:00:00.000Z',
  '2026-11-20T16:45:00.000Z',
  '2026-11-20T23:59:30.000Z',
  '2026-11-30T23:59:30.000Z',
  '2026-12-31T23:59:30.000Z',
  '2028-02-29T00:00:30.000Z',
  '2028-02-29T23:59:30.000Z',
  '2026-03-29T00:59:30.000Z',
  '2026-03-29T01:00:30.000Z',
  '2026-10-25T00:59:30.000Z',
  '2026-10-25T01:00:30.000Z',
];

/** How long ago the first check of each service was. */
const AGES = {
  minutes: 7 * MINUTE,
  hours: 5 * HOUR,
  evening: 17 * HOUR,
  day: 24 * HOUR,
  'two-days': 47 * HOUR + 50 * MINUTE,
  'over-two-days': 49 * HOUR,
};
const SLUGS = Object.keys(AGES);
/** After the one that was never checked. */
const ONLY_SUSPECT = SLUGS.length + 2;

/** Times of the checks of a service that was first checked `ageMs` ago. */
const timesOf = (at: number, ageMs: number) =>
  Array.from({ length: Math.floor(ageMs / INTERVAL) + 1 }, (_, index) => at - ageMs + index * INTERVAL);

const samplesOf = (serviceId: number, times: readonly number[], suspect: boolean): Sample[] =>
  times.map((time, index) => ({
    serviceId,
    at: time,
    status: index % 50 === 40 ? 'down' : 'up',
    latencyMs: 120 + (index % 17),
    statusCode: 200,
    suspect,
  }));

async function startAt(t: Test, at: number, samples: SampleStore) {
  const services = [...SLUGS, 'never', 'suspect'].map((slug, index) => service(index + 1, slug));
  const world = await startApi({ services, startAt: at, samples });
  t.teardown(world.close);
  for (const [index, ageMs] of Object.values(AGES).entries()) {
    const id = index + 1;
    const times = timesOf(at, ageMs);
    await samples.append(samplesOf(id, times, false));
    const last = times.at(-1) ?? at;
    await world.status.put([current(id, check(last), { since: at - ageMs })]);
    await world.putIncidents(
      incident(`own-${id}-1`, id, { startedAt: at - ageMs, resolvedAt: at, status: 'resolved' }),
    );
  }
  await samples.append(samplesOf(ONLY_SUSPECT, timesOf(at, HOUR), true));
  await world.putPage('acme', { groups: [{ name: '', services: services.map(({ id }) => id) }], now: at });
  return world;
}

const NOT_OF_A_SERVICE = [
  ...['/', '/?q=min', '/search.json', '/badges', '/docs', '/incidents.atom', '/p/acme', '/p/acme.json'],
  ...['/p/acme/embed', '/p/acme/incidents.atom', '/api/v1/pages/acme', '/api/v1/services'],
  ...['/api/v1/incidents', '/api/v1/maintenance', '/api/v1/dependencies', '/api/v1/openapi.json'],
  ...['24h', '7d', '30d', '90d', '1y'].map((window) => `/api/heatmap.png?window=${window}`),
  ...['/healthz', '/readyz', '/metrics'],
];

/** What shows a service's past in a way that depends on how long it is. */
const pastOf = (slug: string) => [
  `/status/${slug}-example`,
  `/status/${slug}-example?range=1y`,
  ...RANGE_NAMES.map((range) => `/status/${slug}-example/response-times.json?range=${range}`),
  `/api/v1/services/${slug}/history`,
];

/** What else there is of a service. */
const restOf = (slug: string) => [
  ...RANGE_NAMES.map((range) => `/status/${slug}-example?range=${range}`),
  ...RANGE_NAMES.map((window) => `/api/chart/${slug}-example?window=${window}`),
  ...RANGE_NAMES.map((window) => `/api/badge/${slug}-example?variant=uptime&window=${window}&format=svg`),
  ...['', '?variant=latency&format=shields'].map((query) => `/api/badge/${slug}-example${query}`),
  ...['?step=1w', '?step=90s'].map((query) => `/api/v1/services/${slug}/history${query}`),
  `/badges/${slug}-example`,
  `/status/${slug}-example/incidents.atom`,
  `/status/${slug}-example/incidents/own-2-1`,
  `/api/v1/status/${slug}`,
  `/api/v1/incidents/${slug}`,
];

t.test('it answers every question at every instant', async (t) => {
  for (const instant of INSTANTS) {
    const at = Date.parse(instant);
    const samples = openSampleStore({ now: () => at });
    t.teardown(() => samples.close());
    const world = await startAt(t, at, samples);
    const faults: string[] = [];
    const paths = [
      ...NOT_OF_A_SERVICE,
      ...[...SLUGS, 'never', 'suspect'].flatMap(pastOf),
      ...restOf('hours'),
    ];
    for (const path of paths) {
      const { status, text } = await world.get(path, { 'accept-language': 'de' });
      if (status !== 200) faults.push(`${path}: ${status} ${text.slice(0, 200)}`);
      else if (/\bNaN\b|\bundefined\b|Invalid Date|Infinity/.test(text)) faults.push(`${path}: ${text}`);
    }
    t.same(faults, [], instant);
    for (const [slug, ageMs] of Object.entries(AGES)) {
      const times = timesOf(at, ageMs);
      const { text } = await world.get(`/status/${slug}-example`);
      const first = new Date(Math.floor((at - ageMs) / MINUTE) * MINUTE);
      // Of services that are older than two UTC days the day is told.
      const told = /Measured since (?:<time datetime="([^"]+)">|([^:]*):)/.exec(text);
      const isYoung = told?.[1] !== undefined;
      if (isYoung) t.equal(told[1], first.toISOString(), `${instant} ${slug}: to the minute`);
      else t.equal(slug, 'over-two-days', `${instant} ${slug}: ${told?.[2]}`);
      const { json } = await world.get(
        `/api/v1/services/${slug}/history?from=${first.toISOString()}&to=${at + 1}`,
      );
      const counts = listAt(json, 'buckets').map((bucket) => numberAt(bucket, 'count'));
      t.equal(
        counts.reduce((sum, count) => sum + count, 0),
        times.length,
        `${instant} ${slug}: every check is in its history`,
      );
    }
  }
});
