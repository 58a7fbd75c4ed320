/** The services and status pages of an account that its posts, incidents and maintenance, concern. */
import type { Service } from '../../domain/service.ts';
import type { OwnedPage } from '../../domain/status-page.ts';
import type { ServiceStore } from '../../store/ports/services.ts';
import type { PageReads } from '../../store/ports/status-pages.ts';
import { accept, type FieldRefusal, type Outcome, refuse } from './change.ts';

/** The services and pages of an account. */
export interface Subjects {
  readonly services: readonly Pick<Service, 'id' | 'slug' | 'domain' | 'isFurther'>[];
  readonly pages: readonly Pick<OwnedPage, 'id' | 'slug'>[];
}

/** Subjects by their names: services by slug or domain, pages by slug. */
export interface NamedSubjects {
  readonly services: readonly string[];
  readonly pages: readonly string[];
}

export type SubjectStore = ServiceStore & PageReads;

export async function readSubjects(registry: SubjectStore, accountId: number): Promise<Subjects> {
  const [services, pages] = await Promise.all([registry.servicesOf(accountId), registry.pagesOf(accountId)]);
  return { services, pages };
}

/** The IDs of named subjects. Refused with `subject_missing`, and with `no_subject` for each name that is not known. */
export function findSubjects(
  { services, pages }: Subjects,
  wanted: NamedSubjects,
): Outcome<{ readonly services: readonly number[]; readonly pages: readonly number[] }> {
  const refusals: FieldRefusal[] = [];
  const find = (field: keyof NamedSubjects, byName: (name: string) => number | undefined) => {
    const ids = wanted[field].map((given, at) => {
      const id = byName(given.trim().toLowerCase());
      if (id === undefined)
        refusals.push({
          field: `${field}.${at}`,
          refusal: { code: 'no_subject', name: given.slice(0, 200) },
        });
      return id ?? 0;
    });
    return [...new Set(ids)];
  };
  const found = {
    services: find(
      'services',
      (name) =>
        services.find(({ slug, domain, isFurther }) => slug === name || (domain === name && !isFurther))?.id,
    ),
    pages: find('pages', (name) => pages.find(({ slug }) => slug === name)?.id),
  };
  if (refusals.length > 0) return { ok: false, refusals };
  if (found.services.length + found.pages.length === 0)
    return refuse({ code: 'subject_missing' }, 'services');
  return accept(found);
}

/** The names of subjects in the API, without those that are gone. */
export function nameSubjects(
  { services, pages }: Subjects,
  of: { readonly services: readonly number[]; readonly pages: readonly number[] },
): { services: string[]; pages: string[] } {
  return {
    services: of.services.flatMap((id) => services.find((one) => one.id === id)?.slug ?? []),
    pages: of.pages.flatMap((id) => pages.find((one) => one.id === id)?.slug ?? []),
  };
}
