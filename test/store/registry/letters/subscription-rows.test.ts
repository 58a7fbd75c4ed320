/** Subscriptions of visitors. */
import { composeLetter } from '../../../../src/notify/letter-sender.ts';
import { messageOf } from '../../alert-fixtures.ts';
import { ALL, subscribe } from '../../letter-fixtures.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, NOON, owned } from '../../registry-fixtures.ts';

const HOUR = 3_600_000;

overBoth(async (t, open, execute) => {
  t.test('it asks before it counts a subscriber, and forgets the address at the end', async (t) => {
    const dataDir = t.testdir();
    const registry = await open(t, dataDir);
    await registry.putCatalogue([entry('a')]);
    const request = { topic: 'service:1', address: 'Ada@example.com', language: 'de', now: NOON } as const;
    await registry.requestSubscription(request);
    // Another spelling of the same mailbox is the same subscription, and no letter waits twice.
    await registry.requestSubscription({ ...request, address: 'ada@example.com' });
    await registry.requestSubscription({ ...request, topic: 'service:999' });
    const [letter, ...others] = await registry.dueLetters(NOON, ALL);
    t.same(others, []);
    t.match(letter, {
      kind: 'subscribe',
      to: 'Ada@example.com',
      language: 'de',
      attempts: 0,
      topic: { kind: 'service', name: 'A' },
      secret: /^[\w-]{32}$/,
    });
    const secret = letter?.secret ?? '';
    t.same(await registry.countSubscriptions(['service:1', 'service:2']), [0, 0]);
    const shown = { topic: { kind: 'service', name: 'A', plainName: 'A' }, language: 'de' };
    t.same(await registry.findSubscription(secret), { ...shown, isConfirmed: false });
    t.equal(await registry.findSubscription('other'), null);
    t.same(await registry.confirmSubscription(secret, NOON), { ...shown, isConfirmed: true });
    t.same(await registry.confirmSubscription(secret, NOON + 1), { ...shown, isConfirmed: true });
    t.same(await registry.countSubscriptions(['service:1']), [1]);
    t.same(await registry.dueLetters(NOON, ALL), [], 'nothing is left to ask');
    await registry.requestSubscription(request);
    t.match(await registry.dueLetters(NOON, ALL), [{ kind: 'already', to: 'Ada@example.com' }]);

    t.equal(await registry.endSubscription('other'), false);
    t.equal(await registry.endSubscription(secret), true);
    t.equal(await registry.endSubscription(secret), false);
    t.same(await registry.countSubscriptions(['service:1']), [0]);
    t.same(await registry.dueLetters(NOON, ALL), []);
  });

  t.test('it stores no address and no secret in clear text', async (t) => {
    const dataDir = t.testdir();
    const registry = await open(t, dataDir);
    await registry.putCatalogue([entry('a')]);
    const secret = await subscribe(registry, 'service:1', 'ada@example.com');
    // A row with the address, the mailbox or the secret in clear text would be deleted.
    await execute(
      dataDir,
      `DELETE FROM subscriptions WHERE address LIKE '%ada%' OR mailbox LIKE '%ada%' OR secret = '${secret}' OR sha256 = '${secret}'`,
    );
    t.same(await registry.countSubscriptions(['service:1']), [1]);
  });

  t.test('it asks an address five times a day at the most', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue(Array.from({ length: 8 }, (_, index) => entry(`s${index}`)));
    const ask = async (now: number) => {
      for (let id = 1; id <= 8; id++)
        await registry.requestSubscription({
          topic: `service:${id}`,
          address: 'a@b.example',
          language: 'en',
          now,
        });
    };
    await ask(NOON);
    t.equal((await registry.dueLetters(NOON, ALL)).length, 5);
    await ask(NOON + 24 * HOUR);
    t.equal(
      (await registry.dueLetters(NOON + 24 * HOUR, ALL)).length,
      8,
      'letters that wait are not written twice',
    );
  });

  t.test('it asks a mailbox, a domain and for a client no more often under many addresses', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    const ask = async (addresses: readonly string[], client?: string) => {
      const before = (await registry.dueLetters(NOON, ALL)).length;
      for (const address of addresses)
        await registry.requestSubscription({
          topic: 'service:1',
          address,
          language: 'en',
          now: NOON,
          ...(client === undefined ? {} : { client }),
        });
      return (await registry.dueLetters(NOON, ALL)).length - before;
    };
    const many = (count: number, name: (n: number) => string) =>
      Array.from({ length: count }, (_, n) => name(n));
    t.equal(await ask(many(8, (n) => `Ada+${n}@b.example`)), 5);
    t.equal(await ask(['ada@b.example']), 0);
    t.equal(await ask(many(8, (n) => `e${'.'.repeat(n % 2)}ve+${n}@gmail.com`)), 5);
    t.equal(await ask(many(210, (n) => `n${n}@all.example`)), 200);
    t.equal(await ask(many(210, (n) => `n${n}@gmail.com`)), 210);
    t.equal(
      await ask(
        many(60, (n) => `n${n}@d${n}.example`),
        '203.0.113.7',
      ),
      50,
    );
    t.equal(await ask(['other@b.example'], '203.0.113.8'), 1);
  });

  t.test('a request for a confirmation has a name without words of owners', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    const { id: account } = await registry.ensureAccount('ada', NOON);
    const service = await registry.addService(owned('o.org', account));
    const page = { accountId: account, slug: 'mine', title: 'WIN', text: '', groups: [], now: NOON };
    const { id } = await registry.addPage(page);
    for (const topic of ['service:1', `service:${service.id}`, `page:${id}`, 'category:ai'] as const)
      await registry.requestSubscription({ topic, address: 'a@b.example', language: 'en', now: NOON });
    const letters = await registry.dueLetters(NOON, ALL);
    t.same(
      letters.map((letter) => (letter.kind === 'subscribe' ? letter.topic.plainName : null)),
      ['A', service.slug, '/p/mine', 'ai'],
    );
    const [, , about] = letters.map((letter) => composeLetter(letter, 'https://upbeat.test'));
    t.equal(about?.subject, 'Confirm your subscription at upbeat.test');
    t.match(about?.text, 'upbeat.test/p/mine');
    t.notMatch(JSON.stringify(about), 'WIN');
  });

  t.test('a subscription to a service that turned private says nothing of it, and ends', async (t) => {
    const registry = await open(t);
    const { id: account } = await registry.ensureAccount('ada', NOON);
    const { id, slug } = await registry.addService(owned('o.org', account));
    const topic = `service:${id}` as const;
    const secret = await subscribe(registry, topic, 'a@b.example');
    await registry.requestSubscription({ topic, address: 'c@b.example', language: 'en', now: NOON });
    const [waiting] = await registry.dueLetters(NOON, ALL);
    await registry.changeService(slug, { visibility: 'private', name: 'Hushed' });
    t.same(await registry.dueLetters(NOON, ALL), [], 'the letter that asks is not sent');
    t.equal(await registry.findSubscription(secret), null);
    t.equal(await registry.confirmSubscription(waiting?.secret ?? '', NOON), null);
    await registry.requestSubscription({ topic, address: 'd@b.example', language: 'en', now: NOON });
    await registry.tidySubscriptions(NOON, NOON);
    t.same(await registry.countSubscriptions([topic]), [0]);
  });
});

overBoth(async (t, open) => {
  t.test('the receiver of an e-mail channel stops it by its letters, and takes that back', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('ada', NOON);
    const base = { accountId, language: 'en', confirmedAt: NOON, createdAt: NOON } as const;
    const ops = { ...base, name: 'ops', kind: 'email', settings: { to: 'ops@example.com' } } as const;
    const { id } = await registry.addChannel(ops);
    const other = await registry.addChannel({ ...ops, name: 'other', settings: { to: 'b@example.com' } });
    const chat = await registry.addChannel({ ...base, name: 'chat', kind: 'slack', settings: {} });
    for (const to of [id, other.id, chat.id])
      await registry.addMessage(accountId, to, messageOf('t-1'), NOON);
    const due = await registry.dueMessages(NOON, 10);
    const secrets = due.map(({ stopSecret }) => stopSecret);
    t.match(secrets, [/^\d+\.[\w-]+$/, /^\d+\.[\w-]+$/, undefined], 'e-mail alone has them');
    const [secret = ''] = secrets;
    const shown = { account: 'ada', channel: 'ops', language: 'en' };
    t.same(await registry.findChannelOfStop(secret), { ...shown, isConfirmed: true, isStopped: false });
    for (const wrong of [
      '',
      'x',
      `${other.id}${secret.slice(secret.indexOf('.'))}`,
      `${secret}A`,
      `999.${secret}`,
    ])
      t.equal(await registry.stopChannel(wrong, true, NOON), null, wrong);

    const stopped = { ...shown, isConfirmed: false, isStopped: true };
    const version = await registry.rulesVersion();
    for (const _ of ['once', 'again']) t.same(await registry.stopChannel(secret, true, NOON + 1), stopped);
    t.not(await registry.rulesVersion(), version, 'decisions take notice');
    const channels = async () => (await registry.channelsOf(accountId)).filter(({ name }) => name !== 'chat');
    t.match(await channels(), [
      { name: 'ops', confirmedAt: null, stoppedAt: NOON + 1, revision: 2 },
      { name: 'other', confirmedAt: NOON, stoppedAt: undefined },
    ]);
    t.match((await registry.noticesOf(accountId))[0]?.notice, { code: 'channel_stopped', name: 'ops' });
    t.equal((await registry.noticesOf(accountId)).length, 1);
    t.same(await registry.stopChannel(secret, false, NOON + 2), {
      ...shown,
      isConfirmed: true,
      isStopped: false,
    });
    t.match(await channels(), [{ confirmedAt: NOON + 2, stoppedAt: undefined }, {}]);
    t.match((await registry.noticesOf(accountId))[0]?.notice, { code: 'channel_resumed', name: 'ops' });

    await registry.changeChannel(accountId, id, { confirmedAt: null });
    const off = { ...shown, isConfirmed: false, isStopped: false };
    t.same(await registry.stopChannel(secret, false, NOON), off, 'it gives back only what it has taken');
    await registry.changeChannel(accountId, id, { settings: { to: 'c@example.com' } });
    t.equal(await registry.stopChannel(secret, true, NOON), null, 'the letter went to another address');
  });
});
