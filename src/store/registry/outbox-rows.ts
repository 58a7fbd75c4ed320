/** The rows that the outboxes of channels and webhooks have in common. `due_at` is null once one is settled. */
import { type RegistryStore, statement } from '../database/registry-store.ts';
import type { Row } from '../database/schema.ts';

/** Maximum number of rows that an account sees. */
const MAX_SHOWN = 50;
/** Maximum number of due rows of one account in a call, so that its slow receivers do not delay those of others. */
export const MAX_DUE_PER_ACCOUNT = 8;

/** The outcome of an attempt, as the ports describe it. */
interface Outcome {
  readonly id: number;
  readonly wasDueAt: number | null;
  readonly deliveredAt: number | null;
  readonly dueAt: number | null;
}

interface OutboxTables<Name> {
  readonly table: Name;
  /** The table of the receivers, which belong to accounts, and the column that names one. */
  readonly receivers: 'channels' | 'webhooks';
  readonly receiver: 'channel_id' | 'webhook_id';
  /** Further columns that each attempt sets, and that are null before the first one. */
  readonly noted: readonly string[];
}

export function defineOutbox<Name extends 'alert_messages' | 'deliveries'>(tables: OutboxTables<Name>) {
  const { table, receivers, receiver, noted } = tables;
  const own = `SELECT id FROM ${receivers} WHERE account_id = ?`;
  const shown = `SELECT * FROM ${table} WHERE ${receiver} IN (${own})`;
  const newest = `ORDER BY id DESC LIMIT ${MAX_SHOWN}`;
  const all = statement<Row<Name>>(`${shown} ${newest}`);
  const ofOne = statement<Row<Name>>(`${shown} AND ${receiver} = ? ${newest}`);
  const owned = statement(`${own} AND id = ?`);
  const any = statement(`SELECT 1 FROM ${table} WHERE due_at IS NOT NULL LIMIT 1`);
  const attempted = statement<Row<Name>>(
    `UPDATE ${table} SET attempts = attempts + 1, delivered_at = ?, due_at = ?${noted.map((name) => `, ${name} = ?`).join('')}
     WHERE id = ? AND due_at = ? RETURNING *`,
  );
  const again = statement<Row<Name>>(
    `UPDATE ${table} SET due_at = ?, attempts = 0, delivered_at = NULL${noted.map((name) => `, ${name} = NULL`).join('')}
     WHERE id = ? AND ${receiver} IN (${own}) RETURNING *`,
  );
  const settled = statement(`DELETE FROM ${table} WHERE due_at IS NULL AND created_at < ?`);
  return {
    /**
     * SQL of `waiting`, the receivers for whom something waits, and null. It steps from one to the next by the index, so that its cost
     * depends neither on the number of receivers nor on how much waits for each.
     */
    waiting: `WITH RECURSIVE waiting (${receiver}) AS (
     SELECT min(${receiver}) FROM ${table} WHERE due_at IS NOT NULL
     UNION ALL
     SELECT (SELECT min(${receiver}) FROM ${table}
             WHERE due_at IS NOT NULL AND ${receiver} > waiting.${receiver})
     FROM waiting WHERE waiting.${receiver} IS NOT NULL)`,
    /** Returns true if the account has that receiver. */
    owns: async ({ queries }: RegistryStore, accountId: number, receiverId: number): Promise<boolean> =>
      (await queries.first(owned(accountId, receiverId))) !== undefined,
    /** Rows of an account, newest first; of one receiver if it is given. */
    shownTo: ({ queries }: RegistryStore, accountId: number, receiverId?: number): Promise<Row<Name>[]> =>
      queries.all(receiverId === undefined ? all(accountId) : ofOne(accountId, receiverId)),
    hasWaiting: async ({ queries }: RegistryStore): Promise<boolean> =>
      (await queries.first(any())) !== undefined,
    /** Stores an outcome, and the values of the further columns. Undefined: the row was made due again meanwhile. */
    noteAttempt: (
      { queries }: RegistryStore,
      { id, wasDueAt, deliveredAt, dueAt }: Outcome,
      values: readonly (string | number | null)[],
    ): Promise<Row<Name> | undefined> =>
      queries.first(attempted(deliveredAt, dueAt, ...values, id, wasDueAt)),
    /** Makes a row due again; undefined: the account has no such row. */
    replay: (
      { queries }: RegistryStore,
      accountId: number,
      id: number,
      now: number,
    ): Promise<Row<Name> | undefined> => queries.first(again(now, id, accountId)),
    /** Deletes settled rows from before a time, epoch milliseconds; returns their number. */
    forgetSettled: ({ queries }: RegistryStore, before: number): Promise<number> =>
      queries.run(settled(before)),
  };
}
