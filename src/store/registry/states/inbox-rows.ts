/** The inbox of heartbeats as rows. Writing functions run inside the caller's transaction. */
import { type Calls, read, unordered, write } from '../../database/registry-calls.ts';
import { type Batch, type RegistryStore, statement } from '../../database/registry-store.ts';
import type { InboxAnswer, InboxEntry, InboxStore, NewInboxEntry } from '../../ports/heartbeats.ts';

const MAX_OPEN = 200;
/** Number of entries that a statement deletes, and of those that a call deletes, since other writes wait meanwhile. */
const FORGOTTEN_AT_ONCE = 500;
const MAX_FORGOTTEN = 20_000;

const INSERT: Batch<{ readonly id: number }> = {
  types: ['text', 'bigint', 'bigint', 'text'],
  sql: 'INSERT INTO heartbeat_inbox (kind, account_id, arrived_at, body) VALUES (?, ?, ?, ?) RETURNING id',
};
const READ_OPEN = statement<InboxEntry>(
  `SELECT id, kind, account_id AS "accountId", arrived_at AS "arrivedAt", body FROM heartbeat_inbox
   WHERE answer IS NULL AND id > ? ORDER BY id LIMIT ${MAX_OPEN}`,
);
const FIND_OPEN: Batch<{ readonly id: number }> = {
  types: ['bigint'],
  sql: 'SELECT id FROM heartbeat_inbox WHERE id = ? AND answer IS NULL',
};
const PUT_ANSWER: Batch<unknown> = {
  types: ['text', 'bigint'],
  sql: 'UPDATE heartbeat_inbox SET answer = ? WHERE id = ? AND answer IS NULL',
};
const READ_ANSWER: Batch<{ readonly answer: string }> = {
  types: ['bigint'],
  sql: 'SELECT answer FROM heartbeat_inbox WHERE id = ? AND answer IS NOT NULL',
};
const OLDEST_ANSWERED = statement<{ readonly id: number; readonly arrivedAt: number }>(
  `SELECT id, arrived_at AS "arrivedAt" FROM heartbeat_inbox WHERE answer IS NOT NULL ORDER BY id LIMIT ${FORGOTTEN_AT_ONCE}`,
);
const FORGET = statement(
  'DELETE FROM heartbeat_inbox WHERE id >= ? AND id <= ? AND answer IS NOT NULL AND arrived_at < ?',
);

export const INBOX_CALLS = {
  putInInbox: unordered(async (store, entry) => (await putAllInInbox(store, [entry]))[0] ?? 0),
  openInInbox: read(async ({ queries }, after) => {
    const rows = await queries.all(READ_OPEN(after));
    return rows.map((row) => ({ ...row }));
  }),
  answerInInbox: write((store, id, answer) => answerAllInInbox(store, [{ id, answer }])),
  inboxAnswers: read(async ({ queries }, ids) => {
    const rows = await queries.firstEach(
      READ_ANSWER,
      ids.map((id) => [id]),
    );
    return rows.flatMap((row, index) =>
      row === undefined ? [] : [{ id: ids[index] ?? 0, answer: JSON.parse(row.answer) as InboxAnswer }],
    );
  }),
  forgetInbox: unordered(async ({ queries }, before) => {
    for (let forgotten = 0; ; ) {
      const answered = await queries.all(OLDEST_ANSWERED());
      const [first, last] = [answered[0], answered.at(-1)];
      if (first === undefined || last === undefined) return forgotten;
      const old = answered.filter(({ arrivedAt }) => arrivedAt < before).length;
      if (old > 0) forgotten += await queries.run(FORGET(first.id, last.id, before));
      if (old < FORGOTTEN_AT_ONCE || forgotten >= MAX_FORGOTTEN) return forgotten;
    }
  }),
} satisfies Partial<Calls<InboxStore>>;

/** Writes entries by one statement; returns their IDs in their order. */
export async function putAllInInbox(
  { queries }: RegistryStore,
  entries: readonly NewInboxEntry[],
): Promise<number[]> {
  const rows = await queries.firstEach(
    INSERT,
    entries.map(({ kind, accountId, arrivedAt, body }) => [kind, accountId, arrivedAt, body]),
  );
  return rows.map((row) => {
    if (row === undefined) throw new Error('the heartbeat was not written');
    return row.id;
  });
}

/** Which of the entries have no answer yet. */
export async function areOpenInInbox(
  { queries }: RegistryStore,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await queries.firstEach(
    FIND_OPEN,
    ids.map((id) => [id]),
  );
  return new Set(rows.flatMap((row) => row?.id ?? []));
}

/** Answers entries; the first answer of each stays. */
export async function answerAllInInbox(
  { queries }: RegistryStore,
  answers: readonly { readonly id: number; readonly answer: InboxAnswer }[],
): Promise<void> {
  await queries.runEach(
    PUT_ANSWER,
    answers.map(({ id, answer }) => [JSON.stringify(answer), id]),
  );
}
