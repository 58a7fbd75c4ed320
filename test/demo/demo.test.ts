/** The whole program over the simulated fleet, with a short play: every status must be as the script wants. */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { startDemo } from '../../demo/demo.ts';
import type { Sender, SenderTiming } from '../../demo/heartbeat-senders.ts';
import {
  type Behaviour,
  type DemoService,
  type DemoTiming,
  failing,
  good,
  healthy,
  isCutOff,
  type Script,
  segmentAt,
  verdictOf,
} from '../../demo/script.ts';
import type { Category } from '../../src/domain/service.ts';
import { compare, compareSenders, type Mismatch, type SeenService } from './compare.ts';
import { compareIncidents } from './compare-incidents.ts';
import { askForIncidents } from './seen-incidents.ts';
import { SHORT_PART, shortVendors } from './short-vendors.ts';

/**
 * How much longer than a second the play's seconds last. The first play is quick. A machine that was late itself gets
 * slower ones: to a program that gets no processor every answer is slow, and to say so is no mistake.
 */
const PACES = [1, 2, 4, 8];
/**
 * So long did this process wait for its turn, or for an answer, on a machine that is late. The fleet answers an attempt with
 * five redirects in twenty turns, so that turns of 50 ms are what makes it slow.
 */
const LATE_TURN_MS = 50;
const LATE_ANSWER_MS = 400;

/** Looks in a second of the play, which is the interval of checks. */
const LOOKS_A_SECOND = 2;
const INCIDENTS_EACH = 6;

t.setTimeout(900_000);

/** What is played, and what is compared; every duration follows from that of a second. */
function makePlay(secondMs: number) {
  const timing: DemoTiming = {
    intervalMs: secondMs,
    timeoutMs: 1.8 * secondMs,
    slowOverMs: secondMs,
    confirmAfterMs: [0.2 * secondMs, 0.2 * secondMs],
    firstSpreadMs: secondMs,
    slackMs: 4 * secondMs,
  };
  const periodMs = 3_600 * secondMs;
  const senders: readonly Sender[] = [
    {
      domain: 'sender.example.org',
      story: '',
      steps: [
        { at: 0, word: 'ok', means: 'up' },
        { at: 10 * secondMs, word: 'failing', means: 'down' },
        { at: 20 * secondMs, word: 'ok', means: 'up' },
      ],
    },
  ];
  const sending: SenderTiming = {
    periodMs,
    everyMs: 0.5 * secondMs,
    silenceMs: 60 * secondMs,
    slackMs: 4 * secondMs,
  };
  const script: Script = {
    periodMs,
    vendors: shortVendors(periodMs, secondMs),
    outages: [{ from: 24 * secondMs, to: 29 * secondMs }],
    services: makeServices(secondMs),
  };
  return { script, timing, senders, sending, feedIntervalMs: secondMs, endMs: 33 * secondMs };
}

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

const by = (vendor: string) => ({ statusPage: { vendor, components: [SHORT_PART] } });
const always = (behaviour: Behaviour) => [{ at: 0, behaviour }];
const health = { check: { kind: 'health' } } as const;
const untrusted = { steps: always({ kind: 'untrusted' }) } as const;

function makeServices(secondMs: number): DemoService[] {
  const from8 = (behaviour: Behaviour) => [
    { at: 0, behaviour: good(10) },
    { at: 8 * secondMs, behaviour },
  ];
  const from8to17 = (behaviour: Behaviour, normal: Behaviour = good(10)) => [
    { at: 0, behaviour: normal },
    { at: 8 * secondMs, behaviour },
    { at: 17 * secondMs, behaviour: normal },
  ];
  return [
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
    service('degraded', {
      ...by('microsoft365'),
      ...health,
      steps: from8to17(healthy('degraded', 'slow'), healthy('UP', 'up')),
    }),
    service('spa', {
      ...by('azuredevops'),
      ...health,
      steps: always(good(10, { health: { status: 200, word: null } })),
    }),
    service('no-health', {
      ...by('meta'),
      ...health,
      steps: always(good(10, { health: { status: 404, word: null } })),
    }),
    service('flaps', {
      ...by('apple'),
      steps: always({ kind: 'stumble', latency: 10, everyMs: 5 * secondMs }),
    }),
    service('head-refused', { ...by('uptimerobot'), steps: always(good(10, { headStatus: 405 })) }),
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
    service('circle', { ...by('sorry'), steps: always(good(10, { redirects: 'endless', means: 'down' })) }),
    service('gone', { ...by('pagerduty'), steps: always(failing(404)) }),
    service('resets', { ...by('instatus'), steps: from8({ kind: 'reset' }) }),
    service('refuses', { ...by('betterstack'), transport: 'http', steps: from8({ kind: 'refuse' }) }),
    service('hangs', { ...by('statuscast'), steps: always({ kind: 'hang' }) }),
    service('garbage', { ...by('silent'), transport: 'http', steps: from8({ kind: 'garbage' }) }),
    service('lapses', { ...by('statusio'), steps: from8({ kind: 'lapsed' }) }),
    service('ends-soon', { ...by('statuspal'), certificate: 'ends-soon' }),
    service('expired', { ...by('cachet'), certificate: 'expired', ...untrusted }),
    service('wrong-name', { ...by('cstate'), certificate: 'wrong-name', ...untrusted }),
    service('self-signed', { ...by('uptimekuma'), certificate: 'self-signed', ...untrusted }),
    service('ordinary', by('upbeat')),
  ];
}

/** Plays once, until something is wrong; what was wrong, and whether the machine was late. */
async function play(secondMs: number) {
  const { script, timing, senders, sending, feedIntervalMs, endMs } = makePlay(secondMs);
  const lines: string[] = [];
  // From before the start: the first checks, which the first statuses come from, can be those that were late.
  const turns = monitorEventLoopDelay();
  turns.enable();
  const demo = await startDemo({
    script,
    timing,
    feedIntervalMs,
    senders: { list: senders, timing: sending },
    port: 0,
    settings: {
      log: { level: 'info', format: 'json' },
      limits: { anonymousPerMinute: 1_000_000, authenticatedPerMinute: 1_000, changesPerAccount: 1_000 },
    },
    output: (line) => lines.push(line),
  });
  const mismatches: Mismatch[] = [];
  const degraded: boolean[] = [];
  let slowestMs = 0;
  const ask = async (path: string) => {
    const askedMs = performance.now();
    const body: unknown = await (await fetch(demo.siteUrl + path)).json();
    slowestMs = Math.max(slowestMs, performance.now() - askedMs);
    return body;
  };
  let looks = 0;
  let last: readonly SeenService[] = [];
  let exit: number | null = null;
  let setupPage = 0;
  try {
    for (;;) {
      const askedAt = Date.now() - demo.startAt;
      if (askedAt >= endMs) break;
      last = ((await ask('/api/v1/services?limit=500')) as { services: SeenService[] }).services;
      const arrivedAt = Date.now() - demo.startAt;
      mismatches.push(...compare(script, timing, last, askedAt, arrivedAt, demo.startAt));
      mismatches.push(...compareSenders(senders, last, askedAt, sending));
      const { degraded: parts } = (await ask('/readyz')) as { degraded: readonly unknown[] };
      if (isCutOff(script, askedAt)) degraded.push(parts.length > 0);
      // A hundred questions: not with each look, so that the services are not slowed down by them.
      if (++looks % INCIDENTS_EACH === 0) {
        const entries = await askForIncidents(demo.siteUrl, script, demo.startAt);
        mismatches.push(...compareIncidents(script, { ...timing, feedIntervalMs }, entries));
      }
      if (mismatches.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, secondMs / LOOKS_A_SECOND));
    }
    setupPage = (await fetch(demo.setupLink)).status;
  } finally {
    turns.disable();
    exit = await demo.stop();
  }
  const seen = {
    exit,
    setupPage,
    mismatches,
    statuses: Object.fromEntries(last.map(({ slug, status }) => [slug, status])),
    saidOffline: degraded.includes(true),
    complaints: lines.filter((line) => !line.startsWith('{') || /"level":"(?:error|fatal)"/.test(line)),
  };
  const wanted = {
    exit: 0,
    setupPage: 200,
    mismatches: [],
    statuses: {
      ...Object.fromEntries(
        script.services.map((each) => [each.slug, verdictOf(segmentAt(script, each, endMs).behaviour)]),
      ),
      'sender-example-org': 'up',
    },
    saidOffline: true,
    complaints: [],
  };
  const turnMs = turns.max / 1e6;
  const late = turnMs > LATE_TURN_MS || slowestMs > LATE_ANSWER_MS;
  const pace = `a second of ${secondMs} ms, turns ${Math.round(turnMs)} ms late, answers ${Math.round(slowestMs)} ms`;
  return { seen, wanted, late, pace, lines };
}

t.test('it says of every simulated service what the script wants, all the time', async (t) => {
  for (const [index, pace] of PACES.entries()) {
    const { seen, wanted, late, pace: told, lines } = await play(1_000 * pace);
    t.comment(told);
    if (late && index < PACES.length - 1 && !isDeepStrictEqual(seen, wanted)) {
      t.comment(
        `the machine was late; it plays again, slower: ${JSON.stringify(seen.mismatches.slice(0, 5))}`,
      );
      continue;
    }
    if (!isDeepStrictEqual(seen, wanted)) t.comment(lines.slice(-20).join('\n'));
    t.same(seen, wanted);
    return;
  }
});
