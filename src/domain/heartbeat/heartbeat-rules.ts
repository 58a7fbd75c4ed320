/** The rules for received heartbeats: their time, response time, verdict (decisions, Heartbeats) and addresses. */
import { hash } from 'node:crypto';
import type { StatusReason } from '../incident/incident.ts';
import { NO_TIMING } from '../result.ts';
import { MAX_SAMPLE_LATENCY_MS, type Sample } from '../sample.ts';
import type { CheckDefinition, Service } from '../service.ts';
import type { LatestCheck } from '../status/current.ts';
import { judgeLatency, type Verdict } from '../status.ts';
import { type HeartbeatKind, type HeartbeatReport, isFailure, MAX_LATENCY_MS } from './heartbeat-body.ts';
import { awaitedRun, longestGap } from './heartbeat-schedule.ts';

/** Maximum time that the sender's clock may be ahead of ours, milliseconds. */
const MAX_AHEAD_MS = 300_000;
/** Maximum age of a heartbeat by its timestamp, milliseconds. */
const MAX_BEHIND_MS = 600_000;

/** The problem of a timestamp at `now`; null: none. */
export function refuseTimestamp(timestamp: number, now: number): string | null {
  if (timestamp - now > MAX_AHEAD_MS) return 'is more than 5 minutes ahead of our clock';
  if (now - timestamp > MAX_BEHIND_MS) return 'is more than 10 minutes behind our clock';
  return null;
}

/** `checked_at`: the earlier of timestamp and arrival, epoch milliseconds. */
export function checkedAtOf({ timestamp }: Pick<HeartbeatReport, 'timestamp'>, arrivedAt: number): number {
  return timestamp === null ? arrivedAt : Math.min(timestamp, arrivedAt);
}

/** `response_time`: the largest latency reported, whole milliseconds; null: none was. */
export function responseTimeOf({
  dependencies,
  pingMs,
}: Pick<HeartbeatReport, 'dependencies' | 'pingMs'>): number | null {
  let largest = pingMs ?? null;
  for (const { latencyMs } of dependencies ?? [])
    if (latencyMs !== null && (largest === null || latencyMs > largest)) largest = latencyMs;
  return largest;
}

/**
 * The verdict of the status word counts, whatever the dependencies report; only `ok` with a response time over `slowOverMs`
 * becomes `slow`, as for a check.
 */
export function judgeHeartbeat(word: Verdict, responseTimeMs: number | null, slowOverMs: number): Verdict {
  return word === 'up' ? judgeLatency(responseTimeMs ?? 0, slowOverMs) : word;
}

/** A received heartbeat with its own verdict. */
export interface Beat {
  readonly verdict: Verdict;
  /** The status word; null: none was given. */
  readonly reported: string | null;
  /** Null: no latency was reported; shown as 0. */
  readonly responseTimeMs: number | null;
  /** Epoch milliseconds. */
  readonly checkedAt: number;
}

/** The reason for the verdict of a heartbeat; null: it is up. */
export function reasonOfHeartbeat(
  { kind, word, exitCode, message }: HeartbeatReport,
  { verdict, responseTimeMs }: Beat,
): StatusReason | null {
  if (verdict === 'up') return null;
  if (kind === 'fail' && verdict === 'down')
    return { code: 'run_failed', ...(exitCode === undefined ? {} : { exitCode }) };
  if (verdict === 'down') return { code: 'reported_down', ...(message === undefined ? {} : { message }) };
  return word === 'slow'
    ? { code: 'reported_slow' }
    : { code: 'reported_response_time', responseTimeMs: responseTimeMs ?? 0 };
}

export function latestOfBeat({ verdict, reported, responseTimeMs, checkedAt }: Beat): LatestCheck {
  return {
    ...NO_DETAILS,
    status: verdict,
    reported,
    responseTimeMs: responseTimeMs ?? 0,
    statusCode: 200,
    checkedAt,
  };
}

/** A missed heartbeat as the latest check: no response, at the deadline. */
export function latestOfSilence(deadlineAt: number): LatestCheck {
  return {
    ...NO_DETAILS,
    status: 'down',
    responseTimeMs: null,
    statusCode: 0,
    checkedAt: deadlineAt,
    source: 'silence',
  };
}

const NO_DETAILS = {
  source: 'heartbeat',
  reported: null,
  failure: null,
  blocked: false,
  timing: NO_TIMING,
  certificateExpiresAt: null,
} as const;

/** The sample of a heartbeat or a missed one; without a latency it is left out of percentiles. */
export function sampleOfLatest(
  serviceId: number,
  { status, checkedAt, statusCode }: LatestCheck,
  latencyMs: number | null,
): Sample {
  return {
    serviceId,
    at: checkedAt,
    status,
    latencyMs: latencyMs === null ? null : Math.min(latencyMs, MAX_SAMPLE_LATENCY_MS),
    statusCode,
    suspect: false,
  };
}

/**
 * The time for which a service may be silent from `from` on, milliseconds: its grace, and before it the time until the next
 * run of its schedule, or its period, or `silenceMs` if its owner set neither.
 */
export function silenceOf(
  { periodMs, graceMs = 0, schedule }: CheckDefinition,
  silenceMs: number,
  from: number,
): number {
  if (schedule !== undefined) return awaitedRun(schedule, from) - from + graceMs;
  return (periodMs ?? silenceMs) + graceMs;
}

/** The longest expected time between two heartbeats of a service, milliseconds; 0: its owner set none. */
export function expectedInterval({ periodMs = 0, graceMs = 0, schedule }: CheckDefinition): number {
  return (schedule === undefined ? periodMs : longestGap(schedule)) + graceMs;
}

/** The reason for a missed heartbeat: its deadline `deadlineAt` passed after `silenceMs` of silence. */
export function reasonOfSilence(
  { schedule, graceMs = 0 }: CheckDefinition,
  deadlineAt: number,
  silenceMs: number,
): StatusReason {
  return schedule === undefined
    ? { code: 'no_heartbeat', silenceMs }
    : { code: 'run_missed', runAt: deadlineAt - graceMs };
}

/** Returns true if heartbeats determine the status of the service: it is monitored by heartbeats and not paused. */
export function isHeartbeatMonitored({ paused, check }: Service): boolean {
  return !paused && check.kind === 'heartbeat';
}

/** Maximum length of a stored log, characters; the rest is cut off. */
export const MAX_LOG_LENGTH = 10_000;

/** The line that ends a log of which a part is missing. */
const CUT = '\n[cut]';

/** The signal of a request to a heartbeat address. */
export type AddressSignal =
  | { readonly kind: Exclude<HeartbeatKind, 'fail'> | 'log' }
  /** `exitCode` of the process, never 0; null: not given. */
  | { readonly kind: 'fail'; readonly exitCode: number | null };

/** A UUID as a part of a regular expression: the form of the secrets of heartbeat addresses (RFC 9562, 4), in lower case. */
export const UUID_FORM = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** The hash by which the registry stores the secret of an address: SHA-256, hexadecimal. */
export function hashAddressSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/**
 * Parses the part of a path after the secret: `start`, `fail`, `log` or the exit code of a process, of which 0 is success;
 * an empty part is a heartbeat. Null: it is something else.
 */
export function readAddressSignal(part: string): AddressSignal | null {
  if (part === '' || part === '0') return { kind: 'beat' };
  if (part === 'start' || part === 'log') return { kind: part };
  if (part === 'fail') return { kind: 'fail', exitCode: null };
  const exitCode = /^-?[1-9]\d{0,9}$/.test(part) ? Number(part) : 0;
  return isFailure(exitCode) ? { kind: 'fail', exitCode } : null;
}

/**
 * The text of a body as a log; null: the body is empty. It is in UTF-8, or as PowerShell writes it, in UTF-16 with a byte order mark;
 * what is not, and U+0000, becomes U+FFFD. A log that is too long ends with a line that says so, as does one that is not `isWhole`.
 */
export function readLog(body: Uint8Array, isWhole: boolean): string | null {
  const isWide = body.length > 2 && body[0] === 0xff && body[1] === 0xfe;
  return cutLog(new TextDecoder(isWide ? 'utf-16le' : 'utf-8').decode(body), isWhole);
}

/** A text as a log, by the rules of {@link readLog}. */
export function cutLog(given: string, isWhole = true): string | null {
  const text = given.replaceAll('\0', '\uFFFD').trim();
  if (text.length > MAX_LOG_LENGTH || !isWhole)
    return `${text.slice(0, MAX_LOG_LENGTH - CUT.length)}${CUT}`.toWellFormed();
  return text === '' ? null : text.toWellFormed();
}

/** The value of `ping` as Uptime Kuma reads it: milliseconds, of which fractions are rounded; null: there is no such number. */
export function readPingText(text: string): number | null {
  const ms = Number.parseFloat(text);
  return ms >= 0 ? Math.min(Math.round(ms), MAX_LATENCY_MS) : null;
}
