/** Where what vendors say arrives: on a real registry, with a clock that stands still. */
import t from 'tap';
import type { FeedEntry, FeedMaintenance } from '../../src/domain/incident/feed-entry.ts';
import type { StatusPage } from '../../src/domain/service.ts';
import type { FeedEvent } from '../../src/feeds/poller.ts';
import { VendorIntake } from '../../src/feeds/vendor-intake.ts';
import { createVendorStatusCache } from '../../src/feeds/vendor-status-cache.ts';
import { silentLog } from '../../src/log.ts';
import { owned } from '../store/registry-fixtures.ts';
import { INCIDENT, INTERVAL, MAINTENANCE, MINUTE, NOW, start } from './intake-world.ts';

const PAGE: StatusPage = {
  url: 'https://status.example',
  kind: 'statuspage',
  feedUrl: null,
  components: null,
};

const FEED = 'statuspage https://status.example';

function reading(entries: readonly FeedEntry[], readAt = NOW, feedId = FEED): FeedEvent {
  return { kind: 'reading', feedId, document: 'incidents', listsOnlyOpen: false, entries, readAt };
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
