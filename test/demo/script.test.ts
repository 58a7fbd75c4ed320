import fc from 'fast-check';
import t from 'tap';
import { DEMO_TIMING } from '../../demo/demo.ts';
import {
  behaviourAt,
  type DemoService,
  detectMs,
  expected,
  failing,
  good,
  isCutOff,
  type Script,
  verdictOf,
} from '../../demo/script.ts';
import { DEMO_SCRIPT } from '../../demo/services.ts';
import { CATEGORIES } from '../../src/domain/service.ts';
import { compare, mustBeOffline } from './compare.ts';

const timing = { ...DEMO_TIMING, slackMs: 0 };
const shop: DemoService = {
  slug: 'shop',
  name: 'Shop',
  domain: 'shop.demo.test',
  category: 'ecommerce',
  transport: 'http',
  host: '127.0.0.1',
  certificate: 'good',
  check: {},
  story: '',
  steps: [
    { at: 0, behaviour: good(50) },
    { at: 60_000, behaviour: failing(503, 0) },
    { at: 120_000, behaviour: good(50) },
  ],
};
const script: Script = {
  periodMs: 300_000,
  services: [shop],
  outages: [{ from: 200_000, to: 220_000 }],
  vendors: [],
};

t.test('it allows the old and the new status until a change must have been seen', async (t) => {
  // Interval 5 s, time-out 2.5 s, two confirmations after 0.5 s and 1 s.
  const table: readonly (readonly [elapsedMs: number, statuses: readonly string[], since: object | null])[] =
    [
      [-1, ['unknown', 'up'], null],
      [12_549, ['unknown', 'up'], null],
      [12_550, ['up'], null],
      [59_999, ['up'], null],
      [60_000, ['down', 'up'], null],
      [68_999, ['down', 'up'], null],
      [69_000, ['down'], { from: 58_500, to: 69_000 }],
      [119_999, ['down'], { from: 58_500, to: 69_000 }],
      [120_000, ['up', 'down'], null],
      [127_550, ['up'], { from: 118_500, to: 127_550 }],
      [330_000, ['up'], { from: 118_500, to: 127_550 }],
      [365_000, ['down', 'up'], null],
      [400_000, ['down'], { from: 358_500, to: 369_000 }],
    ];
  t.same(
    table.map(([elapsedMs]) => expected(script, shop, elapsedMs, timing)),
    table.map(([, statuses, since]) => ({ statuses, since })),
  );
});

t.test('it finds a wrong status, a wrong beginning and a missing service', async (t) => {
  const startAt = Date.UTC(2026, 0, 1);
  const at = (elapsedMs: number, status: string, sinceMs: number | null) =>
    compare(
      script,
      timing,
      [{ slug: 'shop', status, since: sinceMs === null ? null : new Date(startAt + sinceMs).toISOString() }],
      elapsedMs,
      elapsedMs + 5,
      startAt,
    ).map(({ found, wanted }) => [found, wanted]);
  t.same(at(100_000, 'down', 61_000), []);
  t.same(at(100_000, 'up', 1_000), [['up', 'down']]);
  t.same(at(100_000, 'down', 50_000), [['down since 50000 ms', 'since 58500 to 69000 ms']]);
  t.same(at(100_000, 'down', null), [['down since null ms', 'since 58500 to 69000 ms']]);
  t.same(at(61_000, 'up', 1_000), [], 'both are right while it is being confirmed');
  t.same(at(59_998, 'down', 60_000), [], 'a change while the answer is on its way');
  t.same(
    compare(script, timing, [], 0, 0, startAt).map(({ found }) => found),
    ['nothing'],
  );
});

t.test('it knows when the prober must say that it is offline', async (t) => {
  t.equal(mustBeOffline(script, timing, 100_000), false);
  t.equal(mustBeOffline(script, timing, 201_000), null);
  t.equal(mustBeOffline(script, timing, 215_000), true);
  t.equal(mustBeOffline(script, timing, 225_000), null);
  t.equal(mustBeOffline(script, timing, 240_000), false);
});

t.test('its play has a cast of all categories, with names of their own', async (t) => {
  const { services } = DEMO_SCRIPT;
  t.ok(services.length >= 60, `${services.length} services`);
  t.same([...new Set(services.map(({ category }) => category))].sort(), [...CATEGORIES].sort());
  for (const key of ['slug', 'name', 'domain'] as const) {
    t.equal(new Set(services.map((service) => service[key])).size, services.length, key);
  }
  t.ok(services.every(({ slug }) => /^[a-z0-9-]+$/.test(slug)));
});

t.test('its changes last long enough to be seen, and are over before the prober is cut off', async (t) => {
  const { services, periodMs, outages } = DEMO_SCRIPT;
  for (const { slug, steps } of services) {
    t.equal(steps[0]?.at, 0, `${slug} begins at 0`);
    for (const [index, { at, behaviour }] of steps.entries()) {
      const next = steps[index + 1]?.at ?? periodMs;
      t.ok(next - at > detectMs(behaviour, DEMO_TIMING), `${slug} at ${at}: ${behaviour.kind} is seen`);
      for (const { from, to } of outages) {
        const calm = at + detectMs(behaviour, DEMO_TIMING) <= from || at >= to;
        t.ok(at === 0 || calm, `${slug} at ${at}: ${behaviour.kind} is over before ${from}`);
      }
    }
    const last = steps.at(-1)?.behaviour ?? good(1);
    const first = steps[0]?.behaviour ?? good(1);
    t.equal(verdictOf(last), verdictOf(first), `${slug} ends as it begins`);
  }
});

t.test('it repeats without an end', async () => {
  const { services, periodMs } = DEMO_SCRIPT;
  fc.assert(
    fc.property(
      fc.constantFrom(...services),
      fc.integer({ min: 0, max: periodMs - 1 }),
      fc.integer({ min: 1, max: 1_000 }),
      (service, inPeriod, cycle) =>
        behaviourAt(DEMO_SCRIPT, service, inPeriod) ===
          behaviourAt(DEMO_SCRIPT, service, inPeriod + cycle * periodMs) &&
        isCutOff(DEMO_SCRIPT, inPeriod) === isCutOff(DEMO_SCRIPT, inPeriod + cycle * periodMs),
    ),
  );
});
