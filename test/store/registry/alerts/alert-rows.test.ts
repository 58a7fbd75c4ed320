/** Rules, events and decisions of alerts in the registry. */
import { NO_ALERTS, readAlertState, writeAlertState } from '../../../../src/domain/alert/alert-state.ts';
import type { StoredAlertState } from '../../../../src/store/ports/alerts.ts';
import { channelOf, messageOf, open2, ruleOf } from '../../alert-fixtures.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, firstTurn, incident, NOON, owned, stay, turn } from '../../registry-fixtures.ts';

overBoth(async (t, open) => {
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
});
