/**
 * The reference implementation of statuses: what checks of one place or of several, and heartbeats, make of the status of a service.
 * "D" is the contract's page of decisions, "P" the section Regions of docs/cluster.md, "T" docs/truth.md. Times are monotonic milliseconds
 * where they end in `Ms`, epoch milliseconds otherwise.
 */
import type { Given, Instant, Outcome } from '../diary.ts';
import type { StatusStep } from './incidents.ts';
import type { Ended, Verdict } from './prober.ts';
import type { ToldEvent } from './topics.ts';

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

/** What statuses need of the rest. */
export interface StatusSources {
  readonly now: () => Instant;
  readonly intervalMsOf: (service: number) => number;
  /** The places that have a vote. */
  readonly voting: () => readonly string[];
  /** Takes what alerts are decided from. */
  readonly tell: (event: ToldEvent) => void;
  /** Takes what incidents are made of. */
  readonly stepIncident: (service: number, step: StatusStep) => void;
}

/** Makes the statuses of a world. */
export function createReferenceStatuses(
  given: Pick<Given, 'services' | 'places' | 'quorum'>,
  { now, intervalMsOf, voting, tell, stepIncident }: StatusSources,
) {
  const transitions: Outcome['transitions'][number][] = [];
  const states = new Map<number, State>(given.services.map(({ id }) => [id, freshState()]));
  const stateOf = (id: number): State => states.get(id) as State;
  /** P: how long a verdict counts: two intervals and the longest check, which is three time-outs and two pauses. */
  const freshMsOf = (service: number) => 2 * intervalMsOf(service) + 3 * 8_000 + 6_000;

  /** What a check makes of the status of its service. */
  function judge(place: string, ended: Ended, at: number): void {
    const state = stateOf(ended.service);
    const observedAt = ended.clockOffset + ended.endedMs;
    // D: "`down` is dated back to the start of the first failed attempt".
    const beganAt =
      ended.verdict === 'down' ? ended.clockOffset + (ended.firstFailedMs ?? ended.beganMs) : at;
    if (given.places === 1) {
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
    const hasVote = (one: { readonly place: string }) =>
      voting().length === 0 || voting().includes(one.place);
    const seen = all
      .filter((one) => isFresh(one) || (voting().length > 0 && hasVote(one)))
      .map((one): Seen => ({ ...one, votes: isFresh(one) && hasVote(one) }))
      .sort((a, b) => (a.place < b.place ? -1 : 1));
    // P: "With one region everything is as it is" without regions.
    if ([...voting(), ...seen.map((one) => one.place)].every((name) => name === place)) {
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
    const isSetBack = state.observedAt > now().wall;
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
    const absent = isOverdue ? 0 : voting().filter((name) => !votes.some((one) => one.place === name)).length;
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

  /** The status of a service becomes, or stays, `status`. */
  function turn(state: State, service: number, status: Verdict, beganAt: number, about: Turn): void {
    const from = state.status;
    const isNew = status !== from;
    const hasScope = isNew || (about.scopeAt !== null && about.scope !== state.scope);
    if (hasScope) {
      state.seq += 1;
      // T: a status never begins before the one before it, unless a clock that was ahead has dated that one.
      const after = state.since !== null && state.since <= now().wall ? state.since : beganAt;
      const at = isNew ? Math.max(beganAt, after) : (about.scopeAt ?? beganAt);
      if (isNew) state.since = at;
      transitions.push({
        ...{ service, from, to: status, at, recordedAt: now().wall },
        ...{ scope: about.scope, regions: about.failing.join(' ') },
      });
      tell({
        ...{ service, kind: isNew ? 'status' : 'scope' },
        what: isNew ? `${from} to ${status}` : `${state.scope} to ${about.scope}`,
        ...{ at, recordedAt: now().wall, isSilence: about.isSilence === true },
      });
    }
    state.status = status;
    state.scope = about.scope;
    state.latestAt = about.at;
    const since = state.since ?? about.at;
    stepIncident(service, { status, isNew, seq: state.seq, since, beganAt: about.madeAt, ...about });
  }

  /** What a heartbeat says, or that none came. */
  function report(service: number, verdict: Verdict, at: number, arrivedAt: number, isSilence = false): void {
    const state = stateOf(service);
    state.observedAt = Math.max(arrivedAt, state.observedAt + 1);
    const scope = verdict === 'down' ? 'global' : null;
    turn(state, service, verdict, at, {
      ...{ madeAt: at, at, scope, scopeAt: null, failing: [], isGood: verdict !== 'down', isSilence },
    });
  }

  return {
    judge,
    report,
    statusOf: (service: number): Verdict | 'unknown' => stateOf(service).status,
    /** P: verdicts on another target do not count with those on this one. */
    forgetVerdicts(service: number): void {
      const state = stateOf(service);
      if (state.seen !== null) state.seen = [];
    },
    transitions: () => transitions,
  };
}

function freshState(): State {
  return { status: 'unknown', since: null, seq: 0, observedAt: 0, latestAt: null, scope: null, seen: null };
}
