/** Services that are added by form, and the trial of a check before its service is saved (decisions, Ownership). */
import type { CheckTarget } from '../../domain/check-target.ts';
import { timingOf } from '../../domain/check-timing.ts';
import { type Attempt, NO_MEMORY } from '../../domain/result.ts';
import { type CheckDefinition, DEFAULT_CHECK, type Service } from '../../domain/service.ts';
import { judgeAttempt } from '../../domain/status/judge.ts';
import type { Verdict } from '../../domain/status.ts';
import type { OwnershipStore } from '../../store/ports/ownership.ts';
import { type AccountPrincipal, accept, attempt, type Outcome, refuseRole } from '../kit/change.ts';
import { readAll, readDomain } from '../kit/read-input.ts';
import { limitsFor } from './check-choice.ts';
import { type DefinitionContext, needsProof, registerService } from './defined-services.ts';
import { readServiceEdit, type ServiceChanges } from './services.ts';

/** Maximum number of trials of checks by one account within a minute, since they go to servers of others. */
export const TRIALS_PER_MINUTE = 10;

/** A service as a form enters it. An empty name stands for the domain. */
export type EnteredService = ServiceChanges & { readonly domain: string };

/** The dependencies of adding services. */
export interface NewServiceContext extends DefinitionContext {
  readonly registry: DefinitionContext['registry'] & Pick<OwnershipStore, 'addClaim'>;
}

/**
 * Registers a service of a form. It is not checked before its domain is verified. A domain that has to be proved first is
 * remembered as a claim. Refused as `createService`, and with `too_many_claims`.
 */
export async function addService(
  context: NewServiceContext,
  principal: AccountPrincipal,
  { domain: typed, name, ...changes }: EnteredService,
): Promise<Outcome<Service>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const limits = limitsFor(principal, context.bounds);
  const entered = hostOf(typed);
  const named = { ...changes, name: name?.trim() ? name : undefined };
  const reading = readAll({
    domain: readDomain(entered),
    edit: readServiceEdit(DEFAULT_CHECK, named, context.destinations, limits, entered),
  });
  if (!reading.ok) return reading;
  const { domain, edit } = reading.value;
  const { check = DEFAULT_CHECK, secrets } = edit;
  const outcome = await registerService(context, principal.accountId, {
    ...{ domain, check, paused: false, name: edit.name ?? domain },
    category: edit.category ?? 'developer',
    publicDependencies: edit.publicDependencies ?? false,
    ...(secrets === undefined ? {} : { secrets }),
  });
  if (outcome.ok || !needsProof(outcome)) return outcome;
  const claim = { domain, kind: check.kind, createdAt: context.now() };
  const claimed = await attempt(() => context.registry.addClaim(principal.accountId, claim), 'domain');
  return claimed.ok ? outcome : claimed;
}

/** The host of a URL, which people paste from their browser; any other text as it is. */
function hostOf(text: string): string {
  const entered = text.trim();
  if (!/^https?:\/\//i.test(entered)) return text;
  return URL.parse(entered)?.hostname ?? text;
}

/** The dependencies of trials. */
export interface TrialContext extends Pick<DefinitionContext, 'destinations' | 'bounds'> {
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
 * Tries a check once as a form enters it. `before`: the stored check that the form changes, of which credentials may stay. Nothing
 * is stored. Refused with `role_required`, `domain_invalid`, and as `changeService` where it reads the check; rejects beyond
 * the limit.
 */
export async function tryEnteredCheck(
  context: TrialContext,
  principal: AccountPrincipal,
  { domain: typed, name: _name, category: _category, ...changes }: EnteredService,
  before: CheckDefinition = DEFAULT_CHECK,
): Promise<Outcome<Trial>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  const limits = limitsFor(principal, context.bounds);
  const entered = hostOf(typed);
  const reading = readAll({
    domain: readDomain(entered),
    edit: readServiceEdit(before, changes, context.destinations, limits, entered),
  });
  if (!reading.ok) return reading;
  const { domain, edit } = reading.value;
  const { check = before, secrets } = edit;
  const settings = secrets === undefined ? check.settings : { ...check.settings, ...secrets };
  const { timeoutMs, slowOverMs } = timingOf(check, context.bounds.usual);
  await context.charge('trials', accountId);
  const made = await context.tryCheck(
    {
      ...{ serviceId: 0, revision: 0, domain, origin: 'owner', accountId },
      check: { ...check, ...(settings === undefined ? {} : { settings }) },
      ...{ memory: NO_MEMORY, lastCheckedAt: null },
    },
    timeoutMs,
  );
  return accept({ attempt: made, verdict: judgeAttempt(made, slowOverMs) });
}
