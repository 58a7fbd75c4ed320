/**
 * `npm run soak -- alert-kills`: kills (`-9`) the whole program, and what decides and sends alerts, at 100 random moments over
 * SQLite, and at 30 over PostgreSQL, and counts what the receiver got. Ends with status 1 where an alert was missing, repeated without a kill, or out of
 * order for a service.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type KillOptions, runAlertKills } from '../alerts/kill-alerts.ts';
import { runProgramKills } from '../alerts/kill-program.ts';
import { createDatabase, NEEDS_POSTGRES, startPostgres } from '../support/postgres-server.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    'postgres-kills': { type: 'string', default: '30' },
    'program-kills': { type: 'string', default: '100' },
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

/** The whole program. 0 kills: it is left out. */
async function runProgram(kills: number) {
  if (kills === 0) return;
  const { messages, repeated, maxTaken, faults, ...count } = await runProgramKills({
    ...{ kills, accounts: kills, servicesPerAccount: 3 },
  });
  console.log(
    `the program: ${count.kills} kills and ${count.idleKills} before which no message was settled, ${messages} messages, ${repeated} repetitions, each over a kill; none was taken more than ${maxTaken} times`,
  );
  for (const fault of faults) console.log(`  ${fault}`);
  if (faults.length > 0 || count.kills < kills) process.exitCode = 1;
}

try {
  await runProgram(Number(values['program-kills']));
  if (Number(values.kills) > 0) await runDecider();
} finally {
  for (const end of endings) await end();
}

/** The engine and the sender alone, on a fast clock. */
async function runDecider() {
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
}
