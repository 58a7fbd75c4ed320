/** Registers services for an account on behalf of the operator, one by one or from a file (decisions, Ownership). */
import type { AllowedDestinations } from '../../domain/allowed-destinations.ts';
import type { CheckTiming } from '../../domain/check-timing.ts';
import type { CheckSettings } from '../../domain/service.ts';
import { operatorLimits, refuseMembers } from '../../kinds/check-members.ts';
import type { CredentialStore } from '../../store/ports/credentials.ts';
import type { NewService, ServiceStore } from '../../store/ports/services.ts';
import { type AccountPrincipal, accept, type Outcome, refuse } from '../kit/change.ts';
import { readAll, readDomain, readKind, readNameField } from '../kit/read-input.ts';
import { membersOutcome } from './check-choice.ts';
import { acceptUrl, readTypedSettings } from './read-check.ts';
import { sealSettings } from './seal-settings.ts';

/** A service to register. */
export type Registration = Pick<NewService, 'domain' | 'name' | 'category' | 'paused' | 'check'> & {
  readonly publicDependencies: boolean;
  /** Credentials among the settings, in clear text; absent: there are none. */
  readonly secrets?: CheckSettings;
};

/** The dependencies of registrations on behalf of accounts. */
export interface RegistrationContext {
  readonly registry: Pick<ServiceStore, 'addServices'> & CredentialStore;
  /** Domains of the public list: owners may register neither them nor their subdomains. */
  readonly catalogueDomains: ReadonlySet<string>;
  readonly destinations: AllowedDestinations;
  /** The settings `checks.*`. */
  readonly usual: CheckTiming;
}

/**
 * Registers services for an account on behalf of the operator, without verification. Each gets its dashed domain as
 * slug, with a number appended if another service has that slug. Outcomes are slugs, in the order of the input. Each
 * may be refused with `domain_invalid`, `name_invalid`, `kind_unavailable`, `url_refused`, `setting_invalid`, `check_member_invalid`,
 * `name_taken`, `domain_taken` or `catalogue_owns`.
 */
export async function registerServices(
  context: RegistrationContext,
  { accountId }: AccountPrincipal & { readonly role: 'operator' },
  services: readonly Registration[],
): Promise<readonly Outcome<string>[]> {
  const { registry } = context;
  const readings = services.map((listed) => readRegistration(listed, accountId, context));
  const entered = readings.flatMap((reading) => (reading.ok ? [reading.value] : []));
  const checks = await sealSettings(
    registry,
    entered.map(({ service: { domain, check }, secrets }) => ({ domain, check, secrets })),
  );
  const added = await registry.addServices(
    entered.map(({ service }, index) => ({ ...service, check: checks[index] ?? service.check })),
  );
  let next = 0;
  return readings.map((reading) => {
    if (!reading.ok) return reading;
    const outcome = added[next++];
    if (outcome === undefined) throw new Error('the registry has no outcome for a service');
    return 'slug' in outcome ? accept(outcome.slug) : refuse(outcome.refusal, fieldOf(outcome.refusal.code));
  });
}

function readRegistration(
  { domain, name, publicDependencies, secrets: given = {}, ...listed }: Registration,
  accountId: number,
  { catalogueDomains, destinations, usual }: RegistrationContext,
): Outcome<{ readonly service: Omit<NewService, 'slug'>; readonly secrets: CheckSettings | undefined }> {
  const { check } = listed;
  const reading = readAll({
    domain: readDomain(domain),
    name: readNameField(name, 'service_name_missing'),
    kind: readKind(check.kind),
    url: acceptUrl(check.url, destinations),
    settings: readTypedSettings(check.kind, mergedSettings(check.settings, given), destinations),
    members: membersOutcome(check, refuseMembers(check, operatorLimits(usual))),
  });
  if (!reading.ok) return reading;
  const parent = findParent(reading.value.domain, catalogueDomains);
  if (parent !== undefined)
    return refuse({ code: 'catalogue_owns', domain: reading.value.domain, parent }, 'domain');
  const { settings, kind: _kind, url: _url, members: _members, ...named } = reading.value;
  const service = {
    ...listed,
    ...named,
    origin: 'owner',
    accountId,
    verified: true,
    ...(publicDependencies ? { publicDependencies } : {}),
    statusPage: null,
  } as const;
  return accept({ service, secrets: settings.secrets });
}

/** Settings with their credentials; undefined: there are none. */
function mergedSettings(
  settings: CheckSettings | undefined,
  secrets: CheckSettings,
): CheckSettings | undefined {
  return Object.keys(secrets).length === 0 ? settings : { ...settings, ...secrets };
}

/** The domain itself or the nearest of its parents that is among `domains`; undefined: none is. */
export function findParent(domain: string, domains: ReadonlySet<string>): string | undefined {
  const labels = domain.split('.');
  return labels.map((_, index) => labels.slice(index).join('.')).find((one) => domains.has(one));
}

function fieldOf(code: string): string | null {
  return code === 'name_taken' ? 'name' : 'domain';
}
