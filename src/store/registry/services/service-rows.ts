/** Services as rows: functions that read, add, change and remove a service, each change with its entry in the feed of changes. */
import { isSameCheck } from '../../../domain/check-target.ts';
import { dashDomain, isPublic, isTrusted, type Service, UNSAID } from '../../../domain/service.ts';
import { type Calls, read } from '../../database/registry-calls.ts';
import {
  type Batch,
  fromRow,
  type Parameters,
  type RegistryStore,
  statement,
} from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import type { NewService, ServiceChangeFeed } from '../../ports/services.ts';
import { proofColumns, trustedAmong, withoutTrust, withTrust } from '../trust.ts';
import { childrenAfter } from './parent-rows.ts';
import { toCheck } from './shared-checks.ts';

export type ServiceRow = Row<'services'>;

/** Maximum number of changes in a call. */
const CHANGES_PER_CALL = 1_000;
/** Maximum number of services that are added or changed by one statement. */
const SERVICES_PER_STATEMENT = 1_000;

export function toService(row: ServiceRow): Service {
  const definition = { ...toDefinition(row), check: toCheck(row.check_definition) };
  const verified = definition.verified || (row.verified === 1 && isTrusted(definition));
  return { id: row.id, ...definition, verified, revision: row.revision };
}

/** The same without what the registry assigns, for comparison with a new definition. It is verified if its domain is proved. */
export function toDefinition(row: ServiceRow): NewService {
  return {
    slug: row.slug,
    name: row.name,
    domain: row.domain,
    category: row.category,
    origin: row.origin,
    accountId: row.account_id,
    verified: row.verified === 1 && row.unproven === 0,
    paused: row.paused === 1,
    check: withoutTrust(toCheck(row.check_definition)),
    statusPage: null,
    ...readRareMembers(RARE_COLUMNS.map((column) => row[column])),
  };
}

/** The members that few services have, and the columns that hold them. Where a service has none, flags and numbers are 0, and others are null. */
const RARE = [
  { member: 'statusPage', column: 'status_page', form: 'json' },
  { member: 'publicDependencies', column: 'public_dependencies', form: 'flag' },
  { member: 'formerSlugs', column: 'former_slugs', form: 'json' },
  { member: 'note', column: 'note', form: 'text' },
  { member: 'isFurther', column: 'further', form: 'flag' },
  { member: 'visibility', column: 'visibility', form: 'text' },
  { member: 'dependsOn', column: 'depends_on', form: 'json' },
  { member: 'badgeRenewals', column: 'badge_renewals', form: 'number' },
] as const satisfies readonly {
  readonly member: keyof NewService;
  readonly column: keyof ServiceRow;
  readonly form: 'json' | 'flag' | 'number' | 'text';
}[];

export const RARE_COLUMNS = RARE.map(({ column }) => column);

/** The members that few services have. `values` has the values of {@link RARE_COLUMNS} from `at`. Null: it has none. */
export function readRareMembers(values: readonly unknown[], at = 0): Partial<NewService> | null {
  let members: Record<string, unknown> | null = null;
  for (const [index, { member, form }] of RARE.entries()) {
    const value = values[at + index];
    if (value === null || value === 0) continue;
    members ??= {};
    members[member] = form === 'json' ? JSON.parse(String(value)) : form === 'flag' ? true : value;
  }
  return members;
}

/** The values of {@link RARE_COLUMNS}. */
function writeRareMembers(service: NewService): Parameters {
  return RARE.map(({ member, form }) => {
    const value = isUnsaid(service[member]) ? null : service[member];
    if (form === 'flag') return value === null ? 0 : 1;
    if (form === 'number') return Number(value);
    return value === null || typeof value === 'string' ? value : JSON.stringify(value);
  });
}

/** A definition as it is stored: without what its owner has not said. */
export function withoutUnsaid<T extends Partial<NewService>>(service: T): T {
  const given: Record<string, unknown> = service;
  const unsaid = UNSAID_MEMBERS.filter(
    (member) => member in given && (isUnsaid(given[member]) || given[member] === UNSAID[member]),
  );
  if (unsaid.length === 0) return service;
  const stored: Record<string, unknown> = { ...service };
  for (const member of unsaid) delete stored[member];
  return stored as T;
}

const UNSAID_MEMBERS = Object.keys(UNSAID) as (keyof typeof UNSAID)[];

function isUnsaid(value: unknown): value is null | undefined {
  return !value || (Array.isArray(value) && value.length === 0);
}

/** Adds a new service, or gives `row` another definition. */
export async function putService(
  store: RegistryStore,
  row: ServiceRow | null,
  service: NewService,
): Promise<Service> {
  return await (row === null ? insertService(store, service) : updateService(store, row, service));
}

/** Adds a new service, whose status is `unknown`. */
export async function insertService(store: RegistryStore, service: NewService): Promise<Service> {
  const [added] = await insertServices(store, [service]);
  if (added === undefined) throw new Error(`service ${service.slug} was not written`);
  return added;
}

/** Adds new services, whose status is `unknown`. Their ids, and their entries in the feed of changes, are in their order. */
export async function insertServices(store: RegistryStore, given: readonly NewService[]): Promise<Service[]> {
  const { queries } = store;
  const trusted = await trustedAmong(store, given);
  const services = given.map((service) => withTrust(withoutUnsaid(service), trusted));
  const added: Service[] = [];
  for (let at = 0; at < services.length; at += SERVICES_PER_STATEMENT) {
    const some = services.slice(at, at + SERVICES_PER_STATEMENT);
    // Statements are sent without waiting where none needs the result of the one before; a connection runs them in order.
    const [, rows] = await Promise.all([
      queries.runEach(
        INSERT_SERVICE,
        some.map((service, index) => toColumns(service, given[at + index] ?? service)),
      ),
      queries.lists(NEWEST_IDS(some.length)),
    ]);
    const ids = rows.map(([id]) => Number(id)).reverse();
    const stored = some.map((service, index) => ({ id: ids[index] ?? 0, ...service, revision: 1 }));
    await Promise.all([
      queries.run(INSERT_CURRENT(ids[0])),
      queries.runEach(INSERT_CHANGE, stored.map(toChange)),
    ]);
    added.push(...stored);
  }
  return added;
}

const INSERTED_COLUMNS = [
  'slug',
  'dashed',
  'name',
  'domain',
  'category',
  'origin',
  'account_id',
  'verified',
  'paused',
  'check_definition',
  ...RARE_COLUMNS,
  'ever_verified',
  'unproven',
] as const;
const NUMBERS: ReadonlySet<string> = new Set([
  'id',
  'revision',
  'account_id',
  'verified',
  'paused',
  'public_dependencies',
  'further',
  'badge_renewals',
  'ever_verified',
  'unproven',
]);

function typeOf(column: string): 'bigint' | 'text' {
  return NUMBERS.has(column) ? 'bigint' : 'text';
}

const INSERT_SERVICE: Batch<unknown> = {
  types: INSERTED_COLUMNS.map(typeOf),
  sql: `INSERT INTO services (${INSERTED_COLUMNS.join(', ')}, revision, removed)
   VALUES (${INSERTED_COLUMNS.map(() => '?').join(', ')}, 1, 0)`,
};
// In a transaction that writes, nothing else adds services, and their ids are in the order in which they were added. A statement for
// each service, or `RETURNING`, would cost more than the service itself.
const NEWEST_IDS = statement('SELECT id FROM services ORDER BY id DESC LIMIT ?');
const INSERT_CURRENT = statement(
  `INSERT INTO current (service_id, seq, observed_at, status)
   SELECT id, 0, 0, 'unknown' FROM services WHERE id >= ?`,
);
const INSERT_CHANGE: Batch<unknown> = {
  types: ['bigint', 'text', 'text'],
  sql: 'INSERT INTO changes (service_id, slug, service) VALUES (?, ?, ?)',
};

function toChange(service: Service): Parameters {
  return [service.id, service.slug, JSON.stringify(service)];
}

const CHANGES_AFTER = statement<Row<'changes'>>(
  `SELECT * FROM changes WHERE seq > ? ORDER BY seq LIMIT ${CHANGES_PER_CALL}`,
);

/** Another definition of a live or removed service. */
export interface ServiceUpdate {
  readonly row: ServiceRow;
  readonly service: NewService;
}

/** Gives a live or removed service another definition with the next revision. */
export async function updateService(
  store: RegistryStore,
  row: ServiceRow,
  service: NewService,
): Promise<Service> {
  const [updated] = await updateServices(store, [{ row, service }]);
  if (updated === undefined) throw new Error(`service ${service.slug} was not written`);
  return updated;
}

/**
 * Gives different services other definitions, each with its next revision. Their entries in the feed of changes are in their order.
 */
export async function updateServices(
  store: RegistryStore,
  given: readonly ServiceUpdate[],
): Promise<Service[]> {
  const { queries } = store;
  const trusted = await trustedAmong(
    store,
    given.map(({ service }) => service),
  );
  const updates = given.map(({ row, service }) => ({
    row,
    // An address that was renewed stays so, even where a service that was removed is added again.
    service: withTrust({ ...renewalsOf(row), ...withoutUnsaid(service) }, trusted),
    defined: service,
  }));
  const parents = new Map(updates.flatMap(parentChange));
  const updated: Service[] = [];
  for (let at = 0; at < updates.length; at += SERVICES_PER_STATEMENT) {
    const some = updates.slice(at, at + SERVICES_PER_STATEMENT);
    // Incidents repeat these members of their service.
    const shown = some.filter(
      ({ row, service }) =>
        row.removed === 1 ||
        (row.verified === 1) !== service.verified ||
        isPublic(toDefinition(row)) !== isPublic(service),
    );
    // The probe memory was learned from the old check.
    const moved = some.filter(({ row, service }) => !isSameCheck(toService(row), service));
    const stored = some.map(({ row, service }) => ({ id: row.id, ...service, revision: row.revision + 1 }));
    await Promise.all([
      queries.runEach(UPDATE_SERVICE, some.map(toUpdate)),
      queries.runEach(
        SHOW_INCIDENTS,
        shown.map(({ row, service }) => [service.verified && isPublic(service) ? 1 : 0, row.id]),
      ),
      queries.runEach(
        FORGET_MEMORY,
        moved.map(({ row }) => [row.id]),
      ),
      queries.runEach(INSERT_CHANGE, stored.map(toChange)),
    ]);
    updated.push(...stored);
  }
  await followParents(store, parents);
  return updated;
}

function renewalsOf({ badge_renewals: badgeRenewals }: ServiceRow) {
  return badgeRenewals === 0 ? {} : { badgeRenewals };
}

/**
 * The consequence of a change for the services that depend on one: another slug, or null where it is another account's from now on.
 */
function parentChange({ row, service }: ServiceUpdate): [slug: string, after: string | null][] {
  if (row.removed === 1) return [];
  if (row.account_id !== service.accountId) return [[row.slug, null]];
  return row.slug === service.slug ? [] : [[row.slug, service.slug]];
}

/** Changes what the children of services depend on. */
export async function followParents(
  store: RegistryStore,
  changes: ReadonlyMap<string, string | null>,
): Promise<void> {
  const children = await childrenAfter(store, changes);
  if (children.length === 0) return;
  await updateServices(
    store,
    children.map(({ row, dependsOn }) => ({ row, service: { ...toDefinition(row), dependsOn } })),
  );
}

const UPDATE_SERVICE: Batch<unknown> = {
  types: [...INSERTED_COLUMNS, 'revision', 'id'].map(typeOf),
  sql: `UPDATE services SET ${INSERTED_COLUMNS.map((name) => `${name} = ?`).join(', ')}, revision = ?, removed = 0
   WHERE id = ?`,
};
const SHOW_INCIDENTS: Batch<unknown> = {
  types: ['bigint', 'bigint'],
  sql: 'UPDATE incidents SET listed = 1, verified = ? WHERE service_id = ?',
};
const FORGET_MEMORY: Batch<unknown> = {
  types: ['bigint'],
  sql: 'UPDATE current SET memory = NULL WHERE service_id = ?',
};

function toUpdate({ row, service, defined }: ServiceUpdate & { readonly defined: NewService }): Parameters {
  return [...toColumns(service, defined, row), row.revision + 1, row.id];
}

/** Appends a live service as it is to the feed of changes, because something beside its definition has changed. */
export async function noteService(store: RegistryStore, serviceId: number): Promise<void> {
  const { kysely, queries } = store;
  const live = kysely.selectFrom('services').selectAll().where('id', '=', serviceId).where('removed', '=', 0);
  const row = await queries.first(live);
  if (row !== undefined) await queries.runEach(INSERT_CHANGE, [toChange(toService(row))]);
}

/** The newest position of the feed of changes; 0: none. */
export async function newestChange({ kysely, queries }: RegistryStore): Promise<number> {
  const newest = kysely.selectFrom('changes').select('seq').orderBy('seq', 'desc').limit(1);
  return (await queries.first(newest))?.seq ?? 0;
}

/** The values of {@link INSERTED_COLUMNS}. `defined`: the service without its trust; `row`: the service before. */
function toColumns(service: NewService, defined: NewService, row?: ServiceRow): Parameters {
  const proof = proofColumns(service, defined, row);
  return [
    service.slug,
    dashDomain(service.domain),
    service.name,
    service.domain,
    service.category,
    service.origin,
    service.accountId,
    service.verified ? 1 : 0,
    service.paused ? 1 : 0,
    JSON.stringify(service.check),
    ...writeRareMembers(service),
    proof.ever_verified,
    proof.unproven,
  ];
}

export const CHANGE_CALLS = {
  changesAfter: read(async ({ queries }, seq) => {
    const rows = await queries.all(CHANGES_AFTER(seq));
    return rows.map(({ service, ...row }) => ({
      ...fromRow(row),
      service: service === null ? null : JSON.parse(service),
    }));
  }),
  lastChange: read(newestChange),
} satisfies Partial<Calls<ServiceChangeFeed>>;
