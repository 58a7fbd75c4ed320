/** The world that the pictures of the documentation show: the catalogue, an account with services, and a past, all made up. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSessions } from '../../src/auth/sessions.ts';
import { readCatalogue } from '../../src/catalogue/read-catalogue.ts';
import { type Failure, failureOf } from '../../src/domain/failure.ts';
import type { Incident } from '../../src/domain/incident/incident.ts';
import { DEFAULT_CHECK, dashDomain, type Service } from '../../src/domain/service.ts';
import type { CurrentStatus, LatestCheck } from '../../src/domain/status/current.ts';
import { drawBadge } from '../../src/render/badge.ts';
import { drawChart } from '../../src/render/chart.ts';
import { drawHeatmap } from '../../src/render/heatmap.ts';
import { check, current, incident, NOW, service, startApi } from '../site/site-world.ts';
import { channelOf, ruleOf } from '../store/alert-fixtures.ts';
import { fraction, madeUpPast } from './made-up-past.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const CATALOGUE = join(import.meta.dirname, '../../config/catalogue.yaml');

/** The service that is down, whose page and incident are shown, and since when. */
const SHOWN = 'github';
const OUTAGE = 30 * MINUTE;
/** How long its vendor took to report the outage. */
const LAG = 11 * MINUTE;
const SHOWN_INCIDENT = 'own-outage';
const UNAVAILABLE = failureOf('status', 'first_byte', { code: 'status', statusCode: 503 });
const TIMED_OUT = failureOf('timeout', 'first_byte', {
  code: 'timeout',
  phase: 'first_byte',
  timeoutMs: 10_000,
});

/** What is wrong with further services, and for how many minutes; a number is the response time of a slow one. */
const TROUBLED: Readonly<Record<string, readonly [Failure | number, number]>> = {
  reddit: [TIMED_OUT, 6],
  heroku: [3_740, 52],
  figma: [4_180, 17],
  notion: [3_310, 9],
};

const OWN = [
  ['Shop', 'shop.example.org', 96, 0.012],
  ['Checkout', 'checkout.example.org', 143, 0.004],
  ['Blog', 'blog.example.org', 61, 0.001],
  ['API', 'api.example.org', 38, 0.008],
  ['Nightly backup', 'backup.example.org', 12, 0.002],
] as const;

/** The paths of the pages that are shown, by the name of their pictures. */
export const PICTURES = {
  home: '/',
  service: '/status/github-com',
  incident: `/status/github-com/incidents/${SHOWN_INCIDENT}`,
  'status-page': '/p/example',
  dashboard: '/dashboard',
  start: '/dashboard/start',
} as const;

/**
 * Starts a site over it; `cookie` signs the owner of the account in. `count`: how many public services it has, at most twice the
 * catalogue; absent: the catalogue.
 */
export async function startPictureWorld(count?: number) {
  const catalogue = listPublic(count);
  const own = OWN.map(([name, domain], index) =>
    service(catalogue.length + 1 + index, dashDomain(domain), {
      ...{ name, domain, origin: 'owner', accountId: 1 },
      ...(domain.startsWith('backup') ? { check: { ...DEFAULT_CHECK, kind: 'heartbeat' } } : {}),
    }),
  );
  const world = await startApi({
    services: [...catalogue, ...own],
    renderBadge: async (picture) => drawBadge(picture),
    pictures: { chart: async (picture) => drawChart(picture), heatmap: (picture) => drawHeatmap(picture) },
  });
  const shown = catalogue.find(({ slug }) => slug === SHOWN);
  if (shown === undefined) throw new Error(`the catalogue has no ${SHOWN}`);

  for (const one of catalogue)
    await world.addSamples([
      ...madeUpPast({
        serviceId: one.id,
        begins: NOW - (one === shown ? 400 : 1) * DAY,
        baseMs: usualMs(one),
        trouble: one === shown ? 0.02 : 0.001,
        downSince: one === shown ? NOW - OUTAGE : null,
      }),
    ]);
  for (const [index, [, , baseMs, trouble]] of OWN.entries())
    await world.addSamples([
      ...madeUpPast({
        ...{ serviceId: catalogue.length + 1 + index, begins: NOW - 400 * DAY },
        ...{ baseMs, trouble, downSince: null },
      }),
    ]);
  await world.status.put([...catalogue.map((one) => statusOf(one)), ...own.map((one) => statusOf(one))]);
  await world.putIncidents(...incidentsOf(shown.id));
  world.vendorStatuses.set(shown.id, {
    ...{ kind: 'statuspage', url: 'https://www.githubstatus.com', readAt: NOW - MINUTE, stale: false },
    ...{ status: 'major', since: NOW - OUTAGE + LAG, incidentId: 'vendor-outage' },
  });
  return { ...world, cookie: await furnish(world, own) };
}

/** The catalogue; where it is too short, its beginning once more, as further places of the same vendors. */
function listPublic(count?: number): readonly Service[] {
  const entries = readCatalogue(readFileSync(CATALOGUE, 'utf8'), CATALOGUE);
  const again = entries.map(({ slug, name, domain, ...entry }) => ({
    ...entry,
    slug: `${slug}-eu`,
    name: `${name} Europe`,
    domain: `eu.${domain}`,
  }));
  return [...entries, ...again]
    .slice(0, count ?? entries.length)
    .map((entry, index) => ({ ...entry, id: index + 1, revision: 1 }));
}

type World = Awaited<ReturnType<typeof startApi>>;

/** Gives the account 1 an owner, a channel, a rule and a status page. Returns the cookie of the owner. */
async function furnish({ registry, clock, putPage }: World, own: readonly Service[]): Promise<string> {
  const ids = own.map(({ id }) => id);
  await putPage('example', {
    ...{ title: 'Example Store', text: 'The shop and everything behind it.', colour: '#0b57d0' },
    groups: [
      { name: 'For customers', services: ids.slice(0, 3) },
      { name: 'For programs', services: ids.slice(3) },
    ],
  });
  const ada = await registry.linkIdentity(1, { provider: 'acme', subject: 'ada', name: 'Ada' }, NOW);
  await registry.setRole(1, ada.id, 'owner');
  const channel = await registry.addChannel(channelOf(1));
  await registry.addRule(ruleOf(1, [channel.id]));
  const { token } = await createSessions({ registry, clock }).open(ada.id);
  return `__Host-upbeat=${token}`;
}

/** What an answer of the service usually takes, milliseconds. */
function usualMs({ id }: Service): number {
  return Math.round(60 + 400 * fraction(id) ** 2);
}

function statusOf(one: Service): CurrentStatus {
  const [trouble, minutes] = one.slug === SHOWN ? [UNAVAILABLE, OUTAGE / MINUTE] : (TROUBLED[one.slug] ?? []);
  const checkedAt = NOW - Math.round(20_000 + 240_000 * fraction(one.id * 7));
  const since = minutes === undefined ? NOW - (1 + (one.id % 40)) * DAY : NOW - minutes * MINUTE;
  return current(one.id, check(checkedAt, { ...good(one), ...found(trouble) }), { since });
}

function good(one: Service): Partial<LatestCheck> {
  const totalMs = usualMs(one);
  return {
    responseTimeMs: totalMs,
    timing: { dnsMs: 2, connectMs: 9, tlsMs: 21, firstByteMs: totalMs - 36, totalMs },
    certificateExpiresAt: NOW + (20 + (one.id % 60)) * DAY,
    ...(one.check.kind === 'heartbeat' ? { source: 'heartbeat' as const } : {}),
  };
}

function found(trouble: Failure | number | undefined): Partial<LatestCheck> {
  if (trouble === undefined) return {};
  if (typeof trouble === 'number') return { status: 'slow', responseTimeMs: trouble };
  return {
    ...{ status: 'down', responseTimeMs: null, failure: trouble },
    statusCode: trouble.class === 'status' ? 503 : 0,
  };
}

function incidentsOf(serviceId: number): readonly Incident[] {
  const began = NOW - OUTAGE;
  const before = NOW - 9 * DAY;
  const reason = { code: 'check_failed', failure: UNAVAILABLE } as const;
  const opened = {
    name: 'GitHub',
    outage: 'errors',
    domain: 'github.com',
    isReported: false,
    reason,
  } as const;
  const vendor = { source: 'vendor', sourceUrl: 'https://www.githubstatus.com' } as const;
  return [
    incident(SHOWN_INCIDENT, serviceId, {
      title: 'GitHub answers with errors',
      startedAt: began,
      updates: [{ at: began, status: 'investigating', text: '', note: { code: 'opened', ...opened } }],
    }),
    incident('vendor-outage', serviceId, {
      ...vendor,
      title: 'Incident with Git operations and web pages',
      description: 'We are investigating reports of degraded availability.',
      startedAt: began + LAG,
      updates: [
        {
          at: began + LAG,
          status: 'investigating',
          text: 'We are investigating reports of degraded availability.',
        },
        { at: began + 19 * MINUTE, status: 'identified', text: 'The cause is known. We are mending it.' },
      ],
    }),
    incident('vendor-before', serviceId, {
      ...vendor,
      ...{ title: 'Delays of notifications', severity: 'minor', status: 'resolved' },
      ...{ startedAt: before, resolvedAt: before + 2 * HOUR },
      description: 'Notifications are sent without delay again.',
      updates: [
        { at: before + 2 * HOUR, status: 'resolved', text: 'Notifications are sent without delay again.' },
      ],
    }),
  ];
}
