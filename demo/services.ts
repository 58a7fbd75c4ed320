/** The services of `npm run demo`, in all categories, and their behaviour in each period of five minutes. */
import type { Category } from '../src/domain/service.ts';
import {
  type Behaviour,
  type DemoService,
  failing,
  good,
  healthy,
  type Script,
  type Step,
  USUAL_STORY,
} from './script.ts';
import { DEMO_VENDORS } from './vendor-cast.ts';

const SECOND = 1_000;

/** Steps at seconds of the period. */
const play = (...steps: readonly (readonly [second: number, behaviour: Behaviour])[]): Step[] =>
  steps.map(([second, behaviour]) => ({ at: second * SECOND, behaviour }));

const always = (behaviour: Behaviour) => play([0, behaviour]);
const between = (from: number, to: number, behaviour: Behaviour, normal: Behaviour) =>
  play([0, normal], [from, behaviour], [to, normal]);

type Details = Partial<Omit<DemoService, 'name' | 'category'>>;

function service(category: Category, name: string, latency: number, details: Details = {}): DemoService {
  const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const hasVendor = DEMO_VENDORS.some((vendor) => vendor.slug === slug);
  return {
    slug,
    name,
    category,
    domain: `${slug}.demo.test`,
    transport: 'https',
    host: '127.0.0.1',
    certificate: 'good',
    check: {},
    steps: always(good(latency)),
    story: USUAL_STORY,
    // A vendor with the same name publishes the service's status.
    ...(hasVendor ? { statusPage: { vendor: slug } } : {}),
    ...details,
  };
}

const SERVICES: readonly DemoService[] = [
  service('ai', 'Oracle of Ada', 180),
  service('ai', 'Thinkbox', 240, {
    steps: between(60, 120, good('slow'), good(240)),
    story: 'slow from 1:00 to 2:00',
  }),
  service('ai', 'Promptory', 120, {
    check: { kind: 'health' },
    steps: play([0, healthy('ok', 'up')], [50, healthy('degraded', 'slow')], [110, healthy('ok', 'up')]),
    story: 'its health endpoint says degraded from 0:50 to 1:50',
  }),
  service('social-media', 'Chirrup', 90),
  service('social-media', 'Facegram', 70, {
    steps: between(30, 90, failing(503), good(70)),
    story: 'answers 503 from 0:30 to 1:30',
  }),
  service('social-media', 'Pinpost', 60, { transport: 'http' }),
  service('social-media', '微蓝', 110, {
    slug: 'weilan',
    domain: 'weilan.demo.test',
    story: 'its badge shows the domain: the fonts have no Chinese',
  }),
  service('gaming', 'Steamboat', 130),
  service('gaming', 'Dungeon Relay', 45, {
    steps: between(40, 100, { kind: 'refuse' }, good(45)),
    transport: 'http',
    story: 'refuses connections from 0:40 to 1:40',
  }),
  service('gaming', 'Pixelforge', 80, {
    steps: always({ kind: 'stumble', latency: 80, everyMs: 20_000 }),
    story: 'one bad answer now and then: never down, for the re-check is good',
  }),
  service('streaming', 'Streamly', 150, {
    steps: between(20, 80, { kind: 'hang' }, good(150)),
    story: 'takes requests but never answers from 0:20 to 1:20',
  }),
  service('streaming', 'Nightflix', 100, {
    steps: always(good(100, { redirects: 1 })),
    story: 'redirects once',
  }),
  service('streaming', 'Tubular', 95),
  service('productivity', 'Notepile', 85),
  service('productivity', 'Kanbanana', 65, {
    steps: always(good(65, { headStatus: 405 })),
    story: 'refuses HEAD; GET is remembered',
  }),
  service('productivity', 'Calendaria', 75, {
    steps: always(good(75, { headStatus: 404 })),
    story: 'answers 404 to HEAD and 200 to GET',
  }),
  service('productivity', 'Dropcrate', 140),
  service('cloud', 'Nimbus Compute', 55, { statusPage: { vendor: 'nimbus', components: ['Compute'] } }),
  service('cloud', 'Nimbus Storage', 50, {
    statusPage: { vendor: 'nimbus', components: ['Storage'] },
    steps: play([0, good(50)], [45, good('slow')], [90, failing(500)], [150, good('slow')], [200, good(50)]),
    story: 'slow, then 500, then slow, then well again: 0:45 to 3:20',
  }),
  service('cloud', 'Cumulus DNS', 20, {
    statusPage: { vendor: 'stratus-cloud', components: ['Cumulus DNS'] },
    transport: 'http',
  }),
  service('cloud', 'Stratus Functions', 60, {
    statusPage: { vendor: 'stratus-cloud', components: ['Stratus Functions'] },
    check: { kind: 'health' },
    steps: play([0, healthy('UP', 'up')], [70, healthy('critical', 'down')], [130, healthy('UP', 'up')]),
    story: 'its health endpoint says critical from 1:10 to 2:10',
  }),
  service('finance', 'Paynest', 110),
  service('finance', 'Ledgerly', 125, {
    statusPage: { vendor: 'ledgerly', components: ['EU1'] },
    steps: between(100, 160, { kind: 'lapsed' }, good(125)),
    story: 'its certificate runs out at 1:40 and is renewed at 2:40',
  }),
  service('finance', 'Coinorchard', 95, {
    steps: always({ kind: 'answer', status: 429, latency: 95, headers: { 'retry-after': '5' }, means: 'up' }),
    story: 'answers 429: busy with others, but up',
  }),
  service('finance', 'Old Mutual Savings', 160, {
    certificate: 'expired',
    steps: always({ kind: 'untrusted' }),
    story: 'expired certificate: down',
  }),
  service('communication', 'Whistle', 70),
  service('communication', 'Mailhaven', 80, {
    certificate: 'ends-soon',
    story: 'its certificate ends in three days',
  }),
  service('communication', 'Parlour', 60, {
    steps: between(110, 170, { kind: 'reset' }, good(60)),
    story: 'breaks connections from 1:50 to 2:50',
  }),
  service('communication', 'Signalfire', 50, {
    certificate: 'wrong-name',
    steps: always({ kind: 'untrusted' }),
    story: 'certificate of another name: down',
  }),
  service('ecommerce', 'Bazaario', 130, {
    steps: always(good(130, { status: 403, headers: { 'cf-mitigated': 'challenge' } })),
    story: 'behind a bot wall: reachable',
  }),
  service('ecommerce', 'Shopwright', 115),
  service('ecommerce', 'Cartographer', 105, {
    steps: play([0, good(105)], [30, failing(502)], [75, good(105)], [120, failing(502)], [165, good(105)]),
    story: 'flaps: 502 from 0:30 to 1:15 and from 2:00 to 2:45',
  }),
  service('ecommerce', 'Auctionary', 90, { transport: 'http' }),
  service('developer', 'Gitorium', 65),
  service('developer', 'Packhouse', 55, {
    check: { kind: 'health' },
    steps: always(good(55, { health: { status: 200, word: null } })),
    story: 'no health endpoint but a page for every path: falls back to its root',
  }),
  service('developer', 'Buildbarn', 75, {
    check: { kind: 'health' },
    steps: always(good(75, { health: { status: 404, word: null } })),
    story: 'no health endpoint: falls back to its root',
  }),
  service('developer', 'Errorlog', 60, {
    check: { accept: ['2xx', 404] },
    steps: always(good(60, { status: 404 })),
    story: 'answers 404, which its entry accepts',
  }),
  service('developer', 'Localsix', 15, {
    transport: 'http',
    host: '::1',
    story: 'on IPv6',
  }),
  service('education', 'Learnify', 100),
  service('education', 'Quizzical', 85, {
    steps: between(60, 110, failing(404), good(85)),
    story: 'its front page is gone (404) from 1:00 to 1:50',
  }),
  service('education', 'Schola', 120, { transport: 'http' }),
  service('delivery', 'Foodfleet', 95),
  service('delivery', 'Parcelpal', 110, {
    steps: between(80, 140, { kind: 'garbage' }, good(110)),
    transport: 'http',
    story: 'answers in another protocol from 1:20 to 2:20',
  }),
  service('delivery', 'Courierly', 70),
  service('vpn', 'Tunnelbear Lodge', 140),
  service('vpn', 'Hidemyway', 90, {
    certificate: 'self-signed',
    steps: always({ kind: 'untrusted' }),
    story: 'self-signed certificate: down',
  }),
  service('vpn', 'Portway', 60, { transport: 'http' }),
  service('entertainment', 'Laughtrack', 85),
  service('entertainment', 'Comicverse', 95, {
    steps: always(good(95, { redirects: 'endless', means: 'down' })),
    story: 'redirects in a circle: down',
  }),
  service('entertainment', 'Podcastle', 75),
  service('isp', 'Fibrelink', 25, { transport: 'http' }),
  service('isp', 'Copperline', 220, {
    steps: always(good('slow')),
    story: 'always slow',
  }),
  service('isp', 'Meshnet Coop', 35, { transport: 'http' }),
  service('dating', 'Heartfelt', 105),
  service('dating', 'Kindred', 95, {
    steps: always(good(95, { status: 401 })),
    story: 'wants a sign-in at its root (401): reachable',
  }),
  service('dating', 'Spark and Ember', 85, {
    steps: always(failing(503)),
    story: 'always 503: down',
  }),
  service('logistics', 'Freightly', 100),
  service('logistics', 'Harbourmaster', 60, {
    steps: always(good(60, { redirects: 4 })),
    story: 'redirects four times',
  }),
  service('logistics', 'Railhead', 80, { transport: 'http' }),
  service('logistics', 'Gesellschaft für grenzüberschreitende Frachtabfertigung', 90, {
    slug: 'frachtabfertigung',
    domain: 'frachtabfertigung.demo.test',
    story: 'a name that its badge has to shorten',
  }),
  service('travel', 'Wanderlist', 110),
  service('travel', 'Skybooker', 125, {
    steps: play([0, good(125)], [35, { kind: 'reset' }], [80, failing(503)], [140, good(125)]),
    story: 'breaks connections, then answers 503: one outage from 0:35 to 2:20',
  }),
  service('travel', 'Innkeeper', 75, {
    steps: always({ kind: 'hang' }),
    story: 'never answers: down',
  }),
  service('travel', 'Почта Путешествий', 95, {
    slug: 'pochta',
    domain: 'pochta.demo.test',
    story: 'a Cyrillic name',
  }),
];

/** The play of the demonstration. Every service has recovered well before the prober is cut off. */
export const DEMO_SCRIPT: Script = {
  periodMs: 300 * SECOND,
  services: SERVICES,
  outages: [{ from: 245 * SECOND, to: 270 * SECOND }],
  vendors: DEMO_VENDORS,
};
