/** Owners' status pages: their texts, bounds and lists of services. */
import { readColour } from './page-colour.ts';
import { findForbidden, isVisible } from './printable-text.ts';
import type { PageTextField, Refusal } from './refusal.ts';
import type { Service } from './service.ts';

export interface PageGroup {
  /** Empty: no heading. */
  readonly name: string;
  /** Ids of services, in the order in which they are shown. */
  readonly services: readonly number[];
  /** Names that services have on this page alone, by their ids, as text; absent: none has one. */
  readonly names?: Readonly<Record<string, string>>;
}

/** The key of a service in the names of a group. `listed`: its id, or its name in documents while it is not stored. */
function entryKey(listed: number | string): string {
  return typeof listed === 'number' ? String(listed) : `:${listed}`;
}

/** A group with the names that its services have on the page; empty: none. */
export function namedGroup<Listed extends number | string>(
  name: string,
  entries: readonly (readonly [service: Listed, name: string])[],
): Omit<PageGroup, 'services'> & { readonly services: readonly Listed[] } {
  const named = entries.filter(([, own]) => own !== '');
  return {
    ...{ name, services: entries.map(([service]) => service) },
    ...(named.length === 0
      ? {}
      : { names: Object.fromEntries(named.map(([service, own]) => [entryKey(service), own])) }),
  };
}

/** The name that a service has on a page alone; empty: none. */
export function nameOfEntry({ names = {} }: Pick<PageGroup, 'names'>, listed: number | string): string {
  return names[entryKey(listed)] ?? '';
}

/**
 * Returns true if a page shows a service. A private one is shown by its name on the page alone, and not at all without one:
 * its own name, slug and address are for members.
 */
export function isShown({ visibility }: Pick<Service, 'visibility'>, ownName: string): boolean {
  return visibility !== 'private' || ownName !== '';
}

/** A status page of an account: `/p/<slug>`. */
export interface OwnedPage {
  readonly id: number;
  readonly accountId: number;
  /** Part of its URL; permanent, and never given to another account. */
  readonly slug: string;
  readonly title: string;
  /** Plain text below the title; empty: none. */
  readonly text: string;
  /** Plain text that only members of the account see; absent: none. */
  readonly note?: string;
  readonly groups: readonly PageGroup[];
  /** Null: it has none. */
  readonly logo: PagePicture | null;
  /** The icon of the page in tabs and bookmarks; absent: that of this site. */
  readonly favicon?: PagePicture;
  /** Its brand colour, `#rrggbb` in lower case; absent: it has none. */
  readonly colour?: string;
  /** Who sees it; absent: everyone. */
  readonly access?: PrivateAccess;
  /** Of a page with a password: another text for each password that was set. It tells nothing about the password. */
  readonly passwordMark?: string;
  /** A domain of the owner at which the page is shown; absent: it has none. */
  readonly domain?: PageDomain;
  /** Grows with every change, from 1. */
  readonly revision: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface PageDomain {
  /** Host name in lower case, as ASCII. */
  readonly name: string;
  /** Epoch milliseconds; null: its account has not proved it, or the proof lapsed. */
  readonly provedAt: number | null;
  /** Since when the proof is missing, epoch milliseconds; null: the last check found it. */
  readonly missingSince: number | null;
  /** Its account has it by the operator's trust, without a proof. */
  readonly byTrust?: true;
}

/** The domain at which a page is shown; null: it is shown on this site. Members are signed in on this site only. */
export function domainInUse({ domain, access }: Pick<OwnedPage, 'domain' | 'access'>): string | null {
  return domain === undefined || domain.provedAt === null || access === 'members' ? null : domain.name;
}

/** The start of addresses at a page's domain, which has the scheme and the port of the site. */
export function domainOrigin(siteUrl: string, domain: string): string {
  const { protocol, port } = new URL(siteUrl);
  return `${protocol}//${domain}${port === '' ? '' : `:${port}`}`;
}

/** Who sees a page: everyone; members of its account alone; or members, and visitors who enter its password. */
export const PAGE_ACCESS = ['public', 'members', 'password'] as const;

export type PageAccess = (typeof PAGE_ACCESS)[number];

/** Who sees a page that not everyone sees. */
type PrivateAccess = Exclude<PageAccess, 'public'>;

/** The use of a picture of a page: beside the title, or in tabs and bookmarks. */
export type PictureUse = (typeof PICTURE_USES)[number];

export const PICTURE_USES = ['logo', 'favicon'] as const;

/** A picture of a page, without its bytes. */
export interface PagePicture {
  readonly type: PictureType;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** First characters of the SHA-256 of its bytes, so that another picture has another URL. */
  readonly mark: string;
}

/** Media types of pictures; SVG can contain scripts. */
export type PictureType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif' | 'image/x-icon';

export interface PictureBounds {
  /** Accepted formats, as the documentation and refusals name them. */
  readonly formats: readonly string[];
  readonly bytes: number;
  /** Of each side. */
  readonly minPixels: number;
  readonly maxPixels: number;
}

export const PICTURE_BOUNDS: Readonly<Record<PictureUse, PictureBounds>> = {
  logo: { formats: ['PNG', 'JPEG', 'WebP', 'GIF'], bytes: 262_144, minPixels: 16, maxPixels: 2_048 },
  favicon: { formats: ['PNG', 'ICO', 'WebP', 'GIF'], bytes: 65_536, minPixels: 16, maxPixels: 512 },
};

/** Bounds of pages, which the documentation and every refusal state. */
export const PAGE_BOUNDS = {
  pagesPerAccount: 20,
  services: 100,
  groups: 20,
  groupCharacters: 80,
  entryCharacters: 80,
  minSlugCharacters: 3,
  slugCharacters: 60,
} as const;

/** The texts that an owner gives a page, with the most characters of each. Only the title is on one line, and never empty. */
export const PAGE_TEXTS = { title: 120, text: 1_000, note: 500 } as const satisfies Partial<
  Record<keyof OwnedPage, number>
>;

/** The texts that an owner gives a page; absent or empty: none. */
export type PageTexts = Pick<OwnedPage, keyof typeof PAGE_TEXTS>;

/** The names of these texts, in the order in which they are shown. */
export const PAGE_TEXT_NAMES = Object.keys(PAGE_TEXTS) as (keyof PageTexts)[];

/** Slugs that could be taken for a part of this site. */
const RESERVED_SLUGS: ReadonlySet<string> = new Set(
  (
    'about account accounts add admin administrator api app assets auth badge badges blog cdn contact dashboard docs ' +
    'edit embed events favicon feed feeds healthz help home incident incidents index legal login logo logout mail ' +
    'maintenance metrics new null official openapi operator owner page pages post privacy public readyz register root ' +
    'search security service services settings sign-in sign-out signin signup site static status support system terms ' +
    'undefined upbeat webhook webhooks www'
  ).split(' '),
);

/** The value of a field, or why it is refused. */
export type FieldReading = { readonly ok: true; readonly value: string } | Refused;

interface Refused {
  readonly ok: false;
  readonly problem: Refusal;
}

/** Validates a slug: lower-case letters, digits and single dashes between them, 3 to 60 characters, no reserved word. */
export function readPageSlug(text: string): FieldReading {
  const value = text.trim().toLowerCase();
  if (
    !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(value) ||
    value.length < PAGE_BOUNDS.minSlugCharacters ||
    value.length > PAGE_BOUNDS.slugCharacters
  )
    return refuse({
      code: 'page_slug_invalid',
      minLength: PAGE_BOUNDS.minSlugCharacters,
      maxLength: PAGE_BOUNDS.slugCharacters,
    });
  if (RESERVED_SLUGS.has(value)) return refuse({ code: 'page_slug_reserved', slug: value });
  return { ok: true, value };
}

/** Validates a title: 1 to 120 characters on one line, with the characters of a given name. */
export function readPageTitle(text: string): FieldReading {
  const value = onOneLine(text);
  if (value === '') return refuse({ code: 'page_title_missing' });
  return wellFormed(value, PAGE_TEXTS.title, 'title');
}

/** Validates the text below the title: up to 1,000 characters, lines kept. */
export function readPageText(text: string): FieldReading {
  const value = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').trim();
  return wellFormed(value, PAGE_TEXTS.text, 'text', { lines: true });
}

/** Validates the name of a group: up to 80 characters on one line; empty: no heading. */
export function readGroupName(text: string): FieldReading {
  return wellFormed(onOneLine(text), PAGE_BOUNDS.groupCharacters, 'group');
}

/** Validates the name of a service on a page: up to 80 characters on one line; empty: none. One that is invisible counts as empty. */
export function readEntryName(text: string): FieldReading {
  const value = onOneLine(text);
  return wellFormed(isVisible(value) ? value : '', PAGE_BOUNDS.entryCharacters, 'entry');
}

/** Validates a brand colour such as `#0a7d4f`; empty: none. */
export function readPageColour(text: string): { readonly ok: true; readonly value: string | null } | Refused {
  if (text.trim() === '') return { ok: true, value: null };
  const value = readColour(text);
  return value === null ? refuse({ code: 'page_colour_invalid' }) : { ok: true, value };
}

/** A change of a page's list. Groups are numbered from 0. */
export type PageStep =
  | { readonly kind: 'add_service'; readonly serviceId: number; readonly group: number }
  | { readonly kind: 'remove_service'; readonly serviceId: number }
  /** `-1`: one place up, `1`: one down; beyond the edge of a group into the next one. */
  | { readonly kind: 'move_service'; readonly serviceId: number; readonly by: -1 | 1 }
  | { readonly kind: 'add_group'; readonly name: string }
  | { readonly kind: 'rename_group'; readonly group: number; readonly name: string }
  | { readonly kind: 'move_group'; readonly group: number; readonly by: -1 | 1 }
  /** Removes its services, too. */
  | { readonly kind: 'remove_group'; readonly group: number };

/** The list after a step, or why the step is impossible. A step without effect returns the list unchanged. */
export function arrangePage(
  groups: readonly PageGroup[],
  step: PageStep,
): { readonly ok: true; readonly groups: readonly PageGroup[] } | Refused {
  const done = (next: readonly PageGroup[]) => ({ ok: true, groups: next }) as const;
  switch (step.kind) {
    case 'add_service': {
      if (groups.some(({ services }) => services.includes(step.serviceId)))
        return refuse({ code: 'page_has_service' });
      if (countServices(groups) >= PAGE_BOUNDS.services)
        return refuse({ code: 'page_services_full', max: PAGE_BOUNDS.services });
      const known = groups.length === 0 ? [{ name: '', services: [] }] : groups;
      const at = Math.min(Math.max(0, step.group), known.length - 1);
      return done(
        replace(known, at, (group) => ({ ...group, services: [...group.services, step.serviceId] })),
      );
    }
    case 'remove_service':
      return done(groups.map((group) => without(group, step.serviceId)));
    case 'move_service':
      return done(moveService(groups, step.serviceId, step.by));
    case 'add_group':
      return groups.length >= PAGE_BOUNDS.groups
        ? refuse({ code: 'page_groups_full', max: PAGE_BOUNDS.groups })
        : done([...groups, { name: step.name, services: [] }]);
    case 'rename_group':
      return done(replace(groups, step.group, (group) => ({ ...group, name: step.name })));
    case 'move_group':
      return done(swap(groups, step.group, step.group + step.by));
    case 'remove_group':
      return done(groups.filter((_, index) => index !== step.group));
  }
}

/** Returns true if a page of an account may show a service: one of the catalogue, or of the account. */
export function isListable({ origin, accountId }: Service, ownerId: number): boolean {
  return origin === 'catalogue' || accountId === ownerId;
}

export function countServices(groups: readonly PageGroup[]): number {
  return groups.reduce((sum, { services }) => sum + services.length, 0);
}

function moveService(groups: readonly PageGroup[], serviceId: number, by: -1 | 1): readonly PageGroup[] {
  const from = groups.findIndex(({ services }) => services.includes(serviceId));
  const group = groups[from];
  if (group === undefined) return groups;
  const place = group.services.indexOf(serviceId);
  const next = place + by;
  if (next >= 0 && next < group.services.length)
    return replace(groups, from, (one) => ({ ...one, services: swap(one.services, place, next) }));
  const to = from + by;
  if (to < 0 || to >= groups.length) return groups;
  return groups.map((one, index) => {
    if (index === from) return without(one, serviceId);
    if (index !== to) return one;
    return { ...one, services: by === 1 ? [serviceId, ...one.services] : [...one.services, serviceId] };
  });
}

function without(group: PageGroup, serviceId: number): PageGroup {
  return { ...group, services: group.services.filter((id) => id !== serviceId) };
}

function replace<T>(list: readonly T[], at: number, change: (one: T) => T): readonly T[] {
  return list.map((one, index) => (index === at ? change(one) : one));
}

function swap<T>(list: readonly T[], at: number, other: number): readonly T[] {
  const [one, two] = [list[at], list[other]];
  if (one === undefined || two === undefined) return list;
  return list.map((entry, index) => (index === at ? two : index === other ? one : entry));
}

/** Code points outside of the BMP count as one character. */
function wellFormed(
  value: string,
  maxLength: number,
  field: PageTextField,
  { lines = false } = {},
): FieldReading {
  const found = findForbidden(value, { lines });
  if (found !== null) return refuse({ code: 'page_text_character', field, character: found.character });
  const length = [...value].length;
  return length <= maxLength
    ? { ok: true, value }
    : refuse({ code: 'page_text_too_long', field, maxLength, length });
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function refuse(problem: Refusal): Refused {
  return { ok: false, problem };
}
