/** The open registry inside its thread: a connection with its limits, secrets and prepared statements. */
import type { DatabaseSync } from 'node:sqlite';
import { type InboxRows, prepareInbox } from './inbox-rows.ts';
import { prepareIncidentWriter, type WriteIncident } from './incident-rows.ts';
import type { DomainLimits } from './owner-services.ts';
import type { Secrets } from './protect-secrets.ts';
import type { RegistryStore } from './registry-store.ts';
import { prepareUpdateWriter, type WriteUpdates } from './update-rows.ts';

/** The statements of the hot paths. */
export interface PreparedStatements {
  readonly writeUpdates: WriteUpdates;
  readonly writeIncident: WriteIncident;
  readonly inbox: InboxRows;
}

/** Everything that the calls of the registry need. */
export interface OpenRegistry extends RegistryStore, PreparedStatements {
  readonly limits: DomainLimits;
  readonly secrets: Secrets;
}

/** Prepares the statements over an open, migrated database. */
export function prepareStatements(database: DatabaseSync): PreparedStatements {
  return {
    writeUpdates: prepareUpdateWriter(database),
    writeIncident: prepareIncidentWriter(database),
    inbox: prepareInbox(database),
  };
}
