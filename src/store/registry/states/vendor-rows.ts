/** Entries of vendors' feeds as incidents and maintenances, each exactly once (decisions, Incidents). */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { eventsOfMaintenance } from '../../../domain/alert/event.ts';
import { MIN_INCIDENT_RETENTION_MS } from '../../../domain/durations.ts';
import type { FeedEntry } from '../../../domain/incident/feed-entry.ts';
import type { Incident } from '../../../domain/incident/incident.ts';
import {
  type Maintenance,
  maintenanceIncident,
  maintenanceOf,
  phaseAt,
} from '../../../domain/incident/maintenance.ts';
import { endVanished, hasEnded, vendorIncident } from '../../../domain/incident/vendor-incident.ts';
import { type Calls, read, write } from '../../database/registry-calls.ts';
import { type RegistryStore, sql } from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import { MAX_ADVANCED_MAINTENANCES, type VendorReading, type VendorStore } from '../../ports/vendors.ts';
import { addAlertEvents } from '../alerts/alert-rows.ts';
import { toIncident, writeIncident } from '../incidents/incident-rows.ts';
import {
  endMaintenance,
  MAINTENANCE_CALLS,
  readVendorStates,
  toMaintenance,
  writeMaintenance,
} from '../incidents/maintenance-rows.ts';
import { planNextOccurrences } from '../pages/owner-maintenance-rows.ts';

type EntryRow = Row<'vendor_entries'>;

/** The stored state of one service's part of a feed. */
interface Stored {
  readonly rows: ReadonlyMap<string, EntryRow>;
  readonly incidents: ReadonlyMap<string, Incident>;
  readonly maintenances: ReadonlyMap<string, Maintenance>;
}

export const VENDOR_CALLS: Calls<VendorStore> = {
  ...MAINTENANCE_CALLS,
  putVendorReadings: write(async (registry, readings) => {
    const changed = new Set<number>();
    for (const reading of readings)
      if (await putVendorReading(registry, reading)) changed.add(reading.serviceId);
    return await readVendorStates(registry, [...changed]);
  }),
  endOtherFeeds: write(async (registry, serviceId, feed, at) => {
    const { kysely, queries } = registry;
    const open = await queries.all(
      kysely
        .selectFrom('vendor_entries')
        .select('feed')
        .distinct()
        .where('service_id', '=', serviceId)
        .where('open', '=', sql.lit(1)),
    );
    const feeds = open.filter((row) => row.feed !== feed);
    for (const { feed: other } of feeds) {
      const stored = await readStored(registry, { serviceId, feed: other });
      for (const row of stored.rows.values()) if (row.open === 1) await endEntry(registry, row, stored, at);
    }
    return feeds.length > 0 ? ((await readVendorStates(registry, [serviceId]))[0] ?? null) : null;
  }),
  putUnreadTime: write(async ({ kysely, queries }, { feed, from, to }) => {
    await queries.run(
      kysely
        .insertInto('unread_pages')
        .values({ feed, from_at: from, to_at: to })
        .onConflict((conflict) => conflict.columns(['feed', 'from_at']).doUpdateSet({ to_at: to })),
    );
    await queries.run(
      kysely
        .deleteFrom('unread_pages')
        .where('feed', '=', feed)
        .where('to_at', '<', (to ?? from) - MIN_INCIDENT_RETENTION_MS),
    );
  }),
  unreadTimesSince: read(async ({ kysely, queries }, since, feed) => {
    const lasts = kysely
      .selectFrom('unread_pages')
      .select(['feed', 'from_at as from', 'to_at as to'])
      .where((eb) => eb.or([eb('to_at', 'is', null), eb('to_at', '>', since)]));
    return await queries.all(feed === undefined ? lasts : lasts.where('feed', '=', feed));
  }),
  advanceMaintenances: write(async (registry, now) => {
    const { kysely, queries } = registry;
    const due = await queries.all(
      kysely
        .selectFrom('maintenances')
        .selectAll()
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .limit(MAX_ADVANCED_MAINTENANCES),
    );
    const removed = await removedAmong(registry, due);
    for (const before of due.map(toMaintenance)) {
      const maintenance = { ...before, phase: phaseAt(before, now) };
      const row = await queries.first(kysely.selectFrom('incidents').selectAll().where('id', '=', before.id));
      const incident = maintenanceIncident(maintenance, row === undefined ? null : toIncident(row), now);
      if (incident !== null) await putIncident(registry, incident, now);
      await writeMaintenance(registry, maintenance, now);
      if (!removed.has(before.serviceId))
        await addAlertEvents(registry, eventsOfMaintenance(before.phase, maintenance, now));
      if (maintenance.phase === 'ended')
        await queries.run(kysely.updateTable('vendor_entries').set({ open: 0 }).where('id', '=', before.id));
    }
    const owned = new Set(due.flatMap((row) => row.owner_id ?? []));
    await planNextOccurrences(registry, [...owned], now);
    const next = await queries.first(
      kysely
        .selectFrom('maintenances')
        .select('due_at')
        .where('due_at', 'is not', null)
        .orderBy('due_at')
        .limit(1),
    );
    const serviceIds = [...new Set(due.map((row) => row.service_id))];
    return { states: await readVendorStates(registry, serviceIds), nextAt: next?.due_at ?? null };
  }),
};

/** The removed services of these rows: their maintenance comes to its end, but nobody is told. */
async function removedAmong(
  { kysely, queries }: RegistryStore,
  rows: readonly { readonly service_id: number }[],
): Promise<ReadonlySet<number>> {
  if (rows.length === 0) return new Set();
  const ids = [...new Set(rows.map((row) => row.service_id))];
  const removed = kysely.selectFrom('services').select('id').where('removed', '=', 1).where('id', 'in', ids);
  return new Set((await queries.all(removed)).map(({ id }) => id));
}

/** Stores a reading; returns whether anything changed. */
async function putVendorReading(store: RegistryStore, reading: VendorReading): Promise<boolean> {
  const known = store.kysely.selectFrom('services').select('id').where('id', '=', reading.serviceId);
  if ((await store.queries.first(known)) === undefined) return false;
  const stored = await readStored(store, reading);
  const listed = new Set(reading.entries.map(({ key }) => key));
  const renamed = new Set<string>();
  let changed = false;
  for (const entry of reading.entries) {
    let row = stored.rows.get(entry.key);
    if (row === undefined || isReborn(row, entry)) {
      const isTaken = (key: string) => listed.has(key) || renamed.has(key);
      const other =
        findRenamed(stored, entry, isTaken) ?? findContinued(stored, entry, isTaken, reading.readAt);
      if (other !== undefined) renamed.add(other.entry);
      row = other ?? row;
    }
    if (await putEntry(store, reading, { entry, row }, stored)) changed = true;
  }
  const starts = reading.entries.map((entry) =>
    entry.kind === 'incident' ? (entry.startedAt ?? reading.readAt) : entry.startsAt,
  );
  for (const row of stored.rows.values()) {
    if (row.open === 0 || row.document !== reading.document) continue;
    if (listed.has(row.entry) || renamed.has(row.entry)) continue;
    const incident = stored.incidents.get(row.id);
    const startedAt = incident?.startedAt ?? stored.maintenances.get(row.id)?.startsAt ?? 0;
    if (!hasEnded(startedAt, { listsOnlyOpen: reading.listsOnlyOpen, starts, readAt: reading.readAt }))
      continue;
    await endEntry(store, row, stored, reading.readAt);
    changed = true;
  }
  return changed;
}

async function putEntry(
  store: RegistryStore,
  { serviceId, slug, feed, kind, document, readAt }: VendorReading,
  { entry, row }: { readonly entry: FeedEntry; readonly row: EntryRow | undefined },
  stored: Stored,
): Promise<boolean> {
  const ownId = publicId(kind, feed, entry.key, slug);
  const reborn =
    row === undefined ? isWithoutStart(entry) && stored.incidents.has(ownId) : isReborn(row, entry);
  // If the entry has had an incident before, the ID also contains the time of the reading.
  const id = reborn ? publicId(kind, feed, `${entry.key}\n${readAt}`, slug) : (row?.id ?? ownId);
  const known = stored.incidents.get(id) ?? null;
  let incident: Incident | null;
  let open: boolean;
  let changed = false;
  if (entry.kind === 'incident') {
    incident = vendorIncident(known, entry, { id, serviceId, readAt });
    open = incident.status !== 'resolved';
    // The vendor announced it as maintenance and now lists it as an incident.
    if (row?.kind === 'maintenance') await endMaintenance(store, id);
  } else {
    const before = stored.maintenances.get(id) ?? null;
    const told = maintenanceOf(before, entry, { id, serviceId });
    const maintenance = { ...told, phase: phaseAt(told, readAt) };
    incident = maintenanceIncident(maintenance, known, readAt);
    open = maintenance.phase !== 'ended';
    if (!isDeepStrictEqual(maintenance, before)) {
      await writeMaintenance(store, maintenance, readAt);
      await addAlertEvents(store, eventsOfMaintenance(before?.phase ?? null, maintenance, readAt));
      changed = true;
    }
  }
  if (
    incident !== null &&
    !isDeepStrictEqual(incident, known) &&
    !isForgotten(row, incident, known, readAt)
  ) {
    await putIncident(store, incident, readAt);
    changed = true;
  }
  await writeRow(store, row, {
    service_id: serviceId,
    feed,
    entry: entry.key,
    id,
    document,
    kind: entry.kind,
    open: open ? 1 : 0,
  });
  return changed;
}

async function endEntry(store: RegistryStore, row: EntryRow, stored: Stored, at: number): Promise<void> {
  const incident = stored.incidents.get(row.id);
  if (incident !== undefined && incident.status !== 'resolved')
    await putIncident(store, endVanished(incident, at), at);
  const maintenance = stored.maintenances.get(row.id);
  if (maintenance !== undefined) {
    await endMaintenance(store, maintenance.id);
    await addAlertEvents(
      store,
      eventsOfMaintenance(maintenance.phase, { ...maintenance, phase: 'ended' }, at),
    );
  }
  await writeRow(store, row, { ...row, open: 0 });
}

async function putIncident(store: RegistryStore, incident: Incident, now: number): Promise<void> {
  await addAlertEvents(store, await writeIncident(store, incident, now));
}

async function writeRow(
  { kysely, queries }: RegistryStore,
  before: EntryRow | undefined,
  row: EntryRow,
): Promise<void> {
  if (before !== undefined && isDeepStrictEqual({ ...before }, row)) return;
  if (before !== undefined && before.entry !== row.entry) {
    const { service_id, feed, entry } = before;
    await queries.run(
      kysely
        .deleteFrom('vendor_entries')
        .where('service_id', '=', service_id)
        .where('feed', '=', feed)
        .where('entry', '=', entry),
    );
  }
  await queries.run(
    kysely
      .insertInto('vendor_entries')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['service_id', 'feed', 'entry']).doUpdateSet({
          id: row.id,
          document: row.document,
          kind: row.kind,
          open: row.open,
        }),
      ),
  );
}

/** Returns true if an entry is a new incident: it is open, states no start, and its last incident has ended. */
function isReborn(row: EntryRow, entry: FeedEntry): boolean {
  return row.open === 0 && isWithoutStart(entry);
}

/** Returns true if a vendor goes on listing what has ended, is out of retention and was deleted. */
function isForgotten(
  row: EntryRow | undefined,
  { status, resolvedAt }: Incident,
  known: Incident | null,
  readAt: number,
): boolean {
  if (row === undefined || row.open === 1 || known !== null || status !== 'resolved') return false;
  return (resolvedAt ?? readAt) < readAt - MIN_INCIDENT_RETENTION_MS;
}

function isWithoutStart(entry: FeedEntry): boolean {
  return entry.kind === 'incident' && entry.startedAt === null && entry.status !== 'resolved';
}

/** An earlier entry of the vendor for the same outage, whose time overlaps that of `entry`. */
function findContinued(
  stored: Stored,
  entry: FeedEntry,
  isTaken: (key: string) => boolean,
  readAt: number,
): EntryRow | undefined {
  if (entry.kind !== 'incident') return undefined;
  const { startedAt, resolvedAt, continues = [] } = entry;
  for (const key of continues) {
    const row = isTaken(key) ? undefined : stored.rows.get(key);
    const incident = stored.incidents.get(row?.id ?? '');
    if (incident === undefined) continue;
    const overlaps =
      incident.startedAt <= (resolvedAt ?? readAt) &&
      (startedAt ?? readAt) <= (incident.resolvedAt ?? Number.POSITIVE_INFINITY);
    if (overlaps) return row;
  }
  return undefined;
}

/** An entry that the vendor now lists under another identifier: same title, same start, and the old entry is missing. */
function findRenamed(
  stored: Stored,
  entry: FeedEntry,
  isTaken: (key: string) => boolean,
): EntryRow | undefined {
  const start = entry.kind === 'incident' ? entry.startedAt : entry.startsAt;
  if (start === null) return undefined;
  for (const row of stored.rows.values()) {
    if (row.kind !== entry.kind || isTaken(row.entry)) continue;
    const { title, startedAt } = stored.incidents.get(row.id) ?? {};
    const maintenance = stored.maintenances.get(row.id);
    const knownTitle = maintenance?.title ?? title;
    const knownStart = maintenance?.startsAt ?? startedAt;
    if (knownTitle === entry.title && knownStart === start) return row;
  }
  return undefined;
}

async function readStored(
  store: RegistryStore,
  { serviceId, feed }: { readonly serviceId: number; readonly feed: string },
): Promise<Stored> {
  const { kysely, queries } = store;
  const entries = kysely
    .selectFrom('vendor_entries')
    .where('service_id', '=', serviceId)
    .where('feed', '=', feed);
  const ids = entries.select('id');
  const rows = await queries.all(entries.selectAll());
  const incidents = await queries.all(kysely.selectFrom('incidents').selectAll().where('id', 'in', ids));
  const maintenances = await queries.all(
    kysely.selectFrom('maintenances').selectAll().where('id', 'in', ids),
  );
  return {
    rows: new Map(rows.map((row) => [row.entry, row])),
    incidents: new Map(incidents.map((row) => [row.id, toIncident(row)])),
    maintenances: new Map(maintenances.map((row) => [row.id, toMaintenance(row)])),
  };
}

/** The ID of an incident: a digest of feed and entry, which are not suitable for a path, with the slug (decisions, Incidents). */
function publicId(kind: string, feed: string, entry: string, slug: string): string {
  const digest = createHash('sha256').update(`${feed}\n${entry}`).digest('hex');
  return `${kind}-${digest.slice(0, 16)}-${slug}`;
}
