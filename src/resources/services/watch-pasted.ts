/** Services from pasted lines: each is tried once and added, whatever the trial found. */

import { createConcurrencyLimiter } from '../../async/concurrency-limiter.ts';
import { usualVisibility } from '../../domain/address/special-address.ts';
import { type PastedLine, type PastedTarget, readPastedLines } from '../../domain/pasted/pasted-lines.ts';
import type { Service } from '../../domain/service.ts';
import { HttpError } from '../../http/problem.ts';
import type { OwnedServices } from '../../store/ports/services.ts';
import type { AccountPrincipal, Outcome } from '../kit/change.ts';
import { anyRevision } from '../kit/create-changes.ts';
import { makeHeartbeatAddress } from './heartbeat-addresses.ts';
import { addOrClaim, type Trial, type TrialContext, tryService } from './new-service.ts';
import type { ServiceDocument } from './service-document.ts';

/** Trials at a time. */
const MAX_TRIALS = 16;
/** Maximum time of a trial: somebody waits for all of them, milliseconds. */
const TRIAL_TIMEOUT_MS = 4_000;

/** The dependencies of the change. */
export type WatchContext = Parameters<typeof addOrClaim>[0] &
  TrialContext & { readonly registry: OwnedServices };

/** The outcome of a line. */
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
