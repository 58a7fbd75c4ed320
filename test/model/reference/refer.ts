/**
 * A reference implementation of the rules: from the diary of a world, what the program has to make of it. It shares no code with
 * `src/`. Each rule stands beside its sentence: "D" is the contract's page of decisions, "P" the section Regions of docs/cluster.md,
 * "T" docs/truth.md, "G" docs/glossary.md. Times are monotonic milliseconds where they end in `Ms`, epoch milliseconds otherwise.
 */
import type { DefinedService, Given, Happening, TellingEvent } from '../diary.ts';
import { createReferenceAlerts } from './alerts.ts';
import { createReferenceAnnouncements } from './announcements.ts';
import { daysOf, type ReferenceSample } from './days.ts';
import { createReferenceDeadlines } from './deadlines.ts';
import { createReferenceIncidents } from './incidents.ts';
import { byChannel, byService, listIncidents } from './lists.ts';
import { createReferenceProber, type Ruled, type Verdict } from './prober.ts';
import { createReferenceStatuses } from './statuses.ts';
import type { ToldEvent } from './topics.ts';

/** After these, decisions may be late. */
const EXCUSES: readonly string[] = ['start', 'stopped', 'wall'];

/** What the program has to make of a diary. */
export function refer(initial: Given, diary: readonly Happening[], endMs: number) {
  /** Services are replaced in their list by what their owners make of them. */
  const given = { ...initial, services: [...initial.services] };
  const faults: string[] = [];
  const events: TellingEvent[] = [];
  const isRemoved = ({ service }: { readonly service: number }) => definedOf(service).state === 'removed';
  const alerts = createReferenceAlerts(given, {
    stateOf: (service) => definedOf(service).state,
    statusOf: (service) => (definedOf(service).state === 'removed' ? 'unknown' : statuses.statusOf(service)),
    isWorkedOn: (service) => announcements.isWorkedOn(service),
  });
  const tell = (event: ToldEvent) => {
    if (isRemoved(event)) return;
    const { service, kind, what, at, recordedAt } = event;
    const dated = { service, kind, what, at, recordedAt: recordedAt ?? now.wall };
    events.push(dated);
    alerts.tell({ ...event, ...dated });
  };
  const announcements = createReferenceAnnouncements(given, tell);
  const incidents = createReferenceIncidents(announcements.isMaintained, tell);
  /** By service, place and time: of two samples at one time the last one counts. */
  const samples = new Map<string, ReferenceSample>();
  /** The newest timestamp of the heartbeats of a service. */
  const newest = new Map<number, number>();
  const probers = new Map<string, ReturnType<typeof createReferenceProber>>();
  const isCluster = given.places > 1;
  let voting: readonly string[] = [];
  let now = { ms: 0, wall: 0 };
  let stoodUntilMs = 0;

  const statuses = createReferenceStatuses(given, {
    now: () => now,
    intervalMsOf: (service) => definedOf(service).intervalMs,
    voting: () => voting,
    tell,
    stepIncident: incidents.step,
  });
  const deadlines = createReferenceDeadlines(given, {
    now: () => now,
    setNow(ms) {
      now = { ms, wall: wallOf(ms) };
    },
    prober: () => probers.get('p0'),
    miss(service, at, isFirst) {
      // D: "A service that went down by silence has ... the deadline as `last_checked`".
      sample(service, '', at, 'down');
      if (isFirst) statuses.report(service, 'down', at, at, true);
    },
  });

  const definedOf = (id: number): DefinedService => given.services[id - 1] as DefinedService;
  const wallOf = (ms: number): number => now.wall - now.ms + ms;
  const sample = (service: number, place: string, at: number, outcome: Verdict | 'suspect') =>
    void samples.set(`${service} ${place} ${at}`, { service, at, outcome });

  for (const happening of diary) {
    countUntil(happening);
    deadlines.lookUntil(happening.ms, stoodUntilMs);
    now = happening;
    alerts.watch(now, EXCUSES.includes(happening.what) || probers.get('p0')?.isOffline() === true);
    take(happening);
  }
  countBefore(Math.max(endMs, stoodUntilMs), Number.POSITIVE_INFINITY);
  deadlines.lookUntil(endMs, stoodUntilMs);
  for (const prober of probers.values()) faults.push(...prober.faults(endMs));
  faults.push(...announcements.faults(Math.max(endMs, stoodUntilMs)), ...alerts.faults());
  return {
    transitions: statuses
      .transitions()
      .filter((one) => !isRemoved(one))
      .toSorted((a, b) => a.service - b.service),
    ...listIncidents(
      incidents.all().filter((one) => !isRemoved(one)),
      announcements.all().filter((one) => !isRemoved(one)),
      now.wall,
    ),
    events: events.sort(byService),
    days: daysOf(samples.values()),
    tellings: alerts.tellings().toSorted(byChannel),
    faults,
  };

  function take(happening: Happening): void {
    switch (happening.what) {
      case 'start':
        // D: the deadline "stands still while the monitor is stopped ...; afterwards each service gets one full period".
        deadlines.start(
          given.services.filter(({ id, state }) => state === 'live' && statuses.statusOf(id) !== 'unknown'),
        );
        return;
      case 'place':
        probers.set(happening.place, createReferenceProber(given, happening.ms));
        return;
      case 'gone':
        // What was being checked, or held, leaves nothing behind.
        faults.push(...(probers.get(happening.place)?.faults(happening.ms) ?? []));
        probers.delete(happening.place);
        return;
      case 'voting':
        voting = happening.places;
        return;
      case 'attempt':
        rule(happening.place, (prober) => prober.attempt(happening, stoodUntilMs));
        return;
      case 'waiting':
        probers.get(happening.place)?.want(happening.ms);
        return;
      case 'control': {
        const wasOffline = probers.get(happening.place)?.isOffline() ?? false;
        rule(happening.place, (prober) =>
          prober.control(happening.askedMs, happening.answered, happening.ms),
        );
        // D: the deadline stands still while the monitor is offline.
        if (wasOffline && happening.answered) deadlines.restartAll();
        return;
      }
      case 'stopped':
        stoodUntilMs = happening.ms + happening.forMs;
        for (const prober of probers.values()) prober.stood(happening.forMs);
        if (happening.forMs > 2_000) deadlines.restartAll();
        return;
      case 'wall':
        // D: asleep. A clock that is set cannot be told from it.
        if (Math.abs(happening.byMs) > 2_000) deadlines.restartAll();
        for (const prober of probers.values()) prober.clockSet();
        return;
      case 'beat':
        receive(happening);
        return;
      case 'defined':
        define(happening.definition);
        return;
      case 'work':
        announcements.announce(happening);
        return;
      case 'work-change':
        announcements.change(happening);
        return;
      case 'page':
        announcements.read(happening);
        return;
      case 'look':
        announcements.look(happening, stoodUntilMs);
        return;
      case 'decide':
        // What the prober finds while it is offline may be its own fault, and so may be that it finds nothing.
        if (!isCluster && isCertainlyOffline(happening.ms))
          faults.push(`alerts were decided at ${happening.ms}, while the prober was offline`);
        alerts.decide(happening);
        return;
      case 'rule':
        alerts.switchRule(happening.rule, happening.isOn);
        return;
      case 'taken':
        alerts.acknowledge(happening.thread);
        return;
    }
  }

  function define(definition: DefinedService): void {
    const { id } = definition;
    const before = definedOf(id);
    if (definition.state === 'removed') announcements.leave(id, now.wall);
    given.services[id - 1] = definition;
    for (const prober of probers.values()) prober.define(before, now.ms);
    deadlines.define(before, statuses.statusOf(id) !== 'unknown');
    // P: verdicts on another target do not count with those on this one.
    if (before.target !== definition.target) statuses.forgetVerdicts(id);
  }

  /** Without control targets results are counted. An attempt that ended late, after a standstill, was due before it ended. */
  function countUntil(happening: Happening): void {
    const { what, ms } = happening;
    if (what === 'attempt')
      countBefore(happening.beganMs + happening.tookMs - happening.lostMs, happening.beganMs);
    // Of two timers that are due at one time, the one that was set earlier comes first.
    else if (what === 'decide' && happening.timer !== null)
      countBefore(Math.min(ms, happening.timer.dueMs), happening.timer.setMs);
    else if (what !== 'waiting' && what !== 'look' && what !== 'voting')
      countBefore(ms, Number.POSITIVE_INFINITY);
    // What was due during a standstill comes after it, in the order in which it was due.
    else if (what === 'look') countBefore(Math.min(ms, announcements.lookByMs()), Number.NEGATIVE_INFINITY);
    // These happen among the timers of the program, of which all are late after a standstill.
    else if (ms !== stoodUntilMs) countBefore(ms, Number.NEGATIVE_INFINITY);
  }

  /** Whether the prober is offline; where results are counted at this very time, before or after, nobody can say. */
  function isCertainlyOffline(ms: number): boolean {
    const prober = probers.get('p0');
    const count = prober?.nextCount();
    return prober?.isOffline() === true && count?.dueMs !== ms && count?.setMs !== ms;
  }

  /** Makes the counts that are due before `dueMs`, or at it if they were planned before `setMs`. */
  function countBefore(dueMs: number, setMs: number): void {
    for (;;) {
      const [first] = [...probers]
        .flatMap(([place, prober]) => {
          const next = prober.nextCount();
          return next === null ? [] : [{ place, ...next }];
        })
        .sort((a, b) => a.dueMs - b.dueMs || a.setMs - b.setMs);
      if (first === undefined || first.dueMs > dueMs || (first.dueMs === dueMs && first.setMs >= setMs))
        return;
      const atMs = Math.max(first.dueMs, first.dueMs < stoodUntilMs ? stoodUntilMs : 0);
      now = { ms: atMs, wall: wallOf(atMs) };
      rule(first.place, (prober) => prober.count(atMs));
    }
  }

  function rule(
    place: string,
    step: (prober: ReturnType<typeof createReferenceProber>) => readonly Ruled[],
  ): void {
    const prober = probers.get(place);
    if (prober === undefined) return;
    for (const { ended, isSuspect } of step(prober)) {
      const { state, revision } = definedOf(ended.service);
      // G: "a result that was made by an older definition of the check is discarded".
      if (state !== 'live' || revision !== ended.revision) continue;
      const at = ended.clockOffset + ended.beganMs;
      // D: "results are samples marked `suspect`, kept out of uptime"; status and latest check stay.
      sample(ended.service, isCluster ? place : '', at, isSuspect ? 'suspect' : ended.verdict);
      if (!isSuspect) statuses.judge(place, ended, at);
    }
  }

  // Heartbeats.

  function receive(beat: Extract<Happening, { readonly what: 'beat' }>): void {
    const { service, word, latencyMs, timestamp, wall } = beat;
    const { slowOverMs, state } = definedOf(service);
    if (state !== 'live') return;
    // D: "With `ok`, a `response_time` over 3,000 makes it `slow`, as for a check."
    const verdict = word === 'up' && (latencyMs ?? 0) > slowOverMs ? 'slow' : word;
    // D: "`checked_at` is the earlier of timestamp and arrival."
    const at = Math.min(timestamp ?? wall, wall);
    // D: "kept as a sample".
    sample(service, '', at, verdict);
    // D: "only where two heartbeats both carry a timestamp, one with the older timestamp ... changes neither".
    const last = newest.get(service);
    if (timestamp !== null && last !== undefined && timestamp < last) return;
    if (timestamp !== null) newest.set(service, timestamp);
    deadlines.restart(service);
    statuses.report(service, verdict, at, wall);
  }
}
