/** The inbox of heartbeats as rows, by prepared statements: reading it is asked for forty times a second. */
import type { DatabaseSync } from 'node:sqlite';
import type { InboxAnswer, InboxEntry } from '../ports/inbox.ts';

/** The inbox over an open, migrated database; what writes runs inside the caller's transaction. */
export interface InboxRows {
  put(entry: Omit<InboxEntry, 'id'>): number;
  open(after: number): InboxEntry[];
  /** Whether the entry waits for its answer. */
  isOpen(id: number): boolean;
  answer(id: number, answer: InboxAnswer): void;
  answers(ids: readonly number[]): { readonly id: number; readonly answer: InboxAnswer }[];
  forget(before: number): number;
  /** Another number where another connection has committed since the last call. */
  version(): number;
}

const MAX_OPEN = 200;
/** Entries looked at for being old, at a time: nothing else is written meanwhile. */
const MAX_SCANNED = 20_000;

/** Prepares the statements. */
export function prepareInbox(database: DatabaseSync): InboxRows {
  const insert = database.prepare(
    'INSERT INTO heartbeat_inbox (kind, account_id, arrived_at, body) VALUES (?, ?, ?, ?)',
  );
  const readOpen = database.prepare(
    `SELECT id, kind, account_id, arrived_at, body FROM heartbeat_inbox
     WHERE answer IS NULL AND id > ? ORDER BY id LIMIT ${MAX_OPEN}`,
  );
  const findOpen = database.prepare('SELECT 1 FROM heartbeat_inbox WHERE id = ? AND answer IS NULL');
  const putAnswer = database.prepare('UPDATE heartbeat_inbox SET answer = ? WHERE id = ? AND answer IS NULL');
  const readAnswer = database.prepare('SELECT answer FROM heartbeat_inbox WHERE id = ?');
  const remove = database.prepare(
    `DELETE FROM heartbeat_inbox WHERE answer IS NOT NULL AND arrived_at < ?
     AND id IN (SELECT id FROM heartbeat_inbox ORDER BY id LIMIT ${MAX_SCANNED})`,
  );
  const version = database.prepare('PRAGMA data_version');
  return {
    put({ kind, accountId, arrivedAt, body }) {
      return Number(insert.run(kind, accountId, arrivedAt, body).lastInsertRowid);
    },
    open: (after) =>
      readOpen.all(after).map((row) => ({
        id: Number(row.id),
        kind: row.kind as InboxEntry['kind'],
        accountId: Number(row.account_id),
        arrivedAt: Number(row.arrived_at),
        body: String(row.body),
      })),
    isOpen: (id) => findOpen.get(id) !== undefined,
    answer: (id, answer) => void putAnswer.run(JSON.stringify(answer), id),
    answers: (ids) =>
      ids.flatMap((id) => {
        const text = readAnswer.get(id)?.answer;
        return typeof text === 'string' ? [{ id, answer: JSON.parse(text) as InboxAnswer }] : [];
      }),
    forget: (before) => Number(remove.run(before).changes),
    version: () => Number(version.get()?.data_version),
  };
}
