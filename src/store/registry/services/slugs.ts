/** Rules for slugs and names of services, and for conflicts between them (decisions, Ownership, Heartbeats and Badge). */
import { createRequire } from 'node:module';
import type ToSkeleton from 'unhomoglyph';
import { BoundedMap, getOrInsert } from '../../../async/bounded-map.ts';
import { systemClock } from '../../../clock.ts';
import type { Notice } from '../../../domain/notice.ts';
import type { Refusal } from '../../../domain/refusal.ts';
import { dashDomain, firstFreeForm } from '../../../domain/service.ts';
import type { PageGroup } from '../../../domain/status-page.ts';
import { addNotice } from '../../database/notice-rows.ts';
import { RegistryError } from '../../database/registry-error.ts';
import { type RegistryStore, statement } from '../../database/registry-store.ts';
import { isTrustedAccount } from '../trust.ts';
import { type ServiceRow, toDefinition, updateService } from './service-rows.ts';

/** Trade marks, which are not part of a name; decomposed to letters (`TM`) they would change it. */
const TRADE_MARKS = /[™℠®©]/g;
/** Invisible or blank characters, among them fillers that count as letters. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const ACCENTS = /\p{M}/gu;
const NEITHER_LETTER_NOR_DIGIT = /[^\p{L}\p{N}]/gu;

/** Small capitals, which have neither decompositions nor confusables. */
const SMALL_CAPITALS = new Map(
  [...'ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ'].map((letter, index) => [letter, 'abcdefghijklmnoprstuvwyz'[index] ?? '']),
);

/** Letters in circles, squares and flags that Unicode does not decompose: the first of each 26. */
const DECORATED_ALPHABETS = [0x1f150, 0x1f170, 0x1f1e6];

/**
 * Keys of a name, at most two: names that have a key in common look alike. Empty for a name without letters and digits,
 * which looks like no other.
 */
export function nameKeys(name: string): readonly string[] {
  const plain = [...name.replace(TRADE_MARKS, '').normalize('NFKD').replace(INVISIBLE, '')]
    .map(undecorate)
    .join('')
    .replace(ACCENTS, '');
  // A capital and its small letter can look like different letters: Н is H, н is not h.
  const keys = [plain, plain.toLowerCase()].map(foldLookalikes).filter((key) => key !== '');
  return [...new Set(keys)];
}

/** Returns true if two names look alike. */
export function resembles(one: string, other: string): boolean {
  const keys = nameKeys(other);
  return nameKeys(one).some((key) => keys.includes(key));
}

const load = createRequire(import.meta.url);
let toSkeleton: typeof ToSkeleton | undefined;

function foldLookalikes(text: string): string {
  // Loaded with the first name that is compared: its table takes 1 MB.
  toSkeleton ??= load('unhomoglyph') as typeof ToSkeleton;
  return (
    toSkeleton(text)
      .normalize('NFKD')
      .replace(NEITHER_LETTER_NOR_DIGIT, '')
      .toLowerCase()
      // In capitals I looks like l, which the skeleton of a small i does not show.
      .replaceAll('i', 'l')
      .replaceAll('vv', 'w')
  );
}

function undecorate(character: string): string {
  const small = SMALL_CAPITALS.get(character);
  if (small !== undefined) return small;
  const code = character.codePointAt(0) ?? 0;
  const first = DECORATED_ALPHABETS.find((start) => code >= start && code < start + 26);
  return first === undefined ? character : String.fromCharCode(97 + code - first);
}

/** Maximum number of former slugs of a service; the oldest are dropped beyond it. */
const MAX_FORMER_SLUGS = 5;

const FIND_HOLDERS = statement<ServiceRow>('SELECT * FROM services WHERE slug = ? OR dashed = ?');
const FIND_FORMS = statement<Pick<ServiceRow, 'id' | 'slug' | 'dashed'>>(
  `SELECT id, slug, dashed FROM services
   WHERE slug = ? OR dashed = ? OR (slug >= ? AND slug < ?) OR (dashed >= ? AND dashed < ?)`,
);
const FIND_FORMER_SLUGS = statement<Pick<ServiceRow, 'id' | 'former_slugs'>>(
  'SELECT id, former_slugs FROM services WHERE former_slugs IS NOT NULL',
);

/** Exceptions for {@link findFreeForm}. */
interface SlugSearch {
  /** The service that needs a slug; its own slugs count as free. */
  readonly exceptId?: number;
  /** Slugs that are about to be assigned to other services. */
  readonly reserved?: ReadonlySet<string>;
}

/**
 * A form, such as the dashed one of a domain, if it is free, else that with the lowest free number from 2 on. A form is taken if
 * it is the slug, a former slug or the dashed domain of any service. One query, however many numbers are taken.
 */
export async function findFreeForm(
  store: RegistryStore,
  base: string,
  search: SlugSearch = {},
): Promise<string> {
  const taken = new Set([...(search.reserved ?? []), ...(await takenForms(store, base, search.exceptId))]);
  return firstFreeForm(base, (form) => taken.has(form));
}

/** A free form of the slug that the registry chooses for a service: of its domain, or of its present slug if it is not the first. */
export async function findOtherSlug(
  store: RegistryStore,
  { id, slug, domain, further }: ServiceRow,
  reserved: ReadonlySet<string>,
): Promise<string> {
  const base = further === 1 ? bareSlug(slug) : dashDomain(domain);
  return await findFreeForm(store, base, { exceptId: id, reserved });
}

/** Returns true if `slug` leads to a service, or to the badge of one. */
export async function isSlugTaken(store: RegistryStore, slug: string, exceptId?: number): Promise<boolean> {
  return (await takenForms(store, slug, exceptId)).has(slug);
}

/** The newest further slugs of a service. */
export function keptFormerSlugs(slugs: readonly string[]) {
  return slugs.length === 0 ? {} : { formerSlugs: slugs.slice(-MAX_FORMER_SLUGS) };
}

/**
 * Frees the dashed form of a domain for a verified service: services that were never verified get a numbered slug, and
 * their owners receive a notice. False: the catalogue or another verified service has the form.
 */
export async function clearDashedSlug(
  store: RegistryStore,
  domain: string,
  exceptId?: number,
): Promise<boolean> {
  const slug = dashDomain(domain);
  const rows = await store.queries.all(FIND_HOLDERS(slug, slug));
  const isBadge = ({ origin, removed }: ServiceRow) => origin === 'catalogue' && removed === 0;
  const holders = rows.filter((row) => row.id !== exceptId && (row.slug === slug || isBadge(row)));
  // A slug that an owner has chosen gives way to a domain that has this form.
  const givesWay = (row: ServiceRow) =>
    row.ever_verified === 0 || (row.further === 1 && row.domain !== domain);
  if (holders.some((row) => row.origin === 'catalogue' || !givesWay(row))) return false;
  if ((await formerSlugs(store, exceptId)).includes(slug)) return false;
  for (const row of holders) {
    if (row.removed === 1) {
      await releaseSlug(store, row);
      continue;
    }
    const free = await findOtherSlug(store, row, new Set([slug]));
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
export function releasedSlug({ slug, id }: ServiceRow): string {
  return isReleased(slug) ? slug : `${slug}~${id}`;
}

/** Makes the reserved slug of a removed service free. */
export async function releaseSlug({ kysely, queries }: RegistryStore, row: ServiceRow): Promise<void> {
  const release = kysely.updateTable('services').set({ slug: releasedSlug(row) });
  await queries.run(release.where('id', '=', row.id));
}

/** The slug that a service has, or had before it was released. */
export function bareSlug(slug: string): string {
  return slug.replace(/~.*$/, '');
}

/** Returns true if a slug was released when its service was removed. */
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

/** `base` and its numbered forms that are taken. */
async function takenForms(
  store: RegistryStore,
  base: string,
  exceptId?: number,
): Promise<ReadonlySet<string>> {
  // In ASCII the dot follows the dash, so this range contains the forms with a dash and a suffix.
  const [from, to] = [`${base}-`, `${base}.`];
  const rows = await store.queries.all(FIND_FORMS(base, base, from, to, from, to));
  const holders = rows.filter(({ id, slug }) => id !== exceptId && !isReleased(slug));
  return new Set([
    ...holders.flatMap(({ slug, dashed }) => [slug, dashed]),
    ...(await formerSlugs(store, exceptId)),
  ]);
}

/** Former slugs, which still lead to their services. There are few of them. */
export async function formerSlugs({ queries }: RegistryStore, exceptId?: number): Promise<string[]> {
  const rows = await queries.all(FIND_FORMER_SLUGS());
  return rows.flatMap(({ id, former_slugs }) =>
    id === exceptId || former_slugs === null ? [] : (JSON.parse(former_slugs) as string[]),
  );
}

/** Names have no control characters, so that one separates them. */
const SEPARATOR = '\u001f';
/** One row, since a row for each name would cost more than all else that a change of a service does. */
const CATALOGUE_NAMES = statement<{ readonly names: string | null }>(
  `SELECT string_agg(name, '${SEPARATOR}') AS names FROM services WHERE origin = 'catalogue' AND removed = 0`,
);
let lastNames: { readonly names: string; readonly byKey: ReadonlyMap<string, string> } | null = null;

/** The names of the catalogue by their keys. The list rarely changes, so that the last one is kept. */
function namesByKey(names: string): ReadonlyMap<string, string> {
  if (lastNames?.names === names) return lastNames.byKey;
  const byKey = new Map<string, string>();
  for (const name of names === '' ? [] : names.split(SEPARATOR))
    for (const key of getOrInsert(keysOfNames, name, () => nameKeys(name)))
      getOrInsert(byKey, key, () => name);
  lastNames = { names, byKey };
  return byKey;
}

/** Maximum number of cached keys of catalogue names; the cache is cleared beyond it. */
const MAX_REMEMBERED = 10_000;
const keysOfNames = new BoundedMap<string, readonly string[]>(MAX_REMEMBERED);

/**
 * Throws `name_taken` if a service of the catalogue has that name or one that resembles it. The service's own domain is
 * always allowed.
 */
export async function refuseTakenName(store: RegistryStore, name: string, domain: string): Promise<void> {
  if (name === domain) return;
  const refusal = (await loadNameRule(store))(name, domain);
  if (refusal !== null) throw new RegistryError('name_taken', refusal);
}

/** Why a service with that domain may not have the name; null: it may. */
export type NameRule = (name: string, domain: string) => Refusal | null;

/** The rule of {@link refuseTakenName}, of one query. */
export async function loadNameRule({ queries }: RegistryStore): Promise<NameRule> {
  const named = namesByKey((await queries.first(CATALOGUE_NAMES()))?.names ?? '');
  return (name, domain) => {
    if (name === domain) return null;
    const [other] = nameKeys(name).flatMap((key) => named.get(key) ?? []);
    return other === undefined ? null : { code: 'name_taken', name, other };
  };
}

/** As for badges, another account's page must not have the slug of a public service. */
export async function refuseServiceName({ kysely, queries }: RegistryStore, slug: string): Promise<void> {
  const service = await queries.first(
    kysely
      .selectFrom('services')
      .select('name')
      .where('origin', '=', 'catalogue')
      .where('removed', '=', 0)
      .where((eb) => eb.or([eb('slug', '=', slug), eb('dashed', '=', slug)])),
  );
  if (service !== undefined)
    throw new RegistryError('slug_taken', { code: 'page_slug_of_service', slug, name: service.name });
}

/**
 * Throws `name_taken` if a name that a service gets on a page equals or resembles that of a catalogue service: no domain follows the name
 * of a private one. The operator vouches for trusted accounts.
 */
export async function refuseTakenNames(
  store: RegistryStore,
  accountId: number,
  groups: readonly PageGroup[],
  before: readonly PageGroup[],
): Promise<void> {
  const namesOf = (list: readonly PageGroup[]) => list.flatMap(({ names = {} }) => Object.values(names));
  const known = new Set(namesOf(before));
  const added = namesOf(groups).filter((name) => !known.has(name));
  if (added.length === 0 || (await isTrustedAccount(store, accountId))) return;
  const rule = await loadNameRule(store);
  for (const name of added) {
    const refusal = rule(name, '');
    if (refusal !== null) throw new RegistryError('name_taken', refusal);
  }
}
