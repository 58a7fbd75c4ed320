/** What an account has as a document of `apply`. */
import { CHECK_KINDS } from '../kinds/kinds-table.ts';
import type { ServiceStore } from '../store/ports/services.ts';
import type { PageStore } from '../store/ports/status-pages.ts';
import type { ApplyDocument, PublicServices } from './apply-document.ts';
import { nameOnPage, pageDocumentOf } from './page-document.ts';
import { serviceDocumentOf } from './service-document.ts';

/** A document, and what it does not contain. */
export interface ExportedAccount {
  readonly document: ApplyDocument;
  /** Credentials of checks, which are never shown. */
  readonly credentials: readonly MissingCredential[];
  /** Domains of services with heartbeat addresses, whose secrets are not stored. */
  readonly addresses: readonly string[];
}

/** A credential of a check. */
export interface MissingCredential {
  readonly domain: string;
  readonly setting: string;
  /** The setting is a list of texts. */
  readonly isList: boolean;
}

/** Exports an account. Services are in the order of their domains, pages in that of their slugs. */
export async function exportAccount(
  registry: Pick<ServiceStore, 'servicesOf'> & Pick<PageStore, 'pagesOf' | 'findLogo'>,
  accountId: number,
  loadPublic: () => Promise<Pick<PublicServices, 'findById'>>,
): Promise<ExportedAccount> {
  const services = (await registry.servicesOf(accountId)).toSorted((a, b) => (a.domain < b.domain ? -1 : 1));
  const pages = await registry.pagesOf(accountId);
  const byId = new Map(services.map((service) => [service.id, service]));
  const found = pages.length === 0 ? null : await loadPublic();
  const nameOf = (id: number) => {
    const service = byId.get(id) ?? found?.findById(id) ?? null;
    return service === null ? null : nameOnPage(service);
  };
  const pageDocuments = pages.map(async (page) =>
    pageDocumentOf(page, page.logo === null ? null : await registry.findLogo(page.slug), nameOf),
  );
  return {
    document: { services: services.map(serviceDocumentOf), pages: await Promise.all(pageDocuments) },
    credentials: services.flatMap(({ domain, check: { kind, sealed = {} } }) =>
      Object.keys(sealed).map((setting) => ({
        domain,
        setting,
        isList: kind !== 'heartbeat' && CHECK_KINDS[kind].settings.properties[setting]?.type === 'array',
      })),
    ),
    addresses: services.flatMap(({ domain, check }) => (check.addressHash === undefined ? [] : [domain])),
  };
}
