/** How a service looks in the API (contract 2.1, 2.2; decisions, Services). */
import type { CurrentStatus, LatestCheck } from '../domain/current.ts';
import { formatTime } from '../domain/durations.ts';
import type { Failure } from '../domain/failure.ts';
import { describeCause } from '../domain/failure-text.ts';
import { silenceOf } from '../domain/heartbeat-rules.ts';
import type { Service } from '../domain/service.ts';

/** A service of the list. */
export interface ServiceView {
  readonly slug: string;
  readonly name: string;
  readonly domain: string;
  readonly category: string;
  readonly status: string;
  /** Whole milliseconds; null before the first check and when no response arrived. */
  readonly response_time: number | null;
  readonly last_checked: string | null;
  /** The last check is older than two intervals; never for one that is silent while the monitor listens. */
  readonly stale: boolean;
  /** When the present status began; null while unknown. */
  readonly since: string | null;
  /** Registered by an owner who has not shown control of the domain. */
  readonly self_reported: boolean;
}

/** The newest check of a service. */
export interface LatestCheckView {
  readonly status: string;
  readonly response_time: number | null;
  /** 0 when no HTTP response arrived. */
  readonly status_code: number;
  readonly checked_at: string;
  readonly source: string;
  readonly blocked: boolean;
  /** The word that a health body or heartbeat said, as it said it; null: none did. */
  readonly reported: string | null;
  readonly failure: { readonly class: string; readonly phase: string; readonly detail: string } | null;
  /** Milliseconds; null where the phase did not happen. */
  readonly timing: {
    readonly dns_ms: number | null;
    readonly connect_ms: number | null;
    readonly tls_ms: number | null;
    readonly first_byte_ms: number | null;
    readonly total_ms: number | null;
  };
  readonly certificate_expires_at: string | null;
}

/** How often a service is heard of, milliseconds; one that reports by itself may have a period of its own. */
export function intervalOf({ check }: Service, intervalMs: number): number {
  return check.kind === 'heartbeat' ? Math.max(intervalMs, silenceOf(check, 0)) : intervalMs;
}

/** When the monitor last listened for heartbeats, epoch milliseconds: now, while it listens. */
export type ListenedAt = () => number;

/**
 * When a service was last seen, epoch milliseconds: at its last check, and one that is down by silence for as long as
 * the monitor listens (decisions, Services). Null: never checked.
 */
export function seenAt({ latest }: CurrentStatus, listenedAt: ListenedAt): number | null {
  if (latest === null) return null;
  return latest.source === 'silence' ? Math.max(latest.checkedAt, listenedAt()) : latest.checkedAt;
}

/** Whether a service was last seen longer than two intervals ago; see {@link seenAt}. */
export function isStale(
  current: CurrentStatus,
  intervalMs: number,
  now: number,
  listenedAt: ListenedAt,
): boolean {
  const at = seenAt(current, listenedAt);
  return at !== null && now > at + 2 * intervalMs;
}

/** A service as the list shows it. */
export function viewService(service: Service, current: CurrentStatus, stale: boolean): ServiceView {
  const { latest } = current;
  return {
    slug: service.slug,
    name: service.name,
    domain: service.domain,
    category: service.category,
    status: current.status,
    response_time: latest?.responseTimeMs ?? null,
    last_checked: latest === null ? null : formatTime(latest.checkedAt),
    stale,
    since: current.since === null ? null : formatTime(current.since),
    self_reported: !service.verified,
  };
}

/** A check as the single status shows it; null before the first. */
export function viewLatestCheck(latest: LatestCheck | null): LatestCheckView | null {
  if (latest === null) return null;
  const { timing, certificateExpiresAt } = latest;
  return {
    status: latest.status,
    response_time: latest.responseTimeMs,
    status_code: latest.statusCode,
    checked_at: formatTime(latest.checkedAt),
    source: latest.source,
    blocked: latest.blocked,
    reported: latest.reported,
    failure: latest.failure === null ? null : viewFailure(latest.failure),
    timing: {
      dns_ms: round(timing.dnsMs),
      connect_ms: round(timing.connectMs),
      tls_ms: round(timing.tlsMs),
      first_byte_ms: round(timing.firstByteMs),
      total_ms: round(timing.totalMs),
    },
    certificate_expires_at: certificateExpiresAt === null ? null : formatTime(certificateExpiresAt),
  };
}

function viewFailure(failure: Failure): LatestCheckView['failure'] {
  return { class: failure.class, phase: failure.phase, detail: describeCause(failure) };
}

/** Tenths of a millisecond: finer is noise. */
function round(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10;
}
