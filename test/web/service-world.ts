/** Services in every state that a page can show, with a year of made-up past. */

import type { Incident } from '../../src/domain/incident/incident.ts';
import type { Sample } from '../../src/domain/sample.ts';
import { DEFAULT_CHECK, type Service } from '../../src/domain/service.ts';
import type { RegionStatus } from '../../src/domain/status/current.ts';
import { CHANNEL_KINDS_TABLE } from '../../src/notify/channels/kinds-table.ts';
import { check, current, incident, NOW, service, startApi } from '../site/site-world.ts';
import { madeUpPast } from './made-up-past.ts';

/** Text that must come out as text wherever it is written. */
export const EVIL = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'&`;
/** An id with every character that has a meaning in an address. */
export const ODD_ID = `rss-feed-https://vendor.example/a b?x=1&y=2#z/../%2e%2e/"<ü>-wordy`;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** How long the one that is down has been so. */
const OUTAGE = 34 * MINUTE;
const TIMING = { dnsMs: 4.2, connectMs: 18.4, tlsMs: 41.3, firstByteMs: 77.7, totalMs: 141.6 };

const page = (kind: 'statuspage' | 'custom', url = 'https://status.vendor.example') => ({
  url,
  kind,
  feedUrl: null,
  components: null,
});

/** Ids of the services by the state that they are in. */
export const SERVICES = {
  up: 1,
  slow: 2,
  down: 3,
  unknown: 4,
  stale: 5,
  heartbeat: 6,
  silent: 7,
  hostile: 8,
  blocked: 9,
  paused: 10,
} as const;

const LIST: readonly Service[] = [
  service(SERVICES.up, 'wordy', { name: 'Wordy', statusPage: page('statuspage') }),
  service(SERVICES.slow, 'crawler', { name: 'Crawler', statusPage: page('statuspage') }),
  service(SERVICES.down, 'pier', { name: 'Pier', category: 'cloud', statusPage: page('statuspage') }),
  service(SERVICES.unknown, 'newcomer', { name: 'Newcomer' }),
  service(SERVICES.stale, 'attic', { name: 'Attic', statusPage: page('custom') }),
  service(SERVICES.heartbeat, 'shop-example', {
    name: 'Shop',
    domain: 'shop.example',
    origin: 'owner',
    accountId: 1,
    publicDependencies: true,
    check: { kind: 'heartbeat', url: null, method: null, accept: null, caFile: null },
  }),
  service(SERVICES.silent, 'mute-example', {
    name: 'Mute',
    domain: 'mute.example',
    origin: 'owner',
    accountId: 1,
    verified: false,
    check: { kind: 'heartbeat', url: null, method: null, accept: null, caFile: null },
  }),
  service(SERVICES.hostile, 'hostile', {
    name: `Hostile ${EVIL}`,
    publicDependencies: true,
    statusPage: page('statuspage', `javascript:alert('page')`),
  }),
  service(SERVICES.blocked, 'bouncer', { name: 'Bouncer' }),
  service(SERVICES.paused, 'resting', { name: 'Resting', paused: true }),
];

/** Where the slow service is checked from: it fails from one place. */
const REGIONS: readonly RegionStatus[] = (
  [
    ['ap-southeast-2', { status: 'slow', responseTimeMs: 4_180 }],
    [
      'eu-central',
      {
        status: 'down',
        statusCode: 0,
        responseTimeMs: null,
        failure: { class: 'refused', phase: 'connect', cause: { code: 'connection_refused' } },
      },
    ],
    ['us', { status: 'slow', responseTimeMs: 4_180 }],
  ] as const
).map(([region, changes], index) => ({
  region,
  check: check(NOW - 40_000 - index * 20_000, changes),
  since: NOW - 25 * MINUTE,
  observedAt: NOW - 40_000 - index * 20_000,
  votes: true,
}));

/** Starts the API and its pages over these services. */
export async function startServiceWorld() {
  const world = await startApi({ services: LIST, kinds: CHANNEL_KINDS_TABLE });
  await world.addSamples([...samplesOfPast()]);
  const good = check(NOW - 40_000, {
    responseTimeMs: 142,
    timing: TIMING,
    certificateExpiresAt: NOW + 61 * DAY,
  });
  await world.status.put([
    current(SERVICES.up, good, { since: NOW - 12 * DAY }),
    current(
      SERVICES.slow,
      {
        ...good,
        status: 'slow',
        responseTimeMs: 4_180,
        timing: { ...TIMING, firstByteMs: 3_900, totalMs: 4_180 },
      },
      { since: NOW - 25 * MINUTE, scope: 'partial', regions: REGIONS },
    ),
    current(
      SERVICES.down,
      check(NOW - 20_000, {
        status: 'down',
        statusCode: 0,
        responseTimeMs: null,
        failure: { class: 'tls', phase: 'tls', cause: { code: 'text', text: 'certificate has expired' } },
        timing: { ...TIMING, tlsMs: null, firstByteMs: null, totalMs: null },
        certificateExpiresAt: NOW - 2 * HOUR,
      }),
      { since: NOW - OUTAGE },
    ),
    current(SERVICES.stale, { ...good, checkedAt: NOW - 3 * HOUR, certificateExpiresAt: NOW + 5 * DAY }),
    current(
      SERVICES.heartbeat,
      check(NOW - 90_000, { source: 'heartbeat', status: 'slow', responseTimeMs: 3_400 }),
      { since: NOW - 3 * HOUR },
    ),
    current(
      SERVICES.silent,
      check(NOW - 5 * MINUTE, { source: 'silence', status: 'down', statusCode: 0, responseTimeMs: null }),
    ),
    current(
      SERVICES.hostile,
      check(NOW - 20_000, {
        status: 'down',
        statusCode: 0,
        responseTimeMs: null,
        failure: { class: 'refused', phase: 'connect', cause: { code: 'text', text: EVIL } },
      }),
    ),
    current(SERVICES.blocked, { ...good, statusCode: 403, blocked: true }),
    current(SERVICES.paused, good),
  ]);
  await world.putIncidents(...INCIDENTS);
  const read = {
    kind: 'statuspage',
    url: 'https://status.vendor.example',
    readAt: NOW - MINUTE,
    stale: false,
  };
  world.vendorStatuses.set(SERVICES.up, { ...read, status: 'operational', since: null, incidentId: null });
  world.vendorStatuses.set(SERVICES.slow, {
    ...read,
    status: 'minor',
    since: NOW - 10 * MINUTE,
    incidentId: 'statuspage-2-crawler',
  });
  world.vendorStatuses.set(SERVICES.down, {
    ...read,
    status: 'operational',
    since: NOW - 3 * DAY,
    incidentId: null,
  });
  world.vendorStatuses.set(SERVICES.hostile, {
    ...read,
    url: `javascript:alert('page')`,
    status: 'critical',
    since: NOW - HOUR,
    incidentId: ODD_ID,
  });
  await world.putMaintenances(
    {
      id: 'm-1',
      serviceId: SERVICES.up,
      title: 'Upgrade of the database',
      description: '',
      startsAt: NOW + 2 * DAY,
      endsAt: NOW + 2 * DAY + HOUR,
      reportedState: 'planned',
      phase: 'planned',
      sourceUrl: 'https://status.vendor.example/m/1',
      updates: [],
    },
    {
      id: 'm-2',
      serviceId: SERVICES.hostile,
      title: `Maintenance ${EVIL}`,
      description: EVIL,
      startsAt: NOW - HOUR,
      endsAt: null,
      reportedState: 'running',
      phase: 'running',
      sourceUrl: 'javascript:alert(3)',
      updates: [],
    },
  );
  const since = NOW - HOUR;
  const cache = { name: 'cache', status: 'up', latencyMs: 3 } as const;
  const database = { name: 'Database', status: 'down', latencyMs: null } as const;
  const search = { name: 'search', status: 'slow', latencyMs: 3_400 } as const;
  await world.report(SERVICES.heartbeat, since, [cache, { ...database, status: 'up' }, search]);
  await world.report(SERVICES.heartbeat, NOW - 20 * MINUTE, [cache, database, search]);
  await world.report(SERVICES.heartbeat, NOW - 90_000, [cache, database, search]);
  const evil = [{ name: EVIL, status: 'down', latencyMs: null }] as const;
  await world.report(SERVICES.hostile, since, evil);
  await world.report(SERVICES.hostile, NOW - 90_000, evil);
  // Services that no page lists, which report the same database.
  for (const id of [101, 102, 103]) {
    const check = { ...DEFAULT_CHECK, kind: 'heartbeat' } as const;
    await world.addServices([service(id, `reporter-${id}`, { check, publicDependencies: true })]);
    await world.report(id, since, [database]);
  }
  return world;
}

const INCIDENTS: readonly Incident[] = [
  incident('own-3-9', SERVICES.down, {
    title: 'Pier cannot be reached securely',
    startedAt: NOW - OUTAGE,
    updates: [
      {
        at: NOW - OUTAGE,
        status: 'investigating',
        text: 'Our checks of pier.example fail: no secure connection could be made (certificate has expired).',
        note: {
          code: 'opened',
          name: 'Pier',
          outage: 'insecure',
          domain: 'pier.example',
          isReported: false,
          reason: {
            code: 'check_failed',
            failure: { class: 'tls', phase: 'tls', cause: { code: 'certificate_expired' } },
          },
        },
      },
    ],
  }),
  vendorIncident(
    'statuspage-1-pier',
    SERVICES.down,
    'Elevated errors in the EU',
    NOW - 4 * DAY,
    NOW - 4 * DAY + 3 * HOUR,
  ),
  incident('own-3-7', SERVICES.down, {
    title: 'Pier answers with errors',
    startedAt: NOW - 4 * DAY - 10 * MINUTE,
    resolvedAt: NOW - 4 * DAY + 2 * HOUR,
    status: 'resolved',
    updates: [
      { at: NOW - 4 * DAY - 10 * MINUTE, status: 'investigating', text: 'Our checks of pier.example fail.' },
      {
        at: NOW - 4 * DAY + 2 * HOUR - 10 * MINUTE,
        status: 'monitoring',
        text: 'pier.example answers again.',
      },
      {
        at: NOW - 4 * DAY + 2 * HOUR,
        status: 'resolved',
        text: 'pier.example has answered 3 checks in a row.',
      },
    ],
  }),
  {
    ...vendorIncident(
      'statuspage-2-crawler',
      SERVICES.slow,
      'Slow answers for some customers',
      NOW - 10 * MINUTE,
      null,
    ),
    severity: 'minor',
  },
  vendorIncident('statuspage-3-wordy', SERVICES.up, 'Delayed mails', NOW - 30 * DAY, NOW - 29 * DAY),
  {
    ...vendorIncident(ODD_ID, SERVICES.hostile, `Outage ${EVIL}`, NOW - HOUR, null),
    description: EVIL,
    sourceUrl: `javascript:alert('entry')`,
    updates: [{ at: NOW - HOUR, status: 'identified', text: EVIL }],
  },
  incident('own-8-1', SERVICES.hostile, { title: EVIL, description: EVIL, startedAt: NOW - 2 * HOUR }),
];

function vendorIncident(
  id: string,
  serviceId: number,
  title: string,
  startedAt: number,
  resolvedAt: number | null,
): Incident {
  const first = 'We are looking into reports of errors.';
  return incident(id, serviceId, {
    source: 'vendor',
    title,
    description: resolvedAt === null ? first : 'The cause was found and mended.',
    status: resolvedAt === null ? 'investigating' : 'resolved',
    startedAt,
    resolvedAt,
    sourceUrl: `https://status.vendor.example/incidents/${encodeURIComponent(id)}`,
    updates: [
      { at: startedAt, status: 'investigating', text: first },
      ...(resolvedAt === null
        ? []
        : [{ at: resolvedAt, status: 'resolved' as const, text: 'The cause was found and mended.' }]),
    ],
  });
}

function* samplesOfPast(): Generator<Sample> {
  for (const serviceId of Object.values(SERVICES)) {
    if (serviceId === SERVICES.unknown) continue;
    yield* madeUpPast({
      serviceId,
      begins: NOW - (serviceId === SERVICES.stale ? 39 : 400) * DAY,
      baseMs: serviceId === SERVICES.slow ? 900 : 120,
      trouble: serviceId === SERVICES.down || serviceId === SERVICES.hostile ? 0.06 : 0.015,
      // The outage that goes on is in the past too.
      downSince: serviceId === SERVICES.down ? NOW - OUTAGE : null,
    });
  }
}
