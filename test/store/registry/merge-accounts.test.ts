/** Merges of accounts: every table has a rule, and a merge that fails or is killed in the middle leaves nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { NO_ALERTS, readAlertState, writeAlertState } from '../../../src/domain/alert/alert-state.ts';
import { COPIED_TABLES } from '../../../src/store/backup/copy-registry.ts';
import { ENDED_TABLES, MOVED_TABLES } from '../../../src/store/registry/merge-accounts.ts';
import { openRegistryMethods } from '../../../src/store/registry/registry-thread.ts';
import { registryFile } from '../../../src/store/sqlite/private-files.ts';
import { channelOf, ruleOf } from '../alert-fixtures.ts';
import { subscribe } from '../letter-fixtures.ts';
import { planned, posted } from '../post-fixtures.ts';
import { overBoth } from '../registry-contract.ts';
import { firstTurn, NOON, owned, UNTRUSTED } from '../registry-fixtures.ts';

t.test('it has a rule for each table with an account', async (t) => {
  const dataDir = t.testdir();
  const methods = await openRegistryMethods({ dataDir, domainsPerAccount: 9 });
  const database = new DatabaseSync(registryFile(dataDir), { readOnly: true });
  const columns = database.prepare(`SELECT 1 FROM pragma_table_info(?) WHERE name = 'account_id'`);
  const tables = COPIED_TABLES.map(([table]) => table).filter((table) => columns.get(table) !== undefined);
  t.same(tables.sort(), [...MOVED_TABLES, ...ENDED_TABLES].sort());
  database.close();
  await methods.close();
});

t.test('a merge that fails leaves both accounts as they were', async (t) => {
  const dataDir = t.testdir();
  const methods = await openRegistryMethods({ dataDir, domainsPerAccount: 9 });
  t.teardown(() => methods.close());
  const [from, into] = [await methods.ensureAccount('ops', NOON), await methods.ensureAccount('acme', NOON)];
  const service = await methods.addService(owned('shop.example', from.id));
  const database = new DatabaseSync(registryFile(dataDir), { timeout: 5_000 });
  t.teardown(() => database.close());
  // The last step of the merge.
  database.exec(`CREATE TRIGGER cut BEFORE DELETE ON accounts BEGIN SELECT RAISE(ABORT, 'cut'); END`);
  await t.rejects(methods.mergeAccounts(from.id, into.id, NOON), /cut/);
  t.strictSame(await methods.servicesOf(from.id), [service]);
  t.equal(await methods.lastChange(), 1);
  database.exec('DROP TRIGGER cut');
  await methods.mergeAccounts(from.id, into.id, NOON);
  t.match(await methods.servicesOf(into.id), [{ slug: service.slug }]);
});

const KILLS = 8;

const SERVICES = 60;

/** Merges until `lines` merges are done and a random moment more; returns the number of the last account that it named. */
async function mergeAndKill(dataDir: string, lines: number): Promise<number> {
  const script = join(import.meta.dirname, '../registry-merger.ts');
  const child = spawn(process.execPath, [script, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  let isTimed = false;
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    if (isTimed || said.split('\n').length <= lines) return;
    isTimed = true;
    setTimeout(() => child.kill('SIGKILL'), Math.random() * 20);
  });
  const [, signal] = await once(child, 'close');
  if (signal !== 'SIGKILL') throw new Error(`the merges ended by themselves: ${said.slice(-200)}`);
  return Number(said.trim().split('\n').at(-1));
}

t.test('a merge that is killed at any moment is whole, or has not happened', async (t) => {
  const dataDir = t.testdir();
  const methods = await openRegistryMethods({ dataDir, domainsPerAccount: 1_000 });
  const { id: accountId } = await methods.ensureAccount('first', NOON);
  for (let n = 0; n < SERVICES; n++) await methods.addService(owned(`s${n}.example`, accountId));
  await methods.addWebhook({ accountId, url: 'https://a.example', secret: 'whsec_c2Vj', createdAt: NOON });
  await methods.addPage({
    accountId,
    slug: 'acme',
    title: 'Acme',
    text: '',
    groups: [],
    logo: null,
    now: NOON,
  });
  const channel = await methods.addChannel(channelOf(accountId));
  await methods.addRule(ruleOf(accountId, [channel.id]));
  const startedAt = NOON;
  const open = new Map([['1-a', { startedAt, acknowledged: null, channels: {} }]]);
  await methods.commitAlerts({
    states: [{ accountId, state: writeAlertState({ ...NO_ALERTS, threads: open }), dueAt: NOON }],
    ...{ position: 0, messages: [], acknowledgements: [], now: NOON },
    rulesVersion: await methods.rulesVersion(),
  });
  const person = { provider: 'acme', subject: 'ada', name: 'ada' };
  await methods.linkIdentity(accountId, person, NOON);
  await methods.close();
  const database = new DatabaseSync(registryFile(dataDir), { timeout: 5_000 });
  t.teardown(() => database.close());
  const read = (sql: string) => database.prepare(sql).all();
  let last = accountId;
  for (let kill = 1; kill <= KILLS; kill++) {
    const acknowledged = await mergeAndKill(dataDir, 1 + (kill % 3));
    const tables = [
      ...['services', 'webhooks', 'status_pages', 'members', 'identities'],
      ...['channels', 'alert_rules', 'alert_states'],
    ];
    const holders = new Set(
      tables.flatMap((table) =>
        read(`SELECT DISTINCT account_id FROM ${table}`).map((row) => row.account_id),
      ),
    );
    const [holder = 0] = [...holders].map(Number);
    t.equal(holders.size, 1, `kill ${kill}: all is in one account`);
    t.ok(holder >= acknowledged && holder > last, 'what was acknowledged is there');
    const orphans = [...MOVED_TABLES, ...ENDED_TABLES].filter((table) => {
      const accounts = 'SELECT id FROM accounts';
      return read(`SELECT 1 FROM ${table} WHERE account_id NOT IN (${accounts}) LIMIT 1`).length > 0;
    });
    t.strictSame(orphans, [], 'nothing belongs to an account that has gone');
    const states = read('SELECT state FROM alert_states').map(({ state }) => readAlertState(String(state)));
    t.same(
      states.map(({ threads }) => [...threads.keys()]),
      [['1-a']],
      'what was told goes on',
    );
    t.strictSame(
      read('SELECT COUNT(*) AS services, COUNT(DISTINCT revision) AS revisions FROM services'),
      [{ services: SERVICES, revisions: 1 }].map((row) => Object.assign(Object.create(null), row)),
      'each service has moved as often as the others',
    );
    last = holder;
  }
});

const sha256 = (byte: number) => new Uint8Array(32).fill(byte);

overBoth(async (t, open) => {
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
});
