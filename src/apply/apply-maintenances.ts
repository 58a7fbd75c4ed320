/** Maintenance in a document of `apply`, and that of an account: both in the form that a plan compares. */

import type { OwnerMaintenance } from '../domain/incident/owner-maintenance.ts';
import type { Service } from '../domain/service.ts';
import { type Static, strictObject, Type } from '../json-schema.ts';
import { accept, type Outcome } from '../resources/kit/change.ts';
import { nameOnPage } from '../resources/kit/listed-services.ts';
import type { Subjects } from '../resources/kit/posts.ts';
import { createDocumentReader } from '../resources/kit/read-document.ts';
import {
  MaintenanceDocumentSchema,
  maintenanceDocumentOf,
  readMaintenance,
} from '../resources/maintenances/maintenances.ts';
import type { WantedMaintenance } from '../store/ports/account-content.ts';
import type { ContentItem } from './apply-plan.ts';

/** The schema of a maintenance. Its start is required, because a file is applied again and again. */
export const AppliedMaintenanceSchema = strictObject({
  ...MaintenanceDocumentSchema.properties,
  title: Type.String({
    ...MaintenanceDocumentSchema.properties.title,
    description:
      'Identifies it within the account; several with the same title are distinguished by their order.',
  }),
  starts_at: Type.String({
    maxLength: 40,
    description:
      'The first start, which may be past: ISO 8601, such as 2026-11-24T22:00:00Z, or on the clock of the time zone, such as 2026-11-24T22:00.',
  }),
  services: Type.Optional(
    Type.Array(Type.String({ maxLength: 300 }), {
      maxItems: 100,
      description: 'Domains or slugs of services of the account.',
    }),
  ),
});

export type AppliedMaintenance = Static<typeof AppliedMaintenanceSchema>;

const readStructure = createDocumentReader<AppliedMaintenance>(AppliedMaintenanceSchema);

/** Maintenance of an account by title. Further ones with the same title have their number in the order in which they were made. */
export function keyMaintenances(posts: readonly OwnerMaintenance[]): ReadonlyMap<string, OwnerMaintenance> {
  const keyOf = createKeys();
  return new Map(
    posts.toSorted((a, b) => a.createdAt - b.createdAt || a.id - b.id).map((one) => [keyOf(one.title), one]),
  );
}

/** Makes the keys of titles: `Disks`, `Disks (2)`, and so on. */
function createKeys(): (title: string) => string {
  const counts = new Map<string, number>();
  return (title) => {
    const count = (counts.get(title) ?? 0) + 1;
    counts.set(title, count);
    return count === 1 ? title : `${title} (${count})`;
  };
}

/** The subjects that maintenance of a document may have. */
export interface MaintenanceSubjects {
  /** Services of the account by their keys; null: the document adds it. */
  readonly services: ReadonlyMap<string, Service | null>;
  /** Slugs of its status pages. */
  readonly pages: readonly string[];
}

/** Reads the maintenances of a document, in order. Refused as `announceMaintenance`, but for a start that is past. */
export async function readWantedMaintenances(
  members: readonly unknown[],
  present: ReadonlyMap<string, OwnerMaintenance>,
  { services, pages }: MaintenanceSubjects,
  now: number,
): Promise<Outcome<WantedMaintenance>[]> {
  // What is not stored yet has a negative number here.
  const keys = [...services.keys()];
  const subjects: Subjects = {
    services: keys.map((key, at) => {
      const service = services.get(key) ?? null;
      return { id: service?.id ?? -1 - at, slug: service?.slug ?? key, domain: key };
    }),
    pages: pages.map((slug, id) => ({ id, slug })),
  };
  const keyOf = createKeys();
  const readings: Outcome<WantedMaintenance>[] = [];
  for (const member of members) {
    const structure = readStructure(member);
    const reading = structure.ok
      ? await readMaintenance(structure.value, subjects, now, { startsAt: null })
      : structure;
    if (!reading.ok) {
      readings.push(reading);
      continue;
    }
    const { services: ids, pages: numbers, ...post } = reading.value;
    const key = keyOf(post.title);
    readings.push(
      accept({
        ...post,
        key,
        id: present.get(key)?.id ?? null,
        services: ids.map((id) => (id < 0 ? (keys[-1 - id] ?? '') : id)),
        pages: numbers.flatMap((number) => pages[number] ?? []),
      }),
    );
  }
  return readings;
}

/** A stored maintenance as a document; null: everything that it was about is gone. */
export function appliedMaintenanceOf(post: OwnerMaintenance, subjects: Subjects): AppliedMaintenance | null {
  const document = maintenanceDocumentOf({ ...post, services: [], pages: [] }, subjects);
  const { starts_at: start = '' } = document;
  const names = post.services.flatMap((id) => {
    const service = subjects.services.find((one) => one.id === id);
    return service === undefined ? [] : nameOnPage({ ...service, origin: 'owner' });
  });
  const slugs = post.pages.flatMap((id) => subjects.pages.find((page) => page.id === id)?.slug ?? []);
  if (names.length + slugs.length === 0) return null;
  return { ...document, starts_at: start, ...namesOf(names, slugs) };
}

/** A stored maintenance as a plan compares it. */
export function maintenanceItem(key: string, post: OwnerMaintenance, subjects: Subjects): ContentItem {
  const { title: _, ...document } = appliedMaintenanceOf(post, subjects) ?? { title: '' };
  return { type: 'maintenance', key, document, secrets: {} };
}

/** A maintenance of a document as it reads when it is stored. `present`: services of the account. */
export function wantedMaintenanceItem(
  { key, services, pages, ...post }: WantedMaintenance,
  present: ReadonlyMap<string, Service>,
): ContentItem {
  const none = { services: [], pages: [] };
  const names = services.flatMap((one) => {
    if (typeof one === 'string') return one;
    const service = [...present.values()].find(({ id }) => id === one);
    return service === undefined ? [] : nameOnPage(service);
  });
  const { title: _, ...document } = maintenanceDocumentOf({ ...post, ...none }, none);
  return {
    type: 'maintenance',
    key,
    document: { ...document, ...namesOf(names, pages) },
    secrets: {},
  };
}

function namesOf(services: readonly string[], slugs: readonly string[]) {
  return {
    ...(services.length === 0 ? {} : { services: services.toSorted() }),
    ...(slugs.length === 0 ? {} : { pages: slugs.toSorted() }),
  };
}
