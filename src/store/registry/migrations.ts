/** The registry's tables, step by step. A step that was released is never changed: add another one. */
import { type Kysely, type Migration, sql } from 'kysely';
import { ADDRESS_TABLES } from './address-tables.ts';
import { FIRST_TABLES } from './first-tables.ts';
import { HEARTBEAT_TABLES } from './heartbeat-tables.ts';
import { INBOX_TABLES } from './inbox-tables.ts';
import { LEASE_PROCESS } from './lease-tables.ts';
import { NAME_TABLES } from './name-tables.ts';
import { OWNERSHIP_TABLES } from './ownership-tables.ts';
import { SIGN_IN_TABLES } from './sign-in-tables.ts';
import { SLUG_TABLES } from './slug-tables.ts';
import { STATUS_PAGE_TABLES } from './status-page-tables.ts';
import { VENDOR_TABLES } from './vendor-tables.ts';
import { WEBHOOK_QUEUES, WEBHOOK_TABLES } from './webhook-tables.ts';

/** Steps by name, run in the order of their names, each at most once. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-first-tables': { up: run(FIRST_TABLES) },
  '0002-vendor-entries': { up: run(VENDOR_TABLES) },
  '0003-heartbeats': { up: run(HEARTBEAT_TABLES) },
  '0004-sign-in': { up: run(SIGN_IN_TABLES) },
  '0005-ownership': { up: run(OWNERSHIP_TABLES) },
  '0006-webhooks': { up: run(WEBHOOK_TABLES) },
  '0007-owner-addresses': { up: run(ADDRESS_TABLES) },
  '0008-status-pages': { up: run(STATUS_PAGE_TABLES) },
  '0009-heartbeat-inbox': { up: run(INBOX_TABLES) },
  '0010-webhook-queues': { up: run(WEBHOOK_QUEUES) },
  '0011-slugs': { up: run(SLUG_TABLES) },
  '0012-lease-process': { up: run(LEASE_PROCESS) },
  '0013-catalogue-names': { up: run(NAME_TABLES) },
};

function run(statements: readonly string[]): (db: Kysely<unknown>) => Promise<void> {
  return async (db) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  };
}
