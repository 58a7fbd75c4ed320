/** Contract of the registry: accounts that are merged. */
import type { Test } from 'tap';
import type { OpenForTest } from './registry-contract.ts';
import { channelOf, ruleOf } from './registry-contract-alerts.ts';
import { planned, posted } from './registry-contract-posts.ts';
import { subscribe } from './registry-contract-subscriptions.ts';
import { firstTurn, NOON, owned, UNTRUSTED } from './registry-fixtures.ts';

const sha256 = (byte: number) => new Uint8Array(32).fill(byte);

/** Runs this part of the contract. */
export async function mergeContract(t: Test, open: OpenForTest): Promise<void> {
  t.test('it moves all that an account has to another one, and plans it', async (t) => {
    const dataDir = t.testdir();
    const [registry, there] = [await open(t, dataDir), await open(t, dataDir)];
    const { id: fromId } = await registry.ensureAccount('ops', NOON);
    const { id: intoId } = await registry.ensureAccount('acme', NOON);
    const link = (accountId: number, subject: string) =>
      registry.linkIdentity(accountId, { provider: 'acme', subject, name: subject }, NOON);
    const [ada, grace, joan] = [
      await link(intoId, 'ada'),
      await link(fromId, 'grace'),
      await link(fromId, 'joan'),
    ];
    await link(fromId, 'ada');
    await link(intoId, 'grace');
    await registry.setRole(intoId, grace.id, 'viewer');
    await registry.setRole(fromId, ada.id, 'editor');
    await registry.setRole(fromId, joan.id, 'editor');
    const session = { personId: joan.id, createdAt: NOON, expiresAt: NOON + 99 };
    await registry.createSession({ ...session, sha256: sha256(1) });
    const live = await registry.addService(owned('shop.example', fromId));
    await registry.addService(owned('gone.example', fromId));
    await registry.removeService('gone-example');
    const kept = await registry.addService(owned('blog.example', intoId));
    await registry.commitUpdates([firstTurn(live.id, 'up', NOON)]);
    const key = { name: 'k', prefix: 'upb_', createdAt: NOON, expiresAt: null };
    const created = await registry.createKey({ ...key, accountId: fromId, sha256: sha256(2) });
    const revoked = await registry.createKey({ ...key, accountId: fromId, sha256: sha256(3) });
    await registry.revokeKey(revoked.id, NOON);
    const secret = 'whsec_c2VjcmV0';
    const hook = await registry.addWebhook({
      accountId: fromId,
      url: 'https://a.example',
      secret,
      createdAt: NOON,
    });
    const delivery = { message: 'm', type: 'test', body: '{}', now: NOON };
    await registry.addDelivery(fromId, hook.id, delivery);
    const groups = [{ name: '', services: [live.id] }];
    const page = await registry.addPage({
      ...{ accountId: fromId, slug: 'ops', title: 'Ops', text: '', groups, now: NOON },
    });
    const channel = await registry.addChannel(channelOf(fromId));
    await registry.addRule(ruleOf(fromId, [channel.id]));
    const made = await registry.addOwnerIncident(posted(fromId));
    await registry.addOwnerMaintenance(planned(fromId));
    for (const topic of [`service:${live.id}`, `page:${page.id}`, `service:${kept.id}`] as const)
      await subscribe(registry, topic, 'ada@a.example');
    for (const [accountId, domain] of [
      [fromId, 'new.example'],
      [fromId, 'both.example'],
      [intoId, 'both.example'],
    ] as const)
      await registry.addClaim(accountId, { domain, kind: 'root', createdAt: NOON });
    const invitation = { accountId: fromId, inviterId: grace.id, role: 'viewer', createdAt: NOON } as const;
    await registry.addInvitation({ ...invitation, sha256: sha256(4), expiresAt: NOON + 9 });
    const position = await registry.lastChange();
    const accounts = await registry.listAccounts();

    const plan = await there.planMerge(fromId, intoId);
    t.strictSame(plan, {
      from: { id: fromId, name: 'ops', createdAt: NOON, ...UNTRUSTED },
      into: { id: intoId, name: 'acme', createdAt: NOON, ...UNTRUSTED },
      moved: {
        ...{ services: 1, keys: 1, webhooks: 1, pages: 1, channels: 1, rules: 1 },
        ...{ incidents: 1, maintenances: 1, subscriptions: 2 },
      },
      before: {
        ...{ services: 1, keys: 0, webhooks: 0, pages: 0, channels: 0, rules: 0 },
        ...{ incidents: 0, maintenances: 0, subscriptions: 1 },
      },
      members: [
        { name: 'ada', personId: ada.id, before: 'owner', role: 'owner' },
        { name: 'grace', personId: grace.id, before: 'viewer', role: 'owner' },
        { name: 'joan', personId: joan.id, before: null, role: 'editor' },
      ],
      membersBefore: 2,
      claims: ['new.example'],
      droppedClaims: ['both.example'],
      droppedInvitations: 1,
    });
    t.strictSame(await registry.listAccounts(), accounts, 'a plan changes nothing');
    t.equal(await registry.lastChange(), position);

    t.strictSame(await registry.mergeAccounts(fromId, intoId, NOON + 5), plan);
    const moved = { ...live, accountId: intoId, revision: live.revision + 1 };
    t.match(await there.changesAfter(position), [{ seq: position + 1, serviceId: live.id, service: moved }]);
    t.strictSame(await there.servicesOf(intoId), [kept, moved]);
    t.match((await there.loadServices())[0]?.current, { status: 'up', seq: 1 }, 'its status stays');
    t.match(await there.findKey(sha256(2)), { id: created.id, accountId: intoId, accountName: 'acme' });
    t.strictSame(
      (await there.webhooksOf(intoId)).map(({ id, secret }) => [id, secret]),
      [[hook.id, secret]],
    );
    t.match(await there.deliveriesOf(intoId), [{ webhookId: hook.id, type: 'test' }]);
    t.match(await there.ownerIncidentsOf(intoId), [{ id: made.id }]);
    t.match(await there.pagesOf(intoId), [{ slug: 'ops', groups, revision: 1 }]);
    t.same((await there.claimsOf(intoId)).map(({ domain }) => domain).sort(), [
      'both.example',
      'new.example',
    ]);
    t.match(await there.findSession(sha256(1), NOON), {
      personId: joan.id,
      accountId: intoId,
      role: 'editor',
    });
    t.match(await there.noticesOf(intoId), [{ notice: { code: 'account_merged', name: 'ops' } }]);
    t.same((await there.membersOf(intoId)).map(({ name, role }) => `${name}: ${role}`).sort(), [
      'ada: owner',
      'grace: owner',
      'joan: editor',
    ]);
    t.equal(await there.findInvitation(sha256(4), NOON), null);
    t.same(
      (await there.listAccounts()).map(({ id }) => id),
      [intoId],
    );
    const returned = await registry.addService(owned('gone.example', intoId));
    t.equal(returned.id, kept.id - 1, 'a removed service returns to its new account');
    for (const [a, b] of [
      [fromId, intoId],
      [intoId, 99],
    ] as const) {
      await t.rejects(registry.planMerge(a, b), { code: 'not_found' });
      await t.rejects(registry.mergeAccounts(a, b, NOON), { code: 'not_found' });
    }
  });

  t.test('it removes only an account that has nothing', async (t) => {
    const registry = await open(t, t.testdir());
    const { id: emptyId } = await registry.ensureAccount('empty', NOON);
    const { id: fullId } = await registry.ensureAccount('full', NOON);
    await registry.addWebhook({
      ...{ accountId: fullId, url: 'https://a.example', secret: 'whsec_c2VjcmV0', createdAt: NOON },
    });
    t.same(
      [
        await registry.removeEmptyAccount(fullId),
        await registry.removeEmptyAccount(emptyId),
        await registry.removeEmptyAccount(emptyId),
      ],
      [false, true, false],
    );
    t.same(
      (await registry.listAccounts()).map(({ name }) => name),
      ['full'],
    );
  });
}
