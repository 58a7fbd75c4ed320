/** The content of an account, as far as a document of `apply` lists it, in the form that a plan compares. */

import type { Channel } from '../domain/alert/channel.ts';
import type { AlertRule } from '../domain/alert/rule.ts';
import type { OwnerMaintenance } from '../domain/incident/owner-maintenance.ts';
import type { Service } from '../domain/service.ts';
import type { OwnedPage, PictureUse } from '../domain/status-page.ts';
import { type ChannelKinds, channelDocumentOf, secretSettings } from '../resources/channels/channels.ts';
import { byNameOnPage, nameOnPage } from '../resources/kit/listed-services.ts';
import { type PageDocument, pageDocumentOf } from '../resources/pages/page-document.ts';
import { type NamesOfRules, type RuleDocument, ruleDocumentOf } from '../resources/rules/rules.ts';
import { serviceDocumentOf } from '../resources/services/service-document.ts';
import type { WantedChannel } from '../store/ports/account-content.ts';
import type { RuleStore } from '../store/ports/alerts.ts';
import type { ChannelStore } from '../store/ports/channels.ts';
import type { OwnerMaintenanceStore } from '../store/ports/incidents.ts';
import type { ServiceStore } from '../store/ports/services.ts';
import type { PageReads } from '../store/ports/status-pages.ts';
import type { ApplyLists } from './apply-lists.ts';
import { keyMaintenances, maintenanceItem } from './apply-maintenances.ts';
import { CONTENT_TYPES, type ContentItem, type ContentType } from './apply-plan.ts';
import { domainIn } from './place-services.ts';

export interface PublicServices {
  /** By slug or domain; null: there is none. */
  readonly find: (name: string) => Service | null;
  /** By id; null: it is not public. */
  readonly findById: (id: number) => Service | null;
  /** Domains of the catalogue, including those that its file will add. */
  readonly domains: ReadonlySet<string>;
}

/** The dependencies of reading. */
export interface PresentSources {
  readonly registry: ServiceStore & PageReads & ChannelStore & RuleStore & OwnerMaintenanceStore;
  /** Called only for pages, rules and new services. */
  readonly loadPublic: () => Promise<PublicServices>;
  readonly kinds: ChannelKinds;
}

/** The content of an account by the keys of plans; a type is empty where no list concerns it. */
export interface PresentContent {
  readonly service: ReadonlyMap<string, Service>;
  readonly page: ReadonlyMap<string, OwnedPage>;
  readonly channel: ReadonlyMap<string, Channel>;
  readonly rule: ReadonlyMap<string, AlertRule>;
  readonly maintenance: ReadonlyMap<string, OwnerMaintenance>;
  /** The types of the lists that the document has, and what the account has of them. */
  readonly listed: ReadonlySet<ContentType>;
  readonly items: readonly ContentItem[];
  /** Null: neither pages, rules nor a new service are there. */
  readonly publicServices: PublicServices | null;
  readonly names: NamesOfRules;
}

export async function readPresent(
  { registry, loadPublic, kinds }: PresentSources,
  accountId: number,
  lists: ApplyLists,
): Promise<PresentContent> {
  const listed = new Set(CONTENT_TYPES.filter((type) => lists[`${type}s`] !== undefined));
  const read = async <T>(types: readonly ContentType[], of: (accountId: number) => Promise<T[]>) =>
    types.some((type) => listed.has(type)) ? await of(accountId) : [];
  const service = byNameOnPage(await registry.servicesOf(accountId));
  const page = keyed(await read(['page', 'rule', 'maintenance'], registry.pagesOf), ({ slug }) => slug);
  const channel = keyed(await read(['channel', 'rule'], registry.channelsOf), ({ name }) => name);
  const rule = keyed(await read(['rule'], registry.rulesOf), ({ name }) => name);
  const maintenance = keyMaintenances(await read(['maintenance'], registry.ownerMaintenancesOf));
  const { services = [], pages = [], rules = [] } = lists;
  const namesServices = listed.has('page') || listed.has('rule');
  const needsPublic =
    (namesServices && page.size + rule.size + pages.length + rules.length > 0) ||
    services.some((one) => !service.has(domainIn(one)) || Object.hasOwn(Object(one), 'dependsOn'));
  const publicServices = needsPublic ? await loadPublic() : null;
  const byId = keyed(service.values(), ({ id }) => id);
  const channelNames = new Map([...channel.values()].map(({ id, name }) => [id, name]));
  const names: NamesOfRules = {
    service(id) {
      const found = byId.get(id) ?? publicServices?.findById(id) ?? null;
      return found === null ? null : nameOnPage(found);
    },
    channel: (id) => channelNames.get(id) ?? null,
  };
  const subjects = { services: [...service.values()], pages: [...page.values()] };
  const items = [
    ...[...service].map(([key, one]) => serviceItem(key, one, one.check.sealed)),
    ...[...page.values()].map((one) => pageItem(pageDocumentOf(one, {}, names.service), one)),
    ...[...channel.values()].map((one) => channelItem(kinds, one, one)),
    ...[...rule.values()].map((one) => ruleItem(ruleDocumentOf(one, names))),
    ...[...maintenance].map(([key, post]) => maintenanceItem(key, post, subjects)),
  ].filter(({ type }) => listed.has(type));
  return { service, page, channel, rule, maintenance, listed, items, publicServices, names };
}

function keyed<K, T>(all: Iterable<T>, keyOf: (one: T) => K): ReadonlyMap<K, T> {
  return new Map([...all].map((one) => [keyOf(one), one]));
}

/** `kept`: credentials that are stored; `fresh`: new ones. */
export function serviceItem(
  key: string,
  service: Parameters<typeof serviceDocumentOf>[0],
  kept: object = {},
  fresh: object = {},
): ContentItem {
  const { domain, slug, ...rest } = serviceDocumentOf(service);
  const document = {
    ...(domain === key ? {} : { domain }),
    ...(slug === undefined || slug === key ? {} : { slug }),
    ...rest,
  };
  const secrets = [
    ...Object.keys(kept).map((name) => [`check.settings.${name}`, 'stored']),
    ...Object.keys(fresh).map((name) => [`check.settings.${name}`, 'new']),
  ];
  return { type: 'service', key, document, secrets: Object.fromEntries(secrets) };
}

/** Pictures are compared by their digests; `passwordHash`: that of a new password. */
export function pageItem(
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

/** A channel as a plan compares it. `before`: the stored one, whose equal secrets are not new; null: there is none. */
export function channelItem(
  kinds: ChannelKinds,
  channel: Omit<WantedChannel, 'confirmedAt'>,
  before: Channel | null,
): ContentItem {
  const { name: key, ...document } = channelDocumentOf(kinds, channel);
  const secrets = secretSettings(kinds, channel.kind).flatMap((setting) => {
    const value = channel.settings[setting];
    if (value === undefined) return [];
    return [[`settings.${setting}`, value === before?.settings[setting] ? 'stored' : 'new'] as const];
  });
  return { type: 'channel', key, document, secrets: Object.fromEntries(secrets) };
}

export function ruleItem({ name: key, ...document }: RuleDocument): ContentItem {
  return { type: 'rule', key, document, secrets: {} };
}
