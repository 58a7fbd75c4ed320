/** The page of one service: the verdict in words, the last check by its phases, a day and a quarter, its incidents. */

import { describeAge } from '../api/badge-route.ts';
import type { Route } from '../api/exchange.ts';
import { intervalOf, isStale, viewLatestCheck } from '../api/service-view.ts';
import { acknowledgements, summarizeLags } from '../domain/acknowledgement.ts';
import { type CurrentStatus, unknownStatus } from '../domain/current.ts';
import type { Bucket } from '../domain/sample.ts';
import type { PageSources } from './page-routes.ts';
import { describeLag, describeVendor } from './vendor-words.ts';
import type { RenderPage } from './views.ts';
import { describeLength, describeTime, describeVerdict, STATUS_SHAPES, STATUS_WORDS } from './words.ts';

const DAY_MS = 86_400_000;
const INCIDENTS_SHOWN = 10;
const CHART_HEIGHT = 100;

/** The route. */
export function servicePage(render: RenderPage, sources: PageSources): Route {
  const { directory, status, samples, registry, vendorOf, readiness, intervalMs, siteUrl, now } = sources;
  return {
    path: '/status/:slug',
    bucket: 'pages',
    async handle({ params }) {
      const name = params.slug ?? '';
      const service = directory.byPageName(name);
      if (service === null) {
        return render(
          './missing',
          { title: 'Not found', said: `No service has the name "${name.slice(0, 100)}".` },
          404,
        );
      }
      const at = now();
      const current = status.get(service.id) ?? unknownStatus(service.id);
      // A page without its charts is better than none while the store of the samples is away.
      const past = (from: number, stepMs: number) =>
        samples.query({ serviceId: service.id, from, to: at, stepMs }).catch((error: { code?: string }) => {
          if (error.code !== 'samples_away') throw error;
          return [];
        });
      const [day, quarter, incidents, year, maintenances] = await Promise.all([
        past(at - DAY_MS, DAY_MS / 96),
        past(at - 90 * DAY_MS, DAY_MS),
        registry.listIncidents({ serviceId: service.id, limit: INCIDENTS_SHOWN, offset: 0 }),
        registry.incidentsSince(service.id, at - 365 * DAY_MS),
        registry.listMaintenances({ serviceId: service.id, limit: INCIDENTS_SHOWN, offset: 0 }),
      ]);
      const page = directory.pageName(service);
      const badge = `${siteUrl}/api/badge/${page}`;
      const { prober } = readiness();
      return render('./service', {
        title: `${service.name}: ${STATUS_WORDS[current.status]}`,
        service,
        status: current.status,
        word: STATUS_WORDS[current.status],
        shape: STATUS_SHAPES[current.status],
        verdict: describeVerdict(current, at),
        age: current.latest === null ? null : describeAge(current, at),
        stale: isStale(current, intervalOf(service, intervalMs), at),
        latest: viewLatestCheck(current.latest),
        phases: phasesOf(current),
        certificateDays: certificateDays(current, at),
        day: chartOf(day),
        quarter: barsOf(quarter),
        dayUptime: uptimeOf(day),
        quarterUptime: uptimeOf(quarter),
        vendor: describeVendor(vendorOf(service), at),
        lag: describeLag(summarizeLags(acknowledgements(year, at))),
        maintenances: maintenances.map((maintenance) => ({
          ...maintenance,
          starts: describeTime(maintenance.startsAt),
          ends: maintenance.endsAt === null ? null : describeTime(maintenance.endsAt),
        })),
        incidents: incidents.map((incident) => ({
          ...incident,
          started: describeTime(incident.startedAt),
          lasted: describeLength((incident.resolvedAt ?? at) - incident.startedAt),
          updates: incident.updates.map((update) => ({ ...update, time: describeTime(update.at) })),
        })),
        feed: `/status/${page}/incidents.atom`,
        badge: `/api/badge/${page}`,
        markdown: `[![${service.name} status](${badge})](${siteUrl}/status/${page})`,
        html: `<a href="${siteUrl}/status/${page}"><img src="${badge}" alt="${service.name} status" width="280" height="36"></a>`,
        offline: prober.online || prober.offlineSince === null ? null : describeTime(prober.offlineSince),
      });
    },
  };
}

/** The phases of the last check as parts of a line of 1,000. */
function phasesOf({
  latest,
}: CurrentStatus): readonly { name: string; kind: string; ms: string; x: number; width: number }[] {
  if (latest === null) return [];
  const { dnsMs, connectMs, tlsMs, firstByteMs } = latest.timing;
  const parts = [
    { name: 'Name', kind: 'dns', value: dnsMs },
    { name: 'Connect', kind: 'connect', value: connectMs },
    { name: 'TLS', kind: 'tls', value: tlsMs },
    { name: 'First byte', kind: 'first', value: firstByteMs },
  ];
  const total = parts.reduce((sum, { value }) => sum + (value ?? 0), 0);
  let x = 0;
  return parts.map(({ name, kind, value }) => {
    const width = total === 0 ? 0 : ((value ?? 0) / total) * 1_000;
    const part = {
      name,
      kind,
      ms: value === null ? '–' : `${value.toFixed(value < 10 ? 1 : 0)} ms`,
      x,
      width,
    };
    x += width;
    return part;
  });
}

function certificateDays({ latest }: CurrentStatus, now: number): number | null {
  const at = latest?.certificateExpiresAt ?? null;
  return at === null ? null : Math.floor((at - now) / DAY_MS);
}

/** Median response times of a day as columns, each with the worst status of its time. */
function chartOf(buckets: readonly Bucket[]) {
  const highest = Math.max(1, ...buckets.map(({ p50Ms }) => p50Ms ?? 0));
  return {
    highest,
    columns: buckets.map((bucket, index) => {
      const height =
        bucket.count === 0 ? 2 : Math.max(3, ((bucket.p50Ms ?? highest) / highest) * CHART_HEIGHT);
      return {
        x: index * 10,
        y: CHART_HEIGHT - height,
        height,
        kind: kindOf(bucket),
        said: describeBucket(bucket),
      };
    }),
  };
}

/** Days as bars of one height, coloured by their worst hour; the days before the first check are pale. */
function barsOf(buckets: readonly Bucket[]) {
  return buckets.map((bucket, index) => ({
    x: index * 11,
    kind: kindOf(bucket),
    said: describeBucket(bucket),
  }));
}

function kindOf({ count, downCount, slowCount }: Bucket): 'none' | 'up' | 'slow' | 'down' {
  if (count === 0) return 'none';
  if (downCount > 0) return 'down';
  return slowCount > 0 ? 'slow' : 'up';
}

function describeBucket({ startAt, count, uptimeRatio, p50Ms }: Bucket): string {
  const time = describeTime(startAt);
  if (count === 0) return `${time}: no checks`;
  const median = p50Ms === null ? '' : `, median ${p50Ms} ms`;
  return `${time}: ${((uptimeRatio ?? 0) * 100).toFixed(1)} % up${median}, ${count} checks`;
}

/** Share of good checks in percent; null without checks. Rounded down, so that 100 means all of them. */
function uptimeOf(buckets: readonly Bucket[]): string | null {
  const count = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  const down = buckets.reduce((sum, bucket) => sum + bucket.downCount, 0);
  return count === 0 ? null : `${Math.floor(((count - down) / count) * 10_000) / 100} %`;
}
