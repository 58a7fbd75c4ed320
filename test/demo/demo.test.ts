/** The whole program over the simulated fleet, with a short play: every status must be as the script wants. */
import t from 'tap';
import type { Category } from '../../src/domain/category.ts';
import { type Behaviour, type DemoTiming, failing, good, healthy, verdictOf } from './behaviour.ts';
import { compare, type Mismatch, type SeenService } from './compare.ts';
import { compareIncidents } from './compare-incidents.ts';
import { startDemo } from './demo.ts';
import { compareSenders, type Sender, type SenderTiming } from './heartbeat-senders.ts';
import { type DemoService, isCutOff, type Script, segmentAt } from './script.ts';
import { askForIncidents } from './seen-incidents.ts';
import { SHORT_PART, shortVendors } from './short-vendors.ts';

const TIMING: DemoTiming = {
  intervalMs: 1_000,
  timeoutMs: 1_800,
  slowOverMs: 1_000,
  confirmAfterMs: [200, 200],
  firstSpreadMs: 1_000,
  slackMs: 4_000,
};

const SECOND = 1_000;
const FEED_INTERVAL_MS = 1_000;
const LOOK_MS = 250;
const INCIDENTS_EACH = 4;
const always = (behaviour: Behaviour) => [{ at: 0, behaviour }];
const from8 = (behaviour: Behaviour) => [
  { at: 0, behaviour: good(10) },
  { at: 8 * SECOND, behaviour },
];
const from8to17 = (behaviour: Behaviour, normal: Behaviour = good(10)) => [
  { at: 0, behaviour: normal },
  { at: 8 * SECOND, behaviour },
  { at: 17 * SECOND, behaviour: normal },
];

function service(slug: string, details: Partial<DemoService>): DemoService {
  const category: Category = 'developer';
  return {
    slug,
    name: slug,
    domain: `${slug}.demo.test`,
    category,
    transport: 'https',
    host: '127.0.0.1',
    certificate: 'good',
    check: {},
    story: '',
    steps: always(good(10)),
    ...details,
  };
}

const health = { check: { kind: 'health' } } as const;
const untrusted = { steps: always({ kind: 'untrusted' }) } as const;

const PERIOD_MS = 3_600 * SECOND;
const by = (vendor: string) => ({ statusPage: { vendor, components: [SHORT_PART] } });

const SCRIPT: Script = {
  periodMs: PERIOD_MS,
  vendors: shortVendors(PERIOD_MS),
  outages: [{ from: 24 * SECOND, to: 29 * SECOND }],
  services: [
    service('calm', by('gcp')),
    service('plain', { ...by('aws'), transport: 'http' }),
    service('ipv6', { ...by('azure'), transport: 'http', host: '::1' }),
    service('slow', { ...by('slack'), steps: always(good('slow')) }),
    service('outage', { ...by('statuspage'), steps: from8to17(failing(503)) }),
    service('slow-spell', { ...by('faulty'), steps: from8to17(good('slow')) }),
    service('sick', {
      ...by('incidentio'),
      ...health,
      steps: from8to17(healthy('critical', 'down'), healthy('ok', 'up')),
    }),
    service('degraded', { ...health, steps: from8to17(healthy('degraded', 'slow'), healthy('UP', 'up')) }),
    service('spa', { ...health, steps: always(good(10, { health: { status: 200, word: null } })) }),
    service('no-health', { ...health, steps: always(good(10, { health: { status: 404, word: null } })) }),
    service('flaps', { steps: always({ kind: 'stumble', latency: 10, everyMs: 5_000 }) }),
    service('head-refused', { steps: always(good(10, { headStatus: 405 })) }),
    service('bot-wall', {
      ...by('atom'),
      steps: always(good(10, { status: 403, headers: { 'cf-mitigated': 'challenge' } })),
    }),
    service('too-many', {
      ...by('rss'),
      steps: always(good(10, { status: 429, headers: { 'retry-after': '2' } })),
    }),
    service('accepted', {
      ...by('heroku'),
      check: { accept: [404] },
      steps: always(good(10, { status: 404 })),
    }),
    service('redirects', { ...by('salesforce'), steps: always(good(10, { redirects: 5 })) }),
    service('circle', { steps: always(good(10, { redirects: 'endless', means: 'down' })) }),
    service('gone', { steps: always(failing(404)) }),
    service('resets', { ...by('instatus'), steps: from8({ kind: 'reset' }) }),
    service('refuses', { ...by('betterstack'), transport: 'http', steps: from8({ kind: 'refuse' }) }),
    service('hangs', { steps: always({ kind: 'hang' }) }),
    service('garbage', { ...by('silent'), transport: 'http', steps: from8({ kind: 'garbage' }) }),
    service('lapses', { ...by('statusio'), steps: from8({ kind: 'lapsed' }) }),
    service('ends-soon', { certificate: 'ends-soon' }),
    service('expired', { certificate: 'expired', ...untrusted }),
    service('wrong-name', { certificate: 'wrong-name', ...untrusted }),
    service('self-signed', { certificate: 'self-signed', ...untrusted }),
  ],
};
const END_MS = 33 * SECOND;
const SENDERS: readonly Sender[] = [
  {
    domain: 'sender.example.org',
    story: '',
    steps: [
      { at: 0, word: 'ok', means: 'up' },
      { at: 10 * SECOND, word: 'failing', means: 'down' },
      { at: 20 * SECOND, word: 'ok', means: 'up' },
    ],
  },
];
const SENDER_TIMING: SenderTiming = { periodMs: PERIOD_MS, everyMs: 500, silenceMs: 60_000, slackMs: 4_000 };

t.test(
  'it says of every simulated service what the script wants, all the time',
  { timeout: 110_000 },
  async (t) => {
    const lines: string[] = [];
    const demo = await startDemo({
      script: SCRIPT,
      timing: TIMING,
      feedIntervalMs: FEED_INTERVAL_MS,
      senders: { list: SENDERS, timing: SENDER_TIMING },
      port: 0,
      settings: {
        log: { level: 'info', format: 'json' },
        limits: { anonymousPerMinute: 1_000_000, authenticatedPerMinute: 1_000 },
      },
      output: (line) => lines.push(line),
    });
    const mismatches: Mismatch[] = [];
    const degraded: boolean[] = [];
    let looks = 0;
    let last: readonly SeenService[] = [];
    try {
      for (;;) {
        const askedAt = Date.now() - demo.startAt;
        if (askedAt >= END_MS) break;
        const answer = await fetch(`${demo.siteUrl}/api/v1/services?limit=500`);
        last = ((await answer.json()) as { services: SeenService[] }).services;
        const arrivedAt = Date.now() - demo.startAt;
        mismatches.push(...compare(SCRIPT, TIMING, last, askedAt, arrivedAt, demo.startAt));
        mismatches.push(...compareSenders(SENDERS, last, askedAt, SENDER_TIMING));
        const ready = await fetch(`${demo.siteUrl}/readyz`);
        const { degraded: parts } = (await ready.json()) as { degraded: readonly unknown[] };
        if (isCutOff(SCRIPT, askedAt)) degraded.push(parts.length > 0);
        // A hundred questions: not with each look, so that the services are not slowed down by them.
        if (++looks % INCIDENTS_EACH === 0) {
          const entries = await askForIncidents(demo.siteUrl, SCRIPT, demo.startAt);
          mismatches.push(
            ...compareIncidents(SCRIPT, { ...TIMING, feedIntervalMs: FEED_INTERVAL_MS }, entries),
          );
        }
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    } finally {
      t.equal(await demo.stop(), 0, 'the program ends well');
    }
    t.same(mismatches, [], lines.slice(-20).join('\n'));
    t.same(Object.fromEntries(last.map(({ slug, status }) => [slug, status])), {
      ...Object.fromEntries(
        SCRIPT.services.map((each) => [each.slug, verdictOf(segmentAt(SCRIPT, each, END_MS).behaviour)]),
      ),
      'sender-example-org': 'up',
    });
    t.ok(degraded.includes(true), 'it has said that it was offline');
    t.same(
      lines.filter((line) => !line.startsWith('{') || /"level":"(?:error|fatal)"/.test(line)),
      [],
    );
  },
);
