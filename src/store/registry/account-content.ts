/** Several changes of what an account has, in one transaction. */
import { isDeepStrictEqual } from 'node:util';
import { keptChanges } from '../../domain/incident/owner-maintenance.ts';
import { namedGroup, nameOfEntry, type OwnedPage } from '../../domain/status-page.ts';
import { type Calls, type OpenRegistry, write } from '../database/registry-calls.ts';
import { RegistryError } from '../database/registry-error.ts';
import {
  type ContentChanges,
  type ContentOptions,
  type ContentStore,
  type MaintenanceContent,
  NO_ACCOUNT,
  type RefusedContent,
  type WantedMaintenance,
  type WantedPage,
  type WantedService,
} from '../ports/account-content.ts';
import { ensureAccount } from './accounts/account-rows.ts';
import { noteRefusal, putAlerts, removeAlerts } from './alerts/alert-content.ts';
import { refuseOvertaken } from './content-revisions.ts';
import { chosenCheck, registerService } from './ownership.ts';
import {
  addOwnerMaintenance,
  ownerMaintenancesOf,
  putOwnerMaintenance,
} from './pages/owner-maintenance-rows.ts';
import { addPage, changePage, pagesOf, putPictures, removePage } from './pages/status-page-rows.ts';
import { addServices, ownedServices, removeService } from './services/owner-services.ts';
import { findParents, refuseCircles } from './services/parent-rows.ts';
import {
  type ServiceRow,
  type ServiceUpdate,
  toDefinition,
  updateServices,
  withoutUnsaid,
} from './services/service-rows.ts';
import { loadNameRule } from './services/slugs.ts';

/** Ends the transaction of changes that must not be kept. */
class RolledBack extends Error {
  readonly code = 'rolled_back';
}

/** Changes of what an account has. */
export const CONTENT_CALLS: Calls<ContentStore> = {
  putContent: write(async (registry, accountId, changes, options) => {
    const refused: RefusedContent[] = [];
    try {
      await registry.nested(async () => {
        // No account can have an empty name.
        const isNew = options.dryRun && accountId === NO_ACCOUNT;
        const id = isNew ? (await ensureAccount(registry, '', options.now)).id : accountId;
        refused.push(...(await putContent(registry, id, changes, options)));
        if (options.dryRun || refused.length > 0) throw new RolledBack('nothing is changed');
      });
    } catch (error) {
      if (!(error instanceof RolledBack)) throw error;
    }
    return refused;
  }),
};

async function putContent(
  registry: OpenRegistry,
  accountId: number,
  { seen, removedPages, removedServices, services, pages, alerts, maintenances }: ContentChanges,
  options: ContentOptions,
): Promise<RefusedContent[]> {
  const overtaken = await refuseOvertaken(registry, accountId, seen);
  if (overtaken.length > 0) return overtaken;
  if (maintenances !== undefined) await withdrawMaintenances(registry, accountId, maintenances, options);
  if (alerts !== undefined) await removeAlerts(registry, accountId, alerts);
  for (const slug of removedPages) await removePage(registry, accountId, slug);
  const removed = await findRows(registry, 'slug', removedServices);
  for (const row of removed) if (row.account_id === accountId) await removeService(registry, row.slug);
  const refused = await putServices(registry, accountId, services, options);
  // A page may show services of which one was refused.
  if (refused.length === 0) refused.push(...(await putPages(registry, accountId, pages, options)));
  if (refused.length === 0 && alerts !== undefined) {
    const named = alerts.rules.flatMap(({ of }) => of.services).filter(isKey);
    const ids = await idsOf(registry, accountId, named);
    refused.push(...(await putAlerts(registry, accountId, { ...alerts, ids }, options)));
  }
  if (refused.length === 0 && maintenances !== undefined) {
    const named = maintenances.wanted.flatMap((one) => one.services).filter(isKey);
    const ids = await idsOf(registry, accountId, named);
    refused.push(...(await putMaintenances(registry, accountId, { ...maintenances, ids }, options)));
  }
  return refused;
}

async function putServices(
  registry: OpenRegistry,
  accountId: number,
  services: readonly WantedService[],
  { verified, now }: ContentOptions,
): Promise<RefusedContent[]> {
  const refused: RefusedContent[] = [];
  const hosts = services.map(({ domain }) => domain);
  const rows = await findRows(registry, 'domain', [...new Set(hosts)]);
  const own = rows.filter((row) => row.account_id === accountId);
  const known = new Map(own.map((row) => [keyOf(row), row]));
  const refusedName = await loadNameRule(registry);
  const updates: ServiceUpdate[] = [];
  const added: WantedService[] = [];
  for (const service of services) {
    const { key, domain, name } = service;
    const row = known.get(key);
    if (row === undefined) {
      added.push({ ...service, dependsOn: [] });
      continue;
    }
    const refusal = name === row.name ? null : refusedName(name, domain);
    if (refusal !== null) refused.push({ type: 'service', key, refusal });
    else {
      // What it depends on may be among those that are added, and is written last.
      const { dependsOn: before = [] } = toDefinition(row);
      const dependsOn = (service.dependsOn ?? []).length === 0 ? [] : before;
      updates.push(...changesOf(row, { ...service, dependsOn }));
    }
  }
  await updateServices(registry, updates);
  // The first one of a host is added before those with slugs of their own.
  added.sort((a, b) => Number(a.key !== a.domain) - Number(b.key !== b.domain));
  const outcomes = verified
    ? await addServices(
        registry,
        added.map(({ key: _, ...service }) => toDefinitionOf(service, accountId)),
        registry.limits,
      )
    : await registerEach(registry, accountId, added, now);
  for (const [index, { key }] of added.entries()) {
    const outcome = outcomes[index];
    if (outcome !== undefined && 'refusal' in outcome)
      refused.push({ type: 'service', key, refusal: outcome.refusal });
  }
  if (refused.length === 0) refused.push(...(await putParents(registry, accountId, services)));
  return refused;
}

/** Writes what services depend on after all of them are there, so that their order does not matter. */
async function putParents(
  registry: OpenRegistry,
  accountId: number,
  services: readonly WantedService[],
): Promise<RefusedContent[]> {
  const refused: RefusedContent[] = [];
  const children = new Map(
    services.flatMap(({ key, dependsOn = [] }) => (dependsOn.length === 0 ? [] : [[key, dependsOn]])),
  );
  const hosts = services.flatMap(({ key, domain }) => (children.has(key) ? [domain] : []));
  const rows = (await findRows(registry, 'domain', [...new Set(hosts)])).filter(
    (row) => row.account_id === accountId && children.has(keyOf(row)),
  );
  const updates: ServiceUpdate[] = [];
  const attempt = async (key: string, work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      refused.push({ type: 'service', key, refusal: refusalOf(error) });
    }
  };
  for (const row of rows)
    await attempt(keyOf(row), async () => {
      const dependsOn = await findParents(registry, accountId, children.get(keyOf(row)) ?? []);
      updates.push(...changesOf(row, { ...toDefinition(row), key: keyOf(row), dependsOn }));
    });
  await updateServices(registry, updates);
  for (const row of refused.length === 0 ? rows : [])
    await attempt(keyOf(row), () => refuseCircles(registry, accountId, [row.slug]));
  return refused;
}

function keyOf({ domain, slug, further }: ServiceRow): string {
  return further === 1 ? slug : domain;
}

function toDefinitionOf(service: Omit<WantedService, 'key'>, accountId: number) {
  return { ...service, ...({ origin: 'owner', accountId, verified: true, statusPage: null } as const) };
}

/** Registers services as their owner does: they are not verified, and count as registrations of the day. */
async function registerEach(
  registry: OpenRegistry,
  accountId: number,
  services: readonly WantedService[],
  now: number,
): Promise<readonly (object | Pick<RefusedContent, 'refusal'>)[]> {
  const outcomes: (object | Pick<RefusedContent, 'refusal'>)[] = [];
  for (const { key: _, ...service } of services) {
    try {
      await registry.nested(() => registerService(registry, accountId, service, { isProven: false, now }));
      outcomes.push({});
    } catch (error) {
      outcomes.push({ refusal: refusalOf(error) });
    }
  }
  return outcomes;
}

/** The update of a live service to the properties that its account wants; empty: it has them. */
function changesOf(
  row: ServiceRow,
  { key: _key, slug: _slug, isFurther: _isFurther, check, ...wanted }: WantedService,
): ServiceUpdate[] {
  const before = toDefinition(row);
  const service = withoutUnsaid({ ...before, ...wanted, check: chosenCheck(before.check, check) });
  return isDeepStrictEqual(service, before) ? [] : [{ row, service }];
}

async function putPages(
  registry: OpenRegistry,
  accountId: number,
  pages: readonly WantedPage[],
  { now, dryRun }: ContentOptions,
): Promise<RefusedContent[]> {
  const refused: RefusedContent[] = [];
  if (pages.length === 0) return refused;
  const keys = pages.flatMap(({ groups }) => groups.flatMap(({ services }) => services)).filter(isKey);
  const ids = await idsOf(registry, accountId, keys);
  const present = new Map((await pagesOf(registry, accountId)).map((page) => [page.slug, page]));
  for (const { groups: wanted, logo, favicon = null, ...page } of pages) {
    const groups = wanted.map((group) => {
      const entries = group.services.flatMap((service) => {
        const id = isKey(service) ? ids.get(service) : service;
        if (id === undefined && !dryRun) throw new Error(`${service} on page ${page.slug} is no service`);
        return id === undefined ? [] : [[id, nameOfEntry(group, service)] as const];
      });
      return namedGroup(group.name, entries);
    });
    try {
      const before = present.get(page.slug) ?? (await addPage(registry, { ...page, groups, accountId, now }));
      await changePageRow(registry, before, { ...page, groups }, now);
      if (logo?.mark !== before.logo?.mark) await putPictures(registry, before, { logo }, now);
      if (favicon?.mark !== before.favicon?.mark) await putPictures(registry, before, { favicon }, now);
    } catch (error) {
      refused.push({ type: 'page', key: page.slug, refusal: refusalOf(error) });
    }
  }
  return refused;
}

async function changePageRow(
  registry: OpenRegistry,
  before: OwnedPage,
  after: Pick<OwnedPage, 'groups'> & Omit<WantedPage, 'groups' | 'logo' | 'favicon'>,
  now: number,
): Promise<void> {
  const { access = 'public' } = before;
  const { passwordHash = null, ...rest } = after;
  const wanted = { ...rest, domain: after.domain ?? null };
  const known: Readonly<Record<string, unknown>> = { ...before, access, domain: before.domain?.name };
  const isSame = Object.entries(wanted).every(([name, value]) =>
    // What is absent, null or empty is the same: there is none.
    isDeepStrictEqual(known[name] || null, value || null),
  );
  if (!isSame || passwordHash !== null) await changePage(registry, before, { ...wanted, passwordHash }, now);
}

/** The ids of services of the account by their keys, and by their slugs. */
async function idsOf(
  registry: OpenRegistry,
  accountId: number,
  keys: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const names = [...new Set(keys)];
  const rows = [...(await findRows(registry, 'slug', names)), ...(await findRows(registry, 'domain', names))];
  const own = rows.filter((row) => row.account_id === accountId);
  return new Map([
    ...own.map(({ slug, id }) => [slug, id] as const),
    ...own.map((row) => [keyOf(row), row.id] as const),
  ]);
}

/** Live services of owners by one of these values. */
async function findRows(
  { kysely, queries }: OpenRegistry,
  column: 'slug' | 'domain',
  values: readonly string[],
): Promise<ServiceRow[]> {
  if (values.length === 0) return [];
  return await queries.all(
    ownedServices(kysely)
      .selectAll()
      .where(column, 'in', [...values]),
  );
}

function isKey(service: number | string): service is string {
  return typeof service === 'string';
}

function refusalOf(error: unknown): RefusedContent['refusal'] {
  if (error instanceof RegistryError && error.refusal !== undefined) return error.refusal;
  throw error;
}

async function withdrawMaintenances(
  registry: OpenRegistry,
  accountId: number,
  { removed }: MaintenanceContent,
  { now }: ContentOptions,
): Promise<void> {
  if (removed.length === 0) return;
  for (const one of await ownerMaintenancesOf(registry, accountId))
    if (removed.includes(one.id)) await putOwnerMaintenance(registry, { ...one, cancelledAt: now }, now);
}

/** Writes maintenances. `ids`: IDs of services of the account by their domains. */
async function putMaintenances(
  registry: OpenRegistry,
  accountId: number,
  { wanted, siteUrl, ids }: MaintenanceContent & { readonly ids: ReadonlyMap<string, number> },
  { now, dryRun }: ContentOptions,
): Promise<RefusedContent[]> {
  const refused: RefusedContent[] = [];
  const pages = new Map((await pagesOf(registry, accountId)).map(({ slug, id }) => [slug, id]));
  const present = new Map((await ownerMaintenancesOf(registry, accountId)).map((one) => [one.id, one]));
  const put = async ({ key: _, id, ...post }: WantedMaintenance, madeAt: number): Promise<void> => {
    const find = (name: string, found: number | undefined) => {
      // A dry run does not add services and pages of other steps.
      if (found === undefined && !dryRun) throw new Error(`${post.title} names ${name}, which is not there`);
      return found ?? [];
    };
    const services = post.services.flatMap((one) =>
      typeof one === 'number' ? one : find(one, ids.get(one)),
    );
    const named = { services, pages: post.pages.flatMap((slug) => find(slug, pages.get(slug))) };
    const before = id === null ? undefined : present.get(id);
    if (before === undefined) {
      await addOwnerMaintenance(registry, { ...post, ...named, accountId, siteUrl, now: madeAt });
      return;
    }
    const changed = { ...before, ...post, ...named, changes: keptChanges(before, post) };
    await putOwnerMaintenance(registry, changed, now);
  };
  // Those with the same title are told apart by the order in which they were made.
  for (const [index, one] of wanted.entries())
    await noteRefusal(refused, { type: 'maintenance', key: one.key }, () =>
      put(one, now - (wanted.length - 1 - index)),
    );
  return refused;
}
