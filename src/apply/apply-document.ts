/** Reads a document of `apply`, and what its account has: both in the form that a plan compares. */

import type { AllowedDestinations } from '../domain/allowed-destinations.ts';
import type { Service } from '../domain/service.ts';
import type { OwnedPage, PictureUse } from '../domain/status-page.ts';
import type { ChannelKinds } from '../resources/channels/channel-document.ts';
import {
  type AccountPrincipal,
  accept,
  type FieldRefusal,
  type Outcome,
  refuse,
} from '../resources/kit/change.ts';
import { listedFinder, nameOnPage } from '../resources/kit/listed-services.ts';
import { isObject } from '../resources/kit/merge-patch.ts';
import {
  type PageDocument,
  pageDocumentOf,
  type ReadPage,
  readPageDocument,
} from '../resources/pages/page-document.ts';
import { sealReaders } from '../resources/pages/page-readers.ts';
import { ruleDocumentOf } from '../resources/rules/rule-document.ts';
import { type CheckBounds, limitsFor } from '../resources/services/check-document.ts';
import { refuseListed } from '../resources/services/register-services.ts';
import { type ComparedCheck, compareSecrets } from '../resources/services/seal-settings.ts';
import {
  type Registration,
  readServiceDocument,
  serviceDocumentOf,
} from '../resources/services/service-document.ts';
import type {
  WantedChannel,
  WantedMaintenance,
  WantedPage,
  WantedRule,
} from '../store/ports/account-content.ts';
import type { RuleStore } from '../store/ports/alerts.ts';
import type { ChannelStore } from '../store/ports/channels.ts';
import type { CredentialStore } from '../store/ports/credentials.ts';
import type { PostStore } from '../store/ports/posts.ts';
import type { ServiceStore } from '../store/ports/services.ts';
import type { PageStore } from '../store/ports/status-pages.ts';
import {
  channelItem,
  type ListedNames,
  type PresentAlerts,
  readPresentAlerts,
  readWantedChannel,
  readWantedRule,
  ruleItem,
  wantedRuleItem,
} from './apply-alerts.ts';
import type { ApplyLists } from './apply-lists.ts';
import {
  keyMaintenances,
  maintenanceItem,
  type PresentMaintenances,
  readWantedMaintenances,
  wantedMaintenanceItem,
} from './apply-maintenances.ts';
import { CONTENT_TYPES, type ContentItem, type ContentType } from './apply-plan.ts';

/** The list of each type. */
const LIST_OF = {
  service: 'services',
  page: 'pages',
  channel: 'channels',
  rule: 'rules',
  maintenance: 'maintenances',
} as const;

/** The public services. */
export interface PublicServices {
  /** By slug or domain; null: there is none. */
  readonly find: (name: string) => Service | null;
  /** By id; null: it is not public. */
  readonly findById: (id: number) => Service | null;
  /** Domains of the catalogue, including those that its file will add. */
  readonly domains: ReadonlySet<string>;
}

/** The dependencies of reading. */
export interface ReadApplyContext {
  readonly registry: Pick<ServiceStore, 'servicesOf'> &
    Pick<PageStore, 'pagesOf' | 'findPagePassword'> &
    Pick<CredentialStore, 'matchCredentials'> &
    Pick<ChannelStore, 'channelsOf'> &
    Pick<RuleStore, 'rulesOf'> &
    Pick<PostStore, 'ownerMaintenancesOf'>;
  /** Called only if pages or rules are listed, or a service is new. */
  readonly loadPublic: () => Promise<PublicServices>;
  readonly destinations: AllowedDestinations;
  readonly bounds: CheckBounds;
  readonly kinds: ChannelKinds;
  readonly now: () => number;
}

/** The domain of a service that was not validated; empty: it has none. */
export function domainIn(one: unknown): string {
  const { domain }: { readonly domain?: unknown } = Object(one);
  return typeof domain === 'string' ? domain.toLowerCase() : '';
}

/** What an account has, as far as the lists concern it. */
export interface PresentContent {
  /** By domain. */
  readonly services: ReadonlyMap<string, Service>;
  readonly items: readonly ContentItem[];
  /** The types of the lists that the document has. */
  readonly listed: ReadonlySet<ContentType>;
  /** Null: neither a page nor a new service is listed. */
  readonly publicServices: PublicServices | null;
  readonly alerts: PresentAlerts;
  /** Empty: maintenance is not listed. */
  readonly maintenances: PresentMaintenances;
  /** Its status pages by slug; empty: neither pages nor rules nor maintenance is listed. */
  readonly pages: ReadonlyMap<string, OwnedPage>;
}

/** What a document lists. */
export interface WantedContent {
  readonly services: ReadonlyMap<string, WantedRegistration>;
  readonly pages: ReadonlyMap<string, WantedPage>;
  readonly channels: ReadonlyMap<string, WantedChannel>;
  readonly rules: ReadonlyMap<string, WantedRule>;
  readonly maintenances: ReadonlyMap<string, WantedMaintenance>;
  readonly items: readonly ContentItem[];
  /** The path in the document; null: it is not listed. */
  readonly pathOf: (type: ContentType, key: string) => string | null;
}

/** A service with its credentials, those that are stored already apart from the others. */
interface WantedRegistration {
  readonly service: Registration;
  readonly credentials: ComparedCheck;
}

/** Reads what an account has. */
export async function readPresent(
  { registry, loadPublic, kinds }: ReadApplyContext,
  accountId: number,
  lists: ApplyLists,
): Promise<PresentContent> {
  const { services: listed, pages: listedPages, channels: listedChannels, rules: listedRules } = lists;
  const services = new Map((await registry.servicesOf(accountId)).map((one) => [one.domain, one]));
  const isNew = (one: unknown) => !services.has(domainIn(one));
  const namesServices = listedPages !== undefined || listedRules !== undefined;
  const needsPublic = namesServices || listed?.some(isNew) === true;
  const publicServices = needsPublic ? await loadPublic() : null;
  const byId = new Map([...services.values()].map((service) => [service.id, service]));
  const nameOf = (id: number) => {
    const service = byId.get(id) ?? publicServices?.findById(id) ?? null;
    return service === null ? null : nameOnPage(service);
  };
  const hasMaintenances = lists.maintenances !== undefined;
  const pages = namesServices || hasMaintenances ? await registry.pagesOf(accountId) : [];
  const maintenances = keyMaintenances(hasMaintenances ? await registry.ownerMaintenancesOf(accountId) : []);
  const subjects = { services: [...services.values()], pages };
  const alerts = await readPresentAlerts(registry, accountId, lists);
  const channelNames = new Map([...alerts.channels.values()].map(({ id, name }) => [id, name]));
  const names = { service: nameOf, channel: (id: number) => channelNames.get(id) ?? null };
  const items = [
    ...(listed === undefined ? [] : [...services.values()].map((one) => serviceItem(one, one.check.sealed))),
    ...(listedPages === undefined ? [] : pages).map((page) =>
      pageItem(pageDocumentOf(page, {}, nameOf), page),
    ),
    ...(listedChannels === undefined ? [] : [...alerts.channels.values()]).map((channel) =>
      channelItem(kinds, channel, channel),
    ),
    ...[...alerts.rules.values()].map((rule) => ruleItem(ruleDocumentOf(rule, names))),
    ...[...maintenances].map(([key, post]) => maintenanceItem(key, post, subjects)),
  ];
  return {
    services,
    items,
    publicServices,
    alerts,
    maintenances,
    pages: new Map(pages.map((page) => [page.slug, page])),
    listed: new Set(CONTENT_TYPES.filter((type) => lists[LIST_OF[type]] !== undefined)),
  };
}

/**
 * Reads what a document lists. `prune`: services that are not listed will be removed. Refused as
 * `readServiceDocument` and `readPageDocument`, and with `listed_twice` and `catalogue_owns`; the fields are paths
 * such as `services.3.check.settings.port`.
 */
export async function readWanted(
  { registry, destinations, bounds, kinds, now }: ReadApplyContext,
  principal: AccountPrincipal,
  lists: ApplyLists,
  { services: present, publicServices, alerts, maintenances: announced, pages: presentPages }: PresentContent,
  prune: boolean,
): Promise<Outcome<WantedContent>> {
  const { role, accountId } = principal;
  const limits = limitsFor(principal, bounds);
  const services = readList(
    'services',
    lists.services,
    (one) => {
      const before = present.get(domainIn(one))?.check;
      const reading = readServiceDocument(one, destinations, limits, { before });
      if (!reading.ok || role !== 'operator' || present.has(reading.value.domain)) return reading;
      return refuseListed(reading, publicServices?.domains ?? new Set());
    },
    ({ domain }) => domain,
  );
  const stays = (domain: string) => !prune || lists.services === undefined || services.found.has(domain);
  const own = new Map<string, Service | null>([
    ...[...services.found.keys()].map((domain) => [domain, null] as const),
    ...[...present].filter(([domain]) => stays(domain)),
  ]);
  const find = listedFinder(accountId, own, (name) => publicServices?.find(name) ?? null);
  const pages = readList(
    'pages',
    lists.pages,
    (one) => readWantedPage(one, find.idOf),
    ({ slug }) => slug,
  );
  const channels = readList(
    'channels',
    lists.channels,
    (one) => readWantedChannel({ kinds, destinations }, alerts.channels, one, now()),
    ({ name }) => name,
  );
  /** Whether something that the account has and the document does not list stays. */
  const staysBeside = (list: keyof ApplyLists) => !prune || lists[list] === undefined;
  const names: ListedNames = {
    service: find.idOf,
    serviceName: find.nameOf,
    channels: alerts.channels,
    hasChannel: (name) => channels.found.has(name) || (staysBeside('channels') && alerts.channels.has(name)),
    hasPage: (slug) => pages.found.has(slug) || (staysBeside('pages') && presentPages.has(slug)),
  };
  const rules = readList(
    'rules',
    lists.rules,
    (one) => readWantedRule(one, names),
    ({ name }) => name,
  );
  const readings = await readWantedMaintenances(
    lists.maintenances ?? [],
    announced,
    {
      services: own,
      pages: [...new Set([...pages.found.keys(), ...(staysBeside('pages') ? presentPages.keys() : [])])],
    },
    now(),
  );
  const maintenances = readList(
    'maintenances',
    readings,
    (reading) => reading,
    ({ key }) => key,
  );
  const read = {
    service: services,
    page: pages,
    channel: channels,
    rule: rules,
    maintenance: maintenances,
  };
  const sealed = await sealPages(registry, pages, presentPages);
  const refusals = [...CONTENT_TYPES.flatMap((type) => read[type].refusals), ...sealed.refusals];
  if (refusals.length > 0) return { ok: false, refusals };
  const registrations = [...services.found.values()];
  const compared = await compareSecrets(registry, registrations, (domain) => present.get(domain)?.check);
  const wanted = registrations.map((service, index) => {
    const { fresh = {}, kept = {} } = compared[index] ?? {};
    return { service, credentials: { fresh, kept: { ...service.check.sealed, ...kept } } };
  });
  return accept({
    services: new Map(wanted.map((one) => [one.service.domain, one])),
    pages: sealed.found,
    channels: channels.found,
    rules: rules.found,
    maintenances: maintenances.found,
    items: [
      ...wanted.map(({ service, credentials }) => serviceItem(service, credentials.kept, credentials.fresh)),
      ...[...sealed.found.values()].map((page) => {
        const groups = page.groups.map((group) => ({ ...group, services: group.services.map(find.nameOf) }));
        return pageItem(
          pageDocumentOf({ ...page, groups }, {}, (name) => name),
          page,
        );
      }),
      ...[...channels.found.values()].map((channel) =>
        channelItem(kinds, channel, alerts.channels.get(channel.name) ?? null),
      ),
      ...[...rules.found.values()].map((rule) => wantedRuleItem(rule, names)),
      ...[...maintenances.found.values()].map((one) => wantedMaintenanceItem(one, present)),
    ],
    pathOf: (type, key) => read[type].paths.get(key) ?? null,
  });
}

/** Reads a page of a document, in which null stands for a password that stays. Refused as {@link readPageDocument}. */
function readWantedPage(document: unknown, find: Parameters<typeof readPageDocument>[1]): Outcome<ReadPage> {
  if (!isObject(document) || document.password !== null) return readPageDocument(document, find);
  const { password: _, ...rest } = document;
  const reading = readPageDocument(rest, find);
  if (!reading.ok || reading.value.access === 'password') return reading;
  return refuse({ code: 'page_password_unused' }, 'password');
}

/** Hashes the new passwords of pages; those that are stored already stay. */
async function sealPages(
  registry: Pick<PageStore, 'findPagePassword'>,
  {
    found,
    paths,
  }: { readonly found: ReadonlyMap<string, ReadPage>; readonly paths: ReadonlyMap<string, string> },
  present: PresentContent['pages'],
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
  list: keyof ApplyLists,
  members: readonly Member[] = [],
  read: (one: Member) => Outcome<T>,
  keyOf: (value: T) => string,
) {
  const refusals: FieldRefusal[] = [];
  const found = new Map<string, T>();
  const paths = new Map<string, string>();
  for (const [index, one] of members.entries()) {
    const path = `${list}.${index}`;
    const reading = read(one);
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

/** `kept`: credentials that are stored; `fresh`: new ones. */
function serviceItem(
  service: Parameters<typeof serviceDocumentOf>[0],
  kept: object = {},
  fresh: object = {},
): ContentItem {
  const { domain: key, ...document } = serviceDocumentOf(service);
  const secrets = [
    ...Object.keys(kept).map((name) => [`check.settings.${name}`, 'stored']),
    ...Object.keys(fresh).map((name) => [`check.settings.${name}`, 'new']),
  ];
  return { type: 'service', key, document, secrets: Object.fromEntries(secrets) };
}

/** Pictures are compared by their digests; `passwordHash`: that of a new password. */
function pageItem(
  { slug: key, ...document }: PageDocument,
  page: { readonly [use in PictureUse]?: { readonly mark: string } | null } & {
    readonly passwordHash?: string | null;
  },
): ContentItem {
  const { logo = null, favicon = null, passwordHash = null } = page;
  const shown = {
    ...(logo === null ? {} : { logo: `picture ${logo.mark}` }),
    ...(favicon === null ? {} : { favicon: `picture ${favicon.mark}` }),
  };
  const secrets =
    document.access === 'password' ? { password: passwordHash === null ? 'stored' : 'new' } : {};
  return { type: 'page', key, document: { ...document, ...shown }, secrets: { ...secrets } };
}
