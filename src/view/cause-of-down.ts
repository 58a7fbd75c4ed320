/** Why a service that is down cannot be reached: something that it depends on is down (docs/depends-on.md). */
import { fullName, isPublic, type Service } from '../domain/service.ts';
import { ancestorsOf } from '../domain/service-parents.ts';
import type { CurrentStatus } from '../domain/status/current.ts';
import type { SiteSources } from './site-sources.ts';
import { intervalOf, isStale } from './staleness.ts';

export type CauseSources = Pick<SiteSources, 'intervalMs' | 'listenedAt' | 'now'> & {
  readonly directory: { readonly whole: SiteSources['directory']['whole'] };
  readonly status: SiteSources['status'];
  /** A member of the account of the service asks; absent: everyone who sees it. */
  readonly isMember?: true;
  /** Others than those who may see the service read it, as on a status page that shows it. */
  readonly isPublished?: true;
};

/**
 * The service because of which another one cannot be reached: the first of those that it depends on that is down and does not itself
 * depend on another one of them. Null: it is not down, or nothing that those who see it may know of is the cause.
 */
export function causeOfDown(sources: CauseSources, service: Service, current: CurrentStatus): Service | null {
  const cause = findCause(sources, service, current);
  return cause !== null && (sources.isMember || mayName(service, cause, sources)) ? cause : null;
}

/** Why a service cannot be reached. */
export interface Unreached {
  /** The name of the cause; null: those who see the service may not know of it. */
  readonly because: string | null;
}

/** Why a service cannot be reached, for people; null: it is not down, or by itself. `of`: as for {@link causeOfDown}. */
export function whyUnreached(...of: Parameters<typeof causeOfDown>): Unreached | null {
  const cause = findCause(...of);
  return cause === null ? null : { because: nameCause(of[1], cause, of[0]) };
}

/** The name of the cause of an outage of a service; null: those who see the service may not know of it. */
export function nameCause(
  service: Service,
  cause: Service,
  readers: Pick<CauseSources, 'isMember' | 'isPublished'>,
): string | null {
  return readers.isMember || mayName(service, cause, readers) ? fullName(cause) : null;
}

function findCause(
  { directory, status, intervalMs, listenedAt, now }: CauseSources,
  service: Service,
  current: CurrentStatus,
): Service | null {
  if (service.dependsOn === undefined || current.status !== 'down') return null;
  const { bySlug } = directory.whole;
  const down = ancestorsOf(service, bySlug).filter((one) => {
    const its = status.get(one.id);
    if (one.paused || its?.status !== 'down') return false;
    return !isStale(its, intervalOf(one, intervalMs), now(), listenedAt);
  });
  const isFirst = (one: Service) =>
    !ancestorsOf(one, bySlug).some(({ id }) => down.some((other) => other.id === id));
  return down.find(isFirst) ?? null;
}

/** Returns true if everyone who sees a service may know of another one: it is public, or both are for the same members alone. */
function mayName(
  { visibility, accountId }: Service,
  cause: Service,
  { isPublished }: Pick<CauseSources, 'isPublished'>,
): boolean {
  return isPublic(cause) || (!isPublished && visibility === 'private' && cause.accountId === accountId);
}
