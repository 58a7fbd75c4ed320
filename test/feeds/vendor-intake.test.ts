/** Where what vendors say arrives: on a real registry, with a clock that stands still. */
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import type { FeedEntry, FeedIncident, FeedMaintenance } from '../../src/domain/incident/feed-entry.ts';
import type { Service, StatusPage } from '../../src/domain/service.ts';
import type { FeedEvent } from '../../src/feeds/poller.ts';
import { VendorIntake } from '../../src/feeds/vendor-intake.ts';
import { createVendorStatusCache } from '../../src/feeds/vendor-status-cache.ts';
import { type Log, silentLog } from '../../src/log.ts';
import { openRegistry } from '../../src/store/registry/open-registry.ts';
import { entry as catalogueEntry, owned } from '../store/registry-fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const NOW = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const INTERVAL = 5 * MINUTE;

const PAGE: StatusPage = {
  url: 'https://status.example',
  kind: 'statuspage',
  feedUrl: null,
  components: null,
};
const FEED = 'statuspage https://status.example';

const INCIDENT: FeedIncident = {
  kind: 'incident',
  key: 'k1',
  title: 'API errors',
  sourceUrl: 'https://status.example/k1',
  components: ['API', 'c1'],
  updates: [{ at: NOW, status: 'investigating', text: 'We look.' }],
  severity: 'major',
  status: 'investigating',
  startedAt: NOW,
  resolvedAt: null,
};

const MAINTENANCE: FeedMaintenance = {
  kind: 'maintenance',
  key: 'm1',
  title: 'Upgrade',
  sourceUrl: 'https://status.example/m1',
  components: null,
  updates: [],
  startsAt: NOW + 10 * MINUTE,
  endsAt: NOW + 20 * MINUTE,
  state: 'planned',
};

function reading(entries: readonly FeedEntry[], readAt = NOW, feedId = FEED): FeedEvent {
  return { kind: 'reading', feedId, document: 'incidents', listsOnlyOpen: false, entries, readAt };
}

/** Services 1, 2, ... with these status pages, and the intake over them. */
async function start(t: Test, pages: readonly (StatusPage | null)[]) {
  const clock = createFakeClock(NOW);
  const registry = await openRegistry({
    dataDir: t.testdir(),
    log: silentLog,
    clock: systemClock,
    domainsPerAccount: 100,
    onEnd: (error) => t.fail(error.message),
  });
  await registry.putCatalogue(
    pages.map((statusPage, index) => ({ ...catalogueEntry(`s${index + 1}`), statusPage })),
  );
  const services = (await registry.loadServices()).map(({ service }) => service);
  const cache = createVendorStatusCache({ intervalMs: INTERVAL, now: clock.now });
  const told = {
    feeds: [] as string[][],
    forgotten: [] as string[],
    polls: [] as boolean[],
    log: [] as string[],
  };
  const note = (_: object, message: string) => void told.log.push(message);
  const fault = { away: false, offline: false };
  const writes: number[] = [];
  const intake = new VendorIntake({
    registry: {
      ...registry,
      async putVendorReadings(readings) {
        if (fault.away) throw new Error('the registry is away');
        writes.push(readings.length);
        return await registry.putVendorReadings(readings);
      },
    },
    cache,
    clock,
    log: { ...silentLog, warn: note, info: note, error: note } as Log,
    setFeeds: (feeds) => void told.feeds.push(feeds.map(({ id }) => id)),
    forget: (feedId) => void told.forgotten.push(feedId),
    onPoll: (ok) => void told.polls.push(ok),
    isOnline: () => !fault.offline,
  });
  await intake.load(services);
  await clock.advance(1);
  await intake.idle();
  t.teardown(async () => {
    await intake.stop();
    await registry.close();
  });
  const vendorStatusOf = (service: Service) => cache.statusOf(service.id, service.statusPage);
  return {
    clock,
    registry,
    cache,
    intake,
    told,
    fault,
    writes,
    services,
    words: () => services.map((service) => vendorStatusOf(service)?.status ?? null),
    vendorStatusOf,
    async take(...news: readonly FeedEvent[]) {
      for (const one of news) intake.take(one);
      await intake.idle();
    },
    /** Lets time pass, with pauses in which the registry's thread can answer. */
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += MINUTE / 2) {
        await clock.advance(MINUTE / 2);
        await intake.idle();
      }
    },
    async incidents() {
      const found = await registry.listIncidents({ limit: 50, offset: 0 });
      return found.map(({ serviceId, title, status }) => `${serviceId} ${title} ${status}`).sort();
    },
  };
}

t.test('it gives each entry to the services that it concerns', async (t) => {
  const world = await start(t, [
    PAGE,
    { ...PAGE, components: ['api '] },
    { ...PAGE, components: ['Website'] },
    { ...PAGE, url: 'https://status.other.example' },
    { ...PAGE, kind: 'custom' },
    null,
  ]);
  t.strictSame(world.told.feeds, [[FEED, 'statuspage https://status.other.example']]);
  await world.take(reading([INCIDENT]), { kind: 'polled', feedId: FEED, at: NOW, problem: null });
  t.strictSame(await world.incidents(), ['1 API errors investigating', '2 API errors investigating']);
  t.strictSame(world.words(), ['major', 'major', 'operational', 'unknown', null, null]);
  await world.take(reading([{ ...INCIDENT, components: null }]));
  t.equal((await world.incidents()).length, 3, 'an entry without components concerns the whole page');
});

t.test('it says what the vendor says, since when, and how old its word is', async (t) => {
  const world = await start(t, [PAGE]);
  const [service] = world.services;
  if (service === undefined) throw new Error('no service');
  t.match(world.vendorStatusOf(service), { status: 'unknown', since: null, readAt: null, stale: true });
  const polled = (at: number, problem: string | null = null): FeedEvent => ({
    kind: 'polled',
    feedId: FEED,
    at,
    problem,
  });
  await world.take(reading([]), polled(NOW));
  t.strictSame(world.vendorStatusOf(service), {
    url: PAGE.url,
    kind: 'statuspage',
    status: 'operational',
    since: null,
    incidentId: null,
    readAt: NOW,
    stale: false,
  });
  const minor = {
    ...INCIDENT,
    key: 'k0',
    title: 'Slow',
    severity: 'minor' as const,
    startedAt: NOW + MINUTE,
  };
  await world.take(reading([INCIDENT, minor]));
  t.match(world.vendorStatusOf(service), { status: 'major', since: NOW, incidentId: /^statuspage-.*-s1$/ });
  const resolvedAt = NOW + 2 * MINUTE;
  await world.take(
    reading([
      { ...INCIDENT, status: 'resolved', resolvedAt },
      { ...minor, status: 'resolved', resolvedAt: NOW + MINUTE },
    ]),
  );
  t.match(world.vendorStatusOf(service), { status: 'operational', since: resolvedAt, incidentId: null });
  await world.take(polled(NOW + INTERVAL, 'it answered with HTTP 503'));
  await world.clock.advance(2 * INTERVAL);
  t.match(world.vendorStatusOf(service), { status: 'operational', readAt: NOW, stale: true });
  await world.take(polled(NOW + 2 * INTERVAL, 'it answered with HTTP 503'), polled(NOW + 3 * INTERVAL));
  t.match(world.vendorStatusOf(service), { readAt: NOW + 3 * INTERVAL, stale: false });
  t.strictSame(world.told.polls, [true, false, false, true]);
  await world.clock.advance(5_000);
  t.strictSame(world.told.log, [
    'status pages cannot be read; their last known incidents are kept',
    'status pages can be read again',
  ]);
  t.match(world.cache.feeds(), [{ feedId: FEED, readAt: NOW + 3 * INTERVAL, problem: null }]);
});

t.test('it starts and ends a maintenance by the clock', async (t) => {
  const world = await start(t, [PAGE]);
  await world.take(reading([MAINTENANCE]), { kind: 'polled', feedId: FEED, at: NOW, problem: null });
  t.equal(world.cache.isInMaintenance(1, NOW + 10 * MINUTE - 1), false);
  t.equal(world.cache.isInMaintenance(1, NOW + 10 * MINUTE), true);
  t.equal(world.cache.isInMaintenance(2, NOW + 10 * MINUTE), false);
  t.strictSame(await world.incidents(), []);
  await world.pass(10 * MINUTE);
  t.strictSame(await world.incidents(), ['1 Upgrade identified']);
  t.strictSame(world.words(), ['maintenance']);
  await world.pass(10 * MINUTE);
  t.strictSame(await world.incidents(), ['1 Upgrade resolved']);
  t.strictSame(world.words(), ['operational']);
  t.equal(world.cache.isInMaintenance(1, NOW + 20 * MINUTE), false);
  t.equal(world.cache.isInMaintenance(1, NOW + 20 * MINUTE - 1), true, 'a check that began before its end');
  t.equal(world.cache.isInMaintenance(1, NOW + 10 * MINUTE - 1), false);
});

t.test('failures are expected within maintenance of the service alone', async (t) => {
  const others = { ...PAGE, url: 'https://status.other.example' };
  const world = await start(t, [
    { ...PAGE, components: ['API'] },
    { ...PAGE, components: ['Website'] },
    PAGE,
    others,
  ]);
  const expected = () => world.services.map(({ id }) => world.cache.isInMaintenance(id, world.clock.now()));
  for (const [components, own, alone] of [
    [['API', 'c1'], [true, false, false], false],
    [['Frankfurt'], [false, false, false], false],
    // A page of many services says nothing of one of them.
    [null, [false, false, false], true],
  ] as const) {
    const work: FeedMaintenance = { ...MAINTENANCE, state: 'running', startsAt: NOW, components };
    await world.take(reading([work]), reading([work], NOW, 'statuspage https://status.other.example'));
    t.strictSame(expected(), [...own, alone], JSON.stringify(components));
    t.strictSame(world.words().at(-1), 'maintenance', 'the vendor status shows all of them');
  }
  for (const service of world.services.slice(0, 2)) world.intake.applyChange(service.id, null);
  await world.take(reading([{ ...MAINTENANCE, state: 'running', startsAt: NOW }]));
  t.equal(world.cache.isInMaintenance(3, NOW), true, 'the page is its own now');
});

t.test('the state of a whole page says nothing of the components that a service names', async (t) => {
  const world = await start(t, [PAGE, { ...PAGE, components: ['API'] }]);
  const state = { ...INCIDENT, key: 'state major', title: 'Outage', startedAt: null, updates: [] };
  await world.take(reading([{ ...state, components: null, isOfWholePage: true }]));
  t.strictSame(await world.incidents(), ['1 Outage investigating']);
});

t.test('an incident continues the outage that states showed before it', async (t) => {
  const world = await start(t, [PAGE]);
  const shown = (entries: readonly FeedEntry[]): FeedEvent => ({
    ...{ kind: 'reading', feedId: FEED, document: 'summary', listsOnlyOpen: true, entries, readAt: NOW },
  });
  const state = { ...INCIDENT, key: 'state major', title: 'Outage', startedAt: null, updates: [] };
  const incident = { ...INCIDENT, continues: ['state major'] };
  await world.take(shown([state]));
  t.strictSame(await world.incidents(), ['1 Outage investigating']);
  await world.take(reading([incident]), shown([incident]));
  t.strictSame(await world.incidents(), ['1 API errors investigating']);
  await world.take(reading([{ ...incident, status: 'resolved', resolvedAt: NOW + 1 }]), shown([]));
  t.strictSame(await world.incidents(), ['1 API errors resolved']);
  // Another outage that nobody writes about, and its end.
  await world.take(shown([state]));
  t.strictSame(await world.incidents(), ['1 API errors resolved', '1 Outage investigating']);
  await world.take(shown([]));
  t.strictSame(await world.incidents(), ['1 API errors resolved', '1 Outage resolved']);
});

t.test('it remembers a maintenance for checks that began within it', async (t) => {
  const world = await start(t, [PAGE]);
  const work: FeedMaintenance = { ...MAINTENANCE, state: 'running', startsAt: NOW - MINUTE, endsAt: null };
  await world.take(reading([work]));
  await world.pass(MINUTE);
  await world.take(reading([{ ...work, state: 'done' }]));
  t.equal(world.cache.isInMaintenance(1, NOW), true, 'before its vendor ended it');
  t.equal(world.cache.isInMaintenance(1, world.clock.now()), false);
  await world.pass(61 * MINUTE);
  await world.take(reading([{ ...work, state: 'done' }, INCIDENT]));
  t.equal(world.cache.isInMaintenance(1, NOW), false, 'not for ever');
});

t.test('it forgets a maintenance that ended by a clock which was ahead', async (t) => {
  const world = await start(t, [PAGE]);
  const work: FeedMaintenance = {
    ...MAINTENANCE,
    state: 'running',
    startsAt: NOW - 180 * MINUTE,
    endsAt: null,
  };
  await world.take(reading([work]));
  await world.pass(MINUTE);
  await world.take(reading([{ ...work, state: 'done' }]));
  world.clock.setBy(-120 * MINUTE);
  await world.take(reading([{ ...work, state: 'done' }, INCIDENT], world.clock.now()));
  t.equal(world.cache.isInMaintenance(1, world.clock.now()), false);
});

t.test('it writes what a page says of many services in parts', async (t) => {
  const world = await start(
    t,
    Array.from({ length: 501 }, () => PAGE),
  );
  await world.take(reading([{ ...INCIDENT, components: null }]));
  t.same(world.writes, [500, 1]);
  t.same(new Set(world.words()).size, 1);
});

t.test('it lets nothing get lost while the registry is away', async (t) => {
  const world = await start(t, [PAGE]);
  world.fault.away = true;
  await world.take(reading([INCIDENT]));
  t.strictSame(world.told.forgotten, [FEED], 'the feed is read again');
  world.fault.away = false;
  await world.take(reading([INCIDENT]));
  t.strictSame(await world.incidents(), ['1 API errors investigating']);
});

t.test('it follows the catalogue: other pages, other components, services that leave', async (t) => {
  const world = await start(t, [PAGE, PAGE]);
  await world.take(reading([INCIDENT]));
  const [first, second] = world.services;
  if (first === undefined || second === undefined) throw new Error('no services');
  const other = { ...PAGE, url: 'https://status.other.example' };
  world.intake.applyChange(1, { ...first, statusPage: other, revision: 2 });
  world.intake.applyChange(2, { ...second, statusPage: { ...PAGE, components: ['Website'] }, revision: 2 });
  await world.clock.advance(1);
  await world.intake.idle();
  t.strictSame(await world.incidents(), ['1 API errors resolved', '2 API errors investigating']);
  t.strictSame(world.told.forgotten, ['statuspage https://status.other.example', FEED]);
  t.strictSame(new Set(world.told.feeds.at(-1)), new Set([FEED, 'statuspage https://status.other.example']));
  await world.take(reading([INCIDENT]));
  t.strictSame(await world.incidents(), ['1 API errors resolved', '2 API errors resolved']);
  world.intake.applyChange(1, null);
  world.intake.applyChange(2, { ...second, statusPage: null, revision: 3 });
  await world.clock.advance(1);
  t.strictSame(world.told.feeds.at(-1), []);
  await world.take(reading([INCIDENT]), { kind: 'polled', feedId: FEED, at: NOW, problem: null });
  t.strictSame(world.cache.feeds(), []);
});

t.test('it notes the times in which a page could not be read, over restarts', async (t) => {
  const world = await start(t, [PAGE]);
  const { registry, cache, clock, services } = world;
  const poll = (problem: string | null): FeedEvent => ({
    ...{ kind: 'polled', feedId: FEED, at: clock.now(), problem },
  });
  const times = () => registry.unreadTimesSince(0);
  await world.take(poll(null));
  await clock.advance(INTERVAL);
  await world.take(poll('status 503'));
  t.strictSame(await times(), [], 'one failed poll is none');
  await clock.advance(2 * INTERVAL);
  await world.take(poll('status 503'), poll('status 503'));
  t.match(await times(), [{ feed: FEED, from: NOW + 1, to: null }]);
  const later = new VendorIntake({
    ...{ registry, cache, clock, log: silentLog },
    setFeeds: () => {},
    forget: () => {},
    onPoll: () => {},
  });
  await later.load(services);
  later.take(poll(null));
  await later.idle();
  t.match(await times(), [{ feed: FEED, from: NOW + 1, to: clock.now() }]);
  later.take(poll('status 503'));
  await later.stop();
  t.equal((await times()).length, 1);
});

t.test('it knows after a restart what was open before', async (t) => {
  const world = await start(t, [PAGE]);
  await world.take(reading([INCIDENT, { ...MAINTENANCE, state: 'running', startsAt: NOW - MINUTE }]));
  const cache = createVendorStatusCache({ intervalMs: INTERVAL, now: world.clock.now });
  const intake = new VendorIntake({
    registry: world.registry,
    cache,
    clock: world.clock,
    log: silentLog,
    setFeeds: () => {},
    forget: () => {},
    onPoll: () => {},
  });
  intake.fill(await world.registry.loadVendorStates(), (serviceId) => serviceId !== 1);
  t.equal(cache.isInMaintenance(1, NOW), false, 'the service was removed');
  intake.fill(await world.registry.loadVendorStates(), () => true);
  t.equal(cache.isInMaintenance(1, NOW), true, 'checks can be evaluated before the services are loaded');
  await intake.load(world.services);
  t.match(cache.statusOf(1, PAGE), { status: 'major', readAt: null, stale: true });
  t.equal(cache.isInMaintenance(1, NOW), true);
  await intake.stop();
});

t.test('it forgets what a vendor said of a service that was removed', async (t) => {
  const world = await start(t, [PAGE]);
  await world.take(reading([INCIDENT, { ...MAINTENANCE, state: 'running', startsAt: NOW - MINUTE }]));
  t.match(world.cache.statusOf(1, PAGE), { status: 'major' });
  t.equal(world.cache.isInMaintenance(1, NOW), true);
  world.intake.applyChange(1, null);
  await world.intake.idle();
  t.equal(world.cache.statusOf(1, PAGE)?.incidentId, null);
  t.equal(world.cache.isInMaintenance(1, NOW), false);
});

t.test('it says nothing of pages that cannot be read while this machine is offline', async (t) => {
  const world = await start(t, [PAGE]);
  const poll = async (problem: string | null) => {
    await world.take({ kind: 'polled', feedId: FEED, at: world.clock.now(), problem });
    await world.clock.advance(5_000);
  };
  world.fault.offline = true;
  await poll('no answer');
  t.strictSame(world.told.log, [], 'known to be offline at the poll');
  world.fault.offline = false;
  await world.take({ kind: 'polled', feedId: FEED, at: world.clock.now(), problem: 'no answer' });
  world.fault.offline = true;
  await world.clock.advance(5_000);
  t.strictSame(world.told.log, [], 'known a moment later');
  world.fault.offline = false;
  await poll('no answer');
  t.strictSame(world.told.log, ['status pages cannot be read; their last known incidents are kept']);
  await poll(null);
  t.strictSame(world.told.log.slice(1), ['status pages can be read again']);
});

t.test(
  'maintenance of an owner counts from its announcement to its end, also when it is changed meanwhile',
  async (t) => {
    const { registry, cache, intake, clock, pass } = await start(t, []);
    const { id: accountId } = await registry.ensureAccount('ada', NOW);
    const shop = await registry.addService(owned('shop.example', accountId));
    intake.applyChange(shop.id, shop);
    /** What the feed of changes tells the monitor: the service, as it was. */
    const announce = async () => {
      intake.applyChange(shop.id, shop);
      await pass(MINUTE / 2);
    };
    const isIn = () => {
      const at = clock.now();
      return [cache.isInMaintenance(shop.id, at), cache.isInOwnersMaintenance(shop.id, at)];
    };
    const texts = { title: 'Disks', markdown: '', plain: '', timeZone: 'UTC', recurrence: null };
    const of = { accountId, services: [shop.id], pages: [], siteUrl: 'https://status.example' };
    const when = { startsAt: NOW, durationMs: 10 * MINUTE, now: clock.now() };
    const work = await registry.addOwnerMaintenance({ ...texts, ...of, ...when });
    await announce();
    t.same(isIn(), [true, true]);
    t.equal(cache.statusOf(shop.id, PAGE)?.status, 'unknown', 'it is no word of a vendor');
    const longer = { ...work, durationMs: 20 * MINUTE };
    await registry.putOwnerMaintenance(longer, clock.now());
    await announce();
    await pass(15 * MINUTE);
    t.same(isIn(), [true, true], 'it was extended while it ran');
    await registry.putOwnerMaintenance({ ...longer, revision: 2, cancelledAt: clock.now() }, clock.now());
    await announce();
    t.same(isIn(), [false, false], 'it was withdrawn');
    t.match(await registry.listIncidents({ limit: 9, offset: 0 }), [{ source: 'owner', status: 'resolved' }]);
  },
);
