/**
 * `npm run soak -- alert-kills`: kills (`-9`) what decides and sends alerts at 100 random moments over SQLite and at 30 over
 * PostgreSQL, and counts what its receiver got. Ends with status 1 where an alert was missing, repeated without a kill, or out of
 * order for a service.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type KillOptions, runAlertKills } from '../alerts/kill-alerts.ts';
import { createDatabase, NEEDS_POSTGRES, startPostgres } from '../support/postgres-server.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    'postgres-kills': { type: 'string', default: '30' },
  },
});
const endings: (() => unknown)[] = [];
const scope = { teardown: (end: () => unknown) => void endings.unshift(end) };

async function run(name: string, kills: number, options: Pick<KillOptions, 'dataDir' | 'postgresUrl'>) {
  const size = { accounts: Math.ceil(kills / 5), servicesPerAccount: 10, lengthMs: kills * 1_500 };
  const { messages, repeated, faults, ...count } = await runAlertKills({ ...options, ...size, kills });
  console.log(
    `${name}: ${count.kills} kills, ${messages} messages, ${repeated} repetitions, each over a kill`,
  );
  for (const fault of faults) console.log(`  ${fault}`);
  if (faults.length > 0 || count.kills < kills) process.exitCode = 1;
}

try {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-alerts-'));
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  await run('SQLite', Number(values.kills), { dataDir: folder, postgresUrl: null });
  if ('skip' in NEEDS_POSTGRES) console.log(NEEDS_POSTGRES.skip);
  else {
    const server = await startPostgres(scope);
    await createDatabase(server.url('postgres'), 'alerts');
    const dataDir = mkdtempSync(join(tmpdir(), 'upbeat-alerts-'));
    scope.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
    await run('PostgreSQL', Number(values['postgres-kills']), { dataDir, postgresUrl: server.url('alerts') });
  }
} finally {
  for (const end of endings) await end();
}
