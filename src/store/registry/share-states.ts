/**
 * Lets the states of services share what is equal in them. A copy from another thread shares nothing: a million services
 * would have as many texts `up`, and a check of their own each.
 */
import { BoundedMap, getOrInsert } from '../../async/bounded-map.ts';
import type { CurrentStatus, LatestCheck } from '../../domain/current.ts';
import { shareMemory } from '../../domain/result.ts';
import type { CheckDefinition, Service } from '../../domain/service.ts';
import type { ServiceState } from '../ports/services.ts';

/** Maximum number of different checks that are shared; the oldest are dropped beyond it. */
const MAX_SHARED_CHECKS = 1_000;

/** Members of a service without the optional ones. */
const COMMON_MEMBERS = 12;

/** Creates the function that makes such states of a page of them. They are equal to the given ones. */
export function createStateSharing(): (states: readonly ServiceState[]) => readonly ServiceState[] {
  const words = new Map<string, string>();
  const checks = new BoundedMap<string, CheckDefinition>(MAX_SHARED_CHECKS);
  const shareWord = <Word extends string>(word: Word): Word =>
    getOrInsert(words as Map<Word, Word>, word, () => word);

  /** Objects are made anew, since those of a copy have room for members to come. */
  const compactService = (
    service: Service,
    shareCheck: (check: CheckDefinition) => CheckDefinition,
  ): Service => {
    const { id, slug, name, domain, accountId, verified, paused, statusPage, revision } = service;
    const compact: Service = {
      id,
      slug,
      name,
      domain,
      category: shareWord(service.category),
      origin: shareWord(service.origin),
      accountId,
      verified,
      paused,
      check: shareCheck(service.check),
      statusPage,
      revision,
    };
    // Few services have other members.
    return Object.keys(service).length === COMMON_MEMBERS ? compact : { ...service, ...compact };
  };
  const compactCheck = (latest: LatestCheck): LatestCheck => {
    const { responseTimeMs, statusCode, checkedAt, reported, failure, blocked, certificateExpiresAt } =
      latest;
    const { dnsMs, connectMs, tlsMs, firstByteMs, totalMs } = latest.timing;
    return {
      status: shareWord(latest.status),
      responseTimeMs,
      statusCode,
      checkedAt,
      source: shareWord(latest.source),
      reported,
      failure,
      blocked,
      timing: { dnsMs, connectMs, tlsMs, firstByteMs, totalMs },
      certificateExpiresAt,
    };
  };
  const compactCurrent = (current: CurrentStatus): CurrentStatus => {
    const { serviceId, seq, observedAt, status, since, latest, regions } = current;
    if (regions !== undefined) return current;
    return {
      serviceId,
      seq,
      observedAt,
      status: shareWord(status),
      since,
      latest: latest === null ? null : compactCheck(latest),
    };
  };

  return (states) => {
    /** Checks of the page, which are shared within it. */
    const ofPage = new Map<CheckDefinition, CheckDefinition>();
    const shareCheck = (check: CheckDefinition) =>
      getOrInsert(ofPage, check, () => getOrInsert(checks, JSON.stringify(check), () => check));
    return states.map((state) => ({
      ...state,
      service: compactService(state.service, shareCheck),
      current: compactCurrent(state.current),
      memory: shareMemory(state.memory),
    }));
  };
}
