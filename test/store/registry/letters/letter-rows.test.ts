/** Letters to subscribers: one for each address, in order. */
import { MAX_DELIVERY_WAIT_MS } from '../../../../src/domain/delivery-retries.ts';
import type { Verdict } from '../../../../src/domain/status.ts';
import { composeLetter } from '../../../../src/notify/letter-sender.ts';
import { ALL, commitTurns, delivered, subscribe } from '../../letter-fixtures.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, firstTurn, NOON, owned, turn } from '../../registry-fixtures.ts';

const HOUR = 3_600_000;

overBoth(async (t, open) => {
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
});
