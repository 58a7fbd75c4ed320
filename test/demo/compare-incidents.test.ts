/** The comparison itself: it is content with a program that knows everything at once, and finds each single fault. */
import t from 'tap';
import { type DemoService, failing, good, type Script } from '../../demo/script.ts';
import type { Vendor } from '../../demo/vendors/script.ts';
import { compareIncidents } from './compare-incidents.ts';
import type { SeenIncident, SeenIncidentInFull, SeenIncidents, SeenOfService } from './seen-incidents.ts';
import {
  allowedWords,
  incidentsOf,
  knownBy,
  maintenancesOf,
  outagesOf,
  type ServedService,
  servedServices,
} from './vendor-expectation.ts';

const SECOND = 1_000;
const START = Date.UTC(2026, 8, 20, 10);
const timing = {
  intervalMs: 2_000,
  timeoutMs: 1_000,
  slowOverMs: 500,
  confirmAfterMs: [500],
  firstSpreadMs: 1_000,
  slackMs: 0,
  feedIntervalMs: 2_000,
};

const VENDOR: Vendor = {
  slug: 'shop',
  name: 'Shop',
  kind: 'statuspage',
  components: ['Web', 'Apps'],
  periodMs: 300 * SECOND,
  incidents: [
    {
      key: 'errors',
      title: 'Errors & more',
      severity: 'major',
      components: ['Web'],
      startsAt: 55 * SECOND,
      updates: [
        { at: 60 * SECOND, status: 'investigating', text: 'We look into it.' },
        { at: 80 * SECOND, status: 'monitoring', text: 'A fix is out.' },
        { at: 100 * SECOND, status: 'resolved', text: 'It is over.' },
      ],
    },
    {
      key: 'other',
      title: 'Apps do not start',
      severity: 'minor',
      components: ['Apps'],
      startsAt: 20 * SECOND,
      updates: [
        { at: 20 * SECOND, status: 'identified', text: 'Known.' },
        { at: 290 * SECOND, status: 'resolved', text: 'Done.' },
      ],
    },
  ],
  maintenances: [
    {
      key: 'work',
      title: 'New disks',
      text: 'We change disks.',
      components: [],
      announcedAt: 10 * SECOND,
      startsAt: 150 * SECOND,
      endsAt: 200 * SECOND,
    },
  ],
  faults: [{ from: 220 * SECOND, to: 240 * SECOND, fault: { kind: 'html' } }],
};

const SERVICE: DemoService = {
  slug: 'shop',
  name: 'Shop',
  domain: 'shop.demo.test',
  category: 'ecommerce',
  transport: 'http',
  host: '127.0.0.1',
  certificate: 'good',
  check: {},
  statusPage: { vendor: 'shop', components: ['Web'] },
  story: '',
  steps: [
    { at: 0, behaviour: good(10) },
    { at: 50 * SECOND, behaviour: failing(503) },
    { at: 90 * SECOND, behaviour: good(10) },
    { at: 160 * SECOND, behaviour: failing(503) },
    { at: 190 * SECOND, behaviour: good(10) },
  ],
};

const SCRIPT: Script = { periodMs: 300 * SECOND, services: [SERVICE], outages: [], vendors: [VENDOR] };

const iso = (elapsedMs: number) => new Date(START + elapsedMs).toISOString();

/** What a program says that knows everything at once. */
function ideal(elapsedMs: number): SeenIncidents {
  const [served] = servedServices(SCRIPT);
  if (served === undefined) throw new Error('no service is served');
  const inFull = [...vendorIncidents(served, elapsedMs), ...maintenanceIncidents(served, elapsedMs)].sort(
    (a, b) => (a.started_at < b.started_at ? 1 : -1),
  );
  const incidents = inFull.map(({ source, timeline, ...incident }): SeenIncident => incident);
  const [word = 'unknown'] = allowedWords(SCRIPT, served, elapsedMs, elapsedMs, {
    ...timing,
    feedIntervalMs: 0,
  });
  const entries = outagesOf(SCRIPT, SERVICE, elapsedMs, 2, timing)
    .filter(({ from }) => from % SCRIPT.periodMs === 50 * SECOND)
    .map(({ from }) => {
      const told = inFull.findLast(
        ({ started_at, severity }) => severity === 'major' && started_at > iso(from),
      );
      const at = told?.timeline[0]?.at ?? null;
      return {
        started_at: iso(from + 500),
        vendor_incident_id: told?.id ?? null,
        acknowledged_at: at,
        lag_seconds: at === null ? null : (Date.parse(at) - START - from - 500) / 1_000,
      };
    });
  const fault = elapsedMs % SCRIPT.periodMs >= 226 * SECOND && elapsedMs % SCRIPT.periodMs < 240 * SECOND;
  return {
    startAt: START,
    askedAt: elapsedMs,
    arrivedAt: elapsedMs,
    services: [
      {
        slug: 'shop',
        incidents,
        inFull,
        vendor: { vendor: { status: word, stale: fault, incident_id: null }, acknowledgement: { entries } },
      },
    ],
    all: incidents,
    maintenances: maintenancesOf(served, elapsedMs)
      .filter(({ state }) => state !== 'done')
      .map(({ title, state, startsAt, endsAt }) => ({
        service: { slug: 'shop' },
        title,
        state,
        starts_at: iso(startsAt),
        ends_at: iso(endsAt),
      })),
  };
}

function vendorIncidents(served: ServedService, elapsedMs: number): SeenIncidentInFull[] {
  return incidentsOf(served, elapsedMs).map(({ id, title, severity, startedAt, resolvedAt, updates }) => ({
    id,
    title,
    description: updates.at(-1)?.text ?? '',
    severity,
    status: updates.at(-1)?.status ?? '',
    started_at: iso(startedAt),
    resolved_at: resolvedAt === null ? null : iso(resolvedAt),
    source_url: 'http://127.0.0.1/incidents/1',
    source: 'vendor',
    timeline: updates.map(({ at, status, text }) => ({ at: iso(at), status, text })),
  }));
}

function maintenanceIncidents(served: ServedService, elapsedMs: number): SeenIncidentInFull[] {
  return maintenancesOf(served, elapsedMs)
    .filter(({ state }) => state !== 'planned')
    .map(({ id, title, text, state, startsAt, endsAt }) => {
      const status = state === 'done' ? 'resolved' : 'identified';
      return {
        id,
        title,
        description: text,
        severity: 'maintenance',
        status,
        started_at: iso(startsAt),
        resolved_at: state === 'done' ? iso(endsAt) : null,
        source_url: 'http://127.0.0.1/incidents/2',
        source: 'vendor',
        timeline: [{ at: iso(startsAt), status, text }],
      };
    });
}

const judge = (seen: SeenIncidents) =>
  compareIncidents(SCRIPT, timing, seen).map(({ slug, found }) => `${slug}: ${found}`);

t.test(
  'it is content with a program that knows everything at once, in every second of three periods',
  async (t) => {
    for (let second = 5; second < 900; second++) {
      const found = judge(ideal(second * SECOND));
      if (found.length > 0) t.same(found, [], `at ${second} s`);
    }
    t.pass('900 looks');
  },
);

t.test('it finds each single fault', async (t) => {
  const change = (elapsed: number, mend: (one: SeenOfService) => Partial<SeenOfService>): SeenIncidents => {
    const seen = ideal(elapsed * SECOND);
    return { ...seen, services: seen.services.map((one) => ({ ...one, ...mend(one) })) };
  };
  const first = (elapsed: number, mend: Partial<SeenIncident>) =>
    change(elapsed, ({ incidents: [one, ...rest] }) => ({
      incidents: one === undefined ? [] : [{ ...one, ...mend }, ...rest],
    }));
  const inFull = (elapsed: number, mend: (one: SeenIncidentInFull) => Partial<SeenIncidentInFull>) =>
    change(elapsed, ({ inFull: list }) => ({ inFull: list.map((one) => ({ ...one, ...mend(one) })) }));
  const word = (elapsed: number, mend: { status?: string; stale?: boolean }) =>
    change(elapsed, ({ vendor }) => ({
      vendor: {
        ...vendor,
        vendor: vendor.vendor === null ? null : { ...vendor.vendor, ...mend },
      },
    }));
  const lag = (elapsed: number, mend: object | null) =>
    change(elapsed, ({ vendor }) => ({
      vendor: {
        ...vendor,
        acknowledgement: {
          entries:
            mend === null ? [] : vendor.acknowledgement.entries.map((entry) => ({ ...entry, ...mend })),
        },
      },
    }));
  const table: readonly (readonly [what: string, seen: SeenIncidents, found: RegExp])[] = [
    ['no service', { ...ideal(70_000), services: [] }, /^shop: nothing/],
    ['no incident', change(70, () => ({ incidents: [], inFull: [] })), /no incident "Errors & more"/],
    ['two of it', change(70, ({ incidents }) => ({ incidents: [...incidents, ...incidents] })), /2 times/],
    [
      'an incident before its time',
      { ...ideal(70_000), askedAt: 40_000, arrivedAt: 40_000 },
      /an incident "Errors/,
    ],
    ['one of another part', first(70, { title: 'Apps do not start' }), /an incident "Apps do not start"/],
    ['another start', first(70, { started_at: iso(60_000) }), /an incident "Errors/],
    ['another severity', first(70, { severity: 'minor' }), /minor/],
    ['an old status', first(90, { status: 'investigating' }), /investigating/],
    [
      'an end that the vendor did not report',
      first(70, { status: 'resolved', resolved_at: iso(65_000) }),
      /resolved/,
    ],
    ['an end at another time', first(110, { resolved_at: iso(105_000) }), /resolved at 105000/],
    ['an old description', first(90, { description: 'We look into it.' }), /described by/],
    ['markup', first(70, { description: '<p>We look into it.</p>' }), /markup/],
    ['a link of another scheme', first(70, { source_url: 'javascript:alert(1)' }), /the link/],
    ['another order', { ...ideal(420_000), all: ideal(420_000).all.toReversed() }, /another order/],
    ['one that is not among all', { ...ideal(420_000), all: ideal(420_000).all.slice(1) }, /among all/],
    ['a lost update', inFull(90, ({ timeline }) => ({ timeline: timeline.slice(1) })), /no update "We look/],
    [
      'an update at another time',
      inFull(90, ({ timeline }) => ({ timeline: timeline.map((one) => ({ ...one, at: iso(85_000) })) })),
      /no update/,
    ],
    [
      'a timeline out of order',
      inFull(90, ({ timeline }) => ({ timeline: timeline.toReversed() })),
      /out of order/,
    ],
    ['a timeline that ends elsewhere', inFull(90, () => ({ status: 'resolved' })), /that ends monitoring/],
    ['another word', word(70, { status: 'operational' }), /by its vendor operational/],
    ['another word within a maintenance', word(170, { status: 'operational' }), /by its vendor operational/],
    ['a fresh word in a fault', word(230, { stale: false }), /a fresh word/],
    ['no lag', lag(110, null), /no lag of the outage/],
    ['silence', lag(110, { acknowledged_at: null, lag_seconds: null }), /silence on/],
    [
      'a word at another time',
      lag(110, { acknowledged_at: iso(70_000), lag_seconds: 19.5 }),
      /told of at 70000/,
    ],
    ['a lag that is no difference', lag(110, { lag_seconds: 1 }), /a lag of 1 s/],
    ['no maintenance', { ...ideal(100_000), maintenances: [] }, /no maintenance "New disks"/],
    [
      'a maintenance in another state',
      { ...ideal(170_000), maintenances: ideal(100_000).maintenances },
      /"New disks" is planned/,
    ],
    ['a maintenance without an incident', change(170, () => ({ incidents: [] })), /no incident "New disks"/],
    ['a maintenance that never ends', first(280, { status: 'identified' }), /"New disks" is identified/],
  ];
  for (const [what, seen, found] of table) {
    const mismatches = judge(seen);
    t.ok(
      mismatches.some((each) => found.test(each)),
      `${what}: ${mismatches.join('; ')}`,
    );
  }
});

t.test('it waits for what a fault of the server hides, and no longer', async (t) => {
  const [served] = servedServices(SCRIPT);
  if (served === undefined) throw new Error('no service is served');
  const by = (at: number) => knownBy(SCRIPT, served, at, timing);
  t.equal(by(100_000), 102_200);
  // 20 s of fault, and a quarter of them and of the interval more for chance, the longest Retry-After, and a poll.
  t.equal(by(221_000), 240_000 + 27_500 + 2_000 + 2_200);
  t.equal(by(290_000), 292_200);
});
