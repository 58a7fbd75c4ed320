/** Changes in the list of a page, as forms make them. */
import {
  arrangePage,
  isListable,
  nameOfEntry,
  type OwnedPage,
  type PageStep,
  readGroupName,
} from '../../domain/status-page.ts';
import { accept, type Outcome, type Principal, refuse, refuseRole } from '../kit/change.ts';
import type { ChangeTarget } from '../kit/create-changes.ts';
import { entryOf } from './page-document.ts';
import { type PageContext, pageChanges } from './pages.ts';

/** A requested change of a page's list. Groups are numbered from 0. */
export type PageArrangement =
  | Exclude<PageStep, { readonly kind: 'add_service' }>
  | {
      readonly kind: 'add_services';
      /** By their slugs, with the name that each has on the page; empty: none. */
      readonly services: readonly (readonly [slug: string, name: string])[];
      readonly group: number;
    }
  /** The name that a service has on the page; empty: none. */
  | { readonly kind: 'name_service'; readonly serviceId: number; readonly name: string };

/**
 * Changes the list of a page by one step. Refused with `role_required`, `no_page`,
 * `page_stale`, `no_page_service`, `page_entry_unnamed`, `page_has_service`, `page_services_full`, `page_groups_full`,
 * `page_group_name_missing`, and for the name of a group or service as for a text.
 */
export async function arrangeStatusPage(
  context: PageContext,
  principal: Principal,
  { key: slug, revisions }: ChangeTarget<string>,
  arrangement: PageArrangement,
): Promise<Outcome<OwnedPage>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const found = await pageChanges.find(context, principal, slug);
  if (!found.ok) return found;
  if (revisions !== null && !revisions.includes(found.value.revision)) return refuse({ code: 'page_stale' });
  if (arrangement.kind === 'add_group' && arrangement.name.trim() === '')
    return refuse({ code: 'page_group_name_missing' }, 'name');
  const steps = readSteps(context.findService, found.value.accountId, arrangement);
  if (!steps.ok) return steps;
  const names = new Map(
    found.value.groups.flatMap((group) => group.services.map((id) => [id, nameOfEntry(group, id)] as const)),
  );
  if (arrangement.kind === 'name_service') names.set(arrangement.serviceId, arrangement.name);
  if (arrangement.kind === 'add_services')
    for (const [slug, name] of arrangement.services) {
      const id = context.findService(slug.toLowerCase())?.id;
      if (id !== undefined) names.set(id, name);
    }
  let arranged = found.value.groups;
  for (const step of steps.value) {
    const next = arrangePage(arranged, step);
    if (!next.ok) return refuse(next.problem, fieldOf(arrangement));
    arranged = next.groups;
  }
  const groups = arranged.map(({ name, services }) => ({
    name,
    services: services.flatMap((id) => {
      const service = context.findServiceById(id);
      return service === null ? [] : [entryOf(service.slug, names.get(id) ?? '')];
    }),
  }));
  const outcome = await pageChanges.patch(context, principal, { key: slug, revisions }, { groups });
  if (outcome.ok) return outcome;
  // Forms have other fields in place of the paths in the document.
  return {
    ...outcome,
    refusals: outcome.refusals.map((one) =>
      /^groups(?:\.|$)/.test(one.field ?? '') ? { ...one, field: fieldOf(arrangement) } : one,
    ),
  };
}

function readSteps(
  findService: PageContext['findService'],
  accountId: number,
  arrangement: PageArrangement,
): Outcome<readonly PageStep[]> {
  if (arrangement.kind === 'add_services') {
    const steps: PageStep[] = [];
    for (const [slug] of arrangement.services) {
      const service = findService(slug.toLowerCase());
      if (service === null || !isListable(service, accountId))
        return refuse({ code: 'no_page_service', slug }, 'service');
      steps.push({ kind: 'add_service', serviceId: service.id, group: arrangement.group });
    }
    return accept(steps);
  }
  if (arrangement.kind === 'name_service') return accept([]);
  if (arrangement.kind !== 'add_group' && arrangement.kind !== 'rename_group') return accept([arrangement]);
  const name = readGroupName(arrangement.name);
  return name.ok ? accept([{ ...arrangement, name: name.value }]) : refuse(name.problem, 'name');
}

/** The member of an arrangement that a refusal concerns. */
function fieldOf({ kind }: PageArrangement): string | null {
  if (kind === 'add_services') return 'service';
  return kind === 'add_group' || kind === 'name_service' ? 'name' : null;
}
