/** Which slug and which name a service may have, and who makes room for whom (decisions, Ownership, Heartbeats and Badge). */
import { BoundedMap, getOrInsert } from '../../async/bounded-map.ts';
import { systemClock } from '../../clock.ts';
import type { Notice } from '../../domain/refusal.ts';
import { nameKeys } from '../../domain/resembling-names.ts';
import { dashDomain, firstFreeForm } from '../../domain/service.ts';
import { addNotice } from './account-rows.ts';
import { RegistryError } from './registry-error.ts';
import { type RegistryStore, sql } from './registry-store.ts';
import { type ServiceRow, toDefinition, updateService } from './service-rows.ts';

/** Most slugs that a service had before and still answers to; of more, the oldest are forgotten. */
export const MAX_FORMER_SLUGS = 5;

/** What {@link findFreeSlug} leaves out. */
export interface SlugSearch {
  /** The service that looks for a slug: its own is free to it. */
  readonly exceptId?: number;
  /** Slugs that are about to be given to others. */
  readonly reserved?: ReadonlySet<string>;
}

/**
 * The dashed form of a domain, or that with the lowest number from 2 on that is free. A form is taken where any service
 * has it as its slug, had it before, or has it as its dashed domain. One query, however many numbers are taken.
 */
export async function findFreeSlug(
  store: RegistryStore,
  domain: string,
  search: SlugSearch = {},
): Promise<string> {
  const base = dashDomain(domain);
  const taken = new Set([...(search.reserved ?? []), ...(await takenForms(store, base, search.exceptId))]);
  return firstFreeForm(base, (form) => taken.has(form));
}

/** Whether `slug` is some service's, or the badge of one. */
export async function isSlugTaken(store: RegistryStore, slug: string, exceptId?: number): Promise<boolean> {
  return (await takenForms(store, slug, exceptId)).has(slug);
}

/**
 * Makes room for a verified service at the dashed form of its domain: services that were never verified get a
 * numbered slug, and their owners receive a notice. False: the catalogue or another verified service has the form.
 */
export async function clearDashedSlug(
  store: RegistryStore,
  domain: string,
  exceptId?: number,
): Promise<boolean> {
  const { kysely, queries } = store;
  const slug = dashDomain(domain);
  const rows = await queries.all(
    kysely
      .selectFrom('services')
      .selectAll()
      .where((eb) => eb.or([eb('slug', '=', slug), eb('dashed', '=', slug)])),
  );
  const isBadge = ({ origin, removed }: ServiceRow) => origin === 'catalogue' && removed === 0;
  const holders = rows.filter((row) => row.id !== exceptId && (row.slug === slug || isBadge(row)));
  if (holders.some((row) => row.origin === 'catalogue' || row.ever_verified === 1)) return false;
  if ((await formerSlugs(store, exceptId)).includes(slug)) return false;
  for (const row of holders) {
    const free = await findFreeSlug(store, row.domain, { exceptId: row.id, reserved: new Set([slug]) });
    await updateService(store, row, { ...toDefinition(row), slug: free });
    await tellOwner(store, row, {
      code: 'slug_to_verified',
      slug,
      takenBy: domain,
      domain: row.domain,
      newSlug: free,
    });
  }
  return true;
}

/** The slug of a removed service that reserves nothing. Clients cannot request it, because valid slugs have no tilde. */
export function releasedSlug({ slug, id }: Pick<ServiceRow, 'slug' | 'id'>): string {
  return isReleased(slug) ? slug : `${slug}~${id}`;
}

/** Whether a slug was given up when its service was removed. */
export function isReleased(slug: string): boolean {
  return slug.includes('~');
}

/** Sends a notice to the owner of a service, if it has one. */
export async function tellOwner(
  store: RegistryStore,
  { account_id }: ServiceRow,
  notice: Notice,
): Promise<void> {
  if (account_id !== null) await addNotice(store, account_id, systemClock.now(), notice);
}

/** `base` and its numbered forms that stand for some service. */
async function takenForms(
  store: RegistryStore,
  base: string,
  exceptId?: number,
): Promise<ReadonlySet<string>> {
  const { kysely, queries } = store;
  // The character behind the dash is the dot: what lies between are the forms with something behind a dash.
  const [from, to] = [`${base}-`, `${base}.`];
  const rows = await queries.all(
    kysely
      .selectFrom('services')
      .select(['id', 'slug', 'dashed', 'removed'])
      .where((eb) =>
        eb.or([
          eb('slug', '=', base),
          eb('dashed', '=', base),
          eb.and([eb('slug', '>=', from), eb('slug', '<', to)]),
          eb.and([eb('dashed', '>=', from), eb('dashed', '<', to)]),
        ]),
      ),
  );
  const holders = rows.filter(({ id, slug }) => id !== exceptId && !isReleased(slug));
  return new Set([
    ...holders.flatMap(({ slug, dashed }) => [slug, dashed]),
    ...(await formerSlugs(store, exceptId)),
  ]);
}

/** Slugs that still lead to services which have another one now. There are few of them. */
async function formerSlugs({ kysely, queries }: RegistryStore, exceptId?: number): Promise<string[]> {
  const rows = await queries.all(
    kysely.selectFrom('services').select(['id', 'former_slugs']).where('former_slugs', 'is not', null),
  );
  return rows.flatMap(({ id, former_slugs }) =>
    id === exceptId || former_slugs === null ? [] : (JSON.parse(former_slugs) as string[]),
  );
}

/** Keys of the catalogue's names, which are asked for again and again; of more than this, all are forgotten. */
const MAX_REMEMBERED = 10_000;
const keysOfNames = new BoundedMap<string, readonly string[]>(MAX_REMEMBERED);

/** Throws `name_taken` where a service of the catalogue has that name or one that looks like it; its own domain may be one. */
export async function refuseTakenName(
  { kysely, queries }: RegistryStore,
  name: string,
  domain: string,
): Promise<void> {
  if (name === domain) return;
  const keys = nameKeys(name);
  const entries = await queries.all(
    // Literals, not parameters: only so SQLite knows that the partial index serves.
    kysely
      .selectFrom('services')
      .select('name')
      .where('origin', '=', sql.lit('catalogue'))
      .where('removed', '=', sql.lit(0)),
  );
  const found = entries.find((entry) =>
    getOrInsert(keysOfNames, entry.name, () => nameKeys(entry.name)).some((key) => keys.includes(key)),
  );
  if (found !== undefined)
    throw new RegistryError('name_taken', { code: 'name_taken', name, other: found.name });
}
