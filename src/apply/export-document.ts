/** What an account has as a document of `apply`. */

import { CHECK_KINDS } from '../kinds/kinds-table.ts';
import {
  type ChannelKinds,
  channelDocumentOf,
  secretSettings,
} from '../resources/channels/channel-document.ts';
import { nameOnPage } from '../resources/kit/listed-services.ts';
import { pageDocumentOf } from '../resources/pages/page-document.ts';
import { ruleDocumentOf } from '../resources/rules/rule-document.ts';
import { serviceDocumentOf } from '../resources/services/service-document.ts';
import type { RuleStore } from '../store/ports/alerts.ts';
import type { ChannelStore } from '../store/ports/channels.ts';
import type { PostStore } from '../store/ports/posts.ts';
import type { ServiceStore } from '../store/ports/services.ts';
import type { PageStore } from '../store/ports/status-pages.ts';
import type { PublicServices } from './apply-document.ts';
import type { ApplyDocument } from './apply-lists.ts';
import { appliedMaintenanceOf } from './apply-maintenances.ts';

/** A document, and what it does not contain. */
export interface ExportedAccount {
  readonly document: ApplyDocument;
  /** Credentials of checks, secrets of channels and passwords of pages, which are never shown. */
  readonly credentials: readonly MissingCredential[];
  /** Domains of services with heartbeat addresses, whose secrets are not stored. */
  readonly addresses: readonly string[];
}

/** A credential of a check, a secret of a channel, or the password of a page. */
export interface MissingCredential {
  /** The domain of the service, the name of the channel, or the slug of the page. */
  readonly of: string;
  readonly type: 'service' | 'channel' | 'page';
  readonly setting: string;
  /** The setting is a list of texts. */
  readonly isList: boolean;
}

/**
 * Exports an account. Services are in the order of their domains, pages in that of their slugs, channels and rules in that of their
 * names,
 * and maintenances in the order in which they were made.
 */
export async function exportAccount(
  registry: Pick<ServiceStore, 'servicesOf'> &
    Pick<PageStore, 'pagesOf' | 'findPicture'> &
    Pick<ChannelStore, 'channelsOf'> &
    Pick<RuleStore, 'rulesOf'> &
    Pick<PostStore, 'ownerMaintenancesOf'>,
  accountId: number,
  loadPublic: () => Promise<Pick<PublicServices, 'findById'>>,
  kinds: ChannelKinds,
): Promise<ExportedAccount> {
  const services = (await registry.servicesOf(accountId)).toSorted((a, b) => (a.domain < b.domain ? -1 : 1));
  const pages = await registry.pagesOf(accountId);
  const [channels, rules] = [await registry.channelsOf(accountId), await registry.rulesOf(accountId)];
  const byId = new Map(services.map((service) => [service.id, service]));
  const found = pages.length + rules.length === 0 ? null : await loadPublic();
  const nameOf = (id: number) => {
    const service = byId.get(id) ?? found?.findById(id) ?? null;
    return service === null ? null : nameOnPage(service);
  };
  const channelNames = new Map(channels.map(({ id, name }) => [id, name]));
  const channelName = (id: number) => channelNames.get(id) ?? null;
  const maintenances = (await registry.ownerMaintenancesOf(accountId))
    .toSorted((a, b) => a.id - b.id)
    .flatMap((post) => appliedMaintenanceOf(post, { services, pages }) ?? []);
  const pageDocuments = pages.map(async (page) =>
    pageDocumentOf(
      page,
      {
        logo: page.logo === null ? null : await registry.findPicture(page.slug, 'logo'),
        favicon: page.favicon === undefined ? null : await registry.findPicture(page.slug, 'favicon'),
      },
      nameOf,
    ),
  );
  return {
    document: {
      services: services.map(serviceDocumentOf),
      pages: await Promise.all(pageDocuments),
      ...(channels.length === 0
        ? {}
        : { channels: inOrder(channels).map((channel) => channelDocumentOf(kinds, channel)) }),
      ...(rules.length === 0
        ? {}
        : {
            rules: inOrder(rules).map((rule) =>
              ruleDocumentOf(rule, { service: nameOf, channel: channelName }),
            ),
          }),
      ...(maintenances.length === 0 ? {} : { maintenances }),
    },
    credentials: [
      ...services.flatMap(({ domain, check: { kind, sealed = {} } }) =>
        Object.keys(sealed).map((setting) => ({
          of: domain,
          type: 'service' as const,
          setting,
          isList: kind !== 'heartbeat' && CHECK_KINDS[kind].settings.properties[setting]?.type === 'array',
        })),
      ),
      ...pages
        .filter(({ access }) => access === 'password')
        .map(({ slug }) => ({ of: slug, type: 'page' as const, setting: 'password', isList: false })),
      ...channels.flatMap(({ name, kind, settings }) =>
        secretSettings(kinds, kind)
          .filter((setting) => Object.hasOwn(settings, setting))
          .map((setting) => ({ of: name, type: 'channel' as const, setting, isList: false })),
      ),
    ],
    addresses: services.flatMap(({ domain, check }) => (check.addressHash === undefined ? [] : [domain])),
  };
}

function inOrder<T extends { readonly name: string }>(items: readonly T[]): T[] {
  return items.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
