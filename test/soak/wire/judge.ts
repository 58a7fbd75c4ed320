/** Compares the outages that servers really had with what the API said of them. */
import { percentileOf } from '../../../src/domain/sample.ts';
import { expectedOf, type OutageKind, type WireService } from './service.ts';

/** An outage that a service had. Epoch milliseconds of the machine's clock. */
export interface Outage {
  readonly service: WireService;
  readonly kind: OutageKind;
  readonly beganAt: number;
  readonly endedAt: number;
}

/** A status that the API showed, when it was first seen. */
export interface Seen {
  readonly slug: string;
  readonly status: string;
  /** What the API says of its begin, by the program's clock. */
  readonly since: number;
  readonly seenAt: number;
  /** Class of the failure; null: none. */
  readonly class: string | null;
}

/** What came of a part of the trial. */
export interface PartCount {
  readonly name: string;
  readonly outages: number;
  readonly found: number;
  /** Found with the status and the class of failure that it has. */
  readonly classRight: number;
  readonly missed: readonly string[];
  readonly invented: readonly string[];
  /** Found, but called something else, at first or for good. */
  readonly misnamed: readonly string[];
  /** From the first connection that failed (without one: the begin) until the API said so. */
  readonly foundAfterMs: readonly number[];
  /** How far `since` is from the first connection that failed; of outages without connections, and where the program's
   * clock is set, nothing. */
  readonly datedWithinMs: readonly number[];
}

/** What a check under way at the end of an outage may take to say so. */
const GRACE_MS = 30_000;

/**
 * Judges a part. `attemptMs`: how long an attempt may last, which can begin before an outage and end in it.
 * `isClockSteady`: `since` is by the machine's clock.
 */
export function judgePart(
  name: string,
  outages: readonly Outage[],
  seen: readonly Seen[],
  attemptMs: number,
  isClockSteady: boolean,
): PartCount {
  const missed: string[] = [];
  const misnamed: string[] = [];
  const foundAfterMs: number[] = [];
  const datedWithinMs: number[] = [];
  let classRight = 0;
  const belongs = (one: Seen, { service, beganAt, endedAt }: Outage) =>
    one.slug === service.slug &&
    (isClockSteady
      ? one.since >= beganAt - attemptMs && one.since <= endedAt + 50 && one.seenAt >= beganAt
      : one.seenAt >= beganAt && one.seenAt <= endedAt + GRACE_MS);
  for (const outage of outages) {
    const { service, kind, beganAt, endedAt } = outage;
    const expected = expectedOf(kind, service.secure);
    const firstFailed = service.connections.find(
      ({ at, mode }) => at >= beganAt && at <= endedAt && mode === kind,
    );
    const said = seen.filter(
      (one) => belongs(one, outage) && (one.status === 'down' || one.status === 'slow'),
    );
    const found = said.find(({ status }) => status === expected.status);
    if (found === undefined) {
      const words = said.map(({ status }) => status).join(', ') || 'nothing';
      missed.push(
        `${service.slug}: ${kind} of ${Math.round((endedAt - beganAt) / 1_000)} s, the API said ${words}`,
      );
      continue;
    }
    if (found.class === expected.class && said[0] === found) classRight++;
    else
      misnamed.push(
        `${service.slug}: ${kind}, the API said ${said.map((one) => `${one.status} (${one.class})`).join(', ')}`,
      );
    foundAfterMs.push(found.seenAt - (firstFailed?.at ?? beganAt));
    if (isClockSteady && firstFailed !== undefined)
      datedWithinMs.push(Math.abs(found.since - firstFailed.at));
  }
  const invented = seen
    .filter(({ status }) => status === 'down' || status === 'slow')
    .filter((one) => !outages.some((outage) => belongs(one, outage)))
    .map((one) => `${one.slug}: ${one.status} (${one.class}) since ${new Date(one.since).toISOString()}`);
  const found = outages.length - missed.length;
  return {
    name,
    outages: outages.length,
    found,
    classRight,
    missed,
    invented,
    misnamed,
    foundAfterMs,
    datedWithinMs,
  };
}

/** The nearest rank of a list of numbers; NaN of an empty one. */
export function rank(numbers: readonly number[], ratio: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return percentileOf(sorted, ratio) ?? Number.NaN;
}
