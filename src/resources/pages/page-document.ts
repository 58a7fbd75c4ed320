/** A status page as a document: the form that files of `apply` and the API share. */
import {
  arrangePage,
  type FieldReading,
  namedGroup,
  nameOfEntry,
  type OwnedPage,
  PAGE_ACCESS,
  PAGE_TEXTS,
  type PageAccess,
  type PageDomain,
  type PageGroup,
  type PageStep,
  type PageTexts,
  type PictureUse,
  readEntryName,
  readGroupName,
  readPageColour,
  readPageSlug,
  readPageText,
  readPageTitle,
} from '../../domain/status-page.ts';
import { type Static, strictObject, Type } from '../../json-schema.ts';
import type { WantedPage } from '../../store/ports/account-content.ts';
import type { StoredPicture } from '../../store/ports/status-pages.ts';
import { accept, type FieldRefusal, type Outcome, readAll, refuse } from '../kit/change.ts';
import type { ListedOnPage } from '../kit/listed-services.ts';
import { createDocumentReader, isObject } from '../kit/read-document.ts';
import { atDomain, FORM_OF_DOMAIN, type PageDomainRules, readPageDomain } from './page-domains.ts';
import { readPicture } from './read-picture.ts';

/** Maximum length of a picture as a `data:` URL: 256 KiB in Base64, and the media type. */
const MAX_PICTURE_CHARACTERS = 350_000;

/** The schema of a status page. Absent members have their defaults. */
export const PageDocumentSchema = strictObject({
  slug: Type.String({
    maxLength: 1_000,
    description: 'Its address behind /p/; it identifies the page.',
  }),
  title: Type.String({ maxLength: 10_000 }),
  text: Type.Optional(Type.String({ maxLength: 100_000, description: 'Plain text below the title.' })),
  logo: Type.Optional(
    Type.String({
      maxLength: MAX_PICTURE_CHARACTERS,
      description: 'A picture as data:image/png;base64,… In a file of `apply`, also the path of a picture.',
    }),
  ),
  favicon: Type.Optional(
    Type.String({
      maxLength: MAX_PICTURE_CHARACTERS,
      description:
        'The icon of the page in tabs and bookmarks, a PNG, ICO, WebP or GIF of up to 64 KiB in the form of the logo; default: that of this site.',
    }),
  ),
  brand_colour: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Brand colour such as #0a7d4f. For text it is darkened or lightened until it can be read.',
    }),
  ),
  access: Type.Optional(
    Type.Union(
      PAGE_ACCESS.map((access) => Type.Literal(access)),
      {
        description:
          'Who sees the page: everyone (public, the default), members of the account and its keys (members), or also everyone who enters its password (password).',
      },
    ),
  ),
  password: Type.Optional(
    Type.String({
      maxLength: 1_000,
      writeOnly: true,
      description:
        'Of 12 to 256 characters, for access by password. It is never shown; absent: that of before.',
    }),
  ),
  members_only: Type.Optional(
    Type.Boolean({ deprecated: true, description: 'Older name: true is the access members.' }),
  ),
  custom_domain: Type.Optional(
    Type.String({
      maxLength: 1_000,
      description: 'Host name at which the page is shown once it is verified, such as status.example.com.',
    }),
  ),
  groups: Type.Optional(
    Type.Array(
      strictObject({
        name: Type.Optional(Type.String({ maxLength: 10_000, description: 'Heading; default: none.' })),
        services: Type.Optional(
          Type.Array(
            Type.Union([
              Type.String({ maxLength: 1_000 }),
              strictObject({
                service: Type.String({ maxLength: 1_000, description: 'As without a name.' }),
                name: Type.Optional(
                  Type.String({
                    maxLength: 10_000,
                    description:
                      'The name on this page. A private service needs one: nothing else of it is shown.',
                  }),
                ),
              }),
            ]),
            {
              description:
                'Domains or slugs of services of the account, and slugs of public services; with a name for this page as {service, name}.',
            },
          ),
        ),
      }),
      { description: 'Services in groups, in the order in which they are shown.' },
    ),
  ),
  note: Type.Optional(
    Type.String({
      format: 'plain-text',
      maxLength: PAGE_TEXTS.note,
      description: 'Plain text that only members of the account see; default: none.',
    }),
  ),
});

export type PageDocument = Static<typeof PageDocumentSchema>;

const readStructure = createDocumentReader<PageDocument>(PageDocumentSchema);

/** A status page as its owner wants it, with a new password in clear text; null: there is none. */
export type ReadPage = Omit<WantedPage, 'passwordHash'> & { readonly password: string | null };

export interface PageServices {
  /** Null: the account may not show such a service. */
  readonly find: (name: string) => ListedOnPage | null;
  /** Returns true if a service that has no name on the page is refused. Absent: none is. */
  readonly needsName?: (service: ListedOnPage) => boolean;
}

/**
 * Reads a status page. Refused with `member_invalid`, `no_page_service`, `page_entry_unnamed`, and as `addStatusPage` for its texts,
 * groups and pictures; the field is a path such as `groups.0.services.2`.
 */
export function readPageDocument(
  value: unknown,
  services: PageServices,
  ofDomain: PageDomainRules = FORM_OF_DOMAIN,
): Outcome<ReadPage> {
  const structure = readStructure(value);
  if (structure.ok) return readMeaning(structure.value, services, ofDomain);
  const rest = readStructure(withoutWrong(value, structure.refusals));
  const meaning = rest.ok ? readMeaning(rest.value, services, ofDomain) : accept(null);
  return { ok: false, refusals: [...structure.refusals, ...(meaning.ok ? [] : meaning.refusals)] };
}

/** Reads a page whose structure is that of the schema. */
function readMeaning(
  {
    slug,
    title,
    text = '',
    logo,
    favicon,
    brand_colour: colour = '',
    access,
    password: newPassword = '',
    members_only: membersOnly = false,
    custom_domain: domain = '',
    groups = [],
    note = '',
  }: PageDocument,
  services: PageServices,
  ofDomain: PageDomainRules,
): Outcome<ReadPage> {
  return readAll<ReadPage>({
    slug: readField(readPageSlug(slug)),
    title: readField(readPageTitle(title)),
    text: readField(readPageText(text)),
    note: accept(note.trim()),
    groups: readGroups(groups, services),
    logo: readPictureUrl(logo, 'logo'),
    favicon: readPictureUrl(favicon, 'favicon'),
    colour: readColourMember(colour),
    access: accept(access ?? (membersOnly ? 'members' : 'public')),
    password: accept(newPassword === '' ? null : newPassword),
    domain: atDomain(readPageDomain(domain, ofDomain)),
  });
}

/** Valid members in place of those that are refused. */
const ANY_PAGE = { slug: 'any-page', title: 'Any page' };

/** A document without its wrong members, so that the others are judged too; groups keep their numbers. */
function withoutWrong(value: unknown, refusals: readonly FieldRefusal[]): unknown {
  if (!isObject(value)) return value;
  const wrong = new Set(
    refusals.flatMap(({ field }) => {
      const parts = field?.split('.', 3) ?? [];
      return parts.map((_, index) => parts.slice(0, index + 1).join('.'));
    }),
  );
  const soundOf = (members: object, parent = '') =>
    Object.entries(members).filter(([name]) => !wrong.has(`${parent}${name}`));
  const groups = Array.isArray(value.groups)
    ? value.groups.map((group, at) =>
        isObject(group) ? Object.fromEntries(soundOf(group, `groups.${at}.`)) : {},
      )
    : [];
  const sound = soundOf(value).filter(([name]) => name !== 'groups');
  return { ...ANY_PAGE, ...Object.fromEntries(sound), groups };
}

/** A status page with services in some form. */
type PageOf<Listed> = Pick<OwnedPage, 'slug'> &
  PageTexts & {
    readonly groups: readonly (Pick<PageGroup, 'name' | 'names'> & {
      readonly services: readonly Listed[];
    })[];
    readonly colour?: string | null;
    readonly access?: PageAccess;
    readonly domain?: PageDomain | string | null;
  };

/** The pictures of a page with their bytes, where a document names them. */
export type DocumentPictures = Partial<Record<PictureUse, Pick<StoredPicture, 'type' | 'bytes'> | null>>;

/** A status page as a document. `nameOf`: the name of a service on pages; null: the page does not show it. */
export function pageDocumentOf<Listed extends ListedOnPage>(
  { slug, title, text, groups, colour = null, access = 'public', domain = null, note = '' }: PageOf<Listed>,
  { logo = null, favicon = null }: DocumentPictures,
  nameOf: (service: Listed) => string | null,
): PageDocument {
  return {
    slug,
    title,
    ...(text === '' ? {} : { text }),
    ...(logo === null ? {} : { logo: pictureUrlOf(logo) }),
    ...(favicon === null ? {} : { favicon: pictureUrlOf(favicon) }),
    ...(colour === null ? {} : { brand_colour: colour }),
    ...(access === 'public' ? {} : { access }),
    ...(domain === null ? {} : { custom_domain: typeof domain === 'string' ? domain : domain.name }),
    ...(groups.length === 0
      ? {}
      : {
          groups: groups.map((group) => ({
            ...(group.name === '' ? {} : { name: group.name }),
            services: group.services.flatMap((listed) => {
              const service = nameOf(listed);
              return service === null ? [] : [entryOf(service, nameOfEntry(group, listed))];
            }),
          })),
        }),
    ...(note === '' ? {} : { note }),
  };
}

/** A service in the document of a page. `name`: what it is called there alone; empty: nothing else than elsewhere. */
export function entryOf(service: string, name: string) {
  return name === '' ? service : { service, name };
}

/** Builds the groups step by step, so that the limits of each step apply. */
function readGroups(
  groups: NonNullable<PageDocument['groups']>,
  { find, needsName = () => false }: PageServices,
): Outcome<WantedPage['groups']> {
  const refusals: FieldRefusal[] = [];
  // Each service has a number here, so that one which is not stored yet can be arranged, too.
  const numbers = new Map<ListedOnPage, number>();
  let arranged: readonly PageGroup[] = [];
  const arrange = (step: PageStep, field: string) => {
    const next = arrangePage(arranged, step);
    if (next.ok) arranged = next.groups;
    else refusals.push({ field, refusal: next.problem });
  };
  const read = groups.map(({ name = '', services = [] }, at) => {
    const reading = readGroupName(name);
    if (!reading.ok) refusals.push({ field: `groups.${at}.name`, refusal: reading.problem });
    arrange({ kind: 'add_group', name }, `groups.${at}`);
    const listed = services.map((entry, index) => {
      const field = `groups.${at}.services.${index}`;
      const { service, name: text = '' } = typeof entry === 'string' ? { service: entry } : entry;
      const found = find(service);
      const own = readEntryName(text);
      if (!own.ok) refusals.push({ field: `${field}.name`, refusal: own.problem });
      else if (found !== null && own.value === '' && needsName(found))
        refusals.push({ field, refusal: { code: 'page_entry_unnamed', slug: service } });
      if (found === null) refusals.push({ field, refusal: { code: 'no_page_service', slug: service } });
      else {
        const number = numbers.get(found) ?? numbers.size + 1;
        numbers.set(found, number);
        arrange({ kind: 'add_service', serviceId: number, group: at }, field);
      }
      return [found ?? service, own.ok ? own.value : ''] as const;
    });
    return namedGroup<ListedOnPage>(reading.ok ? reading.value : name, listed);
  });
  return refusals.length === 0 ? accept(read) : { ok: false, refusals };
}

function readColourMember(text: string): Outcome<string | null> {
  const reading = readPageColour(text);
  return reading.ok ? accept(reading.value) : refuse(reading.problem, 'brand_colour');
}

/** A picture as a `data:` URL. */
export function pictureUrlOf({ type, bytes }: Pick<StoredPicture, 'type' | 'bytes'>): string {
  return `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
}

function readPictureUrl(text: string | undefined, use: PictureUse): Outcome<StoredPicture | null> {
  if (text === undefined) return accept(null);
  const [, base64 = null] = /^data:image\/[a-z+.-]+;base64,([A-Za-z0-9+/]*={0,2})$/.exec(text) ?? [];
  if (base64 === null) {
    const problem = { code: 'format', example: 'a picture such as data:image/png;base64,iVBORw0K…' } as const;
    return refuse({ code: 'member_invalid', member: use, problem }, use);
  }
  return readUploaded(Buffer.from(base64, 'base64'), use);
}

/** The outcome of reading a member of a page. */
function readField<T>(
  reading: { readonly ok: true; readonly value: T } | Extract<FieldReading, { readonly ok: false }>,
): Outcome<T> {
  return reading.ok ? accept(reading.value) : refuse(reading.problem);
}

/** The picture of these bytes. Refused as {@link readPicture}, with the use as field. */
function readUploaded(bytes: Uint8Array, use: PictureUse): Outcome<StoredPicture> {
  const reading = readPicture(bytes, use);
  return reading.ok ? accept(reading.picture) : refuse(reading.problem, use);
}
