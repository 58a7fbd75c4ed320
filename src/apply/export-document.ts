/** What an account has as a document of `apply`. */

import { CHECK_KINDS } from '../kinds/kinds-table.ts';
import {
  type ChannelKinds,
  channelDocumentOf,
  secretSettings,
} from '../resources/channels/channel-document.ts';
import { pageDocumentOf } from '../resources/pages/page-document.ts';
import { ruleDocumentOf } from '../resources/rules/rule-document.ts';
import { serviceDocumentOf } from '../resources/services/service-document.ts';
import type { PageStore } from '../store/ports/status-pages.ts';
import { type ApplyDocument, LISTS } from './apply-lists.ts';
import { appliedMaintenanceOf } from './apply-maintenances.ts';
import { type PresentSources, readPresent } from './present-content.ts';

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
  registry: PresentSources['registry'] & Pick<PageStore, 'findPicture'>,
  accountId: number,
  loadPublic: PresentSources['loadPublic'],
  kinds: ChannelKinds,
): Promise<ExportedAccount> {
  const everything = Object.fromEntries(LISTS.map((list) => [list, []]));
  const present = await readPresent({ registry, loadPublic, kinds }, accountId, everything);
  const { names } = present;
  const [services, pages] = [inOrder(present.service), inOrder(present.page)];
  const [channels, rules] = [inOrder(present.channel), inOrder(present.rule)];
  const maintenances = [...present.maintenance.values()].flatMap(
    (post) => appliedMaintenanceOf(post, { services, pages }) ?? [],
  );
  const pageDocuments = pages.map(async (page) =>
    pageDocumentOf(
      page,
      {
        logo: page.logo === null ? null : await registry.findPicture(page.slug, 'logo'),
        favicon: page.favicon === undefined ? null : await registry.findPicture(page.slug, 'favicon'),
      },
      names.service,
    ),
  );
  return {
    document: {
      services: services.map(serviceDocumentOf),
      pages: await Promise.all(pageDocuments),
      ...(channels.length === 0
        ? {}
        : { channels: channels.map((channel) => channelDocumentOf(kinds, channel)) }),
      ...(rules.length === 0 ? {} : { rules: rules.map((rule) => ruleDocumentOf(rule, names)) }),
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

/** In the order of the keys. */
function inOrder<T>(present: ReadonlyMap<string, T>): T[] {
  return [...present].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);
}
