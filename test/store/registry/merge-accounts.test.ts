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
import { channelOf, ruleOf } from '../registry-contract-alerts.ts';
import { NOON, owned } from '../registry-fixtures.ts';

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
