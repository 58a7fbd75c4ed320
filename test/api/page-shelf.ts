/** Status pages in memory, for the world of the API's tests: what the registry answers, from simple lists. */
import type { Incident } from '../../src/domain/incident.ts';
import type { Maintenance } from '../../src/domain/maintenance.ts';
import type { OwnedPage } from '../../src/domain/status-page.ts';
import type { PageIncidentQuery, StoredLogo } from '../../src/store/ports/status-pages.ts';

/** A page of the account 1; a test names what matters to it. */
export function ownedPage(slug: string, more: Partial<OwnedPage> = {}): OwnedPage {
  return {
    id: 1,
    accountId: 1,
    slug,
    title: 'Our services',
    text: '',
    groups: [],
    logo: null,
    revision: 1,
    createdAt: Date.UTC(2026, 10, 1),
    updatedAt: Date.UTC(2026, 10, 2),
    ...more,
  };
}

/** Makes an empty shelf over the lists of the world. */
export function createPageShelf(lists: {
  readonly incidents: readonly Incident[];
  readonly maintenances: readonly Maintenance[];
}) {
  const pages = new Map<string, OwnedPage>();
  const logos = new Map<string, StoredLogo>();
  return {
    pages,
    logos,
    put: (page: OwnedPage) => void pages.set(page.slug, page),
    book: {
      findPage: async (slug: string) => pages.get(slug) ?? null,
      findLogo: async (slug: string) => logos.get(slug) ?? null,
      async incidentsOfPage({ serviceIds, running, limit, offset }: PageIncidentQuery) {
        return lists.incidents
          .filter(({ serviceId }) => serviceIds.includes(serviceId))
          .filter(({ status }) => running === undefined || running === (status !== 'resolved'))
          .slice(offset, offset + limit);
      },
      async maintenancesOfPage(serviceIds: readonly number[], limit: number) {
        return lists.maintenances.filter(({ serviceId }) => serviceIds.includes(serviceId)).slice(0, limit);
      },
    },
  };
}
