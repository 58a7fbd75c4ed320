/** Heartbeats and the dependencies that they report, in the registry. */
import type { Test } from 'tap';
import { DEFAULT_CHECK } from '../../../../src/domain/service.ts';
import { type CurrentStatus, unknownStatus } from '../../../../src/domain/status/current.ts';
import type { HeartbeatWrite } from '../../../../src/store/ports/heartbeats.ts';
import type { Registry } from '../../../../src/store/ports/registry.ts';
import type { CommitOutcome, StatusUpdate } from '../../../../src/store/ports/updates.ts';
import { type OpenForTest, overBoth } from '../../registry-contract.ts';
import { entry, firstTurn, NOON, owned, stay } from '../../registry-fixtures.ts';

/** A heartbeat of the account 1 that says `ok` and nothing else. */
function beat(change: Partial<HeartbeatWrite> = {}): HeartbeatWrite {
  return {
    accountId: 1,
    kind: 'beat',
    arrivedAt: NOON,
    timestamp: null,
    counted: true,
    verdict: 'up',
    responseTimeMs: null,
    dependencies: null,
    run: null,
    body: '{}',
    ...change,
  };
}

/** A registry with an account and its service, and a way to send it heartbeats. */
async function withService(t: Test, open: OpenForTest) {
  const registry = await open(t);
  const { id: accountId } = await registry.ensureAccount('acme', NOON);
  const service = await registry.claimDomain('a.com', accountId);
  return { registry, accountId, service, send: sender(registry, service.id) };
}

function sender(registry: Registry, serviceId: number) {
  let current: CurrentStatus = unknownStatus(serviceId);
  return async (...heartbeats: readonly HeartbeatWrite[]): Promise<CommitOutcome[]> => {
    const updates = heartbeats.map((heartbeat): StatusUpdate => {
      const at = heartbeat.arrivedAt;
      const judged = current.seq === 0 ? firstTurn(serviceId, 'up', at) : stay(current, at);
      current = judged.current;
      return { ...judged, heartbeat };
    });
    return registry.commitUpdates(updates);
  };
}

overBoth(async (t, open) => {
  t.test('it sums up the heartbeats of services', async (t) => {
    const { registry, accountId, service, send } = await withService(t, open);
    const other = await registry.claimDomain('b.com', accountId);
    const read = () => registry.summariesOf([other.id, service.id]);
    t.strictSame(await read(), [null, null]);
    await send(beat({ kind: 'start', verdict: null, run: 'r' }));
    t.strictSame(await read(), [null, { count: 1, endedAt: null, runMs: null, isStarted: true }]);
    await send(beat({ arrivedAt: NOON + 5_000, run: 'r' }));
    const ended = { endedAt: NOON + 5_000, runMs: 5_000 };
    t.strictSame(await read(), [null, { count: 2, ...ended, isStarted: false }]);
    await send(beat({ kind: 'start', verdict: null, arrivedAt: NOON + 6_000 }));
    t.strictSame(await read(), [null, { count: 3, ...ended, isStarted: true }]);
  });

  t.test('it registers a domain by its first heartbeat, and finds it ever after', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('acme', NOON);
    const service = await registry.claimDomain('api.shop.com', accountId);
    t.strictSame(service, {
      id: service.id,
      slug: 'api-shop-com',
      name: 'api.shop.com',
      domain: 'api.shop.com',
      category: 'developer',
      origin: 'owner',
      accountId,
      verified: false,
      paused: false,
      check: { ...DEFAULT_CHECK, kind: 'heartbeat' },
      statusPage: null,
      revision: 1,
    });
    t.strictSame(await registry.claimDomain('api.shop.com', accountId), service);
    const again = await Promise.all(
      Array.from({ length: 20 }, () => registry.claimDomain('b.com', accountId)),
    );
    t.equal(new Set(again.map(({ id }) => id)).size, 1, 'heartbeats that come together register once');
    t.same(
      (await registry.changesAfter(0)).map(({ slug }) => slug),
      ['api-shop-com', 'b-com'],
    );
  });

  t.test('it appends a number where any service has or had the form', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([
      entry('a-b-com', { domain: 'elsewhere.com' }),
      entry('gone'),
      entry('x', { domain: 'dash-ed.com' }),
    ]);
    await registry.putCatalogue([
      entry('a-b-com', { domain: 'elsewhere.com' }),
      entry('x', { domain: 'dash-ed.com' }),
    ]);
    const { id } = await registry.ensureAccount('acme', NOON);
    const { id: other } = await registry.ensureAccount('other', NOON);
    const slugs = async (...claims: readonly (readonly [string, number])[]) => {
      const found: string[] = [];
      for (const [domain, account] of claims) found.push((await registry.claimDomain(domain, account)).slug);
      return found;
    };
    t.same(await slugs(['a.b.com', id], ['a-b.com', other], ['dash.ed.com', id]), [
      'a-b-com-2',
      'a-b-com-3',
      'dash-ed-com-2',
    ]);
    await registry.removeService('a-b-com-2');
    t.same(await slugs(['a.b.com', other]), ['a-b-com-2'], 'what was never verified reserves nothing');
    await registry.removeService('a-b-com-2');
    await registry.proveDomain(other, 'a-b.com', 'heartbeat', NOON);
    await registry.removeService('a-b-com-3');
    t.same(await slugs(['a.b.com', id]), ['a-b-com-2'], 'its first owner');
    t.same(await slugs(['a-b.com', id]), ['a-b-com-4'], 'what was verified keeps its slug');
    await registry.removeService('a-b-com-4');
    t.same(await slugs(['a-b.com', other]), ['a-b-com-3'], 'for its own account');
  });

  t.test('it keeps domains of others and of the catalogue, and the limit of an account', async (t) => {
    const registry = await open(t, undefined, { domainsPerAccount: 2 });
    await registry.putCatalogue([entry('big', { domain: 'big.com' })]);
    const { id } = await registry.ensureAccount('acme', NOON);
    const { id: other } = await registry.ensureAccount('other', NOON);
    await registry.claimDomain('mine.com', id);
    await t.rejects(registry.claimDomain('mine.com', other), { code: 'foreign_domain' });
    for (const domain of ['big.com', 'api.big.com', 'a.b.c.big.com'])
      await t.rejects(registry.claimDomain(domain, id), { code: 'catalogue_domain' }, domain);
    t.equal((await registry.claimDomain('notbig.com', id)).slug, 'notbig-com');
    await t.rejects(registry.claimDomain('third.com', id), { code: 'account_limit' });
    t.equal((await registry.claimDomain('mine.com', id)).domain, 'mine.com', 'the limit stops new ones only');

    const verified = await registry.addService(owned('api.big.com', other, { verified: true }));
    t.equal((await registry.claimDomain('api.big.com', other)).id, verified.id, 'verification opens the way');
    t.equal((await registry.loadServices()).length, 4, 'what was refused left nothing behind');
  });

  t.test('it makes a probed service heartbeat-monitored, until its owner chooses otherwise', async (t) => {
    const registry = await open(t);
    const { id } = await registry.ensureAccount('acme', NOON);
    const added = await registry.addService(
      owned('a.com', id, { check: { ...DEFAULT_CHECK, kind: 'health', periodMs: 60_000 } }),
    );
    const claimed = await registry.claimDomain('a.com', id);
    const heartbeat = { ...DEFAULT_CHECK, kind: 'heartbeat', periodMs: 60_000 } as const;
    t.strictSame(claimed, { ...added, check: heartbeat, revision: 2 });
    const chosen = await registry.changeService('a-com', { check: { ...DEFAULT_CHECK, kind: 'root' } });
    t.strictSame(chosen.check, { ...DEFAULT_CHECK, kind: 'root', keepsKind: true });
    t.strictSame(await registry.claimDomain('a.com', id), chosen, 'heartbeats respect the choice');
    const health = await registry.changeService('a-com', { check: { ...DEFAULT_CHECK, kind: 'health' } });
    t.equal(health.check.keepsKind, true);
    const back = await registry.changeService('a-com', { check: heartbeat });
    t.strictSame(back.check, heartbeat);
  });

  t.test(
    'it moves a domain at once to the account that verifies it, without what was reported',
    async (t) => {
      const registry = await open(t, undefined, { domainsPerAccount: 2 });
      await registry.putCatalogue([entry('big', { domain: 'big.com' })]);
      const { id: accountId } = await registry.ensureAccount('acme', NOON);
      const { id: other } = await registry.ensureAccount('other', NOON);
      const service = await registry.claimDomain('a.com', accountId);
      await registry.changeService('a-com', { publicDependencies: true });
      const dependencies = [{ name: 'db', status: 'down', latencyMs: null }] as const;
      const turn = firstTurn(service.id, 'up', NOON);
      await registry.commitUpdates([
        { ...turn, heartbeat: beat({ accountId, dependencies, timestamp: NOON }) },
      ]);

      const moved = await registry.proveDomain(other, 'a.com', 'heartbeat', NOON);
      t.strictSame(moved, { ...service, accountId: other, verified: true, revision: 3 });
      t.same(await registry.recentHeartbeats(service.id), []);
      t.same(await registry.dependenciesOf(service.id, 10), {
        reportedAt: null,
        dependencies: [],
        changes: [],
      });
      const state = (await registry.loadServices()).find((one) => one.service.id === service.id);
      t.match(state, { current: { status: 'up' }, newestTimestamp: undefined });
      await t.rejects(registry.claimDomain('a.com', accountId), { code: 'foreign_domain' });
      t.same((await registry.claimDomain('a.com', other)).id, service.id);

      const subdomain = await registry.proveDomain(other, 'api.big.com', 'health', NOON);
      t.match(subdomain, { slug: 'api-big-com', verified: true, check: { kind: 'health' } });
      t.match(await registry.claimDomain('api.big.com', other), { check: { kind: 'heartbeat' } });
      await registry.claimDomain('c.com', accountId);
      await registry.changeService('c-com', { publicDependencies: true });
      t.match(await registry.proveDomain(accountId, 'c.com', 'heartbeat', NOON), {
        verified: true,
        publicDependencies: true,
      });
      await t.rejects(registry.proveDomain(other, 'c.com', 'health', NOON), { code: 'account_limit' });
    },
  );

  t.test('it changes what an owner may change, and no more', async (t) => {
    const { registry, service } = await withService(t, open);
    await registry.putCatalogue([entry('big')]);
    const edit = { name: 'Acme', category: 'cloud', paused: true, verified: true } as const;
    const changed = await registry.changeService('a-com', { ...edit, publicDependencies: true });
    t.strictSame(changed, { ...service, ...edit, publicDependencies: true, revision: 2 });
    t.strictSame(await registry.changeService('a-com', {}), { ...changed, revision: 3 });
    const closed = await registry.changeService('a-com', { publicDependencies: false });
    t.notOk('publicDependencies' in closed);
    t.same((await registry.changesAfter(0)).at(-1)?.service, closed);
    await t.rejects(registry.changeService('big', edit), { code: 'not_found' });
    await t.rejects(registry.changeService('nothing', edit), { code: 'not_found' });
  });

  t.test('it keeps the last hundred heartbeats of each service as they came', async (t) => {
    const { registry, accountId, service, send } = await withService(t, open);
    const other = await registry.claimDomain('b.com', accountId);
    await sender(registry, other.id)(beat({ body: 'of the other' }));
    const body = '{"domain":"a.com","status":"ok","x":"\u0000 ü 😀"}';
    await send(...Array.from({ length: 130 }, (_, n) => beat({ arrivedAt: NOON + n, body: `${n} ${body}` })));
    const kept = await registry.recentHeartbeats(service.id);
    t.same(
      kept.map(({ body }) => body),
      Array.from({ length: 100 }, (_, n) => `${129 - n} ${body}`),
    );
    const { accountId: _account, dependencies: _none, ...stored } = beat({ arrivedAt: NOON + 129 });
    t.strictSame(kept[0], { ...stored, body: `129 ${body}`, runMs: null });
    t.same((await registry.recentHeartbeats(other.id)).length, 1);
    t.same(await registry.recentHeartbeats(999), []);
  });

  t.test(
    'it writes nothing of a heartbeat whose account has lost the service, or that came too late',
    async (t) => {
      const { registry, service, send } = await withService(t, open);
      const { id: stranger } = await registry.ensureAccount('stranger', NOON);
      const refused = await registry.commitUpdates([
        { ...firstTurn(service.id, 'down', NOON), heartbeat: beat({ accountId: stranger }) },
      ]);
      t.strictSame(refused, [{ kind: 'stale', current: unknownStatus(service.id) }]);
      t.same(await registry.recentHeartbeats(service.id), []);
      t.equal(await registry.lastTransition(), 0);

      t.match(await send(beat()), [{ kind: 'committed', transition: { position: 1 }, runMs: null }]);
      t.match(await registry.commitUpdates([{ ...firstTurn(service.id, 'down', NOON), heartbeat: beat() }]), [
        { kind: 'stale', current: { seq: 1, status: 'up' } },
      ]);
      t.equal((await registry.recentHeartbeats(service.id)).length, 1);
      await registry.removeService('a-com');
      t.match(await send(beat({ arrivedAt: NOON + 1 })), [{ kind: 'stale', current: { seq: 1 } }]);
    },
  );

  t.test('it remembers the newest timestamp of those that counted, for the next start', async (t) => {
    const { registry, send } = await withService(t, open);
    const newestTimestamp = async () => (await registry.loadServices())[0]?.newestTimestamp;
    const lastArrivedAt = async () => (await registry.loadServices())[0]?.lastArrivedAt;
    t.same([await newestTimestamp(), await lastArrivedAt()], [undefined, undefined]);
    await send(beat(), beat({ arrivedAt: NOON + 1, counted: false }));
    t.same([await newestTimestamp(), await lastArrivedAt()], [undefined, NOON]);
    await send(beat({ timestamp: NOON - 50 }), beat({ timestamp: NOON - 70, counted: false }));
    t.equal(await newestTimestamp(), NOON - 50);
    await send(beat({ timestamp: null }), beat({ kind: 'start', timestamp: NOON, verdict: null }));
    t.equal(await newestTimestamp(), NOON - 50, 'a start says nothing of how the service is');
  });

  t.test('it measures a run from its start to the heartbeat that ends it', async (t) => {
    const { send } = await withService(t, open);
    const runs = async (...heartbeats: readonly Partial<HeartbeatWrite>[]) =>
      (await send(...heartbeats.map(beat))).map((outcome) =>
        outcome.kind === 'committed' ? outcome.runMs : outcome.kind,
      );
    const start = { kind: 'start', verdict: null } as const;
    t.same(await runs({ ...start, run: 'a' }, { ...start, run: 'b', arrivedAt: NOON + 10 }), [null, null]);
    t.same(await runs({ arrivedAt: NOON + 20 }, { run: 'b', arrivedAt: NOON + 25 }), [null, 15]);
    t.same(await runs({ kind: 'fail', run: 'a', arrivedAt: NOON + 30 }), [30]);
    t.same(await runs({ run: 'a', arrivedAt: NOON + 40 }, { run: 'never', arrivedAt: NOON + 40 }), [
      null,
      null,
    ]);
    t.same(await runs({ ...start, run: 'c' }, { ...start, run: 'c', arrivedAt: NOON + 5 }), [null, null]);
    t.same(await runs({ run: 'c', arrivedAt: NOON + 9 }), [4], 'a run that begins again begins anew');
    const many = Array.from({ length: 101 }, (_, n) => ({
      ...start,
      run: `r${n}`,
      arrivedAt: NOON + 50 + n,
    }));
    await runs(...many);
    t.same(await runs({ run: 'r0', arrivedAt: NOON + 200 }), [null], 'the oldest of many is forgotten');
    t.same(await runs({ run: 'r1', arrivedAt: NOON + 200 }), [149]);
  });

  t.test('it follows each dependency from report to report', async (t) => {
    const { registry, service, send } = await withService(t, open);
    const report = (at: number, names: Readonly<Record<string, 'up' | 'slow' | 'down'>>, more = {}) =>
      beat({
        arrivedAt: NOON + at,
        dependencies: Object.entries(names).map(([name, status]) => ({ name, status, latencyMs: at })),
        ...more,
      });
    const none = { reportedAt: null, dependencies: [], changes: [] };
    t.strictSame(await registry.dependenciesOf(service.id, 10), none);
    await send(report(1, { db: 'up', cache: 'up' }), report(2, { db: 'up', cache: 'slow' }), beat());
    await send(
      report(3, { db: 'down', '__proto__\u0000': 'up' }),
      report(2, { db: 'up' }, { counted: false }),
    );
    t.strictSame(await registry.dependenciesOf(service.id, 4), {
      reportedAt: NOON + 3,
      dependencies: [
        { name: 'db', status: 'down', latencyMs: 3, since: NOON + 3 },
        { name: '__proto__\u0000', status: 'up', latencyMs: 3, since: NOON + 3 },
      ],
      changes: [
        { name: 'cache', status: null, at: NOON + 3 },
        { name: '__proto__\u0000', status: 'up', at: NOON + 3 },
        { name: 'db', status: 'down', at: NOON + 3 },
        { name: 'cache', status: 'slow', at: NOON + 2 },
      ],
    });
    const names = (n: number) =>
      Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${n}-${i}`, 'up']));
    await send(...Array.from({ length: 12 }, (_, n) => report(10 + n, names(n) as Record<string, 'up'>)));
    t.equal((await registry.dependenciesOf(service.id, 5_000)).changes.length, 1_000, 'bounded');
  });

  t.test('it counts failing dependencies over verified services that made them public', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('acme', NOON);
    const services = [];
    for (const name of ['a', 'b', 'c', 'd']) {
      const { id, slug } = await registry.claimDomain(`${name}.com`, accountId);
      if (name !== 'c') await registry.changeService(slug, { publicDependencies: true });
      if (name !== 'd') await registry.changeService(slug, { verified: true });
      services.push({ id, send: sender(registry, id) });
    }
    const failing = (page = { limit: 10, offset: 0 }) => registry.failingDependencies(page);
    for (const [index, { send }] of services.entries()) {
      const down = (name: string) => ({ name, status: 'down', latencyMs: null }) as const;
      const more =
        index === 0 ? [down('Stripe '), { ...down('s3'), status: 'slow' as const }, down('mail')] : [];
      await send(
        beat({ arrivedAt: NOON + index, dependencies: [down(index === 1 ? 'STRIPE' : 'stripe'), ...more] }),
      );
    }
    const stripe = { name: 'stripe', services: 2, since: NOON };
    const mail = { name: 'mail', services: 1, since: NOON };
    t.strictSame(await failing(), [stripe, mail]);
    t.strictSame(await failing({ limit: 1, offset: 1 }), [mail]);
    t.equal(await registry.countFailingDependencies(), 2);

    await services[0]?.send(beat({ arrivedAt: NOON + 5, dependencies: [] }));
    t.strictSame(await failing(), [{ name: 'stripe', services: 1, since: NOON + 1 }]);
    await registry.changeService('b-com', { publicDependencies: false });
    t.strictSame(await failing(), []);
    await registry.changeService('c-com', { publicDependencies: true });
    t.same((await failing()).length, 1);
    for (const visibility of ['unlisted', 'private'] as const) {
      await registry.changeService('c-com', { visibility });
      t.strictSame(await failing(), [], `a list for everyone has nothing of a service that is ${visibility}`);
      t.equal(await registry.countFailingDependencies(), 0);
    }
    await registry.changeService('c-com', { visibility: 'public' });
    t.same((await failing()).length, 1);
    await registry.changeService('c-com', { paused: true });
    t.strictSame(await failing(), [], 'a paused service says nothing now');
    t.equal(await registry.countFailingDependencies(), 0);
  });

  t.test('it keeps the last 100 logs of a service for its account alone', async (t) => {
    const { registry, accountId, service } = await withService(t, open);
    const add = (text: string, run: string | null = null, owner = accountId) =>
      registry.addHeartbeatLog(service.id, owner, { at: NOON, run, text });
    await add('of another account', null, accountId + 1);
    t.strictSame(await registry.heartbeatLogs(service.id), []);
    for (let n = 1; n <= 101; n++) await add(`line ${n}`, `run-${n}`);
    const logs = await registry.heartbeatLogs(service.id);
    t.equal(logs.length, 100);
    t.strictSame(logs[0], { at: NOON, run: 'run-101', text: 'line 101' });
    t.equal(logs.at(-1)?.text, 'line 2');
    const { id: prover } = await registry.ensureAccount('prover', NOON);
    await registry.proveDomain(prover, service.domain, 'heartbeat', NOON);
    t.strictSame(await registry.heartbeatLogs(service.id), [], 'a new owner does not see them');
    await registry.removeService('a-com');
    await add('after the removal', null, prover);
    t.strictSame(await registry.heartbeatLogs(service.id), []);
  });

  t.test('it ends the heartbeat address of a service that moves to another account', async (t) => {
    const { registry, accountId, service } = await withService(t, open);
    const addressHash = 'a'.repeat(64);
    const check = { ...service.check, addressHash };
    t.match(await registry.changeService('a-com', { check, note: 'Ask Ada' }), { check: { addressHash } });
    const proved = await registry.proveDomain(accountId, 'a.com', 'heartbeat', NOON);
    t.match(proved, { check: { addressHash }, note: 'Ask Ada' });
    const { id: prover } = await registry.ensureAccount('prover', NOON);
    const moved = await registry.proveDomain(prover, 'a.com', 'heartbeat', NOON);
    t.notOk(moved.check.addressHash);
    t.notOk('note' in moved, 'notes are those of the former owner');
    await registry.changeService(moved.slug, { visibility: 'private' });
    t.match(await registry.proveDomain(accountId, 'a.com', 'heartbeat', NOON), { visibility: 'private' });
  });

  t.test('it leaves the dependencies of a silent service out', async (t) => {
    const { registry, service } = await withService(t, open);
    await registry.changeService('a-com', { publicDependencies: true, verified: true });
    const dependencies = [{ name: 'db', status: 'down', latencyMs: null }] as const;
    const first = firstTurn(service.id, 'up', NOON);
    await registry.commitUpdates([{ ...first, heartbeat: beat({ dependencies }) }]);
    const page = { limit: 10, offset: 0 };
    t.equal((await registry.failingDependencies(page)).length, 1);
    const silent = stay(first.current, NOON + 1);
    const latest =
      silent.current.latest === null ? null : { ...silent.current.latest, source: 'silence' as const };
    await registry.commitUpdates([{ ...silent, current: { ...silent.current, latest } }]);
    t.same(await registry.failingDependencies(page), []);
  });
});
