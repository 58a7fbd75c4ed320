/** The word of a vendor, and how old it is. */
import t from 'tap';
import type { FeedEntry } from '../../src/domain/incident/feed-entry.ts';
import type { StatusPage } from '../../src/domain/service.ts';
import type { FeedEvent } from '../../src/feeds/poller.ts';
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
