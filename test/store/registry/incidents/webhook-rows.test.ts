/** Webhooks and their deliveries. */
import { MAX_DELIVERY_WAIT_MS } from '../../../../src/domain/delivery-retries.ts';
import { type ScopeChange, unknownStatus } from '../../../../src/domain/status/current.ts';
import type { StatusUpdate } from '../../../../src/store/ports/updates.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, firstTurn, incident, NOON, owned, stay, turn } from '../../registry-fixtures.ts';

const SECRET = 'whsec_c2VjcmV0';

const HTTP_500 = { code: 'status', statusCode: 500 } as const;

overBoth(async (t, open, execute) => {
  t.test('it makes a delivery with the change that it tells of, for each webhook of the owner', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const { id: grace } = await registry.ensureAccount('grace', NOON);
    const service = await registry.addService(owned('o.org', ada));
    const hook = (accountId: number, url: string) =>
      registry.addWebhook({ accountId, url, secret: SECRET, createdAt: NOON });
    const first = await hook(ada, 'https://hooks.example/1');
    await hook(ada, 'https://hooks.example/2');
    await hook(grace, 'https://hooks.example/3');
    const opened = incident(service.id, 'own-1', { title: 'It "fails"', startedAt: NOON });
    const update = { ...firstTurn(service.id, 'down', NOON, service.slug), incident: opened };
    const before = Date.now();
    await registry.commitUpdates([firstTurn(1, 'up', NOON, 'a'), update]);
    await registry.commitUpdates([update]);
    const due = await registry.dueDeliveries(Date.now(), 100);
    t.same(
      due.map(({ url, type }) => `${url} ${type}`).sort(),
      [1, 2].flatMap((n) => [
        `https://hooks.example/${n} incident.opened`,
        `https://hooks.example/${n} service.status_changed`,
      ]),
      'neither a stale update nor the catalogue makes a delivery',
    );
    const told = due.find(
      ({ webhookId, type }) => webhookId === first.id && type === 'service.status_changed',
    );
    t.match(told, {
      message: /^msg_[0-9a-f]{32}$/,
      secret: SECRET,
      attempts: 0,
      problem: null,
      deliveredAt: null,
    });
    t.ok((told?.createdAt ?? 0) >= before - 1_000);
    t.equal(new Set(due.map(({ message }) => message)).size, 4);
    const about = { slug: service.slug, name: service.name, domain: 'o.org' };
    t.strictSame(JSON.parse(told?.body ?? ''), {
      type: 'service.status_changed',
      timestamp: new Date(told?.createdAt ?? 0).toISOString(),
      data: {
        service: about,
        from: 'unknown',
        to: 'down',
        at: new Date(NOON).toISOString(),
        reason: 'no answer',
      },
    });
    const news = due.find(({ webhookId, type }) => webhookId === first.id && type === 'incident.opened');
    t.strictSame(JSON.parse(news?.body ?? '').data, {
      service: about,
      incident: {
        id: 'own-1',
        title: 'It "fails"',
        description: opened.description,
        severity: 'major',
        status: 'investigating',
        started_at: new Date(NOON).toISOString(),
        resolved_at: null,
        source_url: opened.sourceUrl,
      },
    });
    for (const { id, dueAt: wasDueAt } of due)
      await registry.noteDelivery({ id, wasDueAt, deliveredAt: NOON, problem: null, dueAt: null });
    t.same(await registry.dueDeliveries(Date.now(), 100), []);

    const current = turn(unknownStatus(service.id), 'down', NOON).current;
    const moved = { ...opened, status: 'monitoring' as const };
    const resolved = { ...opened, status: 'resolved' as const, resolvedAt: NOON + 9 };
    await registry.commitUpdates([{ ...turn(current, 'up', NOON + 5, service.slug), incident: moved }]);
    const later = turn(current, 'up', NOON + 5).current;
    await registry.commitUpdates([{ ...stay(later, NOON + 6), incident: moved }]);
    await registry.commitUpdates([{ ...stay(later, NOON + 9), incident: resolved }]);
    const types = (await registry.dueDeliveries(Date.now(), 100)).filter(
      ({ webhookId }) => webhookId === first.id,
    );
    t.same(types.map(({ type }) => type).sort(), [
      'incident.resolved',
      'incident.updated',
      'service.status_changed',
    ]);
  });

  t.test('it delivers a change of scope as an event of its own', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('ada', NOON);
    const { id, slug } = await registry.addService(owned('o.org', accountId));
    await registry.addWebhook({ accountId, url: 'https://h.example', secret: SECRET, createdAt: NOON });
    const up = firstTurn(id, 'up', NOON, slug);
    const partial = turn(up.current, 'up', NOON + 1, slug);
    const down = turn(partial.current, 'down', NOON + 2, slug);
    const withScope = (update: StatusUpdate, scope: ScopeChange): StatusUpdate =>
      update.transition === null ? update : { ...update, transition: { ...update.transition, scope } };
    await registry.commitUpdates([
      withScope(up, { from: null, to: null, regions: [] }),
      withScope(partial, { from: null, to: 'partial', regions: ['us'] }),
      withScope(down, { from: 'partial', to: 'global', regions: ['eu', 'us'] }),
    ]);
    const bodies = (await registry.dueDeliveries(Date.now(), 9)).map(({ type, body }) => [
      type,
      JSON.parse(body).data,
    ]);
    const about = { service: { slug, name: 'o.org', domain: 'o.org' }, reason: null };
    const at = (after: number) => new Date(NOON + after).toISOString();
    t.strictSame(bodies, [
      [
        'service.status_changed',
        { ...about, from: 'unknown', to: 'up', scope: null, regions: [], at: at(0) },
      ],
      [
        'service.scope_changed',
        { ...about, status: 'up', from: null, to: 'partial', regions: ['us'], at: at(1) },
      ],
      [
        'service.status_changed',
        {
          ...about,
          from: 'up',
          to: 'down',
          scope: 'global',
          regions: ['eu', 'us'],
          at: at(2),
          reason: 'no answer',
        },
      ],
    ]);
  });

  t.test('it makes no delivery of an update that is refused, nor of what an incident keeps', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('ada', NOON);
    const { id, slug } = await registry.addService(owned('o.org', accountId));
    await registry.addWebhook({ accountId, url: 'https://h.example', secret: SECRET, createdAt: NOON });
    const opened = { ...firstTurn(id, 'down', NOON, slug), incident: incident(id, 'own-1') };
    await t.rejects(registry.commitUpdates([opened, { ...opened, transition: null }]));
    t.same(await registry.dueDeliveries(Date.now(), 9), [], 'they are written with the change or not at all');
    await registry.commitUpdates([opened]);
    t.equal((await registry.dueDeliveries(Date.now(), 9)).length, 2);
    const retold = incident(id, 'own-1', { description: 'still no answer' });
    await registry.commitUpdates([{ ...stay(opened.current, NOON + 1), incident: retold }]);
    t.equal((await registry.dueDeliveries(Date.now(), 9)).length, 2, 'its status is the same');
  });

  t.test('it keeps the format of a webhook, and hands it over with each delivery', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('ada', NOON);
    const hook = { accountId, url: 'https://h.example', secret: SECRET, createdAt: NOON };
    const plain = await registry.addWebhook(hook);
    const events = await registry.addWebhook({ ...hook, format: 'cloudevents' });
    t.strictSame(await registry.webhooksOf(accountId), [
      { ...hook, id: plain.id },
      { ...hook, id: events.id, format: 'cloudevents' },
    ]);
    for (const { id } of [plain, events])
      await registry.addDelivery(accountId, id, {
        message: `msg_${id}`,
        type: 'test',
        body: '{}',
        now: NOON,
      });
    t.strictSame(
      (await registry.dueDeliveries(NOON, 10)).map(({ format }) => format),
      [undefined, 'cloudevents'],
    );
  });

  t.test('it keeps what is due until it is settled, and replays it for its owner alone', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const { id: grace } = await registry.ensureAccount('grace', NOON);
    const { id } = await registry.addWebhook({
      accountId: ada,
      url: 'https://h.example',
      secret: SECRET,
      createdAt: NOON,
    });
    const test = { message: 'msg_1', type: 'test', body: '{}', now: NOON };
    t.equal(await registry.addDelivery(grace, id, test), false);
    t.equal(await registry.addDelivery(ada, id, test), true);
    const [delivery] = await registry.dueDeliveries(NOON, 10);
    t.match(delivery, { message: 'msg_1', type: 'test', url: 'https://h.example', dueAt: NOON });
    const failed = {
      id: delivery?.id ?? 0,
      wasDueAt: NOON,
      deliveredAt: null,
      problem: HTTP_500,
      dueAt: NOON + 5_000,
    };
    await registry.noteDelivery(failed);
    t.same(await registry.dueDeliveries(NOON + 4_999, 10), []);
    t.match(await registry.dueDeliveries(NOON + 5_000, 10), [{ attempts: 1, problem: HTTP_500 }]);
    await registry.noteDelivery({
      ...failed,
      wasDueAt: NOON + 5_000,
      problem: null,
      deliveredAt: NOON + 6_000,
      dueAt: null,
    });
    t.match(await registry.deliveriesOf(ada), [{ attempts: 2, deliveredAt: NOON + 6_000, problem: null }]);
    t.same(await registry.deliveriesOf(grace), []);
    t.equal(await registry.replayDelivery(grace, failed.id, NOON), false);
    t.equal(await registry.replayDelivery(ada, failed.id, NOON + 7_000), true);
    t.match(await registry.dueDeliveries(NOON + 7_000, 10), [
      { message: 'msg_1', attempts: 0, deliveredAt: null },
    ]);
    t.equal(await registry.forgetDeliveries(NOON + 1), 0);
    t.equal((await registry.deliveriesOf(ada)).length, 1, 'what is due is not forgotten');
    await registry.noteDelivery({ ...failed, dueAt: null });
    t.equal(
      (await registry.dueDeliveries(NOON + 7_000, 10)).length,
      1,
      'an outcome from before the replay is late',
    );
    await registry.noteDelivery({ ...failed, wasDueAt: NOON + 7_000, dueAt: null });
    await registry.forgetDeliveries(NOON);
    t.equal((await registry.deliveriesOf(ada)).length, 1);
    t.equal(await registry.forgetDeliveries(NOON + 1), 0, 'nothing that was waiting is dropped');
    t.same(await registry.deliveriesOf(ada), []);
  });

  t.test('a receiver that is back gets what has waited for it at once', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const hook = { accountId: ada, secret: SECRET, createdAt: NOON };
    const [one, other] = [
      await registry.addWebhook({ ...hook, url: 'https://one.example' }),
      await registry.addWebhook({ ...hook, url: 'https://other.example' }),
    ];
    for (const { id } of [one, one, other])
      await registry.addDelivery(ada, id, { message: `msg_${id}`, type: 'test', body: '{}', now: NOON });
    const due = await registry.dueDeliveries(NOON, 10);
    t.equal(due.length, 3);
    const settled = { deliveredAt: null, problem: HTTP_500, dueAt: NOON + 3_600_000 };
    for (const { id } of due) await registry.noteDelivery({ id, wasDueAt: NOON, ...settled });
    await registry.addDelivery(ada, one.id, { message: 'new', type: 'test', body: '{}', now: NOON + 60_000 });
    const [fresh] = await registry.dueDeliveries(NOON + 60_000, 10);
    const now = NOON + 61_000;
    await registry.noteDelivery({
      ...{ id: fresh?.id ?? 0, wasDueAt: NOON + 60_000, deliveredAt: now, problem: null, dueAt: null },
    });
    t.same(
      (await registry.dueDeliveries(now, 10)).map(({ url, attempts }) => [url, attempts]),
      [
        ['https://one.example', 1],
        ['https://one.example', 1],
      ],
    );
  });

  t.test('what failed while the clock was ahead does not wait until the clock has caught up', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const url = 'https://h.example';
    const { id } = await registry.addWebhook({ accountId: ada, url, secret: SECRET, createdAt: NOON });
    const year = 365 * 86_400_000;
    await registry.addDelivery(ada, id, { message: 'msg_1', type: 'test', body: '{}', now: NOON + year });
    const [first] = await registry.dueDeliveries(NOON, 10);
    t.match(first, { dueAt: NOON + year, attempts: 0 }, 'one that was not tried');
    const failed = { id: first?.id ?? 0, deliveredAt: null, problem: HTTP_500 };
    const ahead = NOON + year + 5_000;
    await registry.noteDelivery({ ...failed, wasDueAt: NOON + year, dueAt: ahead });
    t.match(await registry.dueDeliveries(NOON, 10), [{ dueAt: ahead, attempts: 1 }], 'one that has failed');
    await registry.addDelivery(ada, id, { message: 'msg_2', type: 'test', body: '{}', now: NOON });
    t.same(
      (await registry.dueDeliveries(NOON, 10)).map(({ message }) => message),
      ['msg_2', 'msg_1'],
      'behind what is due by the clock',
    );
    await registry.noteDelivery({ ...failed, wasDueAt: ahead, dueAt: NOON + MAX_DELIVERY_WAIT_MS });
    t.match(await registry.dueDeliveries(NOON, 10), [{ message: 'msg_2' }], 'the longest wait is kept');
  });

  t.test('it bounds webhooks, and removes one with what was due to it', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const add = () =>
      registry.addWebhook({ accountId: ada, url: 'https://h.example', secret: SECRET, createdAt: NOON });
    const { id } = await add();
    for (let n = 1; n < 10; n++) await add();
    await t.rejects(add(), { code: 'account_limit' });
    await registry.addDelivery(ada, id, { message: 'msg_1', type: 'test', body: '{}', now: NOON });
    t.equal(await registry.removeWebhook(ada + 1, id), false);
    t.equal(await registry.removeWebhook(ada, id), true);
    t.same(await registry.dueDeliveries(NOON, 10), []);
    t.equal((await registry.webhooksOf(ada)).length, 9);
  });

  t.test('it names few of one account at a time, however much waits there', async (t) => {
    const registry = await open(t);
    const hooks = [];
    for (const name of ['ada', 'grace']) {
      const { id: accountId } = await registry.ensureAccount(name, NOON);
      const hook = await registry.addWebhook({
        accountId,
        url: `https://${name}.example`,
        secret: SECRET,
        createdAt: NOON,
      });
      hooks.push(hook);
    }
    const [ada, grace] = hooks;
    const add = (hook = ada, now = NOON) =>
      registry.addDelivery(hook?.accountId ?? 0, hook?.id ?? 0, {
        message: `msg_${now}`,
        type: 'test',
        body: '{}',
        now,
      });
    for (let n = 0; n < 30; n++) await add(ada, NOON + n);
    await add(grace, NOON + 100);
    const due = await registry.dueDeliveries(NOON + 1_000, 100);
    t.same(
      due.map(({ url, createdAt }) => `${url} ${createdAt - NOON}`),
      [...[0, 1, 2, 3, 4, 5, 6, 7].map((n) => `https://ada.example ${n}`), 'https://grace.example 100'],
    );
    t.equal((await registry.dueDeliveries(NOON + 1_000, 3)).length, 3);
  });

  t.test('it keeps the newest 10,000 deliveries of a webhook, and forgets what came before', async (t) => {
    const dataDir = t.testdir();
    const registry = await open(t, dataDir);
    const { id: accountId } = await registry.ensureAccount('ada', NOON);
    const webhook = { accountId, url: 'https://h.example', secret: SECRET, createdAt: NOON };
    const { id } = await registry.addWebhook(webhook);
    const add = (n: number) =>
      registry.addDelivery(accountId, id, { message: `msg_${n}`, type: 'test', body: '{}', now: NOON + n });
    await add(0);
    // As many calls would take most of the time of this suite.
    await execute(
      dataDir,
      `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10003)
       INSERT INTO deliveries (message, webhook_id, type, body, created_at, due_at)
       SELECT 'msg_' || n, webhook_id, type, body, created_at + n, due_at + n FROM numbers CROSS JOIN deliveries
       ORDER BY n`,
    );
    await add(10_004);
    const [oldest] = await registry.dueDeliveries(NOON + 20_000, 1);
    if (oldest === undefined) throw new Error('nothing is due');
    const settled = { id: oldest.id, attempts: 1, wasDueAt: oldest.dueAt, problem: null };
    await registry.noteDelivery({ ...settled, deliveredAt: NOON + 20_000, dueAt: null });
    t.equal(await registry.forgetDeliveries(NOON), 4, 'of five, one had been delivered');
    t.match((await registry.dueDeliveries(NOON + 20_000, 1))[0], { message: 'msg_5' });
    t.equal(await registry.forgetDeliveries(NOON), 0);
  });
});
