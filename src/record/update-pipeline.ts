/** Runs the last steps of the record for each observation: evaluate, commit, publish. Those of a service follow each other. */
import { createCoalescingLoop } from '../async/coalescing-loop.ts';
import type { Clock } from '../clock.ts';
import { timingOf } from '../domain/check-target.ts';
import { checkedAtOf, isHeartbeatMonitored } from '../domain/heartbeat/heartbeat-rules.ts';
import type { Sample } from '../domain/sample.ts';
import type { CurrentStatus, Transition } from '../domain/status/current.ts';
import type { Log } from '../log.ts';
import type { HeartbeatWrite } from '../store/ports/heartbeats.ts';
import type { IncidentStore } from '../store/ports/incidents.ts';
import type { StorageHealth, StorageRefusal } from '../store/ports/storage-health.ts';
import type { CommitOutcome, UpdateStore } from '../store/ports/updates.ts';
import {
  type CommitEnd,
  createCommitter,
  endOf,
  LOST,
  type RoutineGroup,
  RoutineUpdates,
  type ServiceUpdate,
  toRoutineUpdate,
  toStatusUpdate,
} from './committer.ts';
import { type EvaluationRules, evaluate, type Update } from './evaluate.ts';
import type { HeartbeatDeadlines } from './heartbeat-deadlines.ts';
import {
  checkResultOf,
  createDropCounter,
  type HeartbeatReceipt,
  type Observation,
  type ResultBatch,
} from './observation.ts';
import { createPreviews, type Publisher } from './publisher.ts';
import type { RegionRechecks } from './regions.ts';
import {
  dequeue,
  enqueue,
  enqueueFirst,
  isOfRevision,
  learn,
  noteHeartbeat,
  type PendingObservation,
  type PendingUpdate,
  refuseQueuedHeartbeats,
  stateOf,
  type TrackedService,
  takeNewMemory,
} from './tracked-services.ts';

/** Routine updates are collected until the next second of the clock; then the newest one of each service is committed, together with the lease. */
const GATHER_MS = 1_000;
const MAX_GROUP = 1_000;

export class UpdatePipeline {
  readonly #registry: UpdateStore & IncidentStore;
  readonly #storage: StorageHealth | undefined;
  readonly #publisher: Publisher;
  readonly #deadlines: HeartbeatDeadlines;
  readonly #rules: EvaluationRules;
  readonly #rechecks: RegionRechecks | null;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #committer: ReturnType<typeof createCommitter>;
  readonly #previews: ReturnType<typeof createPreviews>;
  /** Updates waiting for their commit, in order. */
  readonly #changes: ServiceUpdate[] = [];
  readonly #gathering = new RoutineUpdates();
  /** Collected updates waiting for their commit, in order. */
  readonly #gathered: RoutineGroup[] = [];
  #cancelGathering: (() => void) | null = null;
  readonly #committing: ReturnType<typeof createCoalescingLoop>;
  #isStopping = false;
  readonly #drops: ReturnType<typeof createDropCounter>;
  /** True: updates were dropped at stop. */
  #hasGivenUp = false;

  constructor(options: {
    readonly registry: UpdateStore & IncidentStore;
    /** Absent: the registry always accepts writes. */
    readonly storage: StorageHealth | undefined;
    readonly publisher: Publisher;
    readonly deadlines: HeartbeatDeadlines;
    readonly rules: EvaluationRules;
    /** Requests re-checks by other regions; null: there is only one region. */
    readonly rechecks: RegionRechecks | null;
    readonly clock: Clock;
    readonly log: Log;
  }) {
    const { registry, publisher, rules, clock, log } = options;
    this.#registry = registry;
    this.#storage = options.storage;
    this.#publisher = publisher;
    this.#deadlines = options.deadlines;
    this.#rules = rules;
    this.#rechecks = options.rechecks;
    this.#clock = clock;
    this.#log = log;
    this.#committer = createCommitter(registry, clock, log);
    this.#previews = createPreviews(publisher, clock, rules);
    this.#committing = createCoalescingLoop(() => this.#commitAll());
    this.#drops = createDropCounter(clock, log);
  }

  /**
   * Evaluates the observation, or queues it while an update of its service is in flight. `reply` is called once with the outcome of a
   * heartbeat; null: the observation is not a heartbeat. `batch` is held until a result is committed.
   */
  observe(
    tracked: TrackedService,
    observation: Observation,
    reply: PendingObservation['reply'] = null,
    batch: ResultBatch | null = null,
  ): void {
    const refused = reply === null ? null : this.#refusal();
    if (refused !== null) reply?.(refused);
    else if (tracked.inFlight === null) this.#evaluateNow(tracked, { observation, reply, batch });
    else {
      this.#previews.extend(tracked, observation);
      batch?.hold();
      if (enqueue(tracked, { observation, reply, batch })) this.#drops.note();
    }
  }

  /** Commits the state with the next group, as after a change of the check, which drops parts of it. */
  keep(tracked: TrackedService): void {
    // The update in flight was evaluated before the change; its end comes here again.
    if (tracked.inFlight !== null || tracked.isRemoved) return;
    this.#gathering.add(tracked);
    const waitMs = GATHER_MS - (this.#clock.monotonic() % GATHER_MS);
    this.#cancelGathering ??= this.#clock.after(Math.ceil(waitMs), () => this.#endGathering());
  }

  /** Publishes and commits the observations since the last call. */
  flush(): void {
    this.#publisher.flush();
    this.#startCommitting();
  }

  /** Resolves when everything observed before is committed and published, or was dropped at stop. */
  async idle(): Promise<void> {
    // Twice, because queued observations are evaluated after a commit and may produce routine updates.
    for (let round = 0; round < 2; round++) {
      this.#endGathering();
      await this.#committing.idle();
    }
    await this.#publisher.idle();
  }

  /** Observations that were dropped since the start, because too many of a service waited. */
  dropped(): number {
    return this.#drops.count();
  }

  /** Commits waiting updates now, because the registry accepts writes again. */
  retryNow(): void {
    this.#committer.retryNow();
  }

  /** From now on, updates are dropped after a few failed attempts. */
  stop(): void {
    this.#isStopping = true;
    this.#committer.stop();
  }

  #refusal(): StorageRefusal | null {
    return this.#storage?.problem()?.code ?? null;
  }

  #evaluateNow(tracked: TrackedService, pending: PendingObservation): void {
    const now = this.#clock.now();
    const update = evaluate(stateOf(tracked), pending.observation, now, this.#rules);
    if (update === null) return;
    if (update.recheckRegions !== undefined) {
      const { id, check } = tracked.service;
      this.#rechecks?.add(id, update.recheckRegions, timingOf(check, this.#rules.usual).intervalMs);
    }
    if (update.memory !== null) learn(tracked, update.memory);
    if (update.isRoutine) this.#gather(tracked, update, pending.batch);
    else
      this.#commitSoon(tracked, {
        ...pending,
        update,
        recordedAt: now,
        revision: tracked.service.revision,
        memory: takeNewMemory(tracked),
      });
  }

  #evaluateQueue(tracked: TrackedService): void {
    while (tracked.inFlight === null) {
      const next = dequeue(tracked);
      if (next === undefined) return;
      if (this.#isValid(tracked, next.observation))
        this.observe(tracked, next.observation, next.reply, next.batch);
      else next.reply?.('gone');
      next.batch?.release(true);
    }
  }

  /** Returns true if an observation that has waited in the queue still applies to the service. */
  #isValid(tracked: TrackedService, observation: Observation): boolean {
    if (tracked.isRemoved) return false;
    const result = checkResultOf(observation);
    if (result !== null) return isOfRevision(tracked, result);
    if (observation.via !== 'missed') return true;
    const deadline = this.#deadlines.get(tracked.service.id);
    // A heartbeat that arrived since then has started a new deadline.
    const isMissed = deadline !== null && (deadline.missed > 0 || deadline.at === observation.deadlineAt);
    return isMissed && isHeartbeatMonitored(tracked.service);
  }

  #gather(tracked: TrackedService, { current }: Update, batch: ResultBatch | null): void {
    tracked.current = current;
    this.#publisher.addStatus(current);
    this.keep(tracked);
    if (batch !== null) this.#gathering.hold(batch);
  }

  #commitSoon(tracked: TrackedService, pending: PendingUpdate): void {
    tracked.inFlight = pending;
    pending.batch?.hold();
    // The update includes the collected routine updates.
    this.#gathering.remove(tracked);
    this.#changes.push({ tracked, pending });
    if (this.#refusal() !== null) this.#previews.start(tracked);
  }

  #endGathering(): void {
    this.#cancelGathering?.();
    // While the registry fails, the services stay in the set, where each has one entry.
    const goesOn = this.#committer.isFailing && !this.#isStopping;
    this.#cancelGathering = goesOn ? this.#clock.after(GATHER_MS, () => this.#endGathering()) : null;
    if (goesOn) return;
    this.#gathered.push(...this.#gathering.take());
    this.#startCommitting();
  }

  #startCommitting(): void {
    if (this.#changes.length + this.#gathered.length > 0) void this.#committing.run();
  }

  /** Commits one group after the other. Changes precede collected updates. */
  async #commitAll(): Promise<void> {
    while (this.#changes.length + this.#gathered.length > 0) {
      if (this.#changes.length > 0) await this.#commitChanges(this.#changes.splice(0, MAX_GROUP));
      else await this.#commitGathered(this.#gathered.shift() ?? { services: [], batches: [] });
    }
  }

  async #commitChanges(all: readonly ServiceUpdate[]): Promise<void> {
    let group = all;
    let outcomes: readonly CommitOutcome[] = [];
    while (group.length > 0) {
      const attempt = await this.#committer.attempt(group.map(toStatusUpdate));
      if (attempt.isCommitted) {
        outcomes = attempt.outcomes;
        break;
      }
      if (attempt.refusal !== null) group = this.#refuseHeartbeats(group, attempt.refusal);
      if (group.length > 0 && !(await this.#committer.mayRetry(group.length))) {
        this.#hasGivenUp = true;
        break;
      }
    }
    await this.#publish(group, outcomes);
  }

  /** Refuses the heartbeats of the group, since their senders repeat them. The rest waits until the registry accepts writes. */
  #refuseHeartbeats(group: readonly ServiceUpdate[], refused: StorageRefusal): ServiceUpdate[] {
    const waiting: ServiceUpdate[] = [];
    for (const one of group) {
      const { tracked, pending } = one;
      if (pending.reply === null) {
        refuseQueuedHeartbeats(tracked, refused);
        this.#previews.start(tracked);
        waiting.push(one);
      } else {
        // The lost update would have committed the probe memory.
        if (pending.memory !== null) tracked.isMemoryNew = true;
        tracked.inFlight = null;
        pending.reply(refused);
        this.#evaluateQueue(tracked);
      }
    }
    this.#publisher.flush();
    return waiting;
  }

  async #commitGathered({ services, batches }: RoutineGroup): Promise<void> {
    // An update in flight carries the newest status itself.
    const isWaiting = ({ isRemoved, inFlight }: TrackedService) => !isRemoved && inFlight === null;
    const group = services.filter(isWaiting);
    const updates = group.map((tracked) => toRoutineUpdate(tracked, this.#clock.now()));
    let outcomes: readonly CommitOutcome[] = [];
    while (updates.length > 0) {
      const attempt = await this.#committer.attempt(updates);
      if (attempt.isCommitted) {
        outcomes = attempt.outcomes;
        break;
      }
      if (!(await this.#committer.mayRetry(updates.length))) {
        this.#hasGivenUp = true;
        break;
      }
    }
    for (const [index, tracked] of group.entries()) {
      const outcome = outcomes[index];
      const isBehind = outcome?.kind === 'stale' && outcome.current.seq > tracked.current.seq;
      if (isBehind && isWaiting(tracked)) await this.#adopt(tracked, outcome.current);
    }
    for (const batch of batches) batch.release(!this.#hasGivenUp);
  }

  /** Continues from the state that another writer has committed. */
  async #adopt(tracked: TrackedService, current: CurrentStatus): Promise<void> {
    const { serviceId, seq } = current;
    this.#log.warn({ serviceId, seq }, 'the registry has a newer update of this service; continuing from it');
    try {
      const incidents = await this.#registry.listIncidents({ serviceId, limit: 100, offset: 0 });
      const own = incidents.filter(({ source }) => source === 'own');
      tracked.openIncident = own.find(({ status }) => status !== 'resolved') ?? null;
      for (const incident of own) this.#publisher.publishIncident(incident);
    } catch (error) {
      this.#log.error({ error, serviceId }, 'the own incident could not be read again');
    }
    tracked.current = current;
    tracked.isMemoryNew = true;
    if (!tracked.isRemoved) await this.#publisher.publishStatus(current);
  }

  async #publish(group: readonly ServiceUpdate[], outcomes: readonly CommitOutcome[]): Promise<void> {
    const statuses: CurrentStatus[] = [];
    const transitions: Transition[] = [];
    const ends = group.map(({ tracked }, index) => endOf(tracked, outcomes[index]));
    const isRevised = ({ tracked, pending }: ServiceUpdate) => pending.revision < tracked.checkRevision;
    for (const [index, one] of group.entries()) {
      const { tracked, pending } = one;
      const end = ends[index] ?? LOST;
      if (end.kind === 'stale') await this.#adopt(tracked, end.current);
      if (end.kind !== 'committed') continue;
      const { current, incident } = pending.update;
      // Verdicts of regions on an earlier check do not count with those on the new one.
      tracked.current =
        isRevised(one) && current.regions !== undefined ? { ...current, regions: [] } : current;
      if (!tracked.isRemoved) statuses.push(current);
      if (end.transition !== null) transitions.push(end.transition);
      if (incident !== null) {
        tracked.openIncident = incident.status === 'resolved' ? null : incident;
        this.#publisher.publishIncident(incident);
      }
    }
    // Transitions of another writer are read from the registry, since only the registry knows their positions.
    const isBehind = ends.some(({ kind }) => kind === 'stale');
    await this.#publisher.publishCommitted(statuses, transitions, isBehind);
    for (const [index, one] of group.entries()) {
      this.#finish(one, ends[index] ?? LOST);
      if (isRevised(one)) this.keep(one.tracked);
      this.#evaluateQueue(one.tracked);
    }
    this.#publisher.flush();
  }

  /** Releases the service for its next update and answers the sender of a heartbeat. */
  #finish({ tracked, pending }: ServiceUpdate, end: CommitEnd): void {
    const { update, reply } = pending;
    tracked.inFlight = null;
    tracked.preview = null;
    // A stale update is evaluated again and holds its batch until then.
    if (end.kind !== 'stale') pending.batch?.release(end.kind !== 'lost');
    if (end.kind === 'stale') {
      enqueueFirst(tracked, pending);
    } else if (end.kind === 'committed') {
      if (update.sample !== null) this.#publisher.addSample(update.sample);
      if (update.heartbeat !== null)
        reply?.(this.#finishHeartbeat(tracked, update.heartbeat, update.sample, end.runMs ?? null));
    } else {
      reply?.(end.kind === 'gone' ? 'gone' : 'unavailable');
    }
  }

  #finishHeartbeat(
    tracked: TrackedService,
    heartbeat: HeartbeatWrite,
    sample: Sample | null,
    runMs: number | null,
  ): HeartbeatReceipt {
    const { service, current } = tracked;
    const { counted, arrivedAt, responseTimeMs } = heartbeat;
    noteHeartbeat(tracked, heartbeat);
    if (counted) this.#deadlines.receive(service, arrivedAt);
    if (sample !== null) this.#publisher.publishHeartbeat(service, heartbeat, sample);
    const checkedAt = checkedAtOf(heartbeat, arrivedAt);
    return { service, status: current.status, responseTimeMs, checkedAt, runMs };
  }
}
