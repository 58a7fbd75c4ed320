/** Services that are added by form, and the trial of a check before its service is saved (decisions, Ownership). */
import type { CheckTarget } from '../../domain/check-target.ts';
import { timingOf } from '../../domain/check-timing.ts';
import { type Attempt, NO_MEMORY } from '../../domain/result.ts';
import type { Service } from '../../domain/service.ts';
import { judgeAttempt } from '../../domain/status/judge.ts';
import type { Verdict } from '../../domain/status.ts';
import type { OwnershipStore } from '../../store/ports/ownership.ts';
import { type AccountPrincipal, accept, attempt, type Outcome, refuseRole } from '../kit/change.ts';
import { limitsFor } from './check-document.ts';
import { type PresentCheck, readServiceDocument, type ServiceDocument } from './service-document.ts';
import { needsProof, type ServiceContext, serviceChanges } from './services.ts';

/** Maximum number of trials of checks by one account within a minute, since they go to servers of others. */
export const TRIALS_PER_MINUTE = 10;

/**
 * Adds a service. A domain that has to be proved first is remembered as a claim. Refused as `serviceChanges.add`, and with
 * `too_many_claims`.
 */
export async function addOrClaim(
  context: ServiceContext & { readonly registry: Pick<OwnershipStore, 'addClaim'> },
  principal: AccountPrincipal,
  document: unknown,
): Promise<Outcome<Service>> {
  const outcome = await serviceChanges.add(context, principal, document);
  if (!needsProof(outcome) || outcome.ok) return outcome;
  const [domain = ''] = outcome.refusals.flatMap(({ refusal }) =>
    'domain' in refusal ? [refusal.domain] : [],
  );
  const { check }: Partial<ServiceDocument> = Object(document);
  const claim = { domain, kind: check?.kind ?? 'root', createdAt: context.now() };
  const claimed = await attempt(() => context.registry.addClaim(principal.accountId, claim), 'domain');
  return claimed.ok ? outcome : claimed;
}

/** The dependencies of trials. */
export interface TrialContext extends Pick<ServiceContext, 'destinations' | 'bounds'> {
  /** Makes one attempt, with the guards of owners' checks. */
  readonly tryCheck: (target: CheckTarget, timeoutMs: number) => Promise<Attempt>;
  /** Counts trials. Rejects with `rate_limited` beyond {@link TRIALS_PER_MINUTE}. */
  readonly charge: (what: 'trials', accountId: number) => Promise<void>;
}

/** The outcome of one attempt, which is neither stored nor confirmed by others. */
export interface Trial {
  readonly attempt: Attempt;
  readonly verdict: Verdict;
}

/**
 * Tries the check of a document once. Nothing is stored. Refused with `role_required`, and as {@link readServiceDocument}; rejects
 * beyond the limit.
 */
export async function tryService(
  context: TrialContext,
  principal: AccountPrincipal,
  document: unknown,
  present: PresentCheck = {},
): Promise<Outcome<Trial>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  const { destinations, bounds } = context;
  const allowed = await destinations(accountId);
  const reading = readServiceDocument(document, allowed, limitsFor(principal, bounds), present);
  if (!reading.ok) return reading;
  const { domain, check, secrets } = reading.value;
  const settings = secrets === undefined ? check.settings : { ...check.settings, ...secrets };
  const { timeoutMs, slowOverMs } = timingOf(check, bounds.usual);
  // Trusted accounts try what is their own.
  if (!allowed.anyHost) await context.charge('trials', accountId);
  const made = await context.tryCheck(
    {
      ...{ serviceId: 0, revision: 0, domain, origin: 'owner', accountId },
      check: {
        ...check,
        ...(settings === undefined ? {} : { settings }),
        ...(allowed.anyHost ? { trustedBy: accountId } : {}),
      },
      ...{ memory: NO_MEMORY, lastCheckedAt: null },
    },
    timeoutMs,
  );
  return accept({ attempt: made, verdict: judgeAttempt(made, slowOverMs) });
}
