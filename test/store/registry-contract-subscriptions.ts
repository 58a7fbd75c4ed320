/** Contract of the registry: subscriptions of visitors, and the letters that are not messages of channels. */

import { createHash } from 'node:crypto';
import type { Test } from 'tap';
import { MAX_DELIVERY_WAIT_MS } from '../../src/domain/delivery-retries.ts';
import type { CurrentStatus } from '../../src/domain/status/current.ts';
import type { Verdict } from '../../src/domain/status.ts';
import type { SubscriptionTopic } from '../../src/domain/subscription.ts';
import { composeLetter } from '../../src/notify/letter-sender.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import type { DueLetter } from '../../src/store/ports/subscriptions.ts';
import type { StatusUpdate } from '../../src/store/ports/updates.ts';
import type { OpenForTest, RegistryAdapter } from './registry-contract.ts';
import { messageOf } from './registry-contract-alerts.ts';
import { entry, firstTurn, NOON, owned, turn } from './registry-fixtures.ts';

const HOUR = 3_600_000;
const ALL = 1_000;

const delivered = ({ id }: DueLetter) => ({ id, outcome: 'delivered', dueAt: null }) as const;

/** Subscribes an address; returns the secret of its links. */
export async function subscribe(registry: Registry, topic: SubscriptionTopic, address: string, now = NOON) {
  await registry.requestSubscription({ topic, address, language: 'en', now });
  const letters = await registry.dueLetters(now, ALL);
  const letter = letters.find(({ to, kind }) => to === address && kind === 'subscribe');
  if (letter === undefined) throw new Error(`no letter asks ${address}`);
  await registry.noteLetters(letters.map(delivered));
  await registry.confirmSubscription(letter.secret, now);
  return letter.secret;
}

/** Gives the service 1 these statuses, one after the other. */
async function commitTurns(
  registry: Registry,
  turns: readonly (readonly [Verdict, number])[],
): Promise<void> {
  let current: CurrentStatus | null = null;
  for (const [to, at] of turns) {
    const update: StatusUpdate = current === null ? firstTurn(1, to, at, 'a') : turn(current, to, at, 'a');
    await registry.commitUpdates([update]);
    current = update.current;
  }
}

/** Runs this part of the contract. */
export async function subscriptionContract(
  t: Test,
  open: OpenForTest,
  execute: RegistryAdapter['execute'],
): Promise<void> {
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

  t.test(
    'a letter that failed while the clock was ahead does not wait until the clock has caught up',
    async (t) => {
      const registry = await open(t);
      await registry.putCatalogue([entry('a')]);
      const year = 365 * 86_400_000;
      const request = { topic: 'service:1', address: 'ada@example.com', language: 'en' } as const;
      await registry.requestSubscription({ ...request, now: NOON + year });
      const [letter] = await registry.dueLetters(NOON, ALL);
      t.match(letter, { kind: 'subscribe', attempts: 0 }, 'one that was not tried');
      const fail = (dueAt: number) =>
        registry.noteLetters([{ id: letter?.id ?? 0, outcome: 'failed', dueAt }]);
      await fail(NOON + year + 5_000);
      t.match(await registry.dueLetters(NOON, ALL), [{ attempts: 1 }], 'one that has failed');
      await fail(NOON + MAX_DELIVERY_WAIT_MS);
      t.same(await registry.dueLetters(NOON, ALL), [], 'the longest wait is kept');
    },
  );

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

  t.test('it writes one letter of a change for each address, in parts, and in order', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a', { category: 'ai' }), entry('b', { category: 'cloud' })]);
    const { id: account } = await registry.ensureAccount('ada', NOON);
    const groups = [{ name: '', services: [1] }];
    const page = await registry.addPage({
      accountId: account,
      slug: 'mine',
      title: 'Mine',
      text: '',
      groups,
      now: NOON,
    });
    const secrets: string[] = [];
    for (const [topic, name] of [
      ['service:1', 'ada'],
      ['category:ai', 'ada'],
      [`page:${page.id}`, 'ada'],
      ['category:ai', 'bob'],
      [`page:${page.id}`, 'eve'],
      ['service:2', 'joe'],
      ['category:cloud', 'kim'],
    ] as const)
      secrets.push(await subscribe(registry, topic, `${name}@example.com`));
    await registry.requestSubscription({
      topic: 'service:1',
      address: 'un@example.com',
      language: 'en',
      now: NOON,
    });
    await registry.noteLetters((await registry.dueLetters(NOON, ALL)).map(delivered));

    const now = NOON + HOUR;
    await commitTurns(registry, [
      ['up', NOON + 1_000],
      ['down', now],
      ['up', now + 5_000],
    ]);
    t.equal(await registry.writeLetters(now, 2), 2);
    t.equal(await registry.writeLetters(now, 2), 0, 'as many wait');
    const first = await registry.dueLetters(now, ALL);
    t.same(
      first.map(({ to }) => to),
      ['ada@example.com', 'bob@example.com'],
    );
    t.match(first[0], {
      kind: 'change',
      topic: { kind: 'service', name: 'A' },
      service: { id: 1, slug: 'a' },
      event: { change: { type: 'status', from: 'up', to: 'down' }, at: now },
      beganAt: null,
    });
    const why = (because: string | null) =>
      first.slice(0, 1).map(
        (letter) =>
          composeLetter(
            letter,
            'https://upbeat.test',
            () => true,
            () => ({ because }),
          ).subject,
      );
    t.match(why('Router')[0], 'is down: not reachable, because of Router');
    t.match(why(null)[0], 'is down: not reachable, because of something in front of it');
    const [letter] = first;
    t.ok(letter);
    if (letter === undefined) return;
    // The first one is tried again later, and what comes after it waits.
    await registry.noteLetters([
      { id: letter.id, outcome: 'failed', dueAt: now + 60_000 },
      ...first.slice(1).map(delivered),
    ]);
    t.equal(await registry.writeLetters(now, ALL), 4, 'the rest of the first change, and the second one');
    t.equal(await registry.writeLetters(now, ALL), 0);
    const second = await registry.dueLetters(now, ALL);
    t.same(
      second.map(({ to, kind }) => `${to} ${kind}`),
      ['eve@example.com change', 'bob@example.com change'],
    );
    t.match(second[1], { beganAt: now, event: { change: { to: 'up' }, at: now + 5_000 } });
    const later = await registry.dueLetters(now + 60_000, ALL);
    t.same(
      later.map(({ to, attempts }) => `${to} ${attempts}`),
      ['ada@example.com 1', 'eve@example.com 0', 'bob@example.com 0'],
    );
    await registry.noteLetters(later.map(delivered));
    t.same(
      (await registry.dueLetters(now + 60_000, ALL)).map(({ to }) => to),
      ['ada@example.com', 'eve@example.com'],
      'each gets both, one after the other',
    );
    for (const secret of secrets) await registry.endSubscription(secret);
    t.same(await registry.dueLetters(now + 60_000, ALL), [], 'letters end with their subscription');
  });

  t.test('subscribers of a page are told what its owner says of the page alone, once', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('ada', NOON);
    const shop = await registry.addService(owned('shop.org', accountId));
    const page = async (slug: string, services: readonly number[], membersOnly = false) => {
      const groups = [{ name: '', services }];
      const made = { accountId, slug, title: slug.toUpperCase(), text: '', groups, now: NOON };
      return (await registry.addPage({ ...made, access: membersOnly ? 'members' : 'public' })).id;
    };
    const alone = await page('alone', []);
    const hidden = await page('hidden', [], true);
    const full = await page('full', [shop.id]);
    await subscribe(registry, `page:${alone}`, 'ada@example.com');
    await subscribe(registry, `page:${full}`, 'bob@example.com');
    const letters = async (now: number) => {
      await registry.tidySubscriptions(now, now);
      await registry.writeLetters(now, ALL);
      const found: string[] = [];
      for (;;) {
        const due = await registry.dueLetters(now, ALL);
        if (due.length === 0) return found;
        for (const letter of due) {
          if (letter.kind !== 'change') continue;
          const { change } = letter.event;
          const { slug, isPage } = letter.service;
          const news = change.type === 'incident' ? change.incident.status : '';
          const phase = change.type === 'maintenance' ? change.phase : '';
          found.push(`${letter.to} ${isPage === true ? '/p/' : ''}${slug} ${news}${phase}`);
        }
        await registry.noteLetters(due.map(delivered));
      }
    };
    const pages = [alone, hidden, full];
    const text = { markdown: 'x', plain: 'x' };
    const site = { siteUrl: 'https://status.example', now: NOON + 1 };
    const said = await registry.addOwnerIncident({
      ...site,
      accountId,
      title: 'Late',
      severity: 'minor',
      status: 'investigating',
      startedAt: NOON,
      resolvedAt: null,
      services: [shop.id],
      pages,
      updates: [{ at: NOON, status: 'investigating', ...text }],
    });
    t.same(await letters(NOON + 10), [
      'bob@example.com shop-org investigating',
      'ada@example.com /p/alone investigating',
    ]);
    await registry.putOwnerIncident({ ...said, title: 'Later' }, NOON + 20);
    t.same(await letters(NOON + 20), [], 'a correction is no news');
    const updates = [...said.updates, { at: NOON + 30, status: 'resolved', ...text } as const];
    const over = { ...said, revision: 2, status: 'resolved', resolvedAt: NOON + 30, updates } as const;
    await registry.putOwnerIncident(over, NOON + 30);
    t.same((await letters(NOON + 30)).toSorted(), [
      'ada@example.com /p/alone resolved',
      'bob@example.com shop-org resolved',
    ]);

    const about = { ...site, ...text, accountId, title: 'Disks', services: [], pages: [alone, hidden] };
    const times = { startsAt: NOON + HOUR, durationMs: HOUR, timeZone: 'UTC', recurrence: 'FREQ=DAILY' };
    const daily = await registry.addOwnerMaintenance({ ...about, ...times });
    const to = (phase: string) => `ada@example.com /p/alone ${phase}`;
    t.same(await letters(NOON + 40), [to('planned')]);
    t.same(await letters(NOON + HOUR), [to('running')]);
    t.same(await letters(NOON + HOUR + 60_000), []);
    t.same(await letters(NOON + 2 * HOUR), [to('ended')]);
    t.same(await letters(NOON + 24 * HOUR), []);
    t.same(await letters(NOON + 25 * HOUR), [to('running')], 'also the next time');
    const at = NOON + 25 * HOUR + 1;
    await registry.putOwnerMaintenance({ ...daily, cancelledAt: at }, at);
    t.same(await letters(NOON + 26 * HOUR), [to('ended')], 'it is withdrawn');
    t.same(await letters(NOON + 50 * HOUR), []);
  });

  t.test(
    "it holds outages within an owner's maintenance, and tells at its end what is so then",
    async (t) => {
      const HELD_FOR = 49 * HOUR;
      for (const [name, turns, told] of [
        [
          'down and up again',
          [
            ['down', 1],
            ['up', 2],
            ['down', 3],
            ['up', 4],
          ],
          [],
        ],
        [
          'down',
          [
            ['down', 1],
            ['up', 2],
            ['down', 3],
          ],
          ['up down'],
        ],
        [
          'from down to up',
          [
            ['up', 1],
            ['slow', 2],
          ],
          ['down up'],
        ],
        [
          'still down',
          [
            ['up', 1],
            ['down', 2],
          ],
          [],
        ],
      ] as const)
        await t.test(name, async (t) => {
          const registry = await open(t);
          const { id: accountId } = await registry.ensureAccount('ada', NOON);
          const { id: serviceId } = await registry.addService(owned('o.org', accountId));
          await subscribe(registry, `service:${serviceId}`, 'ada@example.com');
          const letters = async (now: number) => {
            await registry.tidySubscriptions(now, now);
            await registry.writeLetters(now, ALL);
            const found: string[] = [];
            for (;;) {
              const due = await registry.dueLetters(now, ALL);
              if (due.length === 0) return found;
              for (const letter of due) {
                const change = letter.kind === 'change' ? letter.event.change : null;
                if (change?.type === 'status') found.push(`${change.from} ${change.to}`);
                if (change?.type === 'maintenance') found.push(change.phase);
              }
              await registry.noteLetters(due.map(delivered));
            }
          };
          const wasDown = name === 'from down to up' || name === 'still down';
          let current = firstTurn(serviceId, 'up', NOON, 'o-org').current;
          await registry.commitUpdates([firstTurn(serviceId, 'up', NOON, 'o-org')]);
          const commit = async (to: Verdict, at: number) => {
            const update = turn(current, to, at, 'o-org');
            await registry.commitUpdates([update]);
            current = update.current;
          };
          if (wasDown) {
            await commit('down', NOON + 1);
            t.same(await letters(NOON + 1), ['up down']);
          }
          const work = {
            title: 'Disks',
            markdown: '',
            plain: '',
            timeZone: 'UTC',
            recurrence: null,
          } as const;
          await registry.addOwnerMaintenance({
            ...work,
            accountId,
            startsAt: NOON + HOUR,
            durationMs: HELD_FOR,
            services: [serviceId],
            pages: [],
            siteUrl: 'https://status.example',
            now: NOON,
          });
          await registry.advanceMaintenances(NOON + HOUR);
          t.same(await letters(NOON + HOUR), ['planned', 'running']);
          for (const [to, hours] of turns) await commit(to, NOON + (1 + hours) * HOUR);
          t.same(await letters(NOON + 9 * HOUR), [], 'nothing is told while it runs');
          t.same(await letters(NOON + 48 * HOUR), [], 'nor after a day');
          const end = NOON + HOUR + HELD_FOR;
          await registry.advanceMaintenances(end);
          t.same(await letters(end), ['ended', ...told]);
          await commit(current.status === 'down' ? 'up' : 'down', end + HOUR);
          t.equal((await letters(end + HOUR)).length, 1, 'then all is as before');
        });
    },
  );

  t.test(
    'it deletes what nobody confirms, what is refused, and what is about nothing any more',
    async (t) => {
      const registry = await open(t);
      await registry.putCatalogue([entry('a')]);
      const { id: account } = await registry.ensureAccount('ada', NOON);
      const service = await registry.addService(owned('o.org', account));
      const page = await registry.addPage({
        accountId: account,
        slug: 'mine',
        title: 'Mine',
        text: '',
        groups: [],
        now: NOON,
      });
      const topics = ['service:1', `service:${service.id}`, `page:${page.id}`] as const;
      for (const topic of topics) await subscribe(registry, topic, 'ada@example.com');
      await registry.requestSubscription({
        topic: 'service:1',
        address: 'late@example.com',
        language: 'en',
        now: NOON,
      });
      const [late] = await registry.dueLetters(NOON, ALL);
      t.equal(await registry.tidySubscriptions(NOON + 47 * HOUR, NOON + 47 * HOUR), 0);
      t.same(await registry.dueLetters(NOON, ALL), [late], 'letters that wait stay');
      t.equal(await registry.tidySubscriptions(NOON + 49 * HOUR, NOON + 49 * HOUR), 1);
      t.equal(await registry.findSubscription(late?.secret ?? ''), null);
      const inner = { accountId: account, slug: 'inner', title: 'Inner', text: '', groups: [], now: NOON };
      const { id: innerId } = await registry.addPage(inner);
      await subscribe(registry, `page:${innerId}`, 'ada@example.com');
      await registry.changePage(
        { accountId: account, slug: 'inner', revision: 1 },
        { access: 'members' },
        NOON,
      );
      t.equal(
        await registry.tidySubscriptions(NOON + 49 * HOUR, NOON + 49 * HOUR),
        1,
        'only members see the page',
      );
      await registry.removeService(service.slug);
      await registry.removePage(account, 'mine');
      t.same(await registry.countSubscriptions(topics), [1, 0, 0]);

      const now = NOON + HOUR;
      await commitTurns(registry, [
        ['down', now],
        ['up', now + 1],
        ['down', now + 2],
      ]);
      await registry.writeLetters(now, ALL);
      for (let round = 0; round < 3; round++) {
        const [letter, ...others] = await registry.dueLetters(now, ALL);
        t.same(others, []);
        await registry.noteLetters([{ id: letter?.id ?? 0, outcome: 'refused', dueAt: null }]);
      }
      t.same(await registry.countSubscriptions(['service:1']), [0]);
      t.same(await registry.dueLetters(now, ALL), []);
    },
  );

  t.test('subscribers of a page are told of a private service by its name there alone', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('ada', NOON);
    const { id, slug } = await registry.addService({ ...owned('nas.org', accountId), visibility: 'private' });
    const page = async (name: string, own: string) => {
      const group = { name: '', services: [id], ...(own === '' ? {} : { names: { [id]: own } }) };
      const made = { accountId, slug: name, title: name, text: '', groups: [group], now: NOON };
      return (await registry.addPage(made)).id;
    };
    await subscribe(registry, `page:${await page('named', 'Photos')}`, 'ada@example.com');
    await subscribe(registry, `page:${await page('bare', '')}`, 'bob@example.com');
    const up = firstTurn(id, 'up', NOON, slug);
    await registry.commitUpdates([up]);
    const down = turn(up.current, 'down', NOON + 1, slug);
    await registry.commitUpdates([down]);
    await registry.writeLetters(NOON + 2, ALL);
    const letters = await registry.dueLetters(NOON + 2, ALL);
    t.match(letters, [
      {
        to: 'ada@example.com',
        event: { change: { type: 'status', to: 'down', reason: null, phase: null, lastGoodAt: null } },
        service: { slug: 'named', name: 'Photos', domain: '', isPage: true, mark: /^[0-9a-f]{16}$/ },
      },
    ]);
    t.equal(letters.length, 1);
    t.notMatch(JSON.stringify(letters), 'nas');
    const guess = createHash('sha256').update(`page:1 ${id}`).digest('hex').slice(0, 16);
    t.notMatch(JSON.stringify(letters), guess, 'the number of the service cannot be tried');
  });

  t.test('the same words of an owner about services and pages are one letter for each address', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('ada', NOON);
    const shop = await registry.addService(owned('shop.org', accountId));
    const mail = await registry.addService(owned('mail.org', accountId));
    const page = async (slug: string, services: readonly number[]) => {
      const groups = [{ name: '', services }];
      return (await registry.addPage({ accountId, slug, title: slug, text: '', groups, now: NOON })).id;
    };
    const [both, first, second] = [
      await page('both', [shop.id, mail.id]),
      await page('a', []),
      await page('b', []),
    ];
    await subscribe(registry, `service:${mail.id}`, 'ada@example.com');
    await subscribe(registry, `page:${both}`, 'ada@example.com');
    await subscribe(registry, `page:${both}`, 'bob@example.com');
    await subscribe(registry, `service:${mail.id}`, 'cy@example.com');
    await subscribe(registry, `page:${first}`, 'dan@example.com');
    await subscribe(registry, `page:${second}`, 'dan@example.com');
    await subscribe(registry, `page:${second}`, 'cy@example.com');
    const letters = async (now: number, limit = ALL) => {
      await registry.tidySubscriptions(now, now);
      const found: string[] = [];
      for (;;) {
        // In parts, delivered in between: letters that wait must not change which others are written.
        await registry.writeLetters(now, limit);
        const due = (await registry.dueLetters(now, ALL)).filter(({ kind }) => kind === 'change');
        if (due.length === 0) return found.toSorted();
        found.push(...due.map(({ to }) => to));
        await registry.noteLetters(due.map(delivered));
      }
    };
    const everyone = ['ada@example.com', 'bob@example.com', 'cy@example.com', 'dan@example.com'];
    const text = { markdown: 'x', plain: 'x' };
    const site = { siteUrl: 'https://status.example', now: NOON + 1 };
    const incident = { ...site, accountId, title: 'Late', severity: 'minor', startedAt: NOON } as const;
    const said = await registry.addOwnerIncident({
      ...{ ...incident, status: 'investigating', resolvedAt: null },
      ...{ services: [shop.id, mail.id], pages: [both, first, second] },
      updates: [{ at: NOON, status: 'investigating', ...text }],
    });
    t.same(await letters(NOON + 10, 1), everyone);
    const more = (at: number) => ({ at, status: 'investigating', ...text }) as const;
    const updates = [...said.updates, more(NOON + 20)];
    await registry.putOwnerIncident({ ...said, updates }, NOON + 20);
    t.same(await letters(NOON + 20), everyone, 'an update is news');
    await registry.putOwnerIncident(
      { ...said, revision: 2, updates: [...updates, more(NOON + 30)] },
      NOON + 30,
    );
    t.same(await letters(NOON + 30), everyone, 'also one with the same words');
    const about = { ...site, ...text, accountId, title: 'Disks', recurrence: null, timeZone: 'UTC' };
    const times = { startsAt: NOON + HOUR, durationMs: HOUR };
    const subjects = { services: [shop.id, mail.id], pages: [both, first, second] };
    await registry.addOwnerMaintenance({ ...about, ...times, ...subjects });
    t.same(await letters(NOON + 40), everyone);
  });

  t.test('it asks the receivers of e-mail channels once, and again for another address', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('ada', NOON);
    const channel = await registry.addChannel({
      accountId,
      name: 'ops',
      kind: 'email',
      settings: { to: 'ops@example.com' },
      language: 'de',
      confirmedAt: null,
      createdAt: NOON,
    });
    t.equal(await registry.askChannels(NOON), 1);
    t.equal(await registry.askChannels(NOON), 0);
    const [letter] = await registry.dueLetters(NOON, ALL);
    t.match(letter, {
      kind: 'channel',
      to: 'ops@example.com',
      language: 'de',
      account: 'ada',
      channel: 'ops',
    });
    const secret = letter?.secret ?? '';
    const asked = { account: 'ada', channel: 'ops', language: 'de', isStopped: false };
    t.same(await registry.findAskedChannel(secret), { ...asked, isConfirmed: false });
    t.equal(await registry.findAskedChannel('other'), null);

    await registry.changeChannel(accountId, channel.id, { settings: { to: 'eve@example.com' } });
    t.equal(await registry.confirmChannel(secret, NOON), null, 'the link was for another address');
    t.equal(await registry.askChannels(NOON), 1);
    const second = (await registry.dueLetters(NOON, ALL)).at(-1)?.secret ?? '';
    t.same(await registry.confirmChannel(second, NOON), { ...asked, isConfirmed: true });
    t.match(await registry.channelsOf(accountId), [
      { confirmedAt: NOON, settings: { to: 'eve@example.com' } },
    ]);
    t.equal(await registry.askChannels(NOON), 0);

    const refuse = async (text: string) => {
      await registry.addMessage(accountId, channel.id, messageOf('t-1'), NOON);
      const due = (await registry.dueMessages(NOON, 10))[0];
      const problem = { code: 'mail_refused', text } as const;
      const settled = {
        id: due?.id ?? 0,
        wasDueAt: due?.dueAt ?? null,
        ...{ triedAt: NOON, at: NOON },
        deliveredAt: null,
        dueAt: null,
      };
      await registry.noteMessage({ ...settled, problem });
    };
    for (const text of ['550 unknown', '550 unknown', '451 later', '550 unknown', '550 unknown'])
      await refuse(text);
    t.equal(await registry.turnOffChannels(NOON), 0, 'not three in a row');
    await refuse('550 5.1.1 unknown');
    t.equal(await registry.turnOffChannels(NOON), 1);
    t.equal(await registry.turnOffChannels(NOON), 0);
    t.match(await registry.channelsOf(accountId), [{ confirmedAt: null }]);
    t.match((await registry.noticesOf(accountId))[0]?.notice, { code: 'channel_refused', name: 'ops' });
    t.equal(await registry.askChannels(NOON), 0, 'nobody is asked again by itself');
    t.equal(await registry.askChannelAgain(accountId + 1, channel.id), false);
    t.equal(await registry.askChannelAgain(accountId, channel.id), true);
    t.equal(await registry.askChannels(NOON), 1);
    await registry.removeChannel(accountId, channel.id);
    t.equal(await registry.findAskedChannel(second), null);
    t.same(await registry.dueLetters(NOON, ALL), []);
  });

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
}
