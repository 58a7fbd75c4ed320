/** The engine of alerts over a real registry, by a clock that stands still. */
import t, { type Test } from 'tap';
import { startAlertEngine } from '../../src/alerts/alert-engine.ts';
import { watchAlertFigures } from '../../src/alerts/alert-figures.ts';
import { systemClock } from '../../src/clock.ts';
import { listOpenAlerts, readAlertState } from '../../src/domain/alert/alert-state.ts';
import type { AlertRule } from '../../src/domain/alert/rule.ts';
import type { Failure } from '../../src/domain/failure.ts';
import type { FeedIncident } from '../../src/domain/incident/feed-entry.ts';
import type { CurrentStatus } from '../../src/domain/status/current.ts';
import type { Verdict } from '../../src/domain/status.ts';
import { silentLog } from '../../src/log.ts';
import type { NewService } from '../../src/store/ports/services.ts';
import type { VendorReading } from '../../src/store/ports/vendors.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';
import { channelOf, ruleOf } from '../store/alert-fixtures.ts';
import { entry, firstTurn, owned, turn } from '../store/registry-fixtures.ts';
import { double } from '../support/double.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { registryHere } from '../support/registry-here.ts';

const NOW = Date.UTC(2026, 0, 1);
const SECOND = 1_000;
const DAY = 86_400_000;

/** An account with a channel, three services, and the engine. */
async function start(t: Test, rule: Partial<AlertRule> = {}) {
  const clock = createFakeClock(NOW);
  const dataDir = t.testdir();
  const methods = await openRegistryMethods({ dataDir, domainsPerAccount: 9 });
  const registry = registryHere(methods, systemClock);
  const { id: accountId } = await registry.ensureAccount('ada', NOW);
  const { id: channelId } = await registry.addChannel(channelOf(accountId));
  await registry.putCatalogue([entry('a')]);
  const services: NewService[] = [owned('one.example', accountId), owned('two.example', accountId)];
  const ids: number[] = [];
  for (const service of services) ids.push((await registry.addService(service)).id);
  await registry.addRule({ ...ruleOf(accountId, [channelId]), ...rule });
  const directory = createServiceDirectory();
  const loadServices = async () =>
    directory.load((await registry.loadServices()).map(({ service }) => service));
  await loadServices();
  const statuses = new Map<number, CurrentStatus>();
  const world = { isOurs: true, nudges: 0, asked: [] as number[] };
  const open = () =>
    startAlertEngine({
      ...{ registry, services: directory, clock, log: silentLog },
      status: double({ get: (id) => statuses.get(id) ?? null }),
      siteUrl: 'https://upbeat.example',
      usual: { intervalMs: 300_000, timeoutMs: 10_000, slowOverMs: 3_000, confirmAfterMs: [] },
      acknowledgeUrl: (account, thread) => `https://upbeat.example/ack/${account}/${thread}`,
      isOurs: () => world.isOurs,
      recheck: (asked) => void world.asked.push(...asked),
      onMessages: () => {
        world.nudges += 1;
      },
    });
  let engine = open();
  t.teardown(async () => {
    await engine.stop();
    await registry.close();
  });
  return {
    ...{ registry, methods, dataDir, clock, accountId, channelId, ids, world, statuses, loadServices },
    /** Changes the status of services together. */
    async turnTo(to: Verdict, ...serviceIds: readonly number[]) {
      const updates = serviceIds.map((id) => {
        const before = statuses.get(id);
        return before === undefined ? firstTurn(id, to, clock.now()) : turn(before, to, clock.now());
      });
      for (const { serviceId, current } of updates) statuses.set(serviceId, current);
      await registry.commitUpdates(
        updates.map((update) => ({
          ...update,
          transition: update.transition && { ...update.transition, recordedAt: clock.now() },
        })),
      );
      engine.look();
    },
    look: () => engine.look(),
    async restart() {
      await engine.stop();
      engine = open();
    },
    /** Type, number of services and names of the messages so far, oldest first. */
    async told() {
      const stored = await registry.messagesOf(accountId);
      return stored
        .toReversed()
        .map(({ message }) => `${message.type} ${message.items.map(({ service }) => service.name)}`);
    },
  };
}

t.test('it tells of an outage and its end once, over restarts', async (t) => {
  const { clock, ids, turnTo, told, registry, accountId, restart, world } = await start(t);
  const [one = 0, two = 0] = ids;
  await turnTo('up', one, two);
  await clock.advance(60 * SECOND);
  t.same(await told(), []);
  await turnTo('down', one);
  await clock.advance(10 * SECOND);
  await turnTo('down', two);
  await restart();
  await clock.advance(15 * SECOND);
  t.same(await told(), ['alert one.example'], 'the first is told at once');
  await clock.advance(10 * SECOND);
  t.same(await told(), ['alert one.example', 'alert two.example,one.example'], 'the next joins it');
  t.equal(world.nudges, 2, 'it is sent at once');
  const [stored] = await registry.messagesOf(accountId);
  t.match(stored?.message, {
    urgency: 'high',
    at: NOW + 70 * SECOND,
    total: 2,
    rule: 'all',
    acknowledgeUrl: `https://upbeat.example/ack/${accountId}/${stored?.message.thread}`,
    items: [{ service: { url: /^https:\/\/upbeat\.example\/status\// }, event: 'down', status: 'down' }, {}],
  });
  await restart();
  await clock.advance(10 * SECOND);
  await turnTo('up', one, two);
  await clock.advance(40 * SECOND);
  t.same((await told()).slice(2), ['recovery one.example,two.example']);
  const { position, states } = await registry.loadAlertStates();
  t.ok(position > 0);
  t.equal(states.length, 1);
  t.same(await registry.alertEventsAfter(0, 99), []);
});

t.test('it asks what a service depends on before it tells of the service, over restarts', async (t) => {
  const { clock, ids, turnTo, told, world, registry, loadServices, statuses, restart } = await start(t);
  const [router = 0, camera = 0] = ids;
  await registry.changeService('two-example', { dependsOn: ['one-example'] });
  await loadServices();
  await turnTo('up', router, camera);
  await clock.advance(60 * SECOND);
  world.asked.splice(0);
  await turnTo('down', camera);
  await clock.advance(SECOND);
  await restart();
  await clock.advance(2 * SECOND);
  t.same([await told(), world.asked.includes(router)], [[], true]);
  await turnTo('down', router);
  await clock.advance(60 * SECOND);
  t.same(await told(), ['alert one.example'], 'the cause alone is told');
  world.asked.splice(0);
  await turnTo('up', router);
  await restart();
  await clock.advance(2 * SECOND);
  t.ok(world.asked.includes(camera), 'what is behind it is checked at once');
  await turnTo('up', camera);
  await clock.advance(300 * SECOND);
  t.same(await told(), ['alert one.example', 'recovery one.example']);

  await turnTo('down', camera);
  await clock.advance(3 * SECOND);
  const current = statuses.get(router);
  if (current?.latest == null) throw new Error('the router was not checked');
  statuses.set(router, { ...current, latest: { ...current.latest, checkedAt: clock.now() } });
  await clock.advance(2 * SECOND);
  t.same((await told()).slice(2), ['alert two.example'], 'the router answers');
});

t.test('it asks at once for checks of what may fail with a service that went down', async (t) => {
  const { clock, ids, turnTo, told, world } = await start(t);
  const [one = 0, two = 0] = ids;
  await turnTo('up', one, two);
  await clock.advance(4 * 60 * SECOND);
  t.same(world.asked, []);
  await turnTo('down', one);
  await clock.advance(SECOND);
  t.same(world.asked, [two]);
  await clock.advance(7 * SECOND);
  await turnTo('down', two);
  await clock.advance(60 * SECOND);
  t.same(await told(), ['alert one.example', 'alert two.example,one.example'], 'one thread');
  t.same(world.asked, [two]);
});

t.test('an acknowledgement ends reminders, and tells who has it', async (t) => {
  const { clock, ids, turnTo, told, registry, accountId } = await start(t, { repeatMs: 10 * 60 * SECOND });
  const [one = 0] = ids;
  await turnTo('down', one);
  await clock.advance(11 * 60 * SECOND);
  t.same(await told(), ['alert one.example', 'reminder one.example']);
  const [stored] = await registry.messagesOf(accountId);
  const thread = stored?.message.thread ?? '';
  t.equal(await registry.acknowledge({ accountId, thread, by: 'Grace', at: clock.now() }), true);
  await clock.advance(30 * 60 * SECOND);
  t.same((await told()).slice(2), ['acknowledged one.example']);
  t.match((await registry.messagesOf(accountId))[0]?.message.note, { by: 'Grace' });
  t.same(await registry.newAcknowledgements(), []);
});

t.test('it decides by the rules of the moment', async (t) => {
  const { clock, ids, turnTo, told, registry, accountId, channelId, world } = await start(t);
  const [, two = 0] = ids;
  const [rule] = await registry.rulesOf(accountId);
  await registry.changeRule(accountId, rule?.id ?? 0, { events: ['certificate'] });
  await registry.addRule({
    ...ruleOf(accountId, [channelId], 'public'),
    of: { own: false, services: [], categories: [], publicCategories: [entry('a').category], pages: [] },
  });
  await turnTo('down', two, 1);
  await clock.advance(40 * SECOND);
  const last = (await told()).at(-1);
  t.match(last, /a$/i, 'the public service');
  t.notMatch((await told()).join(), /two/);
  const before = (await told()).length;
  world.isOurs = false;
  await turnTo('up', 1);
  await clock.advance(120 * SECOND);
  t.equal((await told()).length, before, 'decisions wait while the prober is offline');
  world.isOurs = true;
  await clock.advance(40 * SECOND);
  t.match((await told()).at(-1), /^recovery/);
});

t.test('it tells of a certificate once for each threshold', async (t) => {
  const { clock, ids, turnTo, told, registry, accountId, statuses } = await start(t, {
    events: ['certificate'],
  });
  const [one = 0] = ids;
  await turnTo('up', one);
  const setEnd = (certificateExpiresAt: number) => {
    const current = statuses.get(one);
    if (current?.latest)
      statuses.set(one, { ...current, latest: { ...current.latest, certificateExpiresAt } });
  };
  setEnd(NOW + 22 * DAY);
  const passHours = async (hours: number) => {
    for (let n = 0; n < hours; n++) {
      await clock.skip(3_590 * SECOND);
      await clock.advance(12 * SECOND);
    }
  };
  await passHours(23);
  t.same(await told(), []);
  await passHours(5);
  await clock.advance(40 * SECOND);
  t.same(await told(), ['alert one.example']);
  t.match((await registry.messagesOf(accountId))[0]?.message.items, [
    { event: 'certificate', certificate: { endsAt: NOW + 22 * DAY, days: 21 } },
  ]);
  await passHours(3);
  t.equal((await told()).length, 1);
  setEnd(clock.now() + DAY / 2);
  await passHours(2);
  await clock.advance(40 * SECOND);
  t.equal((await told()).length, 2);
});

t.test('an outage that is open when its account is merged ends where it was told', async (t) => {
  const { clock, ids, turnTo, registry, accountId, channelId, loadServices } = await start(t);
  const [one = 0] = ids;
  const { id: intoId } = await registry.ensureAccount('grace', NOW);
  const other = await registry.addChannel(channelOf(intoId, 'other'));
  await registry.addRule({
    ...ruleOf(intoId, [other.id]),
    of: { own: false, services: [], categories: [], publicCategories: ['cloud'], pages: [] },
  });
  await turnTo('down', one, 1);
  await clock.advance(40 * SECOND);
  const [alert] = await registry.messagesOf(accountId);
  const thread = alert?.message.thread ?? '';
  const [others] = await registry.messagesOf(intoId);
  await registry.mergeAccounts(accountId, intoId, clock.now());
  await loadServices();
  await clock.advance(5 * SECOND);
  const { state } = await registry.alertsOf(intoId);
  const open = listOpenAlerts(readAlertState(state ?? ''), new Map());
  t.same(
    open.map((one) => one.thread).toSorted(),
    [thread, others?.message.thread].toSorted(),
    'both alerts are open',
  );
  const taken = { accountId: (await registry.accountOfThread(thread)) ?? 0, thread, by: '', at: clock.now() };
  t.equal(await registry.acknowledge(taken), true, 'the link in its message is still good');
  await clock.advance(5 * SECOND);
  await turnTo('up', one, 1);
  await clock.advance(40 * SECOND);
  const told = (await registry.messagesOf(intoId)).toReversed();
  const wordsTo = (id: number) => told.filter((message) => message.channelId === id);
  t.match(
    wordsTo(channelId).map(({ message }) => [message.type, message.thread]),
    ['alert', 'acknowledged', 'recovery'].map((type) => [type, thread]),
  );
  t.match(
    wordsTo(other.id).map(({ message }) => [message.type, message.thread]),
    ['alert', 'recovery'].map((type) => [type, others?.message.thread]),
  );
});

t.test('it names the vendor whose incident explains what its services have in common', async (t) => {
  const { clock, turnTo, registry, accountId, loadServices } = await start(t, {
    of: { own: false, services: [], categories: [], publicCategories: ['cloud'], pages: [] },
  });
  const ofVendor = (slug: string) =>
    entry(slug, {
      statusPage: {
        url: `https://www.vendor.example/${slug}`,
        kind: 'custom',
        feedUrl: null,
        components: null,
      },
    });
  await registry.putCatalogue(['a', 'b', 'c'].map(ofVendor));
  await loadServices();
  const states = await registry.loadServices();
  const idOf = (slug: string) => states.find(({ service }) => service.slug === slug)?.service.id ?? 0;
  const [a, b, c] = [idOf('a'), idOf('b'), idOf('c')];
  const entryOf = (status: 'investigating' | 'resolved'): FeedIncident => ({
    ...{ kind: 'incident', key: 'i', title: 'Trouble', severity: 'minor', status, startedAt: clock.now() },
    ...{ resolvedAt: null, sourceUrl: 'https://www.vendor.example/i', components: [], updates: [] },
  });
  const report = (status: 'investigating' | 'resolved', ...ids: readonly number[]) =>
    registry.putVendorReadings(
      ids.map(
        (serviceId): VendorReading => ({
          ...{ serviceId, slug: 'a', feed: `f${serviceId}`, kind: 'statuspage', document: 'd' },
          ...{ readAt: clock.now(), listsOnlyOpen: false, entries: [entryOf(status)] },
        }),
      ),
    );
  const causes = async () => (await registry.messagesOf(accountId)).map(({ message }) => message.cause);
  await turnTo('down', a, b);
  await clock.advance(40 * SECOND);
  t.same(await causes(), [null], 'the vendor says nothing');
  await turnTo('up', a, b);
  await clock.advance(40 * SECOND);
  await report('investigating', a, b);
  await turnTo('down', a, b);
  await clock.advance(40 * SECOND);
  t.same((await causes())[0], { kind: 'vendor', name: 'vendor.example' });
  await turnTo('up', a, b);
  await clock.advance(40 * SECOND);
  await turnTo('up', c);
  await turnTo('down', a, b);
  await clock.advance(30 * SECOND);
  t.same((await causes())[0], null, 'another service of the vendor is well');
});

t.test('it names the certificate that the services which fail for it share', async (t) => {
  const { clock, ids, turnTo, registry, accountId, statuses, world } = await start(t);
  const [one = 0, two = 0] = ids;
  const ended = { class: 'tls', phase: 'tls', cause: { code: 'certificate_expired' } } as const;
  const present = (certificateExpiresAt: number, failure: Failure | null) => {
    for (const id of [one, two]) {
      const current = statuses.get(id);
      if (current?.latest)
        statuses.set(id, { ...current, latest: { ...current.latest, certificateExpiresAt, failure } });
    }
  };
  const causes = async () => (await registry.messagesOf(accountId)).map(({ message }) => message.cause);
  const fail = async (failure: Failure | null) => {
    world.isOurs = false;
    await turnTo('down', one, two);
    present(NOW, failure);
    world.isOurs = true;
  };
  await fail(ended);
  await clock.advance(40 * SECOND);
  t.same(await causes(), [{ kind: 'certificate', name: '2026-01-01 00:00 UTC' }]);
  await turnTo('up', one, two);
  await clock.advance(40 * SECOND);
  await fail(null);
  await clock.advance(40 * SECOND);
  t.same((await causes())[0], null, 'it is not why they fail');
});

t.test(
  'after the clock was set back, it tells what happens then, and what waited, as soon as ever',
  async (t) => {
    const { clock, ids, turnTo, told } = await start(t, { repeatMs: 40 * SECOND });
    const [one = 0, two = 0] = ids;
    await turnTo('down', one);
    await clock.advance(30 * SECOND);
    t.same(await told(), ['alert one.example']);
    clock.setBy(-DAY);
    await clock.advance(45 * SECOND);
    t.same(await told(), ['alert one.example', 'reminder one.example'], 'a reminder');
    clock.setBy(-DAY);
    await turnTo('down', two);
    await clock.advance(32 * SECOND);
    t.ok((await told()).includes('alert two.example'));
  },
);

t.test('a process that has lost the lease commits nothing', async (t) => {
  const { clock, ids, turnTo, told, methods, dataDir, world } = await start(t);
  const [one = 0] = ids;
  const take = async (through: typeof methods) => {
    const { fence, renewedAt } = await through.readLease();
    return await through.takeLease({ pid: 1, host: 'here', replacing: fence, renewedAt, now: NOW });
  };
  t.ok(await take(methods));
  world.isOurs = false;
  await turnTo('down', one);
  const other = await openRegistryMethods({ dataDir, domainsPerAccount: 9 });
  t.ok(await take(other));
  world.isOurs = true;
  const before = await other.loadAlertStates();
  await clock.advance(60 * SECOND);
  t.same(await told(), []);
  t.strictSame(await other.loadAlertStates(), before);
  await other.close();
});

t.test(
  'figures say once why nothing is decided or sent, while this process is the one that does',
  async (t) => {
    const { clock, ids, turnTo, look, registry, world } = await start(t);
    const errors: string[] = [];
    let isOurs = true;
    const figures = watchAlertFigures({
      ...{ registry, clock, isOurs: () => isOurs },
      log: { ...silentLog, error: (_: object, text = '') => void errors.push(text) },
    });
    t.teardown(() => figures.stop());
    const problem = async (afterMs: number) => {
      for (let passed = 0; passed < afterMs; passed += 10 * SECOND) await clock.advance(10 * SECOND);
      return figures.current()?.problem;
    };
    const [one = 0] = ids;
    await turnTo('up', one);
    t.equal(await problem(10 * SECOND), null);
    world.isOurs = false;
    await turnTo('down', one);
    t.equal(await problem(120 * SECOND), null);
    t.match(await problem(10 * SECOND), /^events of alerts have waited for 1[23]0 s to be decided$/);
    await problem(60 * SECOND);
    world.isOurs = true;
    look();
    t.equal(await problem(40 * SECOND), null);
    t.match(figures.current(), { counts: { events: 0, waiting: 1 }, delay: { count: 0, p50Ms: null } });
    t.match(await problem(130 * SECOND), /^messages of alerts have been due for 1\d\d s and are not sent$/);
    t.equal(errors.length, 2, 'a log event each');
    isOurs = false;
    t.equal(await problem(10 * SECOND), null);
  },
);
