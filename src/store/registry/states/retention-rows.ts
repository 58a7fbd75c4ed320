/** Deletion of incidents and transitions that are out of retention, some at a time. */

import { type Calls, read, write } from '../../database/registry-calls.ts';
import { type RegistryStore, statement } from '../../database/registry-store.ts';
import type { RetentionStore } from '../../ports/retention.ts';

/** Maximum number of incidents, and of transitions, that one call looks at. */
const MAX_ROWS = 1_000;

// A list of the first ones, since neither database limits a DELETE. The literal lets both use the partial index.
const FORGET_INCIDENTS = statement(
  `DELETE FROM incidents WHERE id IN
     (SELECT id FROM incidents WHERE status = 'resolved' AND resolved_at < ? ORDER BY resolved_at LIMIT ${MAX_ROWS})`,
);
const FORGET_SAID = statement("DELETE FROM owner_incidents WHERE status = 'resolved' AND resolved_at < ?");
const FORGET_TRANSITIONS = statement(
  `DELETE FROM transitions WHERE position > ? AND position <= ? AND recorded_at < ?
     AND seq < (SELECT seq FROM current WHERE current.service_id = transitions.service_id)`,
);

export const RETENTION_CALLS: Calls<RetentionStore> = {
  newestObservation: read(async ({ kysely, queries }) => {
    const newest = kysely.selectFrom('current').select(({ fn }) => fn.max('observed_at').as('at'));
    // A service without an observation has 0.
    return (await queries.first(newest))?.at || null;
  }),
  forgetOld: write(async (store, before, position) => {
    const incidents = await store.queries.run(FORGET_INCIDENTS(before));
    // What an owner has written of several services ends with its rows in their lists, which have the same times.
    await store.queries.run(FORGET_SAID(before));
    const page = await readPage(store, position);
    const last = page.at(-1);
    if (last === undefined || !page.some(({ recorded_at }) => recorded_at < before))
      return { incidents, transitions: 0, position: incidents < MAX_ROWS ? null : position };
    const transitions = await store.queries.run(FORGET_TRANSITIONS(position, last.position, before));
    return { incidents, transitions, position: last.position };
  }),
};

async function readPage({ kysely, queries }: RegistryStore, position: number) {
  return await queries.all(
    kysely
      .selectFrom('transitions')
      .select(['position', 'recorded_at'])
      .where('position', '>', position)
      .orderBy('position')
      .limit(MAX_ROWS),
  );
}
