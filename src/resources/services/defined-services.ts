/** Services that are created and changed as documents, as the API has them (docs/api.md). */
import type { DomainProofs } from '../../auth/domain-proof.ts';
import type { CheckDefinition, Service } from '../../domain/service.ts';
import type { SealedSettings } from '../../kinds/settings.ts';
import type { CredentialStore } from '../../store/ports/credentials.ts';
import type { OwnershipStore } from '../../store/ports/ownership.ts';
import type { ServiceEdit, ServiceStore } from '../../store/ports/services.ts';
import {
  type AccountPrincipal,
  attempt,
  type Outcome,
  type Principal,
  type Refused,
  refuse,
  refuseRole,
} from '../kit/change.ts';
import { isObject, mergePatch } from '../kit/merge-patch.ts';
import { limitsFor } from './check-choice.ts';
import { refuseMoved } from './kept-secrets.ts';
import { changeSeen } from './owned-service.ts';
import type { Registration } from './register-services.ts';
import { type OpenCheck, sealSettings } from './seal-settings.ts';
import { readServiceDocument, serviceDocumentOf } from './service-document.ts';
import { claimPlace, hasMoved, type ServiceContext } from './services.ts';

/** The dependencies of these changes. */
export interface DefinitionContext extends Omit<ServiceContext, 'registry'> {
  readonly registry: Pick<ServiceStore, 'findService' | 'changeService' | 'removeService'> &
    Pick<OwnershipStore, 'registerService' | 'proveDomain' | 'claimAddresses'> &
    CredentialStore;
  readonly proofs: Pick<DomainProofs, 'check'>;
  readonly now: () => number;
}

/**
 * Registers the service of a document for an account. It is not verified, unless that is needed and the proof is there
 * already: for a domain of another account or of the public catalogue. Refused with `role_required`, as `readServiceDocument`, and with `name_taken`,
 * `domain_taken`, `foreign_domain`, `catalogue_domain`, `shared_address`, `too_many_domains` or `too_many_registrations`.
 */
export async function createService(
  context: DefinitionContext,
  principal: AccountPrincipal,
  document: unknown,
): Promise<Outcome<Service>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const reading = readServiceDocument(document, context.destinations, limitsFor(principal, context.bounds));
  return reading.ok ? await registerService(context, principal.accountId, reading.value) : reading;
}

/**
 * Registers a service with its credentials encrypted. It is not verified, unless that is needed and the proof is there. Refused as
 * {@link createService}, apart from what it reads.
 */
export async function registerService(
  context: DefinitionContext,
  accountId: number,
  { secrets, ...entered }: Registration,
): Promise<Outcome<Service>> {
  const { registry, proofs, now } = context;
  const definition = { ...entered, check: await sealCheck(registry, { ...entered, secrets }) };
  const register = (isProven: boolean) =>
    attempt(() => registry.registerService(accountId, definition, { isProven, now: now() }));
  const added = nameField(await register(false));
  if (added.ok || !needsProof(added)) return added;
  const { domain, check } = definition;
  if ((await proofs.check(accountId, domain)) !== null) return added;
  const place = await claimPlace(context, domain, check);
  if (!place.ok) return place;
  const proven = nameField(await register(true));
  if (!proven.ok) return proven;
  // The addresses are stored again, since there was no service to store them for before.
  const placed = await claimPlace(context, domain, check);
  return placed.ok ? proven : placed;
}

/** Whether a proof of the domain overcomes the refusal. */
export function needsProof({ refusals }: Refused): boolean {
  return refusals.some(({ refusal: { code } }) => PROVABLE.has(code));
}

const PROVABLE: ReadonlySet<string> = new Set(['foreign_domain', 'catalogue_domain']);

/**
 * Changes a service by a merge patch (RFC 7396) of its document; null sets a member to its default. Settings of another kind
 * are dropped when the kind changes, credentials included. Credentials that are not named stay, unless they would be sent
 * elsewhere. `revisions`: those that the client has seen; null: any. Refused with `role_required`, `no_owned_service`, `service_stale`, `domain_fixed`, `shared_address`, `name_taken`, and as `readServiceDocument`.
 */
export async function patchService(
  context: DefinitionContext,
  principal: Principal,
  slug: string,
  patch: unknown,
  revisions: readonly number[] | null,
): Promise<Outcome<Service>> {
  return await changeSeen(context, principal, slug, revisions, async (service) => {
    const { domain, check } = service;
    const document = mergePatch(patchableOf(service, patch), patch);
    const sealed = keptCredentials(check, patch);
    const limits = limitsFor(principal, context.bounds);
    const reading = readServiceDocument(document, context.destinations, limits, {
      before: check,
      kept: Object.keys(sealed),
      choosesMethod: isObject(patch) && isObject(patch.check) && typeof patch.check.method === 'string',
    });
    if (!reading.ok) return reading;
    const { secrets, ...wanted } = reading.value;
    if (wanted.domain !== domain) return refuse({ code: 'domain_fixed' }, 'domain');
    if (hasMoved(check, wanted.check) && principal.role !== 'operator') {
      const place = await claimPlace(context, domain, wanted.check);
      if (!place.ok) return place;
    }
    const moved = refuseMoved(check, wanted.check, sealed);
    if (moved !== null) return moved;
    const { domain: _, ...changed } = wanted;
    const kept = { ...keptOf(check), ...(Object.keys(sealed).length === 0 ? {} : { sealed }) };
    const entered = { ...kept, ...wanted.check, caFile: check.caFile };
    const edit: ServiceEdit = {
      ...changed,
      check: await sealCheck(context.registry, { domain, check: entered, secrets }),
    };
    return nameField(
      await attempt(() => context.registry.changeService(service.slug, edit, [service.revision])),
    );
  });
}

/** The document that a patch changes: without settings if the patch chooses another kind. */
function patchableOf(service: Service, patch: unknown): object {
  const document = serviceDocumentOf(service);
  const { settings: _, ...check } = document.check ?? {};
  return staysKind(service.check, patch) ? document : { ...document, check };
}

function staysKind({ kind }: CheckDefinition, patch: unknown): boolean {
  const wanted = isObject(patch) && isObject(patch.check) ? patch.check.kind : undefined;
  return wanted === undefined || (wanted ?? 'root') === kind;
}

/** The stored credentials that a patch does not name; those of another kind, or of removed settings, do not stay. */
function keptCredentials(check: CheckDefinition, patch: unknown): SealedSettings {
  const given = isObject(patch) ? patch.check : undefined;
  const settings = isObject(given) ? given.settings : undefined;
  if (given === null || settings === null || !staysKind(check, patch)) return {};
  const named = isObject(settings) ? settings : {};
  return Object.fromEntries(
    Object.entries(check.sealed ?? {}).filter(([setting]) => !Object.hasOwn(named, setting)),
  );
}

/** The check with its new credentials encrypted. */
async function sealCheck(registry: CredentialStore, open: OpenCheck): Promise<CheckDefinition> {
  const [check = open.check] = await sealSettings(registry, [open]);
  return check;
}

/** What the document of a service does not contain. */
function keptOf({ addressHash, keepsKind }: CheckDefinition): Partial<CheckDefinition> {
  return {
    ...(addressHash === undefined ? {} : { addressHash }),
    ...(keepsKind === undefined ? {} : { keepsKind }),
  };
}

/** Refusals of the registry concern the domain or the name. */
function nameField<T>(outcome: Outcome<T>): Outcome<T> {
  if (outcome.ok) return outcome;
  const refusals = outcome.refusals.map(({ field, refusal }) => ({
    field: field ?? FIELDS.get(refusal.code) ?? null,
    refusal,
  }));
  return { ok: false, refusals };
}

const FIELDS: ReadonlyMap<string, string> = new Map([
  ['name_taken', 'name'],
  ...['domain_taken', 'foreign_domain', 'catalogue_domain', 'too_many_domains', 'too_many_registrations'].map(
    (code) => [code, 'domain'] as const,
  ),
]);
