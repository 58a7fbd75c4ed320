/** Reads a document of `apply`, in the form that a plan compares. */

import { CHANNEL_KINDS } from '../domain/alert/channel.ts';
import type { DestinationsOf } from '../domain/allowed-destinations.ts';
import type { Service } from '../domain/service.ts';
import {
  type ChannelRules,
  editOf,
  newChannel,
  readChannelDocument,
  secretSettings,
} from '../resources/channels/channels.ts';
import {
  type AccountPrincipal,
  accept,
  type FieldRefusal,
  type Outcome,
  refuse,
} from '../resources/kit/change.ts';
import { type ListedOnPage, listedFinder } from '../resources/kit/listed-services.ts';
import { isObject, takeKept } from '../resources/kit/read-document.ts';
import {
  type PageServices,
  pageDocumentOf,
  type ReadPage,
  readPageDocument,
} from '../resources/pages/page-document.ts';
import type { PageDomainRules } from '../resources/pages/page-domains.ts';
import { needsName, sealReaders } from '../resources/pages/pages.ts';
import { readRuleDocument, ruleDocumentOf } from '../resources/rules/rules.ts';
import { type CheckBounds, limitsFor } from '../resources/services/check-document.ts';
import { type ComparedCheck, compareSecrets } from '../resources/services/seal-settings.ts';
import { type Registration, readServiceDocument } from '../resources/services/service-document.ts';
import { refuseListed } from '../resources/services/services.ts';
import type {
  WantedChannel,
  WantedMaintenance,
  WantedPage,
  WantedRule,
  WantedService,
} from '../store/ports/account-content.ts';
import type { CredentialStore } from '../store/ports/services.ts';
import type { PageReads } from '../store/ports/status-pages.ts';
import type { ApplyLists, ListName } from './apply-lists.ts';
import { readWantedMaintenances, wantedMaintenanceItem } from './apply-maintenances.ts';
import { CONTENT_TYPES, type ContentItem, type ContentType } from './apply-plan.ts';
import { placeServices } from './place-services.ts';
import {
  channelItem,
  type PresentContent,
  type PresentSources,
  pageItem,
  ruleItem,
  serviceItem,
} from './present-content.ts';

export interface ReadApplyContext extends PresentSources {
  readonly registry: PresentSources['registry'] & PageReads & CredentialStore;
  readonly destinations: DestinationsOf;
  readonly bounds: CheckBounds;
  readonly now: () => number;
  /** Without a slash at its end. */
  readonly siteUrl: string;
}

export interface WantedContent {
  readonly service: ReadonlyMap<string, WantedRegistration>;
  readonly page: ReadonlyMap<string, WantedPage>;
  readonly channel: ReadonlyMap<string, WantedChannel>;
  readonly rule: ReadonlyMap<string, WantedRule>;
  readonly maintenance: ReadonlyMap<string, WantedMaintenance>;
  readonly items: readonly ContentItem[];
  /** The path in the document; null: it is not listed. */
  readonly pathOf: (type: ContentType, key: string) => string | null;
}

/** A service with its credentials, those that are stored already apart from the others. */
interface WantedRegistration {
  readonly service: Registration & Pick<WantedService, 'key'>;
  readonly credentials: ComparedCheck;
}

/**
 * Reads what a document lists. `prune`: services that are not listed will be removed. Refused as
 * `readServiceDocument` and `readPageDocument`, and with `listed_twice`, `domain_fixed` and `catalogue_owns`; the fields are paths
 * such as `services.3.check.settings.port`.
 */
export async function readWanted(
  { registry, destinations, bounds, kinds, now, siteUrl }: ReadApplyContext,
  principal: AccountPrincipal,
  lists: ApplyLists,
  { present, prune }: { readonly present: PresentContent; readonly prune: boolean },
): Promise<Outcome<WantedContent>> {
  const { role, accountId } = principal;
  const { publicServices } = present;
  const limits = limitsFor(principal, bounds);
  const allowed = await destinations(accountId);
  const slugs = new Set([...present.service.values()].map(({ slug }) => slug));
  /** Returns true if something that the account has and the document does not list stays. */
  const staysBeside = (list: ListName) => !prune || lists[list] === undefined;
  const places = placeServices(lists.services ?? [], present.service);
  const service = readList(
    'services',
    lists.services,
    (one, index) => {
      const { key, before, slug } = places[index] ?? { key: '', before: null };
      const known = { before: before?.check, domain: before?.domain, slug: before?.slug };
      const reading = readServiceDocument(one, allowed, limits, known);
      if (!reading.ok) return reading;
      if (before !== null && before.domain !== reading.value.domain)
        return refuse({ code: 'domain_fixed' }, 'domain');
      const judged =
        role !== 'operator' || before !== null || allowed.anyHost
          ? reading
          : refuseListed(reading, publicServices?.domains ?? new Set());
      if (!judged.ok) return judged;
      const { slug: _, ...read } = judged.value;
      return accept({ ...read, key, ...namesOf(before, slug) });
    },
    ({ key }) => key,
  );
  const slugOf = (name: string) =>
    present.service.get(name)?.slug ?? (slugs.has(name) ? name : (publicServices?.find(name)?.slug ?? name));
  const added = [...service.found.values()].flatMap(({ key, slug = key }) => [key, slug]);
  const own = new Map<string, Service | null>([
    ...added.map((name) => [name, null] as const),
    ...[...present.service].filter(([key]) => staysBeside('services') || service.found.has(key)),
  ]);
  const find = listedFinder(accountId, own, (name) => publicServices?.find(name) ?? null);
  const visibilityOf = (listed: ListedOnPage) => {
    const name = find.nameOf(listed);
    return service.found.get(name) ?? present.service.get(name) ?? null;
  };
  const servicesOf = (document: unknown): PageServices => {
    const before = present.page.get(isObject(document) ? String(document.slug) : '') ?? null;
    return { find: find.idOf, needsName: (listed) => needsName(before, listed, visibilityOf) };
  };
  const page = readList(
    'pages',
    lists.pages,
    (one) => readWantedPage(one, servicesOf(one), { siteUrl, anyHost: allowed.anyHost }),
    ({ slug }) => slug,
  );
  const channel = readList(
    'channels',
    lists.channels,
    (one) => readWantedChannel({ kinds, destinations: allowed }, present.channel, one, now()),
    ({ name }) => name,
  );
  const names: ListedNames = {
    service: find.idOf,
    serviceName: find.nameOf,
    channels: present.channel,
    hasChannel: (name) => channel.found.has(name) || (staysBeside('channels') && present.channel.has(name)),
    hasPage: (slug) => page.found.has(slug) || (staysBeside('pages') && present.page.has(slug)),
  };
  const rule = readList(
    'rules',
    lists.rules,
    (one) => readWantedRule(one, names),
    ({ name }) => name,
  );
  const pages = [...new Set([...page.found.keys(), ...(staysBeside('pages') ? present.page.keys() : [])])];
  const subjects = { services: own, pages };
  const maintenance = readList(
    'maintenances',
    await readWantedMaintenances(lists.maintenances ?? [], present.maintenance, subjects, now()),
    (reading) => reading,
    ({ key }) => key,
  );
  const read = { service, page, channel, rule, maintenance };
  const sealed = await sealPages(registry, page, present.page);
  const refusals = [...CONTENT_TYPES.flatMap((type) => read[type].refusals), ...sealed.refusals];
  if (refusals.length > 0) return { ok: false, refusals };
  // As they are stored: a plan shows no change where a file names a domain.
  const registrations = [...service.found.values()].map((one) =>
    one.dependsOn === undefined ? one : { ...one, dependsOn: one.dependsOn.map(slugOf) },
  );
  const wanted = await withCredentials(registry, registrations, present);
  return accept({
    service: new Map(wanted.map((one) => [one.service.key, one])),
    page: sealed.found,
    channel: channel.found,
    rule: rule.found,
    maintenance: maintenance.found,
    items: [
      ...wanted.map(({ service: one, credentials }) =>
        serviceItem(one.key, one, credentials.kept, credentials.fresh),
      ),
      ...[...sealed.found.values()].map((one) => pageItem(pageDocumentOf(one, {}, find.nameOf), one)),
      ...[...channel.found.values()].map((one) =>
        channelItem(kinds, one, present.channel.get(one.name) ?? null),
      ),
      ...[...rule.found.values()].map((one) => wantedRuleItem(one, names)),
      ...[...maintenance.found.values()].map((one) => wantedMaintenanceItem(one, present.service)),
    ],
    pathOf: (type, key) => read[type].paths.get(key) ?? null,
  });
}

/** Takes the credentials out of services, apart from those that are stored already. */
async function withCredentials(
  registry: ReadApplyContext['registry'],
  services: readonly WantedRegistration['service'][],
  present: PresentContent,
): Promise<WantedRegistration[]> {
  const compared = await compareSecrets(
    registry,
    services.map((one) => ({ ...one, before: present.service.get(one.key)?.check })),
  );
  return services.map((service, index) => {
    const { fresh = {}, kept = {} } = compared[index] ?? {};
    return { service, credentials: { fresh, kept: { ...service.check.sealed, ...kept } } };
  });
}

/** The slug of a service as it is, or of a new one. */
function namesOf(before: Service | null, slug: string | undefined): Pick<Registration, 'slug' | 'isFurther'> {
  if (before === null) return slug === undefined ? {} : { slug };
  return { slug: before.slug, ...(before.isFurther === true ? { isFurther: true } : {}) };
}

/** Reads a page of a document, in which null stands for a password that stays. Refused as {@link readPageDocument}. */
function readWantedPage(
  document: unknown,
  services: PageServices,
  ofDomain: PageDomainRules,
): Outcome<ReadPage> {
  if (!isObject(document) || document.password !== null)
    return readPageDocument(document, services, ofDomain);
  const { password: _, ...rest } = document;
  const reading = readPageDocument(rest, services, ofDomain);
  if (!reading.ok || reading.value.access === 'password') return reading;
  return refuse({ code: 'page_password_unused' }, 'password');
}

/** Hashes the new passwords of pages; those that are stored already stay. */
async function sealPages(
  registry: PageReads,
  {
    found,
    paths,
  }: { readonly found: ReadonlyMap<string, ReadPage>; readonly paths: ReadonlyMap<string, string> },
  present: PresentContent['page'],
) {
  const refusals: FieldRefusal[] = [];
  const sealed = new Map<string, WantedPage>();
  for (const [slug, { password, ...page }] of found) {
    const readers = await sealReaders({ ...page, password }, present.get(slug) ?? null, registry);
    if (readers.ok) sealed.set(slug, { ...page, ...readers.value });
    else
      for (const { field, refusal } of readers.refusals)
        refusals.push({ field: `${paths.get(slug)}.${field}`, refusal });
  }
  return { found: sealed, refusals };
}

/** The members of a list by their keys, with their paths. */
function readList<T, Member = unknown>(
  list: ListName,
  members: readonly Member[] = [],
  read: (one: Member, index: number) => Outcome<T>,
  keyOf: (value: T) => string,
) {
  const refusals: FieldRefusal[] = [];
  const found = new Map<string, T>();
  const paths = new Map<string, string>();
  for (const [index, one] of members.entries()) {
    const path = `${list}.${index}`;
    const reading = read(one, index);
    if (!reading.ok) {
      for (const { field, refusal } of reading.refusals)
        refusals.push({ field: field === null ? path : `${path}.${field}`, refusal });
      continue;
    }
    const key = keyOf(reading.value);
    if (found.has(key)) refusals.push({ field: path, refusal: { code: 'listed_twice', key } });
    else paths.set(key, path);
    found.set(key, reading.value);
  }
  return { refusals, found, paths };
}

/** Reads a channel of a document; secrets that it does not name, or for which it has null, stay. Refused as {@link readChannelDocument}. */
function readWantedChannel(
  rules: ChannelRules,
  present: PresentContent['channel'],
  document: unknown,
  now: number,
): Outcome<WantedChannel> {
  const { name }: { readonly name?: unknown } = Object(document);
  const before = (typeof name === 'string' ? present.get(name.trim()) : undefined) ?? null;
  const { kind }: { readonly kind?: unknown } = Object(document);
  const known = CHANNEL_KINDS.find((one) => one === kind);
  const stored = before !== null && before.kind === known ? before.settings : {};
  const taken = takeKept(document, known === undefined ? [] : secretSettings(rules.kinds, known), stored);
  if (!taken.ok) return taken;
  const reading = readChannelDocument(rules, taken.value.document, before);
  if (!reading.ok) return reading;
  const { confirmedAt } =
    before === null
      ? newChannel(rules.kinds, 0, reading.value, now)
      : { confirmedAt: before.confirmedAt, ...editOf(rules.kinds, before, reading.value) };
  return accept({ ...reading.value, confirmedAt });
}

/** Finds what the rules of a document name. */
interface ListedNames {
  readonly service: (name: string) => number | string | null;
  readonly serviceName: (service: number | string) => string;
  readonly channels: PresentContent['channel'];
  /** Names of the channels that the account will have. */
  readonly hasChannel: (name: string) => boolean;
  readonly hasPage: (slug: string) => boolean;
}

/** Reads a rule of a document. Refused as {@link readRuleDocument}. */
function readWantedRule(document: unknown, names: ListedNames): Outcome<WantedRule> {
  return readRuleDocument(document, {
    service: names.service,
    channel(text) {
      const name = text.trim();
      return names.hasChannel(name) ? (names.channels.get(name)?.id ?? name) : null;
    },
    hasPage: names.hasPage,
  });
}

/** A rule of a document as it reads when it is stored. */
function wantedRuleItem(rule: WantedRule, names: ListedNames): ContentItem {
  const known = new Map([...names.channels.values()].map(({ id, name }) => [id, name]));
  return ruleItem(
    ruleDocumentOf(rule, {
      service: names.serviceName,
      channel: (channel) => (typeof channel === 'string' ? channel : (known.get(channel) ?? null)),
    }),
  );
}
