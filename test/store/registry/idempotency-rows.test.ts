/** Changes with the keys of clients, which are made once. */
import { join } from 'node:path';
import type { Test } from 'tap';
import { DEFAULT_CHECK } from '../../../src/domain/service.ts';
import { IDEMPOTENCY_MS, MAX_IDEMPOTENT_CHARACTERS } from '../../../src/store/ports/idempotency.ts';
import type { ServiceEdit } from '../../../src/store/ports/services.ts';
import { overBoth } from '../registry-contract.ts';
import { entry, NOON } from '../registry-fixtures.ts';

const WEBHOOK = { url: 'https://example.com/hook', secret: 'whsec_c2VjcmV0', createdAt: NOON };

overBoth(async (t, open, execute) => {
  const start = async (t: Test) => {
    const dataDir = t.testdir();
    const registry = await open(t, dataDir);
    const { id: accountId } = await registry.ensureAccount('acme', NOON);
    const request = { accountId, key: 'one', fingerprint: 'f', secret: 'shh', now: NOON };
    return { dataDir, registry, accountId, request };
  };

  t.test('it makes a change once, and keeps its outcome for a day', async (t) => {
    const { dataDir, registry, accountId, request } = await start(t);
    const other = await open(t, dataDir);
    const add = (more: object = {}, by = registry) =>
      by.callIdempotent({ ...request, ...more }, 'addWebhook', [{ ...WEBHOOK, accountId }]);
    t.equal(await registry.findIdempotent(request), null);
    const first = await add();
    t.strictSame(first, {
      value: { ...WEBHOOK, accountId, id: 1 },
      secret: 'shh',
      isReplay: false,
    });
    const replay = { ...first, isReplay: true };
    t.strictSame(await other.findIdempotent(request), replay);
    t.strictSame(await add({ secret: 'another', now: NOON + IDEMPOTENCY_MS - 1 }, other), replay);
    await t.rejects(add({ fingerprint: 'g' }), { code: 'idempotency_mismatch' });
    await t.rejects(registry.findIdempotent({ ...request, fingerprint: 'g' }), {
      code: 'idempotency_mismatch',
    });
    const { id: grace } = await registry.ensureAccount('grace', NOON);
    t.equal(await registry.findIdempotent({ ...request, accountId: grace }), null);
    t.equal((await registry.webhooksOf(accountId)).length, 1);
    t.equal((await add({ fingerprint: 'g', now: NOON + IDEMPOTENCY_MS })).isReplay, false, 'a day later');
    t.equal((await registry.webhooksOf(accountId)).length, 2);
  });

  t.test('requests at once make one change', async (t) => {
    const { dataDir, registry, accountId, request } = await start(t);
    const other = await open(t, dataDir);
    const outcomes = await Promise.all(
      [registry, other, registry, other].map((by) =>
        by.callIdempotent(request, 'addWebhook', [{ ...WEBHOOK, accountId }]),
      ),
    );
    t.same(outcomes.map(({ isReplay }) => isReplay).sort(), [false, true, true, true]);
    t.equal((await registry.webhooksOf(accountId)).length, 1);
  });

  t.test('requests at once have the outcomes that they have one after the other', async (t) => {
    const folder = t.testdir();
    const outcomesOf = async (isAtOnce: boolean) => {
      const registry = await open(t, join(folder, String(isAtOnce)), { domainsPerAccount: 6 });
      const [acme, other, full] = await Promise.all(
        ['acme', 'other', 'full'].map(async (name) => (await registry.ensureAccount(name, NOON)).id),
      );
      if (acme === undefined || other === undefined || full === undefined)
        throw new Error('an account is missing');
      await registry.putCatalogue([entry('github')]);
      const definition = (domain: string, name = domain) => ({
        ...{ domain, name, category: 'developer' as const, paused: false, check: DEFAULT_CHECK },
        publicDependencies: false,
      });
      const unproven = { isProven: false, now: NOON };
      await registry.registerService(other, definition('foreign.example'), unproven);
      const { slug: removed } = await registry.registerService(acme, definition('back.example'), unproven);
      await registry.removeService(removed);
      for (const name of ['1', '2', '3', '4', '5'])
        await registry.registerService(full, definition(`${name}.full.example`), unproven);
      await registry.addClaim(acme, { domain: 'claimed.example', kind: 'root', createdAt: NOON });
      const inTurn = async <T>(steps: readonly (() => Promise<T>)[]) => {
        const settled: PromiseSettledResult<T>[] = [];
        if (isAtOnce) settled.push(...(await Promise.allSettled(steps.map((step) => step()))));
        else for (const step of steps) settled.push(...(await Promise.allSettled([step()])));
        return settled.map((one) => (one.status === 'rejected' ? one.reason.refusal : one.value));
      };
      const register = (key: string, accountId: number, domain: string, name?: string, fingerprint = key) =>
        registry.callIdempotent({ accountId, key, fingerprint, secret: null, now: NOON }, 'registerService', [
          ...[accountId, definition(domain, name), unproven],
        ]);
      const registered = await inTurn([
        () => register('1', acme, 'shop.example'),
        () => register('2', other, 'shop.example'),
        () => register('1', acme, 'shop.example'),
        () => register('1', acme, 'other.example', 'Other', 'another request'),
        () => register('3', acme, 'foreign.example'),
        () => register('4', acme, 'back.example'),
        () => register('5', other, 'a.b.example'),
        () => register('6', other, 'a-b.example'),
        () => register('7', acme, 'x.github.com'),
        () => register('8', acme, 'named.example', 'GitHub'),
        () => register('9', full, '6.full.example'),
        () => register('10', full, '7.full.example'),
        () => register('11', acme, 'claimed.example'),
      ]);
      const change = (slug: string, edit: ServiceEdit, revisions?: number[]) => () =>
        registry.changeService(slug, edit, revisions);
      const changed = await inTurn([
        change('shop-example', { name: 'Shop' }, [1]),
        change('shop-example', { paused: true }),
        change('a-b-example', { name: 'Two', paused: true }, [2]),
        change('a-b-example-2', { publicDependencies: true }),
        change('github', { name: 'Ours' }),
        change('missing', { paused: true }),
        change('foreign-example', { name: 'GitHub' }),
        change('claimed-example', { check: { ...DEFAULT_CHECK, kind: 'heartbeat' } }),
      ]);
      const withoutId = (value: object) =>
        JSON.parse(JSON.stringify(value, (key, one) => (key === 'id' ? 0 : one)));
      const services = [acme, other, full].map(async (id) => (await registry.servicesOf(id)).map(withoutId));
      return {
        ...{ registered: registered.map(withoutId), changed: changed.map(withoutId) },
        ...{ services: await Promise.all(services), claims: await registry.claimsOf(acme) },
      };
    };
    const inTurn = await outcomesOf(false);
    t.strictSame(await outcomesOf(true), inTurn);
    t.match(inTurn, {
      registered: [
        { value: { slug: 'shop-example', revision: 1 }, isReplay: false },
        { code: 'foreign_domain' },
        { value: { slug: 'shop-example' }, isReplay: true },
        { code: 'idempotency_mismatch' },
        { code: 'foreign_domain' },
        { value: { slug: 'back-example', revision: 3 } },
        { value: { slug: 'a-b-example' } },
        { value: { slug: 'a-b-example-2' } },
        { code: 'catalogue_domain' },
        { code: 'name_taken' },
        { value: { slug: '6-full-example' } },
        { code: 'too_many_domains' },
        { value: { slug: 'claimed-example' } },
      ],
      changed: [
        { name: 'Shop', revision: 2 },
        { name: 'Shop', paused: true, revision: 3 },
        { code: 'service_stale' },
        { publicDependencies: true },
        { code: 'no_owned_service' },
        { code: 'no_owned_service' },
        { code: 'name_taken' },
        { check: { kind: 'heartbeat' } },
      ],
      claims: [],
    });
  });

  t.test(
    'it stores nothing of a change that is refused, and of one whose outcome cannot be written',
    async (t) => {
      const { dataDir, registry, accountId, request } = await start(t);
      const definition = { domain: 'shop.example.com', name: 'Shop', category: 'developer', paused: false };
      const service = { ...definition, check: DEFAULT_CHECK, publicDependencies: false };
      const register = (key: string) =>
        registry.callIdempotent({ ...request, key }, 'registerService', [
          accountId,
          service,
          { isProven: false, now: NOON },
        ]);
      t.match(await register('one'), { value: { slug: 'shop-example-com', verified: false } });
      await t.rejects(register('two'), { code: 'domain_taken' });
      t.equal(await registry.findIdempotent({ ...request, key: 'two' }), null);
      const put = (services: readonly object[]) =>
        registry.callIdempotent({ ...request, key: 'put' }, 'putContent', [
          accountId,
          { seen: [], removedPages: [], removedServices: [], services, pages: [] },
          { now: NOON, verified: false, dryRun: false },
        ]);
      const { id: grace } = await registry.ensureAccount('grace', NOON);
      const hers = { ...service, category: 'developer', domain: 'hers.example.com' } as const;
      await registry.registerService(grace, hers, { isProven: false, now: NOON });
      t.match(await put([{ ...hers, key: hers.domain }]), {
        value: [{ key: 'hers.example.com' }],
        isReplay: false,
      });
      t.equal(await registry.findIdempotent({ ...request, key: 'put' }), null, 'refusals are a value');
      t.strictSame((await put([])).value, []);
      t.match(await registry.findIdempotent({ ...request, key: 'put' }), { value: [] });
      const said = await registry.addOwnerIncident({
        ...{
          accountId,
          title: 'Late',
          severity: 'major',
          status: 'investigating',
          startedAt: NOON,
          now: NOON,
        },
        ...{ resolvedAt: null, services: [], pages: [], siteUrl: 'https://upbeat.test' },
        updates: [{ at: NOON, status: 'investigating', markdown: 'We look.', plain: 'We look.' }],
      });
      const keyed = { ...request, key: 'said' };
      for (const [change, code] of [
        [{ revision: said.revision + 1 }, 'stale'],
        [{ id: said.id + 1 }, 'not_found'],
      ] as const) {
        const wanted = { ...said, ...change };
        await t.rejects(registry.callIdempotent(keyed, 'putOwnerIncident', [wanted, NOON]), { code });
        t.equal(await registry.findIdempotent(keyed), null, code);
      }
      t.match(await registry.callIdempotent(keyed, 'putOwnerIncident', [said, NOON]), { isReplay: false });
      t.match(await registry.callIdempotent(keyed, 'putOwnerIncident', [said, NOON]), { isReplay: true });
      const proof = { ...request, key: 'proof' };
      t.match(
        await registry.callIdempotent(proof, 'provePageDomain', [accountId, 'shop', 'a.example', NOON]),
        {
          value: 'missing',
        },
      );
      t.equal(await registry.findIdempotent(proof), null, 'there was nothing to prove');
      await registry.removeService('shop-example-com');
      await execute(dataDir, 'ALTER TABLE idempotent_changes RENAME TO gone');
      await t.rejects(register('three'));
      await execute(dataDir, 'ALTER TABLE gone RENAME TO idempotent_changes');
      t.equal(await registry.findService('shop-example-com'), null, 'the change is undone');
    },
  );

  t.test('it keeps no fingerprint that could be compared without the key', async (t) => {
    const { dataDir, registry, accountId, request } = await start(t);
    await registry.callIdempotent(request, 'addWebhook', [{ ...WEBHOOK, accountId }]);
    t.match(await registry.findIdempotent(request), { isReplay: true });
    await execute(dataDir, "UPDATE idempotent_changes SET fingerprint = 'f'");
    await t.rejects(registry.findIdempotent(request), { code: 'idempotency_mismatch' });
  });

  t.test('it keeps outcomes up to a length in all', async (t) => {
    const { registry, accountId, request } = await start(t);
    const secret = 'x'.repeat(MAX_IDEMPOTENT_CHARACTERS / 4);
    const add = (key: string) =>
      registry.callIdempotent({ ...request, key, secret }, 'addWebhook', [{ ...WEBHOOK, accountId }]);
    for (const key of ['a', 'b', 'c', 'd']) await add(key);
    const found = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (key) => (await registry.findIdempotent({ ...request, key })) !== null),
    );
    t.strictSame(found, [false, false, true, true], 'encrypted ones are a third longer');
  });

  t.test('it keeps the newest outcomes of an account', async (t) => {
    const { dataDir, registry, accountId, request } = await start(t);
    const rows = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10100)
      INSERT INTO idempotent_changes (account_id, key, fingerprint, outcome, created_at)
      SELECT ${accountId}, 'old-' || i, (SELECT fingerprint FROM idempotent_changes), '{"value":null,"secret":null}', ${NOON}
      FROM n`;
    await registry.callIdempotent({ ...request, key: 'first' }, 'addWebhook', [{ ...WEBHOOK, accountId }]);
    await execute(dataDir, rows);
    const find = (key: string) => registry.findIdempotent({ ...request, key });
    t.ok(await find('old-1'));
    for (let number = 0; number < 64; number++)
      await registry.callIdempotent({ ...request, key: `new-${number}` }, 'createKey', [
        {
          accountId,
          name: 'k',
          prefix: 'upb_',
          sha256: new Uint8Array(32).fill(number),
          createdAt: NOON,
          expiresAt: null,
        },
      ]);
    t.equal(await find('old-1'), null);
    t.ok(await find('old-10100'));
    t.ok(await find('new-0'));
  });
});
