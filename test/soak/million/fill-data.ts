/** A catalogue file and a registry with any number of services on loopback servers, made in bulk. */
import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CATEGORIES, DEFAULT_CHECK } from '../../../src/domain/service.ts';
import { type LatestCheck, toStoredCheck } from '../../../src/domain/status/current.ts';
import { openRegistryHere } from '../../support/registry-here.ts';

/** Addresses of the loopback network that the services are spread over. */
const ADDRESSES = 64;
/** Entries that are written to a file at once. */
const PART = 10_000;

/** The URL of the check of a service, by its number from 1. */
function urlOf(number: number, port: number): string {
  return `http://127.0.1.${1 + (number % ADDRESSES)}:${port}/`;
}

/** The name of a service; `edition` changes that of the services that a trial edits. */
export function nameOf(number: number, edition: number): string {
  return edition === 0 ? `Service ${number}` : `Service ${number}, edition ${edition}`;
}

/**
 * Writes a catalogue of `count` entries beside the file and renames it over it, as an editor would. The first `edited`
 * entries have names of that `edition`.
 */
export function writeCatalogue(
  file: string,
  port: number,
  count: number,
  { edited, edition }: { readonly edited: number; readonly edition: number } = { edited: 0, edition: 0 },
): void {
  const open = openSync(`${file}.new`, 'w');
  writeSync(open, 'services:\n');
  for (let from = 1; from <= count; from += PART) {
    const until = Math.min(count + 1, from + PART);
    const entries: string[] = [];
    for (let number = from; number < until; number++)
      entries.push(
        `  - slug: service-${number}\n    name: ${nameOf(number, number <= edited ? edition : 0)}\n` +
          `    domain: service-${number}.example\n    category: ${CATEGORIES[number % CATEGORIES.length]}\n` +
          `    check:\n      url: ${urlOf(number, port)}\n`,
      );
    writeSync(open, entries.join(''));
  }
  closeSync(open);
  renameSync(`${file}.new`, file);
}

/** Adds `count` verified services of one owner to the registry of a data directory, by statements over all rows at once. */
export async function fillRegistry(dataDir: string, port: number, count: number): Promise<void> {
  const registry = await openRegistryHere(dataDir);
  const { id: accountId } = await registry.ensureAccount('million', Date.now());
  await registry.close();
  const check = JSON.stringify({ ...DEFAULT_CHECK, url: urlOf(0, port) });
  const [before, after] = check.split('127.0.1.1');
  const categories = CATEGORIES.map((name, at) => `WHEN ${at} THEN '${name}'`).join(' ');
  withDatabase(dataDir, (database) => {
    database.exec('CREATE TEMP TABLE numbers (n INTEGER PRIMARY KEY)');
    database
      .prepare(
        'WITH RECURSIVE list (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM list WHERE n < ?) INSERT INTO numbers SELECT n FROM list',
      )
      .run(count);
    database
      .prepare(
        `INSERT INTO services (slug, dashed, name, domain, category, origin, account_id, verified, paused,
           check_definition, revision, ever_verified)
         SELECT 'service-' || n, 'service-' || n || '-example', 'Service ' || n, 'service-' || n || '.example',
           CASE n % ${CATEGORIES.length} ${categories} END, 'owner', ?, 1, 0,
           ? || '127.0.1.' || (1 + n % ${ADDRESSES}) || ?, 1, 1 FROM numbers`,
      )
      .run(accountId, before ?? '', after ?? '');
    database.exec(
      "INSERT INTO current (service_id, seq, observed_at, status) SELECT id, 0, 0, 'unknown' FROM services",
    );
    database.exec(
      `INSERT INTO changes (service_id, slug, service) SELECT id, slug, json_object('id', id, 'slug', slug, 'name', name,
         'domain', domain, 'category', category, 'origin', origin, 'accountId', account_id, 'verified', json('true'),
         'paused', json('false'), 'check', json(check_definition), 'statusPage', NULL, 'revision', 1) FROM services`,
    );
  });
}

/** Gives all services of the registry of a data directory a status: their last check, so many milliseconds ago, was good. */
export function fillStatuses(dataDir: string, ageMs: number): void {
  const at = Date.now() - ageMs;
  const check: LatestCheck = {
    status: 'up',
    responseTimeMs: 12,
    statusCode: 204,
    checkedAt: at,
    source: 'root',
    reported: null,
    failure: null,
    blocked: false,
    timing: { dnsMs: null, connectMs: 1.25, tlsMs: null, firstByteMs: 9.75, totalMs: 12.5 },
    certificateExpiresAt: null,
  };
  const memory = JSON.stringify({ needsGet: false, headSeen: true, healthSeen: false, askHealthAt: null });
  withDatabase(dataDir, (database) => {
    database
      .prepare(
        "UPDATE current SET seq = 1, observed_at = ?1, status = 'up', since = ?1, latest = ?2, memory = ?3",
      )
      .run(at, JSON.stringify(toStoredCheck(check)), memory);
    database.exec(
      `INSERT INTO transitions (service_id, seq, from_status, to_status, at, recorded_at)
       SELECT service_id, 1, 'unknown', 'up', observed_at, observed_at FROM current
       WHERE service_id NOT IN (SELECT service_id FROM transitions)`,
    );
  });
}

function withDatabase(dataDir: string, work: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(join(dataDir, 'registry.sqlite'));
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN IMMEDIATE');
  work(database);
  database.exec('COMMIT');
  database.close();
}
