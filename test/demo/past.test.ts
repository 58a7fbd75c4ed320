/** The made-up past: its samples, transitions and incidents say the same. */
import t from 'tap';
import { DEMO_TIMING } from '../../demo/demo.ts';
import { makePast, PAST_DAYS } from '../../demo/past.ts';
import { verdictOf } from '../../demo/script.ts';
import { DEMO_SCRIPT } from '../../demo/services.ts';
import { makeVendorPast } from '../../demo/vendor-past.ts';
import { DAY_MS } from '../../src/domain/durations.ts';
import type { Incident } from '../../src/domain/incident/incident.ts';
import { NO_MEMORY } from '../../src/domain/result.ts';
import { DEFAULT_CHECK, type Service, type StatusPage } from '../../src/domain/service.ts';
import type { ServiceState } from '../../src/store/ports/services.ts';

const NOW = Date.UTC(2026, 10, 27, 12);
const RULES = {
  usual: DEMO_TIMING,
  sourceUrl: ({ slug }: Service) => `http://localhost/status/${slug}`,
  isInMaintenance: () => false,
  regions: null,
};

function stateOf(slug: string, id: number, more: Partial<Service> = {}): ServiceState {
  const service: Service = {
    ...{ id, slug, name: slug, domain: `${slug}.demo.test`, category: 'developer', revision: 1 },
    ...{ origin: 'catalogue', accountId: null, verified: true, paused: false, statusPage: null },
    check: DEFAULT_CHECK,
    ...more,
  };
  const current = {
    serviceId: id,
    seq: 0,
    observedAt: 0,
    status: 'unknown',
    since: null,
    latest: null,
  } as const;
  return { service, current, memory: NO_MEMORY, openIncident: null };
}

/** The past of a service of the script, or of one that sends heartbeats (null). */
function pastOf(slug: string, id: number) {
  const cast = DEMO_SCRIPT.services.find((service) => service.slug === slug) ?? null;
  const heartbeats = {
    check: { ...DEFAULT_CHECK, kind: 'heartbeat' },
    origin: 'owner',
    accountId: 1,
  } as const;
  const state = stateOf(slug, id, cast === null ? heartbeats : {});
  return makePast({ state, cast, latencyMs: cast === null ? null : 80 }, NOW, DEMO_TIMING, RULES);
}

t.test('it agrees with itself: each sample has the status of the newest transition', async (t) => {
  const slugs = [...DEMO_SCRIPT.services.map(({ slug }) => slug), 'orders'];
  let incidents = 0;
  for (const [index, slug] of slugs.entries()) {
    const { samples, updates } = pastOf(slug, index + 1);
    const transitions = updates.flatMap(({ transition }) => transition ?? []);
    const wrong = samples.filter(
      ({ at, status }) => transitions.findLast((transition) => transition.at <= at)?.to !== status,
    );
    t.same(wrong, [], slug);
    t.same(
      updates.map(({ expectedSeq }) => expectedSeq),
      updates.map((_, at) => updates[at - 1]?.current.seq ?? 0),
      `${slug}: its updates follow each other`,
    );
    const known = new Map<string, Incident>();
    for (const { incident } of updates) if (incident !== null) known.set(incident.id, incident);
    t.equal(known.size, transitions.filter(({ to }) => to === 'down').length, `${slug}: an incident each`);
    incidents += known.size;
  }
  t.ok(incidents > 60, `${incidents} incidents`);
});

t.test('it covers 90 days, and ends as the script begins', async (t) => {
  for (const [index, service] of DEMO_SCRIPT.services.entries()) {
    const { samples, updates } = pastOf(service.slug, index + 1);
    const [first, last] = [samples[0]?.at ?? 0, samples.at(-1)?.at ?? 0];
    t.ok(first < NOW - (PAST_DAYS - 1) * DAY_MS && first >= NOW - PAST_DAYS * DAY_MS, service.slug);
    t.ok(NOW - last <= DEMO_TIMING.intervalMs, `${service.slug}: the newest check is recent`);
    const behaviour = service.steps[0]?.behaviour;
    t.equal(updates.at(-1)?.current.status, behaviour && verdictOf(behaviour), service.slug);
  }
});

t.test('it is the same for a name each time', async (t) => {
  t.same(pastOf('facegram', 3), pastOf('facegram', 3));
});

t.test('vendors have reported many of its outages, each once, after they began', async (t) => {
  let reported = 0;
  let outages = 0;
  for (const [index, { slug }] of DEMO_SCRIPT.services.entries()) {
    const { updates } = pastOf(slug, index + 1);
    const known = new Map(
      updates.flatMap(({ incident }) => (incident === null ? [] : [[incident.id, incident]])),
    );
    const url = `https://status.${slug}.demo.test/`;
    const page: StatusPage = { url, kind: 'incidentio', feedUrl: null, components: null };
    const reading = makeVendorPast(stateOf(slug, index + 1, { statusPage: page }).service, updates, NOW);
    for (const entry of reading?.entries ?? []) {
      if (entry.kind !== 'incident') throw new Error('a maintenance');
      const outage = known.get(entry.key);
      t.ok((entry.startedAt ?? 0) > (outage?.startedAt ?? NOW), `${slug}: after the outage began`);
      t.ok((entry.resolvedAt ?? 0) >= (outage?.resolvedAt ?? NOW), `${slug}: over after the outage`);
      reported += 1;
    }
    outages += known.size;
  }
  t.ok(reported > outages / 3 && reported < outages, `${reported} of ${outages}`);
  t.equal(
    makeVendorPast(stateOf('facegram', 1).service, pastOf('facegram', 1).updates, NOW),
    null,
    'no page',
  );
});
