/** `apply`: gives an account the services and status pages that a document lists (docs/apply.md). */

import {
  type AccountPrincipal,
  accept,
  type FieldRefusal,
  type Outcome,
  type Refused,
  refuseRole,
} from '../resources/kit/change.ts';
import { claimPlace, hasMoved } from '../resources/services/domains.ts';
import { sealSettings } from '../resources/services/seal-settings.ts';
import type { ContentChanges, ContentStore, SeenContent } from '../store/ports/account-content.ts';
import type { CredentialStore, OwnershipStore } from '../store/ports/services.ts';
import { type ReadApplyContext, readWanted, type WantedContent } from './apply-document.ts';
import { readLists } from './apply-lists.ts';
import { makePlan, type Plan, type PlannedChange } from './apply-plan.ts';
import { type PresentContent, readPresent } from './present-content.ts';

/** The dependencies of `apply`. */
export interface ApplyContext extends ReadApplyContext {
  readonly registry: ReadApplyContext['registry'] & OwnershipStore & CredentialStore & ContentStore;
  /** The addresses to which a domain resolves now; not called for the operator. */
  readonly resolve: (domain: string) => Promise<readonly string[]>;
}

export interface ApplyOptions {
  /** Nothing is changed. */
  readonly dryRun: boolean;
  /** True to remove content of the account that the document does not list. A list that is absent removes nothing. */
  readonly prune: boolean;
  /** Receives the number of changes that are made, and that of all changes. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Receives the plan before anything is changed. */
  readonly onPlan?: (plan: Plan) => Promise<void>;
  /**
   * Makes the last of the transactions in place of the registry's method, also where there is nothing to change, so that it can
   * store with it that the document was applied.
   */
  readonly putLast?: ContentStore['putContent'];
}

/** A refused document. */
export interface ApplyRefused extends Refused {
  /** Changes that were made before the registry refused one; the next run makes the others. */
  readonly made: readonly PlannedChange[];
}

/** The outcome of `apply`. */
export type ApplyOutcome = { readonly ok: true; readonly value: Plan } | ApplyRefused;

/**
 * Maximum number of services that are changed in one transaction, for which other processes wait. It is rolled back as a
 * whole if one of its changes is refused.
 */
export const MAX_SERVICES_TOGETHER = 1_000;

/**
 * Applies a document. What another change has overtaken since it was planned is refused. If anything is refused, nothing is changed; only where another process interferes with thousands of
 * changes, some of them may have been made. The fields of refusals are paths such as `services.3.check.settings.port`. The
 * codes are those of {@link readWanted}, `role_required`, and those of the registry's `putContent`.
 */
export async function applyDocument(
  context: ApplyContext,
  principal: AccountPrincipal,
  document: unknown,
  options: ApplyOptions,
): Promise<ApplyOutcome> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return { ...denied, made: [] };
  const planned = await planDocument(context, principal, document, options.prune);
  if (!planned.ok) return { ...planned, made: [] };
  const { plan, wanted } = planned.value;
  const unplaced = options.dryRun ? null : await claimPlaces(context, principal, planned.value);
  if (unplaced !== null) return unplaced;
  const steps = splitPlan(planned.value, context.siteUrl, options);
  await options.onPlan?.(plan);
  const refused = await makeChanges(context, principal, { wanted, steps }, options);
  // The addresses of added services are stored, since there was no service to store them for before.
  if (refused === null && !options.dryRun) {
    const added = { ...plan, changes: plan.changes.filter(({ action }) => action === 'create') };
    await claimPlaces(context, principal, { ...planned.value, plan: added });
  }
  if (refused === null) return { ok: true, value: plan };
  // Another run may have made the same changes in the meantime.
  const isOvertaken = refused.refusals.every(({ refusal }) => refusal.code.endsWith('_stale'));
  const after = isOvertaken ? await planDocument(context, principal, document, options.prune) : null;
  return after?.ok === true && after.value.plan.changes.length === 0 ? { ok: true, value: plan } : refused;
}

/** A document that was read, and what it changes. */
interface PlannedDocument {
  readonly plan: Plan;
  readonly wanted: WantedContent;
  readonly present: PresentContent;
}

/** Reads a document and compares it with what the account has. Refused as {@link readWanted}. */
async function planDocument(
  context: ApplyContext,
  principal: AccountPrincipal,
  document: unknown,
  prune: boolean,
): Promise<Outcome<PlannedDocument>> {
  const { lists, refusals } = readLists(document);
  const present = await readPresent(context, principal.accountId, lists);
  const wanted = await readWanted(context, principal, lists, { present, prune });
  const all = [...refusals, ...(wanted.ok ? [] : wanted.refusals)];
  if (!wanted.ok || all.length > 0) return { ok: false, refusals: all };
  const plan = makePlan(present.items, wanted.value, prune ? present.listed : new Set());
  return accept({ plan, wanted: wanted.value, present });
}

/**
 * Permits checks of services that a member gives another kind or address, as `changeService` does, and of those that are added
 * beside a verified one; null: all are permitted.
 */
async function claimPlaces(
  context: ApplyContext,
  { role, accountId }: AccountPrincipal,
  { plan: { changes }, wanted: { service: wanted, pathOf }, present }: PlannedDocument,
): Promise<ApplyRefused | null> {
  const refusals: FieldRefusal[] = [];
  const isFree = role === 'operator' || (await context.destinations(accountId)).anyHost;
  const moved = isFree ? [] : changes.filter(({ type }) => type === 'service');
  for (const { key } of moved) {
    const [before, after] = [present.service.get(key), wanted.get(key)?.service];
    if (after === undefined) continue;
    const isChecked = present.service.get(after.domain)?.verified === true;
    if (before === undefined ? !isChecked : !hasMoved(before.check, after.check)) continue;
    const { domain, slug = key } = before ?? after;
    const place = await claimPlace(context, { domain, slug, check: after.check });
    if (place.ok) continue;
    for (const { refusal } of place.refusals) refusals.push({ field: pathOf('service', key), refusal });
  }
  return refusals.length === 0 ? null : { ok: false, refusals, made: [] };
}

/** Changes in one transaction, with their part of the plan. */
interface Step {
  readonly changes: ContentChanges;
  readonly planned: readonly PlannedChange[];
}

/** Splits a plan into transactions: removals first, pages last. */
function splitPlan(
  { plan: { changes }, wanted, present }: PlannedDocument,
  siteUrl: string,
  { putLast }: ApplyOptions,
): Step[] {
  const isRemoval = ({ action }: PlannedChange) => action === 'remove';
  const services = changes.filter(({ type }) => type === 'service');
  const hostOf = ({ key }: PlannedChange) => wanted.service.get(key)?.service.domain ?? key;
  const kept = services.filter((one) => !isRemoval(one));
  const isChild = ({ key }: PlannedChange) => (wanted.service.get(key)?.service.dependsOn ?? []).length > 0;
  const hosts = new Set(kept.filter(isChild).map(hostOf));
  const rank = (one: PlannedChange) => (hosts.has(hostOf(one)) ? 2 : 0) + (hostOf(one) === one.key ? 0 : 1);
  // What others depend on is there before them, and the first service of a host before the others, in whatever transaction they are.
  const ordered = [...services.filter(isRemoval), ...kept.toSorted((a, b) => rank(a) - rank(b))];
  const pages = changes.filter(({ type }) => type === 'page');
  const others = changes.filter(({ type }) => type !== 'service' && type !== 'page');
  const keysOf = (type: PlannedChange['type'], removed: boolean) =>
    others.filter((one) => one.type === type && isRemoval(one) === removed).map(({ key }) => key);
  const removed = (type: 'channel' | 'rule' | 'maintenance') =>
    keysOf(type, true).flatMap((key) => present[type].get(key)?.id ?? []);
  const alerts = {
    removedRules: removed('rule'),
    removedChannels: removed('channel'),
    channels: keysOf('channel', false).flatMap((name) => wanted.channel.get(name) ?? []),
    rules: keysOf('rule', false).flatMap((name) => wanted.rule.get(name) ?? []),
  };
  const maintenances = {
    removed: removed('maintenance'),
    wanted: keysOf('maintenance', false).flatMap((key) => wanted.maintenance.get(key) ?? []),
    siteUrl,
  };
  const hasType = (...types: PlannedChange['type'][]) => others.some(({ type }) => types.includes(type));
  const count = Math.max(1, Math.ceil(ordered.length / MAX_SERVICES_TOGETHER));
  const steps = Array.from({ length: count }, (_, index): Step => {
    const some = ordered.slice(index * MAX_SERVICES_TOGETHER, (index + 1) * MAX_SERVICES_TOGETHER);
    const ofPages = pages.filter((page) => index === (isRemoval(page) ? 0 : count - 1));
    // Rules and maintenance may name services of any step.
    const isLast = index === count - 1;
    return {
      planned: [...some, ...ofPages, ...(isLast ? others : [])],
      changes: {
        seen: [...some, ...ofPages, ...(isLast ? others : [])].flatMap((one) => seenOf(one, present)),
        ...(isLast && hasType('channel', 'rule') ? { alerts } : {}),
        ...(isLast && hasType('maintenance') ? { maintenances } : {}),
        removedPages: ofPages.filter(isRemoval).map(({ key }) => key),
        removedServices: some.filter(isRemoval).flatMap(({ key }) => present.service.get(key)?.slug ?? []),
        services: some.flatMap(({ key }) => {
          const found = wanted.service.get(key);
          if (found === undefined) return [];
          const { secrets: _secrets, check, ...service } = found.service;
          const { kept } = found.credentials;
          const sealed = Object.keys(kept).length === 0 ? {} : { sealed: kept };
          return { ...service, check: { ...check, ...sealed } };
        }),
        pages: ofPages.flatMap(({ key }) => wanted.page.get(key) ?? []),
      },
    };
  });
  return steps.filter(({ planned }) => planned.length > 0 || putLast !== undefined);
}

/** The revision on which a planned change is based; empty: several maintenances may have a title. */
function seenOf({ type, key, action }: PlannedChange, present: PresentContent): SeenContent[] {
  const known = present[type].get(key);
  if (type !== 'maintenance') return [{ type, key, revision: known?.revision ?? null }];
  return known === undefined || action === 'create'
    ? []
    : [{ type, key, id: known.id, revision: known.revision }];
}

/** Makes the changes; null: all are made. A plan of several transactions is tried as a whole first. */
async function makeChanges(
  { registry, now }: ApplyContext,
  { role, accountId }: AccountPrincipal,
  { wanted: { service: wanted, pathOf }, steps }: { readonly wanted: WantedContent; readonly steps: Step[] },
  { dryRun, onProgress, putLast = registry.putContent }: ApplyOptions,
): Promise<ApplyRefused | null> {
  const put = async (
    changes: ContentChanges,
    dryRun: boolean,
    putContent = registry.putContent,
  ): Promise<FieldRefusal[]> => {
    const options = { now: now(), verified: role === 'operator', dryRun };
    const refused = await putContent(accountId, changes, options);
    return refused.map(({ type, key, refusal }) => ({ field: pathOf(type, key), refusal }));
  };
  if (dryRun || steps.length > 1) {
    const refusals: FieldRefusal[] = [];
    for (const { changes } of steps) refusals.push(...(await put(changes, true)));
    if (refusals.length > 0) return { ok: false, refusals, made: [] };
  }
  if (dryRun) return null;
  const made: PlannedChange[] = [];
  const total = steps.reduce((sum, { planned }) => sum + planned.length, 0);
  for (const [index, { changes, planned }] of steps.entries()) {
    const open = changes.services.map(({ key, domain, check }) => ({
      domain,
      check,
      secrets: wanted.get(key)?.credentials.fresh,
    }));
    const checks = await sealSettings(registry, open);
    const sealed = changes.services.map((one, index) => ({ ...one, check: checks[index] ?? one.check }));
    const isLast = index === steps.length - 1;
    const given = { ...changes, services: sealed };
    const refusals = await put(given, false, isLast ? putLast : registry.putContent);
    if (refusals.length > 0) return { ok: false, refusals, made };
    made.push(...planned);
    onProgress?.(made.length, total);
  }
  return null;
}
