/** Registers services for an account on behalf of the operator, one by one or from a file (decisions, Ownership). */
import type { DestinationsOf } from '../../domain/allowed-destinations.ts';
import type { CheckTiming } from '../../domain/check-timing.ts';
import { operatorLimits } from '../../kinds/check-members.ts';
import type { CredentialStore } from '../../store/ports/credentials.ts';
import type { Beside, ServiceStore } from '../../store/ports/services.ts';
import { type AccountPrincipal, accept, type Outcome, refuse } from '../kit/change.ts';
import { sealSettings } from './seal-settings.ts';
import { besideOf, type Registration, readServiceDocument } from './service-document.ts';

/** The dependencies of registrations on behalf of accounts. */
export interface RegistrationContext {
  readonly registry: Pick<ServiceStore, 'addServices'> & CredentialStore;
  /** Domains of the public list: owners may register neither them nor their subdomains. */
  readonly catalogueDomains: ReadonlySet<string>;
  readonly destinations: DestinationsOf;
  /** The settings `checks.*`. */
  readonly usual: CheckTiming;
}

/**
 * Registers the services of documents for an account on behalf of the operator, without verification, under the slugs that
 * `addServices` gives them. `beside`: whether others of their hosts matter; absent: one that names its check is added beside those
 * with other checks. Outcomes are slugs, in the order of the input. Each may be refused as {@link readServiceDocument}, and with
 * `name_taken`, `domain_taken`, `slug_taken` or `catalogue_owns`.
 */
export async function registerServices(
  { registry, catalogueDomains, destinations, usual }: RegistrationContext,
  { accountId }: AccountPrincipal & { readonly role: 'operator' },
  documents: readonly unknown[],
  beside?: Beside,
): Promise<readonly Outcome<string>[]> {
  const limits = operatorLimits(usual);
  const allowed = await destinations(accountId);
  const listed = allowed.anyHost ? NOTHING_LISTED : catalogueDomains;
  const readings = documents.map((document) => {
    const reading = refuseListed(readServiceDocument(document, allowed, limits), listed);
    return reading.ok ? accept({ ...reading.value, beside: beside ?? besideOf(document) }) : reading;
  });
  const entered = readings.flatMap((reading) => (reading.ok ? [reading.value] : []));
  const checks = await sealSettings(registry, entered);
  const added = await registry.addServices(
    entered.map(({ secrets: _, ...service }, index) => ({
      ...service,
      check: checks[index] ?? service.check,
      ...({ origin: 'owner', accountId, verified: true, statusPage: null } as const),
    })),
  );
  let next = 0;
  return readings.map((reading) => {
    if (!reading.ok) return reading;
    const outcome = added[next++];
    if (outcome === undefined) throw new Error('the registry has no outcome for a service');
    if ('slug' in outcome) return accept(outcome.slug);
    return refuse(outcome.refusal, FIELDS.get(outcome.refusal.code) ?? 'domain');
  });
}

/** A trusted account has services of its own at domains of the public list. */
const NOTHING_LISTED: ReadonlySet<string> = new Set();
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['name_taken', 'name'],
  ['slug_taken', 'slug'],
]);

/** Refuses a service whose domain lies within one of the public list with `catalogue_owns`. */
export function refuseListed(
  reading: Outcome<Registration>,
  listed: ReadonlySet<string>,
): Outcome<Registration> {
  if (!reading.ok) return reading;
  const { domain } = reading.value;
  const labels = domain.split('.');
  const parent = labels.map((_, index) => labels.slice(index).join('.')).find((one) => listed.has(one));
  return parent === undefined ? reading : refuse({ code: 'catalogue_owns', domain, parent }, 'domain');
}
