/** The content of an account as a document of `apply`. */

import type { Service } from '../domain/service.ts';
import { CHECK_KINDS } from '../kinds/kinds-table.ts';
import { type ChannelKinds, channelDocumentOf, secretSettings } from '../resources/channels/channels.ts';
import { pageDocumentOf } from '../resources/pages/page-document.ts';
import { ruleDocumentOf } from '../resources/rules/rules.ts';
import { type ServiceDocument, serviceDocumentOf } from '../resources/services/service-document.ts';
import type { PageReads } from '../store/ports/status-pages.ts';
import { type ApplyDocument, LISTS } from './apply-lists.ts';
import { appliedMaintenanceOf } from './apply-maintenances.ts';
import { type PresentSources, readPresent } from './present-content.ts';

/** A document, and what it does not contain. */
export interface ExportedAccount {
  readonly document: ApplyDocument;
  /** Credentials of checks, secrets of channels and passwords of pages, which are never shown. */
  readonly credentials: readonly MissingCredential[];
  /** Names of services with heartbeat addresses, whose secrets are not stored. */
  readonly addresses: readonly string[];
}

/** A credential of a check, a secret of a channel, or the password of a page. */
export interface MissingCredential {
  /** The name of the service (`nameOfService`), the name of the channel, or the slug of the page. */
  readonly of: string;
  readonly type: 'service' | 'channel' | 'page';
  readonly setting: string;
  /** The setting is a list of texts. */
  readonly isList: boolean;
}

/**
 * Exports an account. Services are in the order of their domains, the first one of each ahead, pages in that of their slugs, channels and rules in that of their
 * names,
 * and maintenances in the order in which they were made.
 */
export async function exportAccount(
  registry: PresentSources['registry'] & PageReads,
  accountId: number,
  loadPublic: PresentSources['loadPublic'],
  kinds: ChannelKinds,
): Promise<ExportedAccount> {
  const everything = Object.fromEntries(LISTS.map((list) => [list, []]));
  const present = await readPresent({ registry, loadPublic, kinds }, accountId, everything);
  const { names } = present;
  const services = [...present.service.values()].sort(inOrderOfHosts);
  const pages = inOrder(present.page);
  const documents = services.map((service) => ({ service, document: serviceDocumentOf(service) }));
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
      services: documents.map(({ document }) => document),
      pages: await Promise.all(pageDocuments),
      ...(channels.length === 0
        ? {}
        : { channels: channels.map((channel) => channelDocumentOf(kinds, channel)) }),
      ...(rules.length === 0 ? {} : { rules: rules.map((rule) => ruleDocumentOf(rule, names)) }),
      ...(maintenances.length === 0 ? {} : { maintenances }),
    },
    credentials: [
      ...documents.flatMap(({ document, service: { check } }) => {
        const { kind, sealed = {} } = check;
        return Object.keys(sealed).map((setting) => ({
          of: nameOfService(document),
          type: 'service' as const,
          setting,
          isList: kind !== 'heartbeat' && CHECK_KINDS[kind].settings.properties[setting]?.type === 'array',
        }));
      }),
      ...pages
        .filter(({ access }) => access === 'password')
        .map(({ slug }) => ({ of: slug, type: 'page' as const, setting: 'password', isList: false })),
      ...channels.flatMap(({ name, kind, settings }) =>
        secretSettings(kinds, kind)
          .filter((setting) => Object.hasOwn(settings, setting))
          .map((setting) => ({ of: name, type: 'channel' as const, setting, isList: false })),
      ),
    ],
    addresses: documents.flatMap(({ document, service: { check } }) =>
      check.addressHash === undefined ? [] : [nameOfService(document)],
    ),
  };
}

/** The name by which an export tells a service apart: its slug where it says one, else its domain. */
export function nameOfService({ domain, slug = domain }: ServiceDocument): string {
  return slug;
}

function inOrderOfHosts(one: Service, other: Service): number {
  const order = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1);
  const rank = ({ isFurther }: Service) => (isFurther === true ? 1 : 0);
  return order(one.domain, other.domain) || rank(one) - rank(other) || order(one.slug, other.slug);
}

function inOrder<T>(present: ReadonlyMap<string, T>): T[] {
  return [...present].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);
}
