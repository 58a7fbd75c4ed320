/** The texts of owners' incidents: whole, or as lists show them. */
import { SHORT_TIMELINE } from '../../../domain/incident/incident.ts';
import { type OwnerIncident, type OwnerUpdate, shortText } from '../../../domain/incident/owner-incident.ts';
import { fromRow, type RegistryStore, sql } from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';

export async function readWhole(store: RegistryStore, row: Row<'owner_incidents'>): Promise<OwnerIncident> {
  const { kysely, queries } = store;
  const rows = await queries.all(
    kysely
      .selectFrom('owner_updates')
      .select(['at', 'status', 'markdown', 'plain'])
      .where('incident_id', '=', row.id)
      .orderBy('place'),
  );
  return { ...toOwnerIncident(row), updates: rows };
}

/** The incidents of rows as lists show them. */
export async function readShort(
  { kysely, queries }: RegistryStore,
  rows: readonly Row<'owner_incidents'>[],
): Promise<OwnerIncident[]> {
  if (rows.length === 0) return [];
  const last = kysely
    .selectFrom('owner_updates')
    .select(({ fn }) => ['incident_id', fn.max('place').as('last')])
    .where(
      'incident_id',
      'in',
      rows.map(({ id }) => id),
    )
    .groupBy('incident_id');
  // One character more than is shown, by which a text is known to be longer.
  const characters = sql.lit(SHORT_TIMELINE.characters + 1);
  const found = await queries.all(
    kysely
      .selectFrom('owner_updates as u')
      .innerJoin(last.as('l'), 'l.incident_id', 'u.incident_id')
      .select(({ fn }) => [
        'u.incident_id',
        'u.place',
        'u.at',
        'u.status',
        fn<string>('substr', ['u.markdown', sql.lit(1), characters]).as('markdown'),
        fn<string>('substr', ['u.plain', sql.lit(1), characters]).as('plain'),
      ])
      .where((eb) => eb('u.place', '>', eb('l.last', '-', sql.lit(SHORT_TIMELINE.updates))))
      .orderBy('u.incident_id')
      .orderBy('u.place'),
  );
  const byIncident = Map.groupBy(found, ({ incident_id }) => incident_id);
  return rows.map((row) => {
    const { postMortem, ...incident } = toOwnerIncident(row);
    const newest = byIncident.get(row.id) ?? [];
    const earlier = (newest[0]?.place ?? 1) - 1;
    return {
      ...incident,
      postMortem: postMortem === null ? null : shortText(postMortem),
      updates: newest.map(({ incident_id: _, place: __, ...update }) => shortText(update)),
      ...(earlier === 0 ? {} : { earlier }),
    };
  });
}

/** Number of updates of an incident that are stored. */
export async function countUpdates({ kysely, queries }: RegistryStore, id: number): Promise<number> {
  const last = kysely
    .selectFrom('owner_updates')
    .select(({ fn }) => fn.max<number | null>('place').as('last'))
    .where('incident_id', '=', id);
  return (await queries.first(last))?.last ?? 0;
}

/** Adds updates behind the `stored` ones of an incident. */
export async function addUpdates(
  { kysely, queries }: RegistryStore,
  id: number,
  stored: number,
  updates: readonly OwnerUpdate[],
): Promise<void> {
  if (updates.length === 0) return;
  const rows = updates.map(({ at, status, markdown, plain }, index) => ({
    ...{ incident_id: id, place: stored + index + 1, at, status, markdown, plain },
  }));
  await queries.run(kysely.insertInto('owner_updates').values(rows));
}

/** An incident without its updates. */
function toOwnerIncident(row: Row<'owner_incidents'>): OwnerIncident {
  const {
    services,
    pages,
    updates: _,
    post_mortem: postMortem,
    site_url: __,
    text_bytes: ___,
    ...rest
  } = row;
  return {
    ...fromRow(rest),
    services: JSON.parse(services),
    pages: JSON.parse(pages),
    updates: [],
    postMortem: postMortem === null ? null : JSON.parse(postMortem),
  };
}
