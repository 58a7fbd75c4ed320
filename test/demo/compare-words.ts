/** Compares a vendor's word, the lags of its outages, and its maintenances with the script. */
import type { Mismatch } from './compare.ts';
import { CYCLES, type OneService, oldestCompared } from './seen-incidents.ts';
import {
  allowedWords,
  type FeedTiming,
  incidentsOf,
  knownBy,
  maintenancesOf,
  outagesOf,
  ownMaintenancesOf,
  PRECISION_MS,
  wasUnread,
} from './vendor-expectation.ts';

/** A vendor's entry this long before an outage, or after its end, still speaks of it (docs/feeds.md). */
const REACH_MS = 3_600_000;

/** The vendor's word is that of its page; it is stale in the midst of a fault. */
export function compareWord({ script, timing, seen, served, found, say }: OneService): Mismatch[] {
  const word = found.vendor.vendor;
  if (word === null) return [say('no vendor', served.vendor.kind)];
  const { askedAt, arrivedAt } = seen;
  if (askedAt < knownBy(script, served, timing.firstSpreadMs, timing)) return [];
  const mismatches: Mismatch[] = [];
  const allowed = allowedWords(script, served, askedAt, arrivedAt, timing);
  if (!allowed.has(word.status)) {
    mismatches.push(say(`by its vendor ${word.status}`, [...allowed].join(' or ')));
  }
  const inPeriod = askedAt % script.periodMs;
  const broken = [...served.vendor.faults, ...script.outages].some(
    ({ from, to }) => inPeriod > from + 2 * timing.feedIntervalMs + PRECISION_MS && inPeriod < to,
  );
  if (broken && arrivedAt - askedAt < PRECISION_MS && !word.stale)
    mismatches.push(say('a fresh word', 'a stale one'));
  return mismatches;
}

/** Each outage has the lag that the script gives it. */
export function compareLags({ script, timing, seen, served, found, say }: OneService): Mismatch[] {
  const { askedAt, arrivedAt, startAt } = seen;
  const { entries } = found.vendor.acknowledgement;
  return outagesOf(script, served.service, askedAt, CYCLES, timing).flatMap((outage): Mismatch[] => {
    if (outage.knownBy >= askedAt) return [];
    // While a service is down the severity of its incident follows the maintenance, with the next check.
    const lastCheck = Math.min(outage.to, arrivedAt);
    const firstCheck = Math.max(outage.from, Math.min(outage.to, askedAt)) - checkDelayMs(timing);
    const over = ownMaintenancesOf(served, arrivedAt).filter(
      ({ startsAt, endsAt }) => startsAt <= lastCheck && endsAt >= firstCheck,
    );
    const softened = over.some(({ startsAt, endsAt }) => startsAt < firstCheck && endsAt > lastCheck);
    if (over.length > 0 && !softened) return [];
    const own = entries.find(({ started_at }) => {
      const at = Date.parse(started_at) - startAt;
      return outage.from - 1_500 <= at && at <= outage.firstFailureBy;
    });
    const name = `the outage at ${outage.from} ms`;
    if (softened) return own === undefined ? [] : [say(`a lag of ${name}`, 'none within a maintenance')];
    // Of an outage whose time for a word has a part in which the page could not be read, nothing is said.
    if (own === undefined)
      return wasUnread(script, served, outage.from, arrivedAt) ? [] : [say(`no lag of ${name}`, 'one')];
    const spoken = incidentsOf(served, arrivedAt)
      .map((incident) => ({ incident, told: incident.updates[0]?.at ?? incident.startedAt }))
      .filter(
        ({ incident, told }) =>
          told >= outage.from - REACH_MS &&
          told <= outage.to + REACH_MS &&
          // What was over before the outage does not speak of it.
          (incident.resolvedAt === null || incident.resolvedAt > outage.from),
      )
      .sort((a, b) => a.told - b.told)[0];
    if (spoken === undefined) return own.acknowledged_at === null ? [] : [say(`a lag of ${name}`, 'silence')];
    const { told } = spoken;
    const by = knownBy(script, served, told, timing);
    if (own.acknowledged_at === null)
      return by >= askedAt ? [] : [say(`silence on ${name}`, `a word at ${told} ms`)];
    const at = Date.parse(own.acknowledged_at) - startAt;
    const latest = served.fidelity.start === 'told' ? told + PRECISION_MS : by;
    const mismatches: Mismatch[] = [];
    if (at < told - PRECISION_MS || at > latest)
      mismatches.push(say(`${name} was told of at ${at} ms`, `${told} ms`));
    const lagMs = Date.parse(own.acknowledged_at) - Date.parse(own.started_at);
    if (own.lag_seconds === null || Math.abs(own.lag_seconds * 1_000 - lagMs) > 1) {
      mismatches.push(say(`a lag of ${own.lag_seconds} s`, `${lagMs} ms`));
    }
    return mismatches;
  });
}

function checkDelayMs({ intervalMs, timeoutMs, slackMs }: FeedTiming): number {
  return intervalMs + timeoutMs + slackMs;
}

/** Maintenances are known ahead, run by the clock, and stand in the incident lists while they run. */
export function compareMaintenances({ script, timing, seen, served, found, say }: OneService): Mismatch[] {
  const { askedAt, arrivedAt, startAt } = seen;
  const near = (time: string | null, at: number) =>
    time !== null && Math.abs(Date.parse(time) - startAt - at) <= PRECISION_MS;
  const listed = seen.maintenances.filter(({ service }) => service.slug === served.service.slug);
  const since = oldestCompared(script, askedAt);
  return maintenancesOf(served, arrivedAt).flatMap((maintenance): Mismatch[] => {
    const { title, announcedAt, startsAt, endsAt } = maintenance;
    if (startsAt < since || knownBy(script, served, announcedAt, timing) >= askedAt) return [];
    const there = listed.find((each) => each.title === title && near(each.starts_at, startsAt));
    const incident = found.incidents.find(
      (each) => each.severity === 'maintenance' && each.title === title && near(each.started_at, startsAt),
    );
    const mismatches: Mismatch[] = [];
    const endBy = knownBy(script, served, endsAt, timing);
    if (arrivedAt < endsAt - PRECISION_MS && there === undefined) {
      mismatches.push(say(`no maintenance "${title}"`, 'one'));
    }
    if (there !== undefined && askedAt > endBy) mismatches.push(say(`a maintenance "${title}"`, 'its end'));
    if (there !== undefined && !near(there.ends_at, endsAt)) {
      mismatches.push(say(`"${title}" ends ${there.ends_at}`, `at ${endsAt} ms`));
    }
    const startedBy = startsAt + timing.slackMs;
    if (there !== undefined && arrivedAt < startsAt - PRECISION_MS && there.state !== 'planned') {
      mismatches.push(say(`"${title}" is ${there.state}`, 'planned'));
    }
    if (there !== undefined && askedAt > startedBy && there.state !== 'running') {
      mismatches.push(say(`"${title}" is ${there.state}`, 'running'));
    }
    if (incident === undefined && askedAt > startedBy) mismatches.push(say(`no incident "${title}"`, 'one'));
    if (incident !== undefined && arrivedAt < startsAt - PRECISION_MS) {
      mismatches.push(say(`an incident "${title}"`, 'none before it starts'));
    }
    const wanted = arrivedAt < endsAt - PRECISION_MS ? 'identified' : askedAt > endBy ? 'resolved' : null;
    if (incident !== undefined && wanted !== null && incident.status !== wanted) {
      mismatches.push(say(`"${title}" is ${incident.status}`, wanted));
    }
    return mismatches;
  });
}
