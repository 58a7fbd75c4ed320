/** Why a service that is down cannot be reached: something that it depends on is down (docs/depends-on.md). */
import { fullName, isPublic, type Service } from '../domain/service.ts';
import { ancestorsOf } from '../domain/service-parents.ts';
import type { CurrentStatus } from '../domain/status/current.ts';
import type { SiteSources } from './site-sources.ts';
import { intervalOf, isStale } from './staleness.ts';

/** Sources of the cause. */
export type CauseSources = Pick<SiteSources, 'intervalMs' | 'listenedAt' | 'now'> & {
  readonly directory: Pick<SiteSources['directory'], 'whole'>;
  readonly status: Pick<SiteSources['status'], 'get'>;
  /** A member of the account of the service asks; absent: everyone who sees it. */
  readonly isMember?: true;
};

/**
 * The service because of which another one cannot be reached: the first of those that it depends on that is down and does not itself
 * depend on another one of them. Null: it is not down, or nothing that those who see it may know of is the cause.
 */
export function causeOfDown(
  { directory, status, intervalMs, listenedAt, now, isMember }: CauseSources,
  service: Service,
  current: Pick<CurrentStatus, 'status'>,
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
  const cause = down.find(isFirst);
  return cause !== undefined && (isMember || mayName(service, cause)) ? cause : null;
}

/** What people call that service; null as above. */
export function nameOfCause(...known: Parameters<typeof causeOfDown>): string | null {
  const cause = causeOfDown(...known);
  return cause === null ? null : fullName(cause);
}

/** Whether everyone who sees a service may know of another one: it is public, or both are for the same members alone. */
function mayName({ visibility, accountId }: Service, cause: Service): boolean {
  return isPublic(cause) || (visibility === 'private' && cause.accountId === accountId);
}
