/** Contract of the registry: the list of services and its feed of changes. */
import type { Test } from 'tap';
import { SHARDS } from '../../src/domain/node.ts';
import { NO_MEMORY } from '../../src/domain/result.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import type { NewService, ServiceChange } from '../../src/store/ports/services.ts';
import type { OpenForTest } from './registry-contract.ts';
import { entry, firstTurn, NOON, owned, until } from './registry-fixtures.ts';

/** The services of a registry by slug, as `slug id revision`. */
async function list(registry: Registry): Promise<string[]> {
  const states = await registry.loadServices();
  return states.map(({ service }) => `${service.slug} ${service.id} r${service.revision}`);
}

/** Runs this part of the contract. */
export async function serviceContract(t: Test, open: OpenForTest): Promise<void> {
  t.test('it begins empty', async (t) => {
    const registry = await open(t);
    t.same(await registry.loadServices(), []);
    t.equal(await registry.lastChange(), 0);
    t.same(await registry.changesAfter(0), []);
    t.same(await registry.putCatalogue([]), { added: 0, changed: 0, removed: 0, unchanged: 0 });
  });

  t.test('it gives back a service whole, with a status that was never checked', async (t) => {
    const registry = await open(t);
    const given = entry('a', {
      paused: true,
      check: {
        kind: 'health',
        url: 'https://a.com/h',
        method: 'GET',
        accept: ['2xx', 401],
        caFile: 'ca.pem',
      },
      statusPage: { url: 'https://status.a.com', kind: 'statuspage', feedUrl: null, components: ['API'] },
    });
    await registry.putCatalogue([given]);
    t.strictSame(await registry.loadServices(), [
      {
        service: { id: 1, ...given, revision: 1 },
        current: { serviceId: 1, seq: 0, observedAt: 0, status: 'unknown', since: null, latest: null },
        memory: NO_MEMORY,
        openIncident: null,
      },
    ]);
  });

  t.test(
    'it adds and changes the entries of a part of the list, and knows the list by its digest',
    async (t) => {
      const registry = await open(t);
      const part = (digest: string, ...entries: readonly NewService[]) =>
        registry.putCatalogue({ digest, isPart: true, pages: entries.map((one) => JSON.stringify([one])) });
      t.equal(await registry.hasCatalogue('first'), false);
      await registry.putCatalogue({
        ...{ digest: 'first', isPart: false },
        pages: [JSON.stringify([entry('a'), entry('b')]), JSON.stringify([entry('c')])],
      });
      t.equal(await registry.hasCatalogue('first'), true);
      t.same(await part('second', entry('b', { name: 'Another' }), entry('d')), {
        ...{ added: 1, changed: 1, removed: 0, unchanged: 0 },
      });
      t.same(await list(registry), ['a 1 r1', 'b 2 r2', 'c 3 r1', 'd 4 r1']);
      t.same([await registry.hasCatalogue('first'), await registry.hasCatalogue('second')], [false, true]);
      await t.rejects(part('third', entry('e', { domain: entry('a').domain })), { code: 'domain_taken' });
      t.same(
        await part(
          'third',
          entry('a', { domain: 'moved.example' }),
          entry('e', { domain: entry('a').domain }),
        ),
        { added: 1, changed: 1, removed: 0, unchanged: 0 },
        'an entry may take a domain that the same list gives up',
      );
      await registry.addService(owned('mine.example', (await registry.ensureAccount('x', NOON)).id));
      t.equal(
        await registry.hasCatalogue('third'),
        false,
        'a service that was added since may conflict with the list',
      );
    },
  );

  t.test('it loads what checks need to know, of the services of some shards', async (t) => {
    const registry = await open(t);
    const count = SHARDS + 6;
    await registry.putCatalogue([
      ...Array.from({ length: count - 3 }, (_, index) => entry(`s${index + 1}`)),
      entry('paused', { paused: true }),
      entry('silent', { check: { ...entry('a').check, kind: 'heartbeat' } }),
      entry('last'),
      entry('elsewhere', { check: { ...entry('a').check, regions: ['ap', 'us'] } }),
    ]);
    const shards = [1, 3, 4, 5, 6];
    const turn = firstTurn(1, 'up', NOON);
    await registry.commitUpdates([{ ...turn, memory: { ...NO_MEMORY, needsGet: true } }]);
    const targets = await registry.loadTargets(shards, 'eu');
    t.same(
      targets.map(({ serviceId }) => serviceId),
      [1, 3, 4, 5, 6, SHARDS + 1, SHARDS + 3, SHARDS + 6],
    );
    t.strictSame(targets[0], {
      serviceId: 1,
      revision: 1,
      domain: entry('s1').domain,
      origin: 'catalogue',
      accountId: null,
      check: entry('s1').check,
      memory: { ...NO_MEMORY, needsGet: true },
      lastCheckedAt: turn.current.latest?.checkedAt ?? 0,
    });
    t.equal(targets[1]?.lastCheckedAt, null);
    t.same(await registry.loadTargets([], 'eu'), []);
    const ids = [SHARDS + 3, 1, SHARDS + 4, SHARDS + 5, SHARDS + 7, 9_999];
    t.same(await registry.targetsOf(ids, 'eu'), [
      targets[0],
      targets.find(({ serviceId }) => serviceId === SHARDS + 3),
    ]);
    t.same(await registry.targetsOf([], 'eu'), []);
    const idsOf7From = async (region: string) =>
      (await registry.loadTargets([7], region)).map(({ serviceId }) => serviceId);
    t.same(await Promise.all(['eu', 'us'].map(idsOf7From)), [[7], [7, SHARDS + 7]], 'each region its own');
  });

  t.test('a new interval keeps what checks have learned, and another address does not', async (t) => {
    const registry = await open(t);
    const { check } = entry('a');
    await registry.putCatalogue([entry('a')]);
    const memory = { ...NO_MEMORY, needsGet: true };
    await registry.commitUpdates([{ ...firstTurn(1, 'up', NOON), memory }]);
    const memoryWith = async (change: Partial<typeof check>) => {
      await registry.putCatalogue([entry('a', { check: { ...check, ...change } })]);
      return (await registry.loadServices())[0]?.memory;
    };
    t.same(await memoryWith({ intervalMs: 30_000, timeoutMs: 1_000, regions: ['eu'] }), memory);
    t.same(await memoryWith({ url: 'https://a.com/other' }), NO_MEMORY);
  });

  t.test('it adds many services in their order, and loads them page by page', async (t) => {
    const registry = await open(t);
    t.equal(await registry.lastServiceId(), 0);
    const count = 1_003;
    const entries = Array.from({ length: count }, (_, index) => entry(`s${index + 1}`));
    t.match(await registry.putCatalogue(entries), { added: count });
    const changes = await registry.changesAfter(count - 5);
    t.same(
      changes.map(({ seq, serviceId, slug, service }) => [seq, serviceId, slug, service?.id]),
      [999, 1_000, 1_001, 1_002, 1_003].map((id) => [id, id, `s${id}`, id]),
    );
    const page = async (afterId: number, untilId: number) =>
      (await registry.servicesBetween(afterId, untilId)).map(({ service }) => service.slug);
    t.equal(await registry.lastServiceId(), count);
    t.same(await page(0, 2), ['s1', 's2']);
    t.same(await page(1_001, 1_010), ['s1002', 's1003']);
    t.same(await page(1_003, 1_005), []);
    const all = await registry.loadServices();
    t.equal(all.length, count);
    const some = await registry.statesOf([1_003, 9_999, 2]);
    t.strictSame(
      some.sort((a, b) => a.service.id - b.service.id),
      [all[1], all[1_002]],
    );
    t.same(await registry.statesOf([]), []);
  });

  t.test('it returns when a region has last checked a service', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('s1')]);
    const turn = firstTurn(1, 'up', NOON);
    const { latest } = turn.current;
    if (latest === null) throw new Error('no check');
    const regions = [
      {
        region: 'eu',
        check: { ...latest, checkedAt: NOON - 5_000 },
        since: NOON,
        observedAt: NOON,
        votes: true,
      },
      { region: 'us', check: latest, since: NOON, observedAt: NOON, votes: true },
    ];
    await registry.commitUpdates([
      { ...turn, current: { ...turn.current, regions, scope: null }, memory: null },
    ]);
    const lastIn = async (region: string) => (await registry.loadTargets([1], region))[0]?.lastCheckedAt;
    t.same(await Promise.all(['eu', 'us', 'asia'].map(lastIn)), [NOON - 5_000, latest.checkedAt, null]);
  });

  t.test('it counts what putting the catalogue in did, and changes no revision without need', async (t) => {
    const registry = await open(t);
    t.same(await registry.putCatalogue([entry('a'), entry('b'), entry('c')]), {
      added: 3,
      changed: 0,
      removed: 0,
      unchanged: 0,
    });
    t.same(await registry.putCatalogue([entry('d'), entry('c'), entry('b', { name: 'Bee' })]), {
      added: 1,
      changed: 1,
      removed: 1,
      unchanged: 1,
    });
    t.same(await list(registry), ['b 2 r2', 'c 3 r1', 'd 4 r1']);
  });

  t.test('it sees a change in every member of a definition', async (t) => {
    const registry = await open(t);
    const changes = [
      { name: 'Other' },
      { domain: 'other.com' },
      { category: 'ai' },
      { paused: true },
      { check: { ...entry('a').check, method: 'GET' } },
      { statusPage: { url: 'https://s.com', kind: 'rss', feedUrl: null, components: null } },
    ] as const;
    await registry.putCatalogue([entry('a')]);
    for (const change of changes) {
      t.equal((await registry.putCatalogue([entry('a', change)])).changed, 1, Object.keys(change).join());
      t.equal((await registry.putCatalogue([entry('a', change)])).unchanged, 1);
    }
  });

  t.test('it gives a slug that returns its old service, and no id twice', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a'), entry('b')]);
    const update = firstTurn(1, 'up', NOON, 'a');
    await registry.commitUpdates([update]);
    await registry.putCatalogue([]);
    t.same(await list(registry), []);
    t.same(await registry.putCatalogue([entry('c'), entry('a')]), {
      added: 2,
      changed: 0,
      removed: 0,
      unchanged: 0,
    });
    const states = await registry.loadServices();
    t.same(
      states.map(({ service }) => [service.slug, service.id]),
      [
        ['a', 1],
        ['c', 3],
      ],
    );
    t.same(states[0]?.current, update.current, 'it goes on where it was');
    t.ok((states[0]?.service.revision ?? 0) > 1, 'processes with the old definition receive the new one');
  });

  t.test('it refuses a catalogue that contradicts itself, whole', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    await t.rejects(registry.putCatalogue([entry('b'), entry('c'), entry('c', { domain: 'x.com' })]), {
      code: 'slug_taken',
      message: /c twice/,
    });
    await t.rejects(
      registry.putCatalogue([entry('b', { domain: 'x-y.com' }), entry('c', { domain: 'x.y.com' })]),
      { code: 'domain_taken', message: /b and c would share the badge x-y-com/ },
    );
    t.same(await list(registry), ['a 1 r1']);
    t.equal(await registry.lastChange(), 1);
  });

  t.test('it writes a feed of changes without gaps, each with the service as it then was', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    await t.rejects(registry.putCatalogue([entry('b'), entry('b')]));
    await registry.putCatalogue([entry('a', { name: 'New' })]);
    const { id } = await registry.ensureAccount('acme', NOON);
    const own = await registry.addService(owned('o.org', id));
    await registry.removeService('o-org');
    await registry.putCatalogue([]);
    const a = { id: 1, ...entry('a'), revision: 1 };
    t.strictSame(await registry.changesAfter(0), [
      { seq: 1, serviceId: 1, slug: 'a', service: a },
      { seq: 2, serviceId: 1, slug: 'a', service: { ...a, name: 'New', revision: 2 } },
      { seq: 3, serviceId: own.id, slug: 'o-org', service: own },
      { seq: 4, serviceId: own.id, slug: 'o-org', service: null },
      { seq: 5, serviceId: 1, slug: 'a', service: null },
    ]);
    t.equal(await registry.lastChange(), 5);
    t.same(
      (await registry.changesAfter(3)).map(({ seq }) => seq),
      [4, 5],
    );
  });

  t.test('it gives at most 1,000 changes a call', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue(Array.from({ length: 1_005 }, (_, n) => entry(`s${n}`)));
    t.equal((await registry.changesAfter(0)).length, 1_000);
    t.same((await registry.changesAfter(1_000)).length, 5);
    const heard: number[] = [];
    const stop = registry.watchChanges(0, ({ seq }) => heard.push(seq));
    await until(() => heard.length >= 1_005);
    stop();
    t.same(
      heard,
      Array.from({ length: 1_005 }, (_, n) => n + 1),
    );
  });

  t.test(
    'it tells watchers of changes of this and of other processes, in order, until they stop',
    async (t) => {
      const dataDir = t.testdir();
      const [here, there] = [await open(t, dataDir), await open(t, dataDir)];
      await here.putCatalogue([entry('a')]);
      const heard: ServiceChange[] = [];
      const heardLate: ServiceChange[] = [];
      const stop = here.watchChanges(0, (change) => {
        heard.push(change);
        if (change.seq === 1) throw new Error('a listener that fails once');
      });
      const stopLate = here.watchChanges(1, (change) => void heardLate.push(change));
      await there.putCatalogue([entry('a'), entry('b')]);
      await until(() => heard.length === 2 && heardLate.length === 1);
      await here.putCatalogue([entry('b')]);
      await until(() => heard.length === 3 && heardLate.length === 2);
      stop();
      await there.putCatalogue([entry('c')]);
      await until(() => heardLate.length === 4);
      stopLate();
      t.same(
        heard.map(({ seq, slug, service }) => [seq, slug, service !== null]),
        [
          [1, 'a', true],
          [2, 'b', true],
          [3, 'a', false],
        ],
      );
    },
  );

  t.test('it keeps the rules of owners’ domains and slugs', async (t) => {
    const registry = await open(t, undefined, { domainsPerAccount: 3 });
    await registry.putCatalogue([entry('shop', { domain: 'big-shop.com' }), entry('gone')]);
    await registry.putCatalogue([entry('shop', { domain: 'big-shop.com' })]);
    const [first, second] = [
      await registry.ensureAccount('first', NOON),
      await registry.ensureAccount('second', NOON),
    ];
    await registry.addService(owned('mine.org', first.id));

    const refused: [string, ReturnType<typeof owned>, string][] = [
      ['a domain that another account has', owned('mine.org', second.id, { slug: 'x' }), 'domain_taken'],
      ['a slug that the account has itself', owned('mine.org', first.id, { slug: 'mine-org' }), 'slug_taken'],
      ['a slug that another service has', owned('other.org', second.id, { slug: 'mine-org' }), 'slug_taken'],
      ['a slug of the catalogue', owned('other.org', second.id, { slug: 'shop' }), 'slug_taken'],
      ['a slug of a removed service', owned('other.org', second.id, { slug: 'gone' }), 'slug_taken'],
      ['a dashed domain', owned('big.shop.com', second.id), 'slug_taken'],
      ['a domain of the catalogue', owned('big-shop.com', second.id, { slug: 'x' }), 'catalogue_domain'],
      ['a subdomain of one', owned('api.eu.big-shop.com', second.id), 'catalogue_domain'],
    ];
    for (const [what, service, code] of refused)
      await t.rejects(registry.addService(service), { code }, what);
    await registry.addService(owned('hidden.org', first.id, { visibility: 'private' }));
    for (const slug of ['hidden-org', 'gone'])
      await t.rejects(
        registry.addService(owned('other.org', second.id, { slug })),
        { code: 'slug_taken', message: `The slug ${slug} is reserved. ${slug}-2 is free.` },
        'a private service is told from a removed one by nothing',
      );
    await registry.removeService('hidden-org');

    const verified = owned('api.big-shop.com', second.id, { verified: true });
    t.match(await registry.addService(verified), { ...verified, revision: 1 }, 'verification opens the way');
    await registry.addService(owned('notbig-shop.com', second.id));
    await registry.addService(owned('three.org', second.id));
    await t.rejects(registry.addService(owned('four.org', second.id)), { code: 'account_limit' });
    await registry.removeService('three-org');
    await registry.addService(owned('four.org', second.id));
    await t.rejects(registry.removeService('three-org'), { code: 'not_found' }, 'removed already');
    await t.rejects(registry.removeService('nothing'), { code: 'not_found' });
    await t.rejects(registry.removeService('shop'), { code: 'not_found', message: /catalogue file/ });
  });

  t.test('it adds many services at once, each by itself, under slugs that are free', async (t) => {
    const registry = await open(t, t.testdir(), { domainsPerAccount: 4 });
    await registry.putCatalogue([entry('github')]);
    const { id: accountId } = await registry.ensureAccount('acme', NOON);
    const { slug: _, ...plain } = owned('shop.example.com', accountId);
    const add = (...domains: string[]) =>
      registry.addServices(domains.map((domain) => ({ ...plain, domain, name: domain, verified: true })));
    t.match(await add('a.example.com', 'a-example.com', 'a.example.com', 'b.example.com'), [
      { slug: 'a-example-com' },
      { slug: 'a-example-com-2' },
      { code: 'domain_taken' },
      { slug: 'b-example-com' },
    ]);
    t.match(await add('c.example.com', 'd.example.com'), [
      { slug: 'c-example-com' },
      { code: 'account_limit' },
    ]);
    const { services } = (await registry.listAccounts())[0] ?? {};
    t.equal(services, 4);
    const endless = await open(t, t.testdir(), { domainsPerAccount: Number.POSITIVE_INFINITY });
    await endless.ensureAccount('acme', NOON);
    const many = Array.from({ length: 150 }, (_, index) => ({
      ...plain,
      domain: `s${index}.example.com`,
      accountId: 1,
    }));
    t.equal((await endless.addServices(many)).filter((one) => 'slug' in one).length, 150);
    await endless.putCatalogue([entry('github', { name: 'GitHub' })]);
    const clashing = ['a.example.org', 'a-example.org', 'a.example.org', 's1.example.com', 'c.example.org'];
    const verified = clashing.map((domain) => ({
      ...plain,
      domain,
      name: domain,
      accountId: 1,
      verified: true,
    }));
    t.match(await endless.addServices([...verified, { ...plain, domain: 'd.example.com', name: 'GitHub' }]), [
      ...[{ slug: 'a-example-org' }, { slug: 'a-example-org-2' }, { code: 'domain_taken' }],
      ...[{ code: 'domain_taken' }, { slug: 'c-example-org' }, { code: 'name_taken' }],
    ]);
  });

  t.test('it gives a removed service back to its owner alone', async (t) => {
    const registry = await open(t);
    const [first, second] = [
      await registry.ensureAccount('first', NOON),
      await registry.ensureAccount('second', NOON),
    ];
    const { id } = await registry.addService(owned('mine.org', first.id, { verified: true }));
    await registry.removeService('mine-org');
    await t.rejects(registry.addService(owned('mine.org', second.id)), { code: 'slug_taken' });
    const other = await registry.addService(owned('mine.org', second.id, { slug: 'mine-org-2' }));
    t.not(other.id, id);
    await registry.removeService('mine-org-2');
    t.match(await registry.addService(owned('mine.org', first.id)), { id, slug: 'mine-org', revision: 3 });
  });

  t.test('it lets a catalogue entry win an unverified domain, and says so', async (t) => {
    const registry = await open(t);
    const { id } = await registry.ensureAccount('acme', NOON);
    const loser = await registry.addService(owned('a.com', id));
    const bystander = await registry.addService(owned('b.com', id));
    t.match(await registry.putCatalogue([entry('a')]), { added: 1, removed: 0 });
    const slugs = (await registry.loadServices()).map(({ service }) => `${service.slug} ${service.origin}`);
    t.same(slugs, [`${bystander.slug} owner`, 'a catalogue']);
    t.same(JSON.parse((await registry.getFact(`displaced:${loser.id}`)) ?? 'null'), {
      slug: 'a-com',
      domain: 'a.com',
      accountId: id,
      by: { slug: 'a', domain: 'a.com' },
    });
    t.equal(await registry.getFact(`displaced:${bystander.id}`), null);
    const notices = await registry.noticesOf(id);
    t.match(notices, [{ text: /^a\.com is part of the public catalogue now, as a\. Your service a-com/ }]);
    t.equal(notices.length, 1);
  });
}
