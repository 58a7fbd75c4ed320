/** Contract of the registry: channels, rules, the feed of events, what was decided about them, and the messages to channels. */
import type { Test } from 'tap';
import { NO_ALERTS, readAlertState, writeAlertState } from '../../src/domain/alert/alert-state.ts';
import type { AlertMessage } from '../../src/domain/alert/message.ts';
import type { StoredAlertState } from '../../src/store/ports/alerts.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import type { OpenForTest, RegistryAdapter } from './registry-contract.ts';
import { entry, firstTurn, incident, NOON, owned, stay, turn } from './registry-fixtures.ts';

const NO_SERVICES = { own: false, services: [], categories: [], publicCategories: [], pages: [] };
const FAILED = { code: 'status', statusCode: 503, text: '' } as const;

/** A channel of an account before it is stored. */
export const channelOf = (accountId: number, name = 'ops') =>
  ({
    accountId,
    name,
    kind: 'slack',
    settings: { url: 'https://hooks.example/T0/secret' },
    language: 'en',
    confirmedAt: NOON,
    createdAt: NOON,
  }) as const;

/** A rule of an account before it is stored: its own services go to these channels. */
export const ruleOf = (accountId: number, channels: readonly number[], name = 'all') => ({
  accountId,
  name,
  of: { ...NO_SERVICES, own: true },
  events: ['down', 'up'] as const,
  channels,
  afterMs: 0,
  repeatMs: null,
  quiet: null,
  enabled: true,
  createdAt: NOON,
});

/** A message. */
export const messageOf = (thread: string, values: Partial<AlertMessage> = {}): AlertMessage => ({
  type: 'alert',
  thread,
  urgency: 'high',
  at: NOON,
  items: [],
  total: 1,
  cause: null,
  rule: 'all',
  url: 'https://upbeat.example/dashboard',
  acknowledgeUrl: null,
  note: null,
  ...values,
});

/** Two accounts, of which the first has a channel. */
async function open2(t: Test, open: OpenForTest, dataDir?: string) {
  const registry = await open(t, dataDir);
  const { id: ada } = await registry.ensureAccount('ada', NOON);
  const { id: grace } = await registry.ensureAccount('grace', NOON);
  const channel = await registry.addChannel(channelOf(ada));
  const decide = async (messages: readonly AlertMessage[], channelId = channel.id, now = NOON) =>
    registry.commitAlerts({
      position: 0,
      states: [],
      messages: messages.map((message) => ({ channelId, message })),
      acknowledgements: [],
      rulesVersion: await registry.rulesVersion(),
      now,
    });
  return { registry, ada, grace, channel, decide };
}

/** Settles the first message of a channel. */
async function deliver(registry: Registry, now: number, reference?: string) {
  const [due] = await registry.dueMessages(now, 1);
  if (due === undefined) throw new Error('nothing is due');
  const settled = {
    ...{ id: due.id, wasDueAt: due.dueAt, triedAt: now, at: now },
    ...{ deliveredAt: now, problem: null, dueAt: null },
  };
  await registry.noteMessage(reference === undefined ? settled : { ...settled, reference });
  return due;
}

/** Runs this part of the contract. */
export async function alertContract(
  t: Test,
  open: OpenForTest,
  execute: RegistryAdapter['execute'],
): Promise<void> {
  t.test('it keeps channels, each for its account alone', async (t) => {
    const dataDir = t.testdir();
    const { registry, ada, grace, channel } = await open2(t, open, dataDir);
    t.strictSame(channel, { ...channelOf(ada), id: channel.id, revision: 1 });
    t.strictSame(await registry.channelsOf(ada), [channel]);
    t.strictSame(await registry.channelsOf(grace), []);
    await execute(
      dataDir,
      `UPDATE channels SET name = 'clear' WHERE settings LIKE '%hooks%' OR settings NOT LIKE 'sealed:%'`,
    );
    t.strictSame(await registry.channelsOf(ada), [channel], 'its settings are encrypted');
    const other = await registry.addChannel({ ...channelOf(ada, 'b'), confirmedAt: null });
    await t.rejects(registry.addChannel(channelOf(ada)), {
      code: 'name_taken',
      refusal: { code: 'channel_name_taken', name: 'ops' },
    });
    await registry.addChannel(channelOf(grace));
    const edit = { name: 'all hands', settings: { token: 'x' }, language: 'de', confirmedAt: NOON } as const;
    const changed = { ...other, ...edit, revision: 2 };
    t.strictSame(await registry.changeChannel(ada, other.id, edit, [1]), changed);
    t.strictSame(await registry.changeChannel(ada, other.id, {}), { ...changed, revision: 3 });
    await t.rejects(registry.changeChannel(ada, other.id, {}, [1, 2]), {
      code: 'stale',
      refusal: { code: 'channel_stale' },
    });
    await t.rejects(registry.changeChannel(ada, other.id, { name: 'ops' }), { code: 'name_taken' });
    await t.rejects(registry.changeChannel(grace, other.id, {}), { code: 'not_found' });
    await t.rejects(registry.removeChannel(grace, other.id), { code: 'not_found' });
    await t.rejects(registry.removeChannel(ada, 99), { code: 'not_found' });
    for (let n = 2; n < 50; n++) await registry.addChannel(channelOf(ada, `c${n}`));
    await t.rejects(registry.addChannel(channelOf(ada, 'z')), {
      code: 'account_limit',
      refusal: { code: 'too_many_channels', max: 50 },
    });
  });

  t.test('it keeps rules, and a number that changes with them, their channels and pages', async (t) => {
    const { registry, ada, grace, channel } = await open2(t, open);
    const versions: number[] = [];
    const isNew = async () => {
      const version = await registry.rulesVersion();
      const known = versions.includes(version);
      versions.push(version);
      return !known;
    };
    t.ok(await isNew());
    const foreign = await registry.addChannel(channelOf(grace));
    const quiet = { from: 1_320, to: 360, timeZone: 'Europe/Berlin', except: ['certificate'] } as const;
    const rule = await registry.addRule({
      ...ruleOf(ada, [channel.id, foreign.id]),
      repeatMs: 60_000,
      quiet,
    });
    t.ok(await isNew());
    t.strictSame(await registry.rulesOf(ada), [rule]);
    t.strictSame(await registry.loadRules(), {
      version: versions.at(-1),
      rules: [{ ...rule, channels: [channel.id] }],
      channels: [
        { id: channel.id, accountId: ada, kind: 'slack' },
        { id: foreign.id, accountId: grace, kind: 'slack' },
      ],
    });
    const off = await registry.changeRule(ada, rule.id, { enabled: false, afterMs: 5, name: 'b' }, [1]);
    t.strictSame(off, { ...rule, enabled: false, afterMs: 5, name: 'b', revision: 2 });
    t.ok(await isNew());
    t.strictSame((await registry.loadRules()).rules, []);
    await registry.addRule(ruleOf(ada, [channel.id]));
    await t.rejects(registry.addRule(ruleOf(ada, [])), {
      code: 'name_taken',
      refusal: { code: 'rule_name_taken', name: 'all' },
    });
    await t.rejects(registry.changeRule(ada, rule.id, { name: 'all' }), { code: 'name_taken' });
    await t.rejects(registry.changeRule(ada, rule.id, {}, [1]), { code: 'stale' });
    await t.rejects(registry.changeRule(grace, rule.id, {}), { code: 'not_found' });
    await t.rejects(registry.removeRule(grace, rule.id), { code: 'not_found' });
    await isNew();
    await registry.addPage({ accountId: ada, slug: 'p', title: 'P', text: '', groups: [], now: NOON });
    t.ok(await isNew());
    await registry.changePage(
      { accountId: ada, slug: 'p', revision: 1 },
      { groups: [{ name: '', services: [1] }] },
      NOON,
    );
    t.ok(await isNew());
    await registry.removePage(ada, 'p');
    t.ok(await isNew());
    await registry.removeChannel(ada, channel.id);
    t.ok(await isNew());
    t.same(
      (await registry.rulesOf(ada)).map(({ name, channels }) => [name, channels]),
      [
        ['all', []],
        ['b', [foreign.id]],
      ],
    );
    await registry.removeRule(ada, rule.id, [3]);
    t.ok(await isNew());
    for (let n = 1; n < 100; n++) await registry.addRule(ruleOf(ada, [], `r${n}`));
    await t.rejects(registry.addRule(ruleOf(ada, [], 'z')), {
      code: 'account_limit',
      refusal: { code: 'too_many_rules', max: 100 },
    });
  });

  t.test('it appends events with the changes that they tell of, while there is a rule', async (t) => {
    const { registry, ada, channel } = await open2(t, open);
    const { id } = await registry.addService(owned('o.org', ada));
    const first = firstTurn(id, 'up', NOON);
    await registry.commitUpdates([first]);
    t.same(await registry.alertEventsAfter(0, 9), [], 'no rule, no event');
    const rule = await registry.addRule(ruleOf(ada, [channel.id]));
    const down = turn(first.current, 'down', NOON + 10);
    const opened = incident(id, 'own-1', { startedAt: NOON + 10, sourceUrl: 'https://u.example/status/o' });
    const update = { ...down, incident: opened, lastGoodAt: NOON + 1 };
    await t.rejects(registry.commitUpdates([update, { ...update, transition: null }]));
    t.same(await registry.alertEventsAfter(0, 9), [], 'they are written with the change or not at all');
    await registry.commitUpdates([update, update]);
    const events = await registry.alertEventsAfter(0, 9);
    const { transition } = down;
    t.match(
      events.map(({ position: _, ...event }) => event),
      [
        {
          serviceId: id,
          at: NOON + 10,
          recordedAt: transition?.recordedAt,
          change: {
            type: 'status',
            from: 'up',
            to: 'down',
            source: 'check',
            reason: transition?.reason,
            lastGoodAt: NOON + 1,
            regions: [],
          },
        },
        {
          serviceId: id,
          at: NOON + 10,
          recordedAt: update.recordedAt,
          change: {
            type: 'incident',
            before: null,
            incident: {
              id: 'own-1',
              source: 'own',
              title: opened.title,
              severity: 'major',
              status: 'investigating',
              startedAt: NOON + 10,
              url: 'https://u.example/status/o/incidents/own-1',
            },
          },
        },
      ],
    );
    const last = events.at(-1)?.position ?? 0;
    t.ok(last > (events[0]?.position ?? 0));
    const retold = { ...opened, description: 'still' };
    await registry.commitUpdates([{ ...stay(down.current, NOON + 20), incident: retold }]);
    t.same(await registry.alertEventsAfter(last, 9), [], 'the status of the incident is the same');
    const scope = { from: null, to: 'partial', regions: ['us'] } as const;
    const up = turn(down.current, 'up', NOON + 30);
    const partial = turn(up.current, 'up', NOON + 40);
    await registry.commitUpdates([
      up,
      partial.transition === null
        ? partial
        : { ...partial, transition: { ...partial.transition, from: 'up', scope } },
    ]);
    t.match(await registry.alertEventsAfter(last, 9), [
      { change: { type: 'status', from: 'down', to: 'up', lastGoodAt: null, phase: null } },
      { change: { type: 'scope', ...scope } },
    ]);
    t.equal((await registry.alertEventsAfter(0, 1)).length, 1);
    await registry.changeRule(ada, rule.id, { enabled: false });
    const more = turn(partial.current, 'down', NOON + 50);
    await registry.commitUpdates([more]);
    t.equal((await registry.alertEventsAfter(last, 9)).length, 2, 'the rule is switched off');
  });

  t.test('it appends what vendors say of incidents and maintenances', async (t) => {
    const { registry, ada, channel } = await open2(t, open);
    await registry.putCatalogue([entry('a')]);
    await registry.addRule(ruleOf(ada, [channel.id]));
    const read = (readAt: number, status: 'investigating' | 'resolved') =>
      registry.putVendorReadings([
        {
          serviceId: 1,
          slug: 'a',
          feed: 'f',
          kind: 'statuspage',
          document: 'd',
          readAt,
          listsOnlyOpen: false,
          entries: [
            {
              kind: 'incident',
              key: 'i',
              title: 'Trouble',
              severity: 'minor',
              status,
              startedAt: NOON,
              resolvedAt: null,
              sourceUrl: 'https://v.example/i',
              components: [],
              updates: [],
            },
            {
              kind: 'incident',
              key: 'past',
              title: 'Past',
              severity: 'minor',
              status: 'resolved',
              startedAt: NOON - 9,
              resolvedAt: NOON - 5,
              sourceUrl: 'https://v.example/past',
              components: [],
              updates: [],
            },
            {
              kind: 'maintenance',
              key: 'm',
              title: 'Work',
              state: 'planned',
              startsAt: NOON + 100,
              endsAt: NOON + 200,
              sourceUrl: 'https://v.example/m',
              components: [],
              updates: [],
            },
          ],
        },
      ]);
    await read(NOON + 1, 'investigating');
    await read(NOON + 2, 'resolved');
    await registry.advanceMaintenances(NOON + 100);
    await registry.advanceMaintenances(NOON + 200);
    const events = await registry.alertEventsAfter(0, 99);
    t.same(
      events.map(({ recordedAt }) => recordedAt - NOON),
      [1, 1, 2, 100, 200],
      'by the clock of the program',
    );
    const found = events.map(({ at, change }) => {
      if (change.type === 'incident')
        return [change.incident.source, change.before, change.incident.status, change.incident.url];
      return change.type === 'maintenance' ? [change.phase, change.title, change.startsAt, at] : [];
    });
    t.same(found, [
      ['vendor', null, 'investigating', 'https://v.example/i'],
      ['planned', 'Work', NOON + 100, NOON + 1],
      ['vendor', 'investigating', 'resolved', 'https://v.example/i'],
      ['running', 'Work', NOON + 100, NOON + 100],
      ['ended', 'Work', NOON + 100, NOON + 200],
    ]);
  });

  t.test('maintenance of a service that was removed is told no more', async (t) => {
    const { registry, ada, channel } = await open2(t, open);
    const { id, slug } = await registry.addService(owned('o.org', ada));
    await registry.addRule(ruleOf(ada, [channel.id]));
    const work = { kind: 'maintenance', key: 'm', title: 'Work', state: 'planned', updates: [] } as const;
    const listed = {
      ...work,
      startsAt: NOON,
      endsAt: NOON + 100,
      sourceUrl: 'https://v.example/m',
      components: [],
    };
    const page = {
      feed: 'f',
      kind: 'statuspage',
      document: 'd',
      readAt: NOON,
      listsOnlyOpen: false,
    } as const;
    await registry.putVendorReadings([{ serviceId: id, slug, ...page, entries: [listed] }]);
    const before = await registry.alertEventsAfter(0, 99);
    t.match(before, [{ change: { type: 'maintenance', phase: 'running' } }]);
    await registry.removeService(slug);
    const { nextAt } = await registry.advanceMaintenances(NOON + 100);
    t.equal(nextAt, null, 'it has come to its end');
    t.same(await registry.alertEventsAfter(0, 99), before);
  });

  t.test('it writes a decision whole, or not at all where rules have changed', async (t) => {
    const dataDir = t.testdir();
    const { registry, ada, grace, channel } = await open2(t, open, dataDir);
    const there = await open(t, dataDir);
    const { id } = await registry.addService(owned('o.org', ada));
    const silent = await registry.addChannel({ ...channelOf(ada, 'mail'), confirmedAt: null });
    await registry.addRule(ruleOf(ada, [channel.id]));
    await registry.commitUpdates([firstTurn(id, 'down', NOON)]);
    const [event] = await registry.alertEventsAfter(0, 9);
    const position = event?.position ?? 0;
    t.strictSame(await registry.loadAlertStates(), { position: 0, states: [] });
    const decision = {
      position,
      states: [
        { accountId: ada, state: '{"v":1}', dueAt: NOON + 5 },
        { accountId: grace, state: '{}', dueAt: null },
      ],
      messages: [channel.id, silent.id, 99].map((channelId) => ({ channelId, message: messageOf('t1') })),
      acknowledgements: [],
      rulesVersion: await registry.rulesVersion(),
      now: NOON + 1,
    };
    t.equal(await registry.commitAlerts({ ...decision, rulesVersion: 0 }), false);
    t.strictSame(await there.loadAlertStates(), { position: 0, states: [] });
    t.equal(await registry.commitAlerts(decision), true);
    t.strictSame(await there.loadAlertStates(), { position, states: decision.states });
    t.same(await there.alertEventsAfter(0, 9), [], 'what was decided is not read again');
    t.match(await there.messagesOf(ada), [{ channelId: channel.id, message: messageOf('t1'), attempts: 0 }]);
    const again = { ...decision, states: [{ accountId: ada, state: '{}', dueAt: null }], messages: [] };
    await registry.commitAlerts({ ...again, position: position - 1 });
    t.match(await there.loadAlertStates(), { position, states: [{ state: '{}', dueAt: null }, {}] });
    t.match(await registry.countAlerts(NOON + 11), {
      events: 0,
      waiting: 1,
      retrying: 0,
      delivered: 0,
      failed: 0,
      overdueMs: 10,
    });
  });

  t.test('a thread that is over in one channel is open while it goes on in another', async (t) => {
    const { registry, ada, decide } = await open2(t, open);
    const other = await registry.addChannel(channelOf(ada, 'other'));
    const acknowledge = () => registry.acknowledge({ accountId: ada, thread: 't1', by: 'Ada', at: NOON });
    await decide([messageOf('t1'), messageOf('t1', { type: 'recovery' })]);
    t.equal(await acknowledge(), false);
    await decide([messageOf('t1')], other.id);
    t.equal(await acknowledge(), true);
    await decide([messageOf('t1', { type: 'recovery' })], other.id);
    t.equal(await acknowledge(), false);
  });

  t.test('it knows what alerts say of a service beside its status', async (t) => {
    const { registry, ada } = await open2(t, open);
    await registry.putCatalogue([entry('a')]);
    const { id } = await registry.addService({ ...owned('o.org', ada), verified: true });
    await registry.claimAddresses('o.org', 'o-org', ['192.0.2.7', '192.0.2.8']);
    const trouble = { source: 'vendor', sourceUrl: 'https://v.example/i', title: 'Trouble' } as const;
    const first = firstTurn(1, 'down', NOON);
    await registry.commitUpdates([{ ...first, incident: incident(1, 'v-1', trouble) }]);
    t.strictSame(
      (await registry.alertFacts([1, id, 99])).toSorted((a, b) => a.serviceId - b.serviceId),
      [
        {
          serviceId: 1,
          addresses: [],
          failingDependencies: [],
          vendor: { title: 'Trouble', url: 'https://v.example/i' },
          isInMaintenance: false,
        },
        {
          serviceId: id,
          addresses: ['192.0.2.7', '192.0.2.8'],
          failingDependencies: [],
          vendor: null,
          isInMaintenance: false,
        },
      ],
    );
    t.same(await registry.alertFacts([]), []);
  });

  t.test('it takes an acknowledgement of an open thread once, until a decision has it', async (t) => {
    const { registry, ada, grace, decide } = await open2(t, open);
    const acknowledge = (accountId: number, thread: string) =>
      registry.acknowledge({ accountId, thread, by: 'Ada', at: NOON });
    t.equal(await acknowledge(ada, 't1'), false);
    await decide([messageOf('t1'), messageOf('t2'), messageOf('t2', { type: 'recovery' })]);
    t.same(
      [await acknowledge(grace, 't1'), await acknowledge(ada, 't2'), await acknowledge(ada, 't1')],
      [false, false, true],
    );
    t.equal(await acknowledge(ada, 't1'), true);
    const found = await registry.newAcknowledgements();
    t.match(found, [{ accountId: ada, thread: 't1', by: 'Ada', at: NOON }]);
    t.equal(found.length, 1);
    await registry.commitAlerts({
      position: 0,
      states: [],
      messages: [],
      acknowledgements: found.map(({ id }) => id),
      rulesVersion: await registry.rulesVersion(),
      now: NOON,
    });
    t.same(await registry.newAcknowledgements(), []);
    t.same(
      await registry.alertsOf(ada),
      { state: null, acknowledgements: found },
      'what was decided about is remembered, and a state that was never written is none',
    );
    t.same(await registry.alertsOf(grace), { state: null, acknowledgements: [] });
    await registry.commitAlerts({
      position: 0,
      states: [{ accountId: ada, state: '{"a":1}', dueAt: null }],
      messages: [],
      acknowledgements: [],
      rulesVersion: await registry.rulesVersion(),
      now: NOON,
    });
    t.match(await registry.alertsOf(ada), { state: '{"a":1}', acknowledgements: { length: 1 } });
    t.equal(await acknowledge(ada, 't1'), true);
    t.match(
      await registry.newAcknowledgements(),
      [{ thread: 't1', by: 'Ada' }],
      'a thread may be open again',
    );
  });

  t.test('it sends the messages of a channel one after the other, and replays one as the last', async (t) => {
    const { registry, ada, grace, channel, decide } = await open2(t, open);
    await decide([messageOf('t1'), messageOf('t2', { type: 'recovery' })]);
    const other = await registry.addChannel(channelOf(grace));
    t.equal(await registry.addMessage(ada, other.id, messageOf('x', { type: 'test' }), NOON), false);
    t.equal(await registry.addMessage(grace, other.id, messageOf('x', { type: 'test' }), NOON + 1), true);
    const due = await registry.dueMessages(NOON + 1, 9);
    t.match(due, [
      { channelId: channel.id, channel, reference: null, attempts: 0, message: { type: 'alert' } },
      { channelId: other.id, message: { type: 'test' } },
    ]);
    t.equal(due.length, 2, 'the first of each channel');
    t.match(due[0]?.key, /^msg_[0-9a-f]{32}$/);
    const [first] = due;
    const failed = {
      ...{ id: first?.id ?? 0, wasDueAt: NOON, triedAt: NOON, at: NOON + 1 },
      ...{ deliveredAt: null, problem: FAILED },
    };
    await registry.noteMessage({ ...failed, dueAt: NOON + 5_000 });
    t.match(await registry.dueMessages(NOON + 4_999, 9), [{ channelId: other.id }]);
    t.equal((await registry.dueMessages(NOON + 4_999, 9)).length, 1, 'the second waits for the first');
    t.match(await registry.countAlerts(NOON + 6_000), { waiting: 3, retrying: 1, overdueMs: 5_999 });
    await registry.noteMessage({ ...failed, dueAt: null });
    const again = await registry.dueMessages(NOON + 5_000, 9);
    t.match(
      again.find(({ id }) => id === first?.id),
      { attempts: 1, problem: FAILED, key: first?.key },
      'an outcome of an earlier attempt changes nothing',
    );
    await registry.noteMessage({ ...failed, wasDueAt: NOON + 5_000, dueAt: null });
    const recovery = (await registry.dueMessages(NOON + 5_000, 9)).find(
      ({ channelId }) => channelId === channel.id,
    );
    t.match(recovery, { message: { type: 'recovery' } }, 'one that was given up holds none up');
    t.equal(await registry.replayMessage(grace, first?.id ?? 0, NOON + 6_000), false);
    t.equal(await registry.replayMessage(ada, first?.id ?? 0, NOON + 6_000), true);
    await registry.noteMessage({
      id: recovery?.id ?? 0,
      wasDueAt: recovery?.dueAt ?? null,
      ...{ triedAt: NOON + 6_500, at: NOON + 6_500 },
      deliveredAt: NOON + 6_500,
      problem: null,
      dueAt: null,
      reference: 'ts-1',
    });
    t.match(
      (await registry.dueMessages(NOON + 7_000, 9)).find(({ channelId }) => channelId === channel.id),
      { id: first?.id, key: first?.key, attempts: 0, problem: null, reference: null },
    );
    t.same(
      (await registry.messagesOf(ada)).map(({ message, deliveredAt }) => [message.type, deliveredAt]),
      [
        ['recovery', NOON + 6_500],
        ['alert', null],
      ],
    );
    t.equal((await registry.messagesOf(ada, other.id)).length, 0);
    t.equal(await registry.forgetMessages(NOON + 99), 1, 'what waits is kept');
    await registry.removeChannel(ada, channel.id);
    t.match(await registry.dueMessages(NOON + 9_000, 9), [{ channelId: other.id }]);
    t.same(await registry.messagesOf(ada), []);
  });

  t.test('a message written while the clock was ahead does not hold up its channel', async (t) => {
    const { registry, channel, decide } = await open2(t, open);
    const year = 365 * 86_400_000;
    await decide([messageOf('t1')], channel.id, NOON + year);
    const [first] = await registry.dueMessages(NOON, 9);
    t.match(first, { dueAt: NOON + year, attempts: 0 }, 'one that was not tried');
    const [triedAt, at] = [NOON + year, NOON + year];
    const failed = { id: first?.id ?? 0, triedAt, at, deliveredAt: null, problem: FAILED };
    const dueAt = NOON + year + 5_000;
    await registry.noteMessage({ ...failed, wasDueAt: NOON + year, dueAt });
    t.match(await registry.dueMessages(NOON, 9), [{ dueAt, attempts: 1 }], 'one that has failed');
    await registry.noteMessage({ ...failed, wasDueAt: dueAt, dueAt: NOON + 3_960_000 });
    t.same(await registry.dueMessages(NOON, 9), [], 'the longest wait after an attempt is kept');
  });

  t.test('it names at most 8 messages of an account', async (t) => {
    const { registry, ada, grace, decide } = await open2(t, open);
    const channels = [];
    for (let n = 0; n < 9; n++) channels.push(await registry.addChannel(channelOf(ada, `c${n}`)));
    for (const { id } of channels) await decide([messageOf('t')], id);
    const late = await registry.addChannel(channelOf(grace));
    await decide([messageOf('t')], late.id, NOON + 5);
    const due = (await registry.dueMessages(NOON + 9, 99)).map(({ channelId }) => channelId);
    t.same(due, [...channels.slice(0, 8).map(({ id }) => id), late.id]);
    t.equal((await registry.dueMessages(NOON + 9, 3)).length, 3);
  });

  t.test('it drops the oldest of too many messages, but not the one that is being sent', async (t) => {
    const { registry, ada, channel, decide } = await open2(t, open);
    const numbered = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => messageOf(`t${from + n}`));
    await decide(numbered(0, 1_000));
    await decide(numbered(1_000, 1_002));
    t.match(await registry.countAlerts(NOON), { waiting: 1_000, delivered: 0, failed: 2, dropped: 2 });
    const waiting = [await deliver(registry, NOON + 1), await deliver(registry, NOON + 1)];
    t.same(
      waiting.map(({ message }) => [message.thread, message.dropped]),
      [
        ['t0', undefined],
        ['t3', 2],
      ],
    );
    await decide(numbered(1_002, 1_005));
    const [head, next] = [await deliver(registry, NOON + 1), await deliver(registry, NOON + 1)];
    t.same([head.message.thread, next.message.thread, next.message.dropped], ['t4', 't6', 1]);
    await registry.addMessage(ada, channel.id, messageOf('x', { type: 'test' }), NOON);
    const [newest, before] = await registry.messagesOf(ada, channel.id);
    t.same([newest?.message.type, before?.message.thread], ['test', 't1004']);
  });

  t.test('it tells of a channel that fails, once, over another channel, else by a notice', async (t) => {
    const { registry, ada, channel, decide } = await open2(t, open);
    const other = await registry.addChannel(channelOf(ada, 'mail'));
    const fail = async (channelId: number, at: number) => {
      const due = (await registry.dueMessages(at, 9)).find((found) => found.channelId === channelId);
      const { id = 0, dueAt: wasDueAt = null } = due ?? {};
      const tried = { id, wasDueAt, triedAt: at, at, deliveredAt: null };
      await registry.noteMessage({ ...tried, problem: FAILED, dueAt: at + 1 });
    };
    await decide([messageOf('t1')]);
    await fail(channel.id, NOON + 10);
    await fail(channel.id, NOON + 20);
    t.same(await registry.failingChannels(NOON + 9), []);
    const [failing] = await registry.failingChannels(NOON + 10);
    t.strictSame(failing, {
      channelId: channel.id,
      accountId: ada,
      name: 'ops',
      since: NOON + 10,
      problem: FAILED,
    });
    if (failing === undefined) return;
    const told = messageOf('c1', { type: 'channel_failing', urgency: 'normal' });
    await registry.tellFailingChannel(failing, told, NOON + 30);
    await registry.tellFailingChannel(failing, told, NOON + 30);
    t.same(await registry.failingChannels(NOON + 99), []);
    t.strictSame(
      (await registry.messagesOf(ada, other.id)).map(({ message }) => message),
      [told],
    );
    await fail(other.id, NOON + 40);
    for (const found of await registry.failingChannels(NOON + 99))
      await registry.tellFailingChannel(found, told, NOON + 50);
    t.match(await registry.noticesOf(ada), [
      { notice: { code: 'channel_failing', name: 'mail', problem: 'HTTP 503' } },
    ]);
    await deliver(registry, NOON + 60);
    await deliver(registry, NOON + 60);
    await decide([messageOf('t2')]);
    await fail(channel.id, NOON + 70);
    t.match(await registry.failingChannels(NOON + 70), [{ since: NOON + 70 }], 'it had delivered meanwhile');
    await registry.removeChannel(ada, channel.id);
    t.same(await registry.failingChannels(NOON + 70), []);
  });

  t.test('it measures the time from the first failed attempt to the delivery', async (t) => {
    const { registry, ada, grace, channel, decide } = await open2(t, open);
    t.strictSame(await registry.alertDelay(null, 0), { count: 0, p50Ms: null, p99Ms: null });
    await decide([
      ...[1, 2, 3].map((n) => messageOf(`t${n}`, { at: NOON - n * 1_000 })),
      messageOf('t4', { type: 'recovery' }),
      messageOf('t5', { urgency: 'normal' }),
    ]);
    await registry.commitAlerts({
      position: 0,
      states: [],
      messages: [{ channelId: channel.id, message: messageOf('t6'), isDelayed: true }],
      acknowledgements: [],
      rulesVersion: await registry.rulesVersion(),
      now: NOON,
    });
    for (let n = 0; n < 6; n++) await deliver(registry, NOON + 100);
    t.strictSame(await registry.alertDelay(ada, NOON), { count: 3, p50Ms: 2_100, p99Ms: 3_100 });
    t.strictSame(await registry.alertDelay(null, NOON), { count: 3, p50Ms: 2_100, p99Ms: 3_100 });
    t.equal((await registry.alertDelay(grace, NOON)).count, 0);
    t.equal((await registry.alertDelay(ada, NOON + 101)).count, 0);
  });

  t.test('it moves channels and rules to the account that theirs is merged into', async (t) => {
    const { registry, ada, grace, channel } = await open2(t, open);
    await registry.addChannel(channelOf(grace));
    await registry.addRule(ruleOf(ada, [channel.id]));
    await registry.addRule(ruleOf(grace, []));
    await registry.commitAlerts({
      position: 0,
      states: [ada, grace].map((accountId) => ({ accountId, state: `${accountId}`, dueAt: null })),
      messages: [{ channelId: channel.id, message: messageOf('t1') }],
      acknowledgements: [],
      rulesVersion: await registry.rulesVersion(),
      now: NOON,
    });
    await registry.acknowledge({ accountId: ada, thread: 't1', by: '', at: NOON });
    const version = await registry.rulesVersion();
    await registry.mergeAccounts(ada, grace, NOON);
    t.not(await registry.rulesVersion(), version);
    t.same(
      (await registry.channelsOf(grace)).map(({ name }) => name),
      ['ops', 'ops-2'],
    );
    t.match(await registry.rulesOf(grace), [
      { name: 'all', channels: [] },
      { name: 'all-2', channels: [channel.id] },
    ]);
    t.match(await registry.newAcknowledgements(), [{ accountId: grace, thread: 't1' }]);
    t.match((await registry.loadAlertStates()).states, [{ accountId: grace, state: `${grace}` }]);
    t.match(await registry.messagesOf(grace), [{ message: { thread: 't1' } }]);
    t.same([await registry.accountOfThread('t1'), await registry.accountOfThread('t2')], [grace, null]);
  });

  t.test(
    'it joins what two accounts remember of their alerts when one is merged into the other',
    async (t) => {
      const { registry, ada, grace } = await open2(t, open);
      const { id: other } = await registry.ensureAccount('joan', NOON);
      const thread = (startedAt: number) => ({ startedAt, acknowledged: null, channels: {} });
      const stateOf = (threads: Readonly<Record<string, number>>) => {
        const opened = new Map(Object.entries(threads).map(([id, at]) => [id, thread(at)]));
        return writeAlertState({ ...NO_ALERTS, threads: opened });
      };
      const remember = async (states: readonly StoredAlertState[]) =>
        registry.commitAlerts({
          ...{ position: 0, states, messages: [], acknowledgements: [], now: NOON },
          rulesVersion: await registry.rulesVersion(),
        });
      const remembered = async () =>
        (await registry.loadAlertStates()).states.map(({ accountId, state, dueAt }) => {
          const { threads } = readAlertState(state);
          return [accountId, [...threads.keys()].join(), dueAt];
        });
      await remember([
        { accountId: ada, state: stateOf({ a: 1 }), dueAt: NOON + 5 },
        { accountId: grace, state: stateOf({ g: 2 }), dueAt: NOON + 9 },
      ]);
      await registry.mergeAccounts(ada, grace, NOON);
      t.same(await remembered(), [[grace, 'g,a', NOON + 5]]);
      await registry.mergeAccounts(grace, other, NOON);
      t.same(
        await remembered(),
        [[other, 'g,a', NOON + 5]],
        'an account that remembers nothing takes it over',
      );
      const { id: last } = await registry.ensureAccount('last', NOON);
      await remember([{ accountId: last, state: 'not JSON', dueAt: null }]);
      await registry.mergeAccounts(other, last, NOON);
      t.same(await remembered(), [[last, 'g,a', NOON + 5]], 'what cannot be read gives way');
    },
  );
}
