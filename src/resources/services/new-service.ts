/** Services that are added by form or as pasted lines, and the trial of a check before its service is saved (decisions, Ownership). */

import { createConcurrencyLimiter } from '../../async/concurrency-limiter.ts';
import { type CheckTarget, timingOf } from '../../domain/check-target.ts';
import { type PastedLine, type PastedTarget, readPastedLines } from '../../domain/pasted/pasted-lines.ts';
import { type Attempt, NO_MEMORY } from '../../domain/result.ts';
import type { Service } from '../../domain/service.ts';
import { usualVisibility } from '../../domain/special-address.ts';
import { judgeAttempt } from '../../domain/status/judge.ts';
import type { Verdict } from '../../domain/status.ts';
import { HttpError } from '../../http/problem.ts';
import type { OwnershipStore, ServiceStore } from '../../store/ports/services.ts';
import { type AccountPrincipal, accept, attempt, type Outcome, refuseRole } from '../kit/change.ts';
import { anyRevision } from '../kit/create-changes.ts';
import { limitsFor } from './check-document.ts';
import { type PresentCheck, readServiceDocument, type ServiceDocument } from './service-document.ts';
import { makeHeartbeatAddress, needsProof, type ServiceContext, serviceChanges } from './services.ts';

/** Maximum number of trials of checks by one account within a minute, since they go to servers of others. */
export const TRIALS_PER_MINUTE = 10;

/**
 * Adds a service. A domain that has to be proved first is remembered as a claim. Refused as `serviceChanges.add`, and with
 * `too_many_claims`.
 */
export async function addOrClaim(
  context: ServiceContext & { readonly registry: OwnershipStore },
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

/** Trials at a time. */
const MAX_TRIALS = 16;
/** Maximum time of a trial: somebody waits for all of them, milliseconds. */
const TRIAL_TIMEOUT_MS = 4_000;

/** The dependencies of the change. */
type WatchContext = Parameters<typeof addOrClaim>[0] & TrialContext & { readonly registry: ServiceStore };

export type WatchedLine = PastedLine & {
  /** Null: it was not tried, as heartbeats, or because too many were tried within the minute. */
  readonly trial: Trial | null;
  /** The service that was added or that the account has already, or why there is none; null: the line is not understood. */
  readonly outcome: Outcome<Service> | null;
  /** True if the account had the service. */
  readonly isKnown: boolean;
  /** The secret of the heartbeat address, which is shown once; null: there is none. */
  readonly secret: string | null;
  /** The certificate of the server is not verified, since it is not valid. */
  readonly ignoresCertificate: boolean;
};

/** Tries and adds what pasted text names, in its order. */
export async function watchPasted(
  context: WatchContext,
  principal: AccountPrincipal,
  text: string,
): Promise<WatchedLine[]> {
  const limited = createConcurrencyLimiter(MAX_TRIALS);
  const known = new Map(
    (await context.registry.servicesOf(principal.accountId)).map((service) => [placeOf(service), service]),
  );
  const tried = await Promise.all(
    readPastedLines(text).map(async (line) => {
      const document = line.target === undefined ? null : documentOf(line.target);
      const service = document === null ? undefined : known.get(placeOf(document));
      if (document === null || service !== undefined) return { line, document, service, trial: null };
      return { line, service, ...(await limited(() => tryOnce(context, principal, document))) };
    }),
  );
  const watched: WatchedLine[] = [];
  for (const { line, document, service, trial } of tried) {
    const base = { ...line, trial, isKnown: service !== undefined, secret: null };
    const ignoresCertificate = document?.check?.settings?.certificate === 'ignore';
    if (document === null) watched.push({ ...base, outcome: null, ignoresCertificate });
    else if (service !== undefined)
      watched.push({ ...base, outcome: { ok: true, value: service }, ignoresCertificate });
    else {
      const outcome = await addOrClaim(context, principal, document);
      const secret = outcome.ok ? await secretOf(context, principal, outcome.value) : null;
      watched.push({ ...base, outcome, secret, ignoresCertificate });
    }
  }
  return watched;
}

/** Tries a check. A web server at home often has a certificate that it made itself: there is a second try that does not verify it. */
async function tryOnce(context: WatchContext, principal: AccountPrincipal, document: ServiceDocument) {
  const first = await trialOf(context, principal, document);
  const isWeb = document.check?.kind === 'http' && document.check.settings?.plain !== true;
  const isPublic = usualVisibility(document.domain) === 'public';
  if (!isWeb || isPublic || first?.attempt.failure?.class !== 'tls') return { document, trial: first };
  const settings = { ...document.check?.settings, certificate: 'ignore' };
  const unverified = { ...document, check: { ...document.check, settings } };
  const second = await trialOf(context, principal, unverified);
  return second !== null && second.attempt.failure === null
    ? { document: unverified, trial: second }
    : { document, trial: first };
}

async function trialOf(
  context: WatchContext,
  principal: AccountPrincipal,
  document: ServiceDocument,
): Promise<Trial | null> {
  if (document.check?.kind === 'heartbeat') return null;
  const tryCheck: TrialContext['tryCheck'] = (target, timeoutMs) =>
    context.tryCheck(target, Math.min(timeoutMs, TRIAL_TIMEOUT_MS));
  try {
    const outcome = await tryService({ ...context, tryCheck }, principal, document);
    return outcome.ok ? outcome.value : null;
  } catch (error) {
    if (error instanceof HttpError && error.code === 'rate_limited') return null;
    throw error;
  }
}

async function secretOf(
  context: WatchContext,
  principal: AccountPrincipal,
  { slug, check }: Service,
): Promise<string | null> {
  if (check.kind !== 'heartbeat') return null;
  const made = await makeHeartbeatAddress(context, principal, anyRevision(slug));
  return made.ok ? made.value.secret : null;
}

function documentOf({ kind, host, name, settings, accept, domain = host }: PastedTarget): ServiceDocument {
  return {
    domain,
    name,
    // What is asked of a name server says nothing of who may see it.
    ...(domain === host ? {} : { visibility: usualVisibility(host) }),
    check: {
      kind,
      ...(accept === null ? {} : { accept: [...accept] }),
      ...(Object.keys(settings).length === 0 ? {} : { settings }),
    },
  };
}

/**
 * The key of a watched place, so that it is not added again: the kind of check, the host, and what tells services of one host
 * apart.
 */
function placeOf({
  domain,
  name,
  check,
}: Pick<Service, 'domain' | 'name' | 'check'> | ServiceDocument): string {
  const { kind = 'root', settings: { port, path, server } = {} } = check ?? {};
  return JSON.stringify([kind, domain, port, path, server, kind === 'heartbeat' ? name : null]);
}
