/** Fills a database with services that were up at their last check in all regions, by statements over all rows at once. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { systemClock } from '../../../src/clock.ts';
import { DEFAULT_CHECK } from '../../../src/domain/service.ts';
import { type CurrentStatus, toStoredCheck, toStoredRegions } from '../../../src/domain/status/current.ts';
import { silentLog } from '../../../src/log.ts';
import { openRegistry } from '../../../src/store/registry/open-registry.ts';
import { REGIONS } from './simulation.ts';

/** Age of the last checks, milliseconds: less than an interval. */
const AGE_MS = 200_000;

/** Makes the tables and adds `count` services of one owner, with ids from 1. */
export async function fillRegistry(postgresUrl: string, count: number): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'upbeat-soak-'));
  const registry = await openRegistry({ clock: systemClock, log: silentLog, dataDir, postgresUrl });
  const { id: accountId } = await registry.ensureAccount('million', systemClock.now());
  await registry.close();
  rmSync(dataDir, { recursive: true });

  const at = systemClock.now() - AGE_MS;
  const { latest, regions, scope } = statusAt(at);
  const check = JSON.stringify(DEFAULT_CHECK);
  const change = JSON.stringify({ accountId, check: DEFAULT_CHECK, origin: 'owner', revision: 1 });
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  const numbers = `generate_series(1, ${count}) AS n`;
  for (const [text, values] of [
    [
      `INSERT INTO services (id, slug, dashed, name, domain, category, origin, account_id, verified, paused,
         check_definition, revision, ever_verified)
       SELECT n, 'service-' || n, 'service-' || n || '-example', 'service-' || n || '.example',
         'service-' || n || '.example', CASE n % 2 WHEN 0 THEN 'ai' ELSE 'developer' END, 'owner', $1::bigint, 1, 0,
         $2::text, 1, 1 FROM ${numbers}`,
      [accountId, check],
    ],
    [
      `INSERT INTO current (service_id, seq, observed_at, status, since, latest, regions)
       SELECT n, 1, $1::bigint, 'up', $1::bigint, $2::text, $3::text FROM ${numbers}`,
      [
        at,
        JSON.stringify(latest === null ? null : toStoredCheck(latest)),
        JSON.stringify(toStoredRegions({ ...statusAt(at), regions, scope })),
      ],
    ],
    [
      `INSERT INTO changes (seq, service_id, slug, service) SELECT n, n, 'service-' || n, $1::text FROM ${numbers}`,
      [change],
    ],
    [`SELECT setval(pg_get_serial_sequence('services', 'id'), ${count})`, []],
    ['VACUUM (ANALYZE) services', []],
    ['VACUUM (ANALYZE) current', []],
    ['VACUUM (ANALYZE) changes', []],
  ] as const)
    await client.query(text, [...values]);
  await client.end();
}

function statusAt(at: number) {
  const check = {
    status: 'up',
    responseTimeMs: 38,
    statusCode: 200,
    checkedAt: at,
    source: 'root',
    reported: null,
    failure: null,
    blocked: false,
    timing: { dnsMs: 1.5, connectMs: 12.25, tlsMs: 14.5, firstByteMs: 9.75, totalMs: 38.5 },
    certificateExpiresAt: at + 5_184_000_000,
  } as const;
  return {
    ...{ serviceId: 1, seq: 1, observedAt: at, status: 'up', since: at, latest: check, scope: null },
    regions: REGIONS.map((region) => ({
      ...{ region, since: at, observedAt: at, votes: true },
      check: { ...check },
    })),
  } satisfies CurrentStatus;
}
