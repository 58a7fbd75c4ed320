/** Compares what the API says with the script. */

import { allowedOf, type Sender, type SenderTiming } from '../../demo/heartbeat-senders.ts';
import { type DemoTiming, expected, isCutOff, type Script } from '../../demo/script.ts';
import { dashDomain } from '../../src/domain/service.ts';

/** A service of `GET /api/v1/services`, as far as it is compared. */
export interface SeenService {
  readonly slug: string;
  readonly status: string;
  readonly since: string | null;
}

/** Something that the script does not allow. */
export interface Mismatch {
  readonly slug: string;
  /** Milliseconds since the play began. */
  readonly elapsedMs: number;
  readonly found: string;
  readonly wanted: string;
}

/** What is wrong in a list that was asked for at `askedAt` and had arrived at `arrivedAt`, in milliseconds of the play. */
export function compare(
  script: Script,
  timing: DemoTiming,
  seen: readonly SeenService[],
  askedAt: number,
  arrivedAt: number,
  startAt: number,
): Mismatch[] {
  const bySlug = new Map(seen.map((service) => [service.slug, service]));
  return script.services.flatMap((service) => {
    const { slug } = service;
    const found = bySlug.get(slug);
    if (found === undefined) return [{ slug, elapsedMs: askedAt, found: 'nothing', wanted: 'a service' }];
    const ask = expected(script, service, askedAt, timing);
    const arrive = expected(script, service, arrivedAt, timing);
    const wanted = new Set<string>([...ask.statuses, ...arrive.statuses]);
    if (!wanted.has(found.status)) {
      return [{ slug, elapsedMs: askedAt, found: found.status, wanted: [...wanted].join(' or ') }];
    }
    const since = found.since === null ? null : Date.parse(found.since) - startAt;
    if (ask.since === null || wanted.size > 1) return [];
    if (since !== null && ask.since.from <= since && since <= ask.since.to) return [];
    const bounds = `since ${Math.round(ask.since.from)} to ${Math.round(ask.since.to)} ms`;
    return [{ slug, elapsedMs: askedAt, found: `${found.status} since ${since} ms`, wanted: bounds }];
  });
}

/** What is wrong with the senders in a list that was asked for at `askedAt`, in milliseconds of the play. */
export function compareSenders(
  senders: readonly Sender[],
  seen: readonly SeenService[],
  askedAt: number,
  timing: SenderTiming,
): Mismatch[] {
  const bySlug = new Map(seen.map((service) => [service.slug, service.status]));
  return senders.flatMap((sender) => {
    const slug = dashDomain(sender.domain);
    const allowed: ReadonlySet<string> = allowedOf(sender, askedAt, timing);
    const found = bySlug.get(slug) ?? 'nothing';
    const early = found === 'nothing' && askedAt < timing.everyMs + timing.slackMs;
    return early || allowed.has(found)
      ? []
      : [{ slug, elapsedMs: askedAt, found, wanted: [...allowed].join(' or ') }];
  });
}

/** Whether the program must say by now that its own connection is away; null: either is right. */
export function mustBeOffline(script: Script, timing: DemoTiming, elapsedMs: number): boolean | null {
  // The next check fails within an interval; the question takes 5 s at most; on return it asks every 5 s.
  const delayMs = timing.intervalMs + 5_000 + timing.slackMs;
  const now = isCutOff(script, elapsedMs);
  const samples = [0.25, 0.5, 0.75, 1].map((part) => isCutOff(script, elapsedMs - delayMs * part));
  return samples.every((sample) => sample === now) ? now : null;
}
