/** Checks of Healthchecks as heartbeat services of an account: their slugs and UUIDs, and how one is found and added. */

import { hashAddressSecret } from '../../domain/heartbeat/heartbeat-rules.ts';
import { dashDomain, firstFreeForm, type Service } from '../../domain/service.ts';
import { type AccountPrincipal, type Outcome, refuse } from '../../resources/kit/change.ts';
import { anyRevision } from '../../resources/kit/create-changes.ts';
import type { ServiceDocument } from '../../resources/services/service-document.ts';
import {
  makeHeartbeatAddress,
  type ServiceContext,
  serviceChanges,
} from '../../resources/services/services.ts';
import type { ShownDirectory } from '../../view/service-directory.ts';

export interface CheckContext extends ServiceContext {
  /** 32 bytes that this installation alone can make of a text. */
  readonly proofs: ServiceContext['proofs'] & { derive(text: string): Buffer };
}

/** The times of a check that names none (https://healthchecks.io/docs/api/). */
export const DEFAULT_TIMES = { period: '1d', grace: '1h' } as const;

/** A slug that is the first label of a host name. */
const SLUG = /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Returns true if a check can be added with the slug: at most 63 characters, a letter or a digit at the beginning. */
export function isCheckSlug(text: string): boolean {
  return SLUG.test(text) && !/^(?:\d+|0x[0-9a-f]*)$/.test(text);
}

/** The slug of a new check with a name; `check` where the name has neither letters nor digits. */
export function slugOfName(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const word = plain
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, 50)
    .replace(/-+$/, '');
  if (word === '') return 'check';
  return isCheckSlug(word) ? word : `check-${word}`;
}

/**
 * The end of the hosts of an account's checks, which have no real host. Names below .alt are outside the DNS (RFC 9476), and with
 * the number of the account they cannot collide with those of another one.
 */
const endOf = (accountId: number | null) => `.account-${accountId}.alt`;

/** Such a host, also of an account that was merged into another one. */
const OWN_HOST = /^(.+)\.account-\d+\.alt$/;

/** The slug of a service as a check, by which `/ping/<key>/<slug>` finds it. */
export function slugOfCheck({ slug, domain, isFurther }: Service): string {
  if (isFurther === true) return slug;
  return OWN_HOST.exec(domain)?.[1] ?? (isCheckSlug(domain) ? domain : slug);
}

/** A check of an account by its slug. */
interface CheckName {
  readonly accountId: number;
  readonly slug: string;
}

/** Returns true for a heartbeat service of that name. Others are not checks: a ping would end what checks them. */
function isCheck(service: Service | null, { accountId, slug }: CheckName): service is Service {
  return (
    service?.accountId === accountId && service.check.kind === 'heartbeat' && slugOfCheck(service) === slug
  );
}

/** The check with that name where the directory has it by its slug; null: there is none, or {@link findCheck} finds it. */
export function findCheckBySlug({ whole }: ShownDirectory, name: CheckName): Service | null {
  const { accountId, slug } = name;
  const found = [whole.bySlug(slug), whole.bySlug(dashDomain(slug + endOf(accountId)))];
  return found.find((service) => isCheck(service, name)) ?? null;
}

/** The check with that name; null: there is none. */
export async function findCheck(
  directory: ShownDirectory,
  registry: Pick<ServiceContext['registry'], 'servicesOf'> | null,
  name: CheckName,
): Promise<Service | null> {
  const known = findCheckBySlug(directory, name);
  if (known !== null || registry === null) return known;
  // The registry knows what was added a moment ago, and those whose slugs have a number.
  return (await registry.servicesOf(name.accountId)).find((service) => isCheck(service, name)) ?? null;
}

/**
 * The UUID of a service as a check: the same for as long as its account has it. It is also the secret of the heartbeat address that
 * the service gets when it is added as a check.
 */
export function uuidOfCheck({ proofs }: Pick<CheckContext, 'proofs'>, { id, accountId }: Service): string {
  return uuidOf(proofs.derive(`check ${accountId} ${id}`));
}

/** The first 16 of some bytes as a UUID. */
export function uuidOf(derived: Buffer): string {
  const bytes = derived.subarray(0, 16);
  // The version and the variant of random UUIDs (RFC 9562, 5.4), since some clients look at them.
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Returns true if the UUID of a service is the secret of its heartbeat address: it was not given another one since. */
export function isPingedByUuid(context: Pick<CheckContext, 'proofs'>, service: Service): boolean {
  return service.check.addressHash === hashAddressSecret(uuidOfCheck(context, service));
}

/** A new check. */
export type NewCheck = Omit<ServiceDocument, 'domain' | 'slug' | 'check' | 'visibility'> & {
  readonly slug: string;
  /** True: a slug that a service of the account has gets a number. False: it is refused. */
  readonly isNumbered: boolean;
};

/**
 * Adds a private heartbeat service whose heartbeat address has its UUID. Refused as `serviceChanges.add`, with `slug_invalid` for what
 * is not the beginning of a host name, and with `slug_taken`.
 */
export async function addCheck(
  context: CheckContext,
  principal: AccountPrincipal,
  { slug, isNumbered, ...document }: NewCheck,
): Promise<Outcome<Service>> {
  const { accountId } = principal;
  if (!isCheckSlug(slug)) return refuse({ code: 'slug_invalid', slug: slug.slice(0, 100) }, 'slug');
  const allowed = await context.destinations(accountId);
  const end = allowed.anyHost ? '' : endOf(accountId);
  const services = await context.registry.servicesOf(accountId);
  const checks = services.filter(({ check }) => check.kind === 'heartbeat');
  // A check may have its slug from elsewhere than its host, and a host may have a service that is not a check.
  const taken = new Set([
    ...services.map(({ domain }) => domain),
    ...checks.map((one) => slugOfCheck(one) + end),
  ]);
  const free = firstFreeForm(slug, (form) => taken.has(form + end));
  if (free !== slug && !isNumbered) return refuse({ code: 'slug_taken', slug, free }, 'slug');
  // Heartbeats lead nowhere, so that their host needs neither a proof nor a permission.
  const anyHost = { ...allowed, anyHost: true, refuseHost: () => null };
  const anywhere = { ...context, destinations: async () => anyHost };
  const added = await serviceChanges.add(anywhere, principal, {
    ...{ domain: free + end, ...document, check: { kind: 'heartbeat' }, visibility: 'private' },
  });
  if (!added.ok) return added;
  const target = anyRevision(added.value.slug);
  const addressed = await makeHeartbeatAddress(context, principal, target, uuidOfCheck(context, added.value));
  return addressed.ok ? await serviceChanges.find(context, principal, target.key) : addressed;
}
