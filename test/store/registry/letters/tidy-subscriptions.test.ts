/** Subscriptions that end by themselves. */

import { createHash } from 'node:crypto';
import { ALL, commitTurns, delivered, subscribe } from '../../letter-fixtures.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, firstTurn, NOON, owned, turn } from '../../registry-fixtures.ts';

const HOUR = 3_600_000;

overBoth(async (t, open) => {
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
});
