/** A service as a document: the form that files of `apply`, the API, forms and commands share. */

import type { AllowedDestinations } from '../../domain/allowed-destinations.ts';
import {
  CATEGORIES,
  type Category,
  type CheckDefinition,
  type CheckSettings,
  dashDomain,
  isFormOf,
  isSlug,
  isSlugOfHost,
  VISIBILITIES,
  type Visibility,
} from '../../domain/service.ts';
import { MAX_PARENTS } from '../../domain/service-parents.ts';
import { usualVisibility } from '../../domain/special-address.ts';
import { type Static, strictObject, type TSchema, Type } from '../../json-schema.ts';
import type { MemberLimits } from '../../kinds/check-members.ts';
import { credentialsOf, destinationOf, type SealedSettings } from '../../kinds/settings.ts';
import type { Beside, DefinedService } from '../../store/ports/services.ts';
import {
  accept,
  type FieldRefusal,
  type Outcome,
  type Refused,
  readAll,
  readNameField,
  readServiceHost,
  refuse,
} from '../kit/change.ts';
import { createDocumentReader, isObject, refuseSecrets, takeKept } from '../kit/read-document.ts';
import {
  type CheckRules,
  checkDocumentOf,
  inCheck,
  MONITORING_MEMBERS,
  readCheck,
} from './check-document.ts';

/** The schema of a service. Absent members have their defaults. */
export const ServiceDocumentSchema = strictObject({
  domain: Type.String({
    maxLength: 1_000,
    description:
      'Host name of the service. It identifies the first service of the host within its account; others have a slug.',
  }),
  slug: Type.Optional(
    Type.String({
      maxLength: 1_000,
      description:
        'Its name in addresses; it identifies the service. It begins with the domain in which dots are dashes, such as example-com-api. Default: that of the domain for the first service of the host.',
    }),
  ),
  name: Type.Optional(Type.String({ maxLength: 1_000, description: 'Display name; default: the domain.' })),
  category: Type.Optional(
    Type.Unsafe<Category>({
      type: 'string',
      enum: [...CATEGORIES],
      description: 'Default: developer.',
    }),
  ),
  paused: Type.Optional(
    Type.Boolean({ description: 'Whether the service is listed without being checked; default: false.' }),
  ),
  publicDependencies: Type.Optional(
    Type.Boolean({
      description: 'Whether visitors see the dependencies that heartbeats report; default: false.',
    }),
  ),
  ...MONITORING_MEMBERS,
  note: Type.Optional(
    Type.String({
      format: 'plain-text',
      maxLength: 500,
      description: 'Plain text that only members of the account see; default: none.',
    }),
  ),
  visibility: Type.Optional(
    Type.Unsafe<Visibility>({
      type: 'string',
      enum: [...VISIBILITIES],
      description:
        'public: everyone sees it. unlisted: by its address alone. private: members of the account alone. Default: public; private if the host is not public.',
    }),
  ),
  dependsOn: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
      maxItems: MAX_PARENTS,
      uniqueItems: true,
      description:
        'Slugs of services of the account, or of the public list, without which this one cannot be reached, such as a router; default: none.',
    }),
  ),
});

export type ServiceDocument = Static<typeof ServiceDocumentSchema>;

/** A member that is a text in no list of words, beside the names. */
export type TextMember = Exclude<
  {
    [M in keyof ServiceDocument]-?: string extends NonNullable<ServiceDocument[M]> ? M : never;
  }[keyof ServiceDocument],
  'domain' | 'slug' | 'name'
>;

const IDENTIFYING: ReadonlySet<string> = new Set(['domain', 'slug', 'name']);

/** Those members, in the order in which they are shown. */
export const TEXT_MEMBERS = Object.entries<TSchema>(ServiceDocumentSchema.properties).flatMap(
  ([name, { type, enum: words }]) =>
    type === 'string' && words === undefined && !IDENTIFYING.has(name) ? [name as TextMember] : [],
);

const readStructure = createDocumentReader<ServiceDocument>(ServiceDocumentSchema);

/** A service that a document defines, whose new credentials are in clear text. */
export interface Registration extends DefinedService {
  /** Absent: there are none. */
  readonly secrets?: CheckSettings;
}

const MONITORING = Object.keys(MONITORING_MEMBERS);

export interface PresentCheck {
  /** The check, whose address, times, regions and credentials may stay. */
  readonly before?: CheckDefinition | undefined;
  /** The host, which stays even where its account may no longer name it. */
  readonly domain?: string | undefined;
  /** The slug, which may stay. */
  readonly slug?: string | undefined;
  /** The merge patch with which the document was made; absent or null: it is a whole document. */
  readonly patch?: unknown;
}

/**
 * Reads a service. Credentials of the check before stay where a whole document has null, and where a patch does not name them.
 * Refused with `member_invalid`, `domain_invalid`, `slug_invalid`, `slug_of_host`, `service_name_missing`, `name_invalid`, `setting_invalid` where credentials that
 * stay would be sent elsewhere, and as {@link readCheck}; the field is a path such as `check.settings.port`.
 */
export function readServiceDocument(
  value: unknown,
  destinations: AllowedDestinations,
  limits: MemberLimits,
  { before, domain: host, slug, patch = null }: PresentCheck = {},
): Outcome<Registration> {
  const isPatched = patch !== null && before !== undefined;
  if (isPatched && isObject(patch) && isObject(value) && !MONITORING.some((name) => name in patch)) {
    // What is not changed is not judged again: what is permitted may have changed since.
    const others = Object.entries(value).filter(([name]) => !MONITORING.includes(name));
    const present = { domain: host, slug };
    const reading = readServiceDocument(Object.fromEntries(others), destinations, limits, present);
    return reading.ok ? accept({ ...reading.value, check: before }) : reading;
  }
  const taken = isPatched ? accept(keepUnnamed(value, before, patch)) : takeNulls(value, before);
  if (!taken.ok) return taken;
  const { document, sealed } = taken.value;
  const choosesMethod = isPatched && isObject(patch) && typeof Object(patch.check).method === 'string';
  const judge = (sound: ServiceDocument) => {
    const kept = Object.keys(sealed);
    return readMeaning(sound, { domain: host, slug }, { destinations, limits, before, kept, choosesMethod });
  };
  const structure = readStructure(document);
  if (!structure.ok) {
    const rest = withoutWrong(document, structure.refusals);
    const meaning = rest === null ? null : judge(rest);
    const further = meaning === null || meaning.ok ? [] : meaning.refusals;
    return { ok: false, refusals: [...structure.refusals, ...further] };
  }
  const reading = judge(structure.value);
  if (!reading.ok || before === undefined) return reading;
  const { addressHash, keepsKind, caFile } = before;
  const check = {
    ...reading.value.check,
    ...{ caFile },
    ...(Object.keys(sealed).length === 0 ? {} : { sealed }),
    ...(addressHash === undefined ? {} : { addressHash }),
    ...(keepsKind === undefined ? {} : { keepsKind }),
  };
  return refuseMoved(before, check, sealed) ?? accept({ ...reading.value, check });
}

/**
 * Returns true if a new service may stand beside others of its host: one that says nothing of its check is that of the domain,
 * which a client may have sent before.
 */
export function besideOf(document: unknown): Beside | undefined {
  return isObject(document) && isObject(document.check) ? 'otherCheck' : undefined;
}

/** Reads a service whose structure is that of the schema. */
function readMeaning(
  document: ServiceDocument,
  { domain: host, slug }: PresentCheck,
  rules: Omit<CheckRules, 'domain'>,
): Outcome<Registration> {
  const { domain, name, category = 'developer', paused = false } = document;
  const { publicDependencies = false, note = '', visibility, dependsOn = [] } = document;
  const reading = readAll({
    domain: domain === host ? accept(domain) : readServiceHost(domain, rules.destinations),
    slug: document.slug === undefined ? accept(null) : readSlug(document.slug, domain, rules, slug),
    name: name === undefined ? accept(null) : readNameField(name, 'service_name_missing'),
    check: readCheck(document, { ...rules, domain }),
  });
  if (!reading.ok) return reading;
  const read = reading.value;
  return accept({
    domain: read.domain,
    ...(read.slug === null ? {} : { slug: read.slug }),
    name: read.name ?? read.domain,
    ...{ category, paused, publicDependencies, note: note.trim() },
    visibility: visibility ?? usualVisibility(read.domain),
    dependsOn: [...new Set(dependsOn.map((name) => name.trim().toLowerCase()))],
    ...read.check,
  });
}

/** Reads the slug that an owner chooses. Only the operator and trusted accounts choose one that does not begin with the domain. */
function readSlug(
  text: string,
  domainText: string,
  { limits, destinations }: Pick<CheckRules, 'limits' | 'destinations'>,
  present: string | undefined,
): Outcome<string> {
  const slug = text.trim().toLowerCase();
  if (slug === present) return accept(slug);
  if (!isSlug(slug)) return refuse({ code: 'slug_invalid', slug: slug.slice(0, 100) }, 'slug');
  const host = readServiceHost(domainText, destinations);
  const mayBeAny = limits.anyHost || destinations.anyHost;
  if (mayBeAny || !host.ok || isSlugOfHost(slug, host.value)) return accept(slug);
  return refuse({ code: 'slug_of_host', slug, form: dashDomain(host.value) }, 'slug');
}

/** A service as a document, without defaults and without secrets. */
export function serviceDocumentOf(service: DefinedService): ServiceDocument {
  const { domain, slug, isFurther, name, category, paused } = service;
  const { publicDependencies = false, note = '', visibility = 'public' } = service;
  const { dependsOn = [] } = service;
  const isChosen = slug !== undefined && (isFurther === true || !isFormOf(slug, domain));
  return {
    domain,
    ...(isChosen ? { slug } : {}),
    ...(name === domain ? {} : { name }),
    ...(category === 'developer' ? {} : { category }),
    ...(paused ? { paused } : {}),
    ...(publicDependencies ? { publicDependencies } : {}),
    ...checkDocumentOf(service.check),
    ...(note === '' ? {} : { note }),
    ...(visibility === usualVisibility(domain) ? {} : { visibility }),
    ...(dependsOn.length === 0 ? {} : { dependsOn: [...dependsOn] }),
  };
}

/** A document, and the credentials of the check before that stay, which it does not contain. */
interface KeptCredentials {
  readonly document: unknown;
  readonly sealed: SealedSettings;
}

/**
 * A document that a patch has made. Where the patch chooses another kind, only the settings that it names are in it; a time zone
 * goes with its schedule.
 */
function keepUnnamed(value: unknown, before: CheckDefinition, patch: unknown): KeptCredentials {
  const given: Readonly<Record<string, unknown>> = isObject(patch) ? patch : {};
  const check = isObject(given.check) ? given.check : null;
  const named = check !== null && isObject(check.settings) ? check.settings : {};
  const isSame = check?.kind === undefined || (check.kind ?? 'root') === before.kind;
  const { check: merged, timezone, ...rest }: Readonly<Record<string, unknown>> = Object(value);
  const { settings: _, ...other } = Object(merged);
  const chosen = Object.fromEntries(Object.entries(named).filter(([, setting]) => setting !== null));
  const drops = !isSame && isObject(merged);
  const hasZone = timezone !== undefined && (given.schedule !== null || Object.hasOwn(given, 'timezone'));
  const document = {
    ...rest,
    ...(merged === undefined ? {} : { check: drops ? { ...other, settings: chosen } : merged }),
    ...(hasZone ? { timezone } : {}),
  };
  const keeps = isSame && given.check !== null && check?.settings !== null;
  const sealed = Object.entries(keeps ? (before.sealed ?? {}) : {});
  return {
    document: isObject(value) ? document : value,
    sealed: Object.fromEntries(sealed.filter(([setting]) => !Object.hasOwn(named, setting))),
  };
}

/** A whole document, in which null stands for a credential that stays. Refused with `setting_invalid` where there is none. */
function takeNulls(document: unknown, before: CheckDefinition | undefined): Outcome<KeptCredentials> {
  const { check: given }: { readonly check?: unknown } = Object(document);
  const { kind = 'root' }: { readonly kind?: unknown } = Object(given);
  const stored: SealedSettings = (before?.kind === kind ? before?.sealed : undefined) ?? {};
  const taken = takeKept(given, credentialsOf(kind), stored);
  if (!taken.ok) return inCheck(taken);
  const { document: check, kept } = taken.value;
  if (kept.length === 0) return accept({ document, sealed: {} });
  const sealed = Object.fromEntries(kept.map((name) => [name, stored[name] ?? '']));
  return accept({ document: { ...Object(document), check }, sealed });
}

/** Refuses credentials of a check that stay and would be sent elsewhere; null: there are none. */
function refuseMoved(before: CheckDefinition, after: CheckDefinition, kept: SealedSettings): Refused | null {
  const settings = Object.keys(kept);
  if (settings.length === 0 || destinationOf(before) === destinationOf(after)) return null;
  return refuseSecrets(settings, 'secret_again', 'check.settings');
}

/** A document without its wrong members, so that the others are judged too; null: there is nothing to judge. */
function withoutWrong(value: unknown, refusals: readonly FieldRefusal[]): ServiceDocument | null {
  if (!isObject(value)) return null;
  const wrong = new Set(
    refusals.map(({ field }) => field?.split('.', field.startsWith('check.') ? 2 : 1).join('.')),
  );
  // The settings are those of the kind, and the address is at the domain.
  if (wrong.has('check.kind')) wrong.add('check.settings');
  if (wrong.has('domain')) wrong.add('check.url');
  const soundOf = (members: object, parent = '') =>
    Object.fromEntries(Object.entries(members).filter(([name]) => !wrong.has(`${parent}${name}`)));
  const document = { domain: ANY_DOMAIN, ...soundOf(value) };
  const check = isObject(value.check) ? { check: soundOf(value.check, 'check.') } : {};
  const reading = readStructure({ ...document, ...check });
  return reading.ok ? reading.value : null;
}

/** A valid domain in place of one that is refused. */
const ANY_DOMAIN = 'example.com';
