/** Services of an account: its owners, its editors or the operator add, change and remove them (decisions, Ownership). */

import { randomUUID } from 'node:crypto';
import type { DestinationsOf } from '../../domain/allowed-destinations.ts';
import type { CheckTiming } from '../../domain/check-target.ts';
import { hashAddressSecret } from '../../domain/heartbeat/heartbeat-rules.ts';
import type { Service } from '../../domain/service.ts';
import { operatorLimits } from '../../kinds/check-members.ts';
import type {
  Beside,
  CredentialStore,
  DefinedService,
  OwnershipStore,
  ServiceStore,
} from '../../store/ports/services.ts';
import {
  type AccountPrincipal,
  accept,
  attempt,
  mayChange,
  type Outcome,
  type Principal,
  refuse,
} from '../kit/change.ts';
import { type ChangeTarget, createChanges, type ReadingOf } from '../kit/create-changes.ts';
import { type CheckBounds, limitsFor } from './check-document.ts';
import { claimPlace, hasMoved, type PlaceContext, takeProven } from './domains.ts';
import { sealSettings } from './seal-settings.ts';
import {
  besideOf,
  type Registration,
  readServiceDocument,
  type ServiceDocument,
  serviceDocumentOf,
} from './service-document.ts';

export interface ServiceContext extends PlaceContext {
  readonly registry: ServiceStore & OwnershipStore & CredentialStore;
  /** The live service of an owner or the catalogue with that slug; null: there is none. */
  readonly findService: (slug: string) => Service | null;
  readonly destinations: DestinationsOf;
  readonly bounds: CheckBounds;
}

type OwnedService = Service & { readonly accountId: number };

interface WantedService {
  readonly service: Registration;
  /** Its check is a new one or leads elsewhere than the one before, which has to be permitted. */
  readonly claimsPlace: boolean;
  readonly beside: Beside | undefined;
}

/**
 * The changes of services, which are known by their slugs, in any case. The operator changes those of every account. One that is
 * added is not verified, unless that is needed and the proof is there already: for a domain of another account or of the public
 * catalogue. Refused as {@link readServiceDocument}, and with `domain_fixed`, `slug_fixed`, `name_taken`, `domain_taken`, `slug_taken`, `foreign_domain`,
 * `catalogue_domain`, `shared_address`, `too_many_domains` or `too_many_registrations`.
 */
export const serviceChanges = createChanges<
  OwnedService,
  string,
  ServiceDocument,
  WantedService,
  ServiceContext
>({
  mayChange: 'editor',
  codes: {
    missing: (slug) => ({ code: 'no_owned_service', slug }),
    stale: 'service_stale',
    at: {
      name_taken: 'name',
      domain_taken: 'domain',
      slug_taken: 'slug',
      foreign_domain: 'domain',
      catalogue_domain: 'domain',
      too_many_domains: 'domain',
      too_many_registrations: 'domain',
      no_parent: 'dependsOn',
      parent_circle: 'dependsOn',
    },
  },
  keyOf: ({ slug }) => slug,
  list: async ({ registry }, accountId) => (await registry.servicesOf(accountId)).filter(isOwned),
  // Read from the registry, since the list of this process may be behind another one for a moment.
  async find({ registry, findService }, accountId, slug) {
    const service = await registry.findService(findService(slug.toLowerCase())?.slug ?? slug.toLowerCase());
    if (service === null || !isOwned(service)) return null;
    return mayChange({ role: 'operator', accountId }, service.accountId) ? service : null;
  },
  writer: async () => serviceDocumentOf,
  read: readService,
  add: register,
  async change(context, before, { service, claimsPlace }) {
    const place = claimsPlace
      ? await claimPlace(context, { ...before, check: service.check })
      : accept(undefined);
    if (!place.ok) return place;
    const { domain: _, slug: __, ...edit } = await sealed(context, service);
    return ownedOutcome(
      await attempt(() => context.registry.changeService(before.slug, edit, [before.revision])),
    );
  },
  remove: ({ registry }, { slug, revision }) => attempt(() => registry.removeService(slug, [revision])),
});

function isOwned(service: Service): service is OwnedService {
  return service.accountId !== null;
}

async function readService(
  { destinations, bounds }: ServiceContext,
  document: unknown,
  { accountId, role, before, patch }: ReadingOf<OwnedService>,
): Promise<Outcome<WantedService>> {
  const present = { before: before?.check, domain: before?.domain, slug: before?.slug, patch };
  const allowed = await destinations(accountId);
  const reading = readServiceDocument(document, allowed, limitsFor({ role }, bounds), present);
  if (!reading.ok) return reading;
  const service = reading.value;
  if (before !== null && service.domain !== before.domain) return refuse({ code: 'domain_fixed' }, 'domain');
  if (before !== null && service.slug !== undefined && service.slug !== before.slug)
    return refuse({ code: 'slug_fixed' }, 'slug');
  const isBounded = role !== 'operator' && !allowed.anyHost;
  const claimsPlace = isBounded && (before === null || hasMoved(before.check, service.check));
  return accept({ service, claimsPlace, beside: besideOf(document) });
}

/**
 * Registers a service, with the proof of its domain where that is needed and there, or adds it beside others of a domain that is
 * verified.
 */
async function register(
  context: ServiceContext,
  accountId: number,
  { service: entered, claimsPlace, beside }: WantedService,
): Promise<Outcome<OwnedService>> {
  const { registry, now } = context;
  const definition = await sealed(context, entered);
  const { domain, slug = '', check } = definition;
  const isChecked =
    claimsPlace &&
    (await registry.servicesOf(accountId)).some((one) => one.domain === domain && one.verified);
  const place = isChecked ? await claimPlace(context, { domain, slug, check }) : accept(undefined);
  if (!place.ok) return place;
  const take = (isProven: boolean) =>
    registry.registerService(accountId, definition, { isProven, now: now(), beside });
  const added = await attempt(() => take(false));
  if (added.ok) {
    const placed = isChecked ? await claimPlace(context, added.value) : place;
    return placed.ok ? ownedOutcome(added) : placed;
  }
  if (!needsProof(added)) return added;
  const proven = await takeProven(context, accountId, { domain, check }, () => take(true));
  const isMissing = !proven.ok && proven.refusals.some(({ refusal }) => refusal.code === 'proof_missing');
  return ownedOutcome(isMissing ? added : proven);
}

/** Returns true if a proof of the domain overcomes the refusal. */
export function needsProof(outcome: Outcome<unknown>): boolean {
  return !outcome.ok && outcome.refusals.some(({ refusal: { code } }) => PROVABLE.has(code));
}

const PROVABLE: ReadonlySet<string> = new Set(['foreign_domain', 'catalogue_domain']);

/** A service with its new credentials encrypted. */
async function sealed(
  { registry }: ServiceContext,
  { secrets, ...service }: Registration,
): Promise<DefinedService> {
  const [check = service.check] = await sealSettings(registry, [{ ...service, secrets }]);
  return { ...service, check };
}

function ownedOutcome(outcome: Outcome<Service>): Outcome<OwnedService> {
  if (!outcome.ok) return outcome;
  const { value } = outcome;
  if (isOwned(value)) return accept(value);
  throw new Error(`${value.slug} is not a service of an owner`);
}

/** The dependencies of registrations on behalf of accounts. */
export interface RegistrationContext {
  readonly registry: ServiceStore & CredentialStore;
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

/** Makes the secret of a heartbeat address: a random UUID, so that it is a ping address of Healthchecks too. */
export function makeAddressSecret(): string {
  return randomUUID();
}

/**
 * Gives a service a new heartbeat address; the former one ends. Returns its
 * secret, of which only a hash is stored: show it once. Refused with `role_required`, `no_owned_service` or `service_stale`.
 */
export async function makeHeartbeatAddress(
  context: ServiceContext,
  principal: Principal,
  target: ChangeTarget<string>,
  secret: string = makeAddressSecret(),
): Promise<Outcome<{ readonly slug: string; readonly secret: string }>> {
  const addressHash = hashAddressSecret(secret);
  return await serviceChanges.change(context, principal, target, ({ slug: known, check, revision }) =>
    attempt(async () => {
      await context.registry.changeService(known, { check: { ...check, addressHash } }, [revision]);
      return { slug: known, secret };
    }),
  );
}

/** Ends the heartbeat address of a service. Refused as {@link makeHeartbeatAddress}. */
export async function removeHeartbeatAddress(
  context: ServiceContext,
  principal: Principal,
  target: ChangeTarget<string>,
): Promise<Outcome<unknown>> {
  return await serviceChanges.change(context, principal, target, (service) => {
    const { addressHash: _, ...check } = service.check;
    return attempt(() => context.registry.changeService(service.slug, { check }, [service.revision]));
  });
}

/** Renews the signed address of a service's badge, which it has while it is private; the former one ends. Refused as {@link makeHeartbeatAddress}. */
export async function renewBadgeAddress(
  context: ServiceContext,
  principal: Principal,
  target: ChangeTarget<string>,
): Promise<Outcome<OwnedService>> {
  return await serviceChanges.change(context, principal, target, async (service) => {
    const badgeRenewals = (service.badgeRenewals ?? 0) + 1;
    return ownedOutcome(
      await attempt(() =>
        context.registry.changeService(service.slug, { badgeRenewals }, [service.revision]),
      ),
    );
  });
}
