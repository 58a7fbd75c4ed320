/** Services and updates for the tests of the registry. */

import type { Incident } from '../../src/domain/incident/incident.ts';
import { NO_TIMING } from '../../src/domain/result.ts';
import { DEFAULT_CHECK, dashDomain } from '../../src/domain/service.ts';
import { type CurrentStatus, unknownStatus } from '../../src/domain/status/current.ts';
import type { Verdict } from '../../src/domain/status.ts';
import type { NewService } from '../../src/store/ports/services.ts';
import type { StatusUpdate } from '../../src/store/ports/updates.ts';

/** A time to count from. */
export const NOON = Date.UTC(2026, 10, 20, 12);

/** A service of the catalogue. */
export function entry(slug: string, change: Partial<NewService> = {}): NewService {
  return {
    slug,
    name: slug.toUpperCase(),
    domain: `${slug}.com`,
    category: 'cloud',
    origin: 'catalogue',
    accountId: null,
    verified: true,
    paused: false,
    check: DEFAULT_CHECK,
    statusPage: null,
    ...change,
  };
}

/** An owner's service that is not verified. */
export function owned(domain: string, accountId: number, change: Partial<NewService> = {}): NewService {
  return {
    ...entry(dashDomain(domain), { name: domain, domain, category: 'developer' }),
    origin: 'owner',
    accountId,
    verified: false,
    ...change,
  };
}

/** A record after one check. */
export function record(serviceId: number, seq: number, status: Verdict, at: number): CurrentStatus {
  return {
    serviceId,
    seq,
    observedAt: at,
    status,
    since: at,
    latest: {
      status,
      responseTimeMs: status === 'down' ? null : 120,
      statusCode: status === 'down' ? 0 : 200,
      checkedAt: at,
      source: 'root',
      reported: status === 'slow' ? 'degraded' : null,
      failure:
        status === 'down'
          ? { class: 'timeout', phase: 'connect', cause: { code: 'text', text: 'no answer' } }
          : null,
      blocked: false,
      timing: { ...NO_TIMING, totalMs: status === 'down' ? null : 119.6 },
      certificateExpiresAt: null,
    },
  };
}

/** The same record in three regions, one of them without a vote, of which `us` fails. */
export function inRegions(current: CurrentStatus): CurrentStatus {
  const { latest, observedAt } = current;
  const failing = record(current.serviceId, 0, 'down', observedAt - 9).latest;
  if (latest === null || failing === null) throw new Error('there is no check');
  const region = { check: latest, since: observedAt, observedAt, votes: true };
  return {
    ...current,
    regions: [
      { ...region, region: 'ap', check: { ...latest, checkedAt: observedAt - 5 }, votes: false },
      { ...region, region: 'eu' },
      { ...region, region: 'us', check: failing },
    ],
    scope: 'partial',
  };
}

/** A update that turns a service to `to`. */
export function turn(before: CurrentStatus, to: Verdict, at: number, slug = 'any'): StatusUpdate {
  const { serviceId, seq } = before;
  return {
    serviceId,
    expectedSeq: seq,
    current: record(serviceId, seq + 1, to, at),
    transition: {
      serviceId,
      slug,
      seq: seq + 1,
      from: before.status,
      to,
      at,
      recordedAt: at + 5,
      reason: to === 'down' ? { code: 'text', text: 'no answer' } : null,
    },
    recordedAt: at + 5,
    incident: null,
    memory: null,
  };
}

/** A update that keeps the status. */
export function stay(before: CurrentStatus, at: number): StatusUpdate {
  const { serviceId, seq, status } = before;
  const verdict = status === 'unknown' ? 'up' : status;
  const current = { ...record(serviceId, seq, verdict, at), status, since: before.since };
  return {
    ...{ serviceId, expectedSeq: seq, current, recordedAt: at + 5 },
    ...{ transition: null, incident: null, memory: null },
  };
}

/** The first update of a service. */
export function firstTurn(serviceId: number, to: Verdict, at: number, slug = 'any'): StatusUpdate {
  return turn(unknownStatus(serviceId), to, at, slug);
}

/** An own incident. */
export function incident(serviceId: number, id: string, change: Partial<Incident> = {}): Incident {
  return {
    id,
    serviceId,
    source: 'own',
    title: 'It is down',
    description: 'no answer',
    severity: 'major',
    status: 'investigating',
    startedAt: NOON,
    resolvedAt: null,
    sourceUrl: 'https://upbeat.example/status/a-com',
    goodChecks: 0,
    updates: [{ at: NOON, status: 'investigating', text: 'no answer' }],
    ...change,
  };
}

/** What an account says that is not trusted. */
export const UNTRUSTED = { trustedAt: null, trustedBy: null } as const;

/** Waits until `condition` holds; a test's own time-out ends what never comes. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
