/**
 * A reference implementation of the rules: from the diary of a world, what the program has to make of it. It shares no code with
 * `src/`. Each rule stands beside its sentence: "D" is the contract's page of decisions, "P" the section Regions of docs/cluster.md,
 * "T" docs/truth.md, "G" docs/glossary.md. Times are monotonic milliseconds where they end in `Ms`, epoch milliseconds otherwise.
 */
import type { DefinedService, Given, Happening, Outcome, TellingEvent } from './diary.ts';
import { createReferenceAlerts } from './reference-alerts.ts';
import { createReferenceAnnouncements } from './reference-announcements.ts';
import { daysOf, type ReferenceSample } from './reference-days.ts';
import { createReferenceDeadlines } from './reference-deadlines.ts';
import { createReferenceIncidents } from './reference-incidents.ts';
import { byChannel, byService, listIncidents } from './reference-lists.ts';
import { createReferenceProber, type Ended, type Ruled, type Verdict } from './reference-prober.ts';
import type { ToldEvent } from './reference-topics.ts';

interface Seen {
  readonly place: string;
  readonly verdict: Verdict;
  /** Start of the last attempt: `checked_at`. */
  readonly at: number;
  readonly since: number;
  readonly observedAt: number;
  readonly votes: boolean;
}

interface State {
  status: Verdict | 'unknown';
  since: number | null;
  /** How many transitions it has had. */
  seq: number;
  observedAt: number;
  /** Start of the newest check that agrees with the status. */
  latestAt: number | null;
  scope: 'global' | 'partial' | null;
  /** By place; null: at most one place has checked it. */
  seen: readonly Seen[] | null;
}

/** After these, decisions may be late. */
const EXCUSES: readonly string[] = ['start', 'stopped', 'wall'];

/** What the program has to make of a diary. */
export function refer(initial: Given, diary: readonly Happening[], endMs: number) {
  /** Services are replaced in their list by what their owners make of them. */
  const given = { ...initial, services: [...initial.services] };
  const faults: string[] = [];
  const transitions: Outcome['transitions'][number][] = [];
  const events: TellingEvent[] = [];
  const isRemoved = ({ service }: { readonly service: number }) => definedOf(service).state === 'removed';
  const alerts = createReferenceAlerts(given, {
    stateOf: (service) => definedOf(service).state,
    statusOf: (service) => (definedOf(service).state === 'removed' ? 'unknown' : stateOf(service).status),
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
  const states = new Map<number, State>(given.services.map(({ id }) => [id, freshState()]));
  /** The newest timestamp of the heartbeats of a service. */
  const newest = new Map<number, number>();
  const probers = new Map<string, ReturnType<typeof createReferenceProber>>();
  const isCluster = given.places > 1;
  /** P: how long a verdict counts: two intervals and the longest check, which is three time-outs and two pauses. */
  const freshMsOf = (service: number) => 2 * definedOf(service).intervalMs + 3 * 8_000 + 6_000;
  let voting: readonly string[] = [];
  let now = { ms: 0, wall: 0 };
  let stoodUntilMs = 0;

  const deadlines = createReferenceDeadlines(given, {
    now: () => now,
    setNow(ms) {
      now = { ms, wall: wallOf(ms) };
    },
    prober: () => probers.get('p0'),
    miss(service, at, isFirst) {
      // D: "A service that went down by silence has ... the deadline as `last_checked`".
      sample(service, '', at, 'down');
      if (isFirst) report(service, 'down', at, at, true);
    },
  });

  const definedOf = (id: number): DefinedService => given.services[id - 1] as DefinedService;
  const stateOf = (id: number): State => states.get(id) as State;
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
  transitions.sort((a, b) => a.service - b.service);
  return {
    transitions: transitions.filter((one) => !isRemoved(one)),
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
          given.services.filter(({ id, state }) => state === 'live' && stateOf(id).status !== 'unknown'),
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
    const state = stateOf(id);
    deadlines.define(before, state.status !== 'unknown');
    // P: verdicts on another target do not count with those on this one.
    if (before.target !== definition.target && state.seen !== null) state.seen = [];
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
      if (!isSuspect) judge(place, ended, at);
    }
  }

  // What a check makes of the status of its service.

  function judge(place: string, ended: Ended, at: number): void {
    const state = stateOf(ended.service);
    const observedAt = ended.clockOffset + ended.endedMs;
    // D: "`down` is dated back to the start of the first failed attempt".
    const beganAt =
      ended.verdict === 'down' ? ended.clockOffset + (ended.firstFailedMs ?? ended.beganMs) : at;
    if (!isCluster) {
      judgeAlone(state, ended, at, beganAt, observedAt);
      return;
    }
    // P: a result that is not newer than the last one of its place is a sample only.
    const freshMs = freshMsOf(ended.service);
    const before = state.seen?.find((one) => one.place === place);
    const newestAt =
      state.seen === null ? state.observedAt : (before?.observedAt ?? Number.NEGATIVE_INFINITY);
    if (observedAt <= newestAt) return;
    // P: a verdict counts for two intervals and the longest check; one that was not seen for longer begins anew.
    const isSame = before?.verdict === ended.verdict && observedAt - before.observedAt <= freshMs;
    const mine = { place, verdict: ended.verdict, at, since: isSame ? before.since : beganAt, observedAt };
    const all = [...(state.seen ?? []).filter((one) => one.place !== place), mine];
    const newestOfAll = Math.max(...all.map((one) => one.observedAt));
    const isFresh = (one: { readonly observedAt: number }) => newestOfAll - one.observedAt <= freshMs;
    const hasVote = (one: { readonly place: string }) => voting.length === 0 || voting.includes(one.place);
    const seen = all
      .filter((one) => isFresh(one) || (voting.length > 0 && hasVote(one)))
      .map((one): Seen => ({ ...one, votes: isFresh(one) && hasVote(one) }))
      .sort((a, b) => (a.place < b.place ? -1 : 1));
    // P: "With one region everything is as it is" without regions.
    if ([...voting, ...seen.map((one) => one.place)].every((name) => name === place)) {
      const wasPartial = state.scope === 'partial' && state.status === ended.verdict;
      state.seen = null;
      judgeAlone(state, ended, at, beganAt, observedAt, wasPartial);
      return;
    }
    judgeTogether(state, place, ended, at, observedAt, seen);
  }

  function judgeAlone(
    state: State,
    { service, verdict }: Ended,
    at: number,
    beganAt: number,
    observedAt: number,
    endsScope = false,
  ): void {
    // A status from the future shows that the clock was set back (T); what is not newer is a sample only.
    const isSetBack = state.observedAt > now.wall;
    if (!isSetBack && observedAt <= state.observedAt) return;
    const scopeBefore = state.scope;
    state.observedAt = isSetBack ? Math.max(state.observedAt + 1, observedAt) : observedAt;
    turn(state, service, verdict, beganAt, {
      madeAt: beganAt,
      at,
      scope: verdict === 'down' ? 'global' : null,
      scopeAt: endsScope && scopeBefore === 'partial' ? Math.max(at, state.since ?? at) : null,
      failing: [],
      isGood: verdict !== 'down',
    });
  }

  /** P: the verdicts of several regions. */
  function judgeTogether(
    state: State,
    place: string,
    ended: Ended,
    at: number,
    observedAt: number,
    seen: readonly Seen[],
  ): void {
    const freshMs = freshMsOf(ended.service);
    const votes = seen.filter((one) => one.votes);
    // A voting region that has not looked counts as one that sees no failure, unless it had the time to look.
    const newestAt = Math.max(...votes.map((one) => one.observedAt));
    const isOverdue = votes.some((one) => one.verdict !== 'up' && newestAt - one.since > freshMs);
    const absent = isOverdue ? 0 : voting.filter((name) => !votes.some((one) => one.place === name)).length;
    const needed = neededOf(votes.length + absent);
    const failing = votes.filter((one) => one.verdict === 'down');
    const impaired = votes.filter((one) => one.verdict !== 'up');
    // "The service is down when the quorum has confirmed": fewer, and the status stays as the others see it.
    const agreed =
      failing.length >= needed
        ? 'down'
        : impaired.length >= needed
          ? 'slow'
          : impaired.length < votes.length
            ? 'up'
            : null;
    state.seen = seen;
    state.observedAt = Math.max(observedAt, state.observedAt + 1);
    const status = agreed ?? state.status;
    if (status === 'unknown') return;
    const newestOf = (verdict: Verdict) =>
      Math.max(...votes.filter((one) => one.verdict === verdict).map((one) => one.at));
    // "Dated back to the first failed attempt of any region that agrees"; else to the newest check that agrees.
    const beganAt = status === 'down' ? Math.min(...failing.map((one) => one.since)) : newestOf(status);
    const looked = Math.max(...seen.map((one) => one.at));
    // "`latest_check` is the newest check that agrees with the verdict"; if none does any more, it stays.
    const agreeing = newestOf(status);
    const latestAt = Number.isFinite(agreeing) ? agreeing : (state.latestAt ?? at);
    turn(state, ended.service, status, Number.isFinite(beganAt) ? beganAt : at, {
      madeAt: ended.clockOffset + (ended.firstFailedMs ?? ended.beganMs),
      at: latestAt,
      scope: status === 'down' ? 'global' : failing.length > 0 ? 'partial' : null,
      scopeAt: Math.max(
        failing.length > 0 ? Math.min(...failing.map((one) => one.since)) : Math.max(looked, latestAt),
        state.since ?? 0,
      ),
      failing: failing.map((one) => one.place),
      // While it fails from one region only, checks from there are no good checks.
      isGood: ended.verdict !== 'down' && votes.some((one) => one.place === place),
    });
  }

  function neededOf(voters: number): number {
    const { quorum } = given;
    if (quorum === 'majority') return Math.floor(voters / 2) + 1;
    if (quorum === 'any') return 1;
    return Math.max(1, quorum === 'all' ? voters : Math.min(quorum, voters));
  }

  interface Turn {
    /** When the check began that was judged. */
    readonly madeAt: number;
    /** Of the check that agrees with the status. */
    readonly at: number;
    readonly scope: State['scope'];
    /** When a change of the scope alone began; null: it is no change. */
    readonly scopeAt: number | null;
    readonly failing: readonly string[];
    readonly isGood: boolean;
    readonly isSilence?: boolean;
  }

  /** The status of a service becomes, or stays, `status`. */
  function turn(state: State, service: number, status: Verdict, beganAt: number, about: Turn): void {
    const from = state.status;
    const isNew = status !== from;
    const hasScope = isNew || (about.scopeAt !== null && about.scope !== state.scope);
    if (hasScope) {
      state.seq += 1;
      // T: a status never begins before the one before it, unless a clock that was ahead has dated that one.
      const after = state.since !== null && state.since <= now.wall ? state.since : beganAt;
      const at = isNew ? Math.max(beganAt, after) : (about.scopeAt ?? beganAt);
      if (isNew) state.since = at;
      transitions.push({
        ...{ service, from, to: status, at, recordedAt: now.wall },
        ...{ scope: about.scope, regions: about.failing.join(' ') },
      });
      tell({
        ...{ service, kind: isNew ? 'status' : 'scope' },
        what: isNew ? `${from} to ${status}` : `${state.scope} to ${about.scope}`,
        ...{ at, recordedAt: now.wall, isSilence: about.isSilence === true },
      });
    }
    state.status = status;
    state.scope = about.scope;
    state.latestAt = about.at;
    const since = state.since ?? about.at;
    incidents.step(service, { status, isNew, seq: state.seq, since, beganAt: about.madeAt, ...about });
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
    report(service, verdict, at, wall);
  }

  function report(service: number, verdict: Verdict, at: number, arrivedAt: number, isSilence = false): void {
    const state = stateOf(service);
    state.observedAt = Math.max(arrivedAt, state.observedAt + 1);
    const scope = verdict === 'down' ? 'global' : null;
    turn(state, service, verdict, at, {
      ...{ madeAt: at, at, scope, scopeAt: null, failing: [], isGood: verdict !== 'down', isSilence },
    });
  }
}

function freshState(): State {
  return { status: 'unknown', since: null, seq: 0, observedAt: 0, latestAt: null, scope: null, seen: null };
}
