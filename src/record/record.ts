/** What happens to a result: is it trusted, how is it judged, and who is told (architecture, "The record"). */
import type { Clock } from '../clock.ts';
import { isSameCheck } from '../domain/check-target.ts';
import { type Transition, unknownStatus } from '../domain/current.ts';
import { latestOfSilence, sampleOfLatest, silenceOf } from '../domain/heartbeat-rules.ts';
import { detailedSampleOf, judgeAttempt, sampleOf } from '../domain/judge.ts';
import { type CheckResult, NO_MEMORY, type ProbeMemory } from '../domain/result.ts';
import type { Sample } from '../domain/sample.ts';
import type { Service } from '../domain/service.ts';
import type { Verdict } from '../domain/status.ts';
import type { Log } from '../log.ts';
import type { IncidentStore } from '../store/ports/incidents.ts';
import type { Observations } from '../store/ports/observations.ts';
import type { SampleStore } from '../store/ports/samples.ts';
import type { ServiceChange, ServiceState } from '../store/ports/services.ts';
import type { StatusStore } from '../store/ports/status.ts';
import type { StorageHealth } from '../store/ports/storage-health.ts';
import type { UpdateStore } from '../store/ports/updates.ts';
import { createAwaitedServices } from './awaited-services.ts';
import { createControlWatch } from './control-watch.ts';
import { createEntry, type Entry, learn } from './entry.ts';
import { createHeartbeatDesk, type HeartbeatSettings, isListening } from './heartbeat-desk.ts';
import { createHeldResults, type HeldResult } from './held-results.ts';
import { createJudging, isWanted, type JudgingOptions } from './judging.ts';
import { createMajorityWatch } from './majority-watch.ts';
import { type HeartbeatReceipt, HeartbeatRefused, type ReceivedHeartbeat } from './observation.ts';
import { type ProberState, type Ruling, spanOf } from './prober-watch.ts';
import { createSampleWriter } from './sample-writer.ts';
import { createSilenceWatch, type SilenceDeadline } from './silence-watch.ts';
import { createStatusPublisher } from './status-publisher.ts';
import { createTransitionFeed } from './transition-feed.ts';

/** What the record needs. Durations are milliseconds. */
export interface RecordOptions {
  readonly registry: Pick<UpdateStore, 'commitUpdates' | 'transitionsAfter' | 'lastTransition'> &
    Pick<IncidentStore, 'listIncidents'>;
  readonly status: Pick<StatusStore, 'put' | 'remove'>;
  readonly samples: Pick<SampleStore, 'append'>;
  /** Whether the registry takes writes; absent: it always does. */
  readonly storage?: StorageHealth;
  /** Takes incidents and heartbeats, and lets samples carry all that a check found; absent or null: nobody keeps it. */
  readonly observations?: Pick<Observations, 'incident' | 'heartbeat'> | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: {
    /** A good answer over this is `slow`. */
    readonly slowOverMs: number;
    /** Services affected by an outage of the prober are checked again over this. */
    readonly firstSpreadMs: number;
    /** How many control targets are configured; 0: the fleet itself must tell (decisions). */
    readonly controlTargets: number;
  };
  /** Those of services that report by themselves. */
  readonly heartbeats: HeartbeatSettings;
  /** True: at least one control target answered. No answer within 3 s, or a rejection, counts as no. */
  readonly askControlTargets: () => Promise<boolean>;
  /** These services are to be checked again, spread over `spreadMs`. */
  readonly onRecheck: (serviceIds: readonly number[], spreadMs: number) => void;
  /** Page of a service on this site, for its own incidents. */
  readonly sourceUrl: (service: Service) => string;
  /** Whether a vendor's maintenance of the service is at work at a time, epoch milliseconds. */
  readonly isInMaintenance: (serviceId: number, at: number) => boolean;
}

/** The judge of all results. */
export interface ResultRecord {
  /** Takes the services over from the registry and fills the status store; before anything else. */
  load(states: readonly ServiceState[]): Promise<void>;
  /** Applies a change of the list of services; an older revision than the known one changes nothing. */
  applyChange(change: ServiceChange): void;
  /** Takes results in the order of their arrival. Never throws for what a store does. */
  takeResults(results: readonly CheckResult[]): void;
  /**
   * Takes a heartbeat; resolves when it is on disk and every read shows it. Rejects with {@link HeartbeatRefused} where
   * we cannot take it, or with the registry's error where the domain is not the account's.
   */
  takeHeartbeat(received: ReceivedHeartbeat): Promise<HeartbeatReceipt>;
  /** Heartbeats can be heard from now on; until then silence counts for nothing. */
  startListening(): void;
  /** A heartbeat was refused by a fault of ours: silence is counted anew. */
  noteRefusal(): void;
  /** Deadlines of silence that have not passed yet, epoch milliseconds, by service. */
  deadlines(): ReadonlyMap<number, number>;
  /** What the engine is to know of a service that it takes over. */
  knowledgeOf(serviceId: number): { readonly memory: ProbeMemory; readonly lastCheckedAt: number | null };
  /** An attempt failed at `failedAt` (epoch milliseconds) without an HTTP response; asks the control targets. */
  noteDoubt(failedAt: number): void;
  /** An attempt has been waiting for its response for so long that it may become slow; asks the control targets. */
  noteDelay(): void;
  /** How the prober's own connection is. */
  prober(): ProberState;
  /** Calls `listener` whenever the prober goes offline or comes back. */
  watchProber(listener: (state: ProberState) => void): () => void;
  /** Calls `listener` with each transition after it is in the registry and in the status store, in order of position. */
  watchTransitions(listener: (transition: Transition) => void): () => void;
  /** Resolves when everything judged so far is written; results on hold are not waited for. */
  idle(): Promise<void>;
  /** Results on hold become suspect samples; resolves when all is written, or given up after a few tries. */
  stop(): Promise<void>;
}

/** Makes the record. */
export function createRecord(options: RecordOptions): ResultRecord {
  const { clock, log, settings, onRecheck } = options;
  const entries = new Map<number, Entry>();
  const held = createHeldResults();
  const observations = options.observations ?? null;
  const toSample = observations === null ? sampleOf : detailedSampleOf;
  const affected = new Set<number>();
  const proberListeners = new Set<(state: ProberState) => void>();
  /** Services that are being checked; null: to be counted when somebody asks. */
  let fleetSize: number | null = null;
  let suspectCount = 0;
  let stopped = false;

  const samples = createSampleWriter(options.samples, clock, log);
  const publisher = createStatusPublisher(options.status, clock, log);
  const feed = createTransitionFeed(options.registry, clock, log);
  const watchOptions = { clock, log, onChange: onRulingsChange };
  const watch =
    settings.controlTargets > 0
      ? createControlWatch({
          ...watchOptions,
          controlTargets: settings.controlTargets,
          ask: options.askControlTargets,
        })
      : createMajorityWatch({ ...watchOptions, fleetSize: () => (fleetSize ??= countChecked(entries)) });
  let toldOnline = true;

  const byDomain = new Map<string, Entry>();
  const awaited = createAwaitedServices(clock);
  const { silenceMs } = options.heartbeats;
  const refusal = () => options.storage?.problem()?.code ?? null;
  const silence = createSilenceWatch({
    clock,
    log,
    // While heartbeats are refused by a fault of ours, nobody is called silent (decisions, Heartbeats).
    isDeaf: () => stopped || !watch.online || refusal() !== null,
    onSoon: () => watch.doubt(clock.monotonic()),
    onDue,
  });
  const desk = createHeartbeatDesk({
    ...options.heartbeats,
    clock,
    slowOverMs: settings.slowOverMs,
    findByDomain: (domain) => byDomain.get(domain),
    awaitEntry,
    observe(entry, observation) {
      judging.observe(entry, observation);
      endBatch();
    },
    onRefused: silence.restart,
  });
  const judging = createJudging({
    ...options,
    publisher,
    feed,
    samples,
    observations,
    slowOverMs: settings.slowOverMs,
    judgeHeartbeat: desk.judge,
    onHeartbeat,
    deadlineOf: silence.deadlineOf,
    refusal,
  });
  const unwatchStorage = options.storage?.watch((problem) => {
    if (problem !== null) return;
    silence.restart();
    judging.retry();
  });

  function takeResults(results: readonly CheckResult[]): void {
    if (stopped) return;
    const toMonotonic = clock.monotonic() - clock.now();
    for (const result of results) take(result, toMonotonic);
    endBatch();
  }

  function take(result: CheckResult, toMonotonic: number): void {
    const entry = entries.get(result.serviceId);
    if (entry === undefined || !isWanted(entry, result)) return;
    const answered = result.statusCode !== 0;
    const answer = answered ? (result.firstFailedAt === null ? 'first' : 'later') : 'none';
    const beganAt = result.firstFailedAt ?? result.startedAt;
    watch.note(result.serviceId, beganAt + toMonotonic, result.endedAt + toMonotonic, answer);
    const verdict = judgeAttempt(result, settings.slowOverMs);
    if (answered && verdict === 'up' && result.suspect === null) {
      accept(entry, result, verdict);
      return;
    }
    const span = spanOf(result, toMonotonic, clock.monotonic());
    // An own fault is suspect whatever the ruling; it waits all the same, for it may be the first sign of an outage.
    const ruling = answered && result.suspect !== null ? 'clear' : rule({ result, span });
    if (ruling === 'wait') held.hold({ entry, result, span });
    else settle(entry, result, ruling);
  }

  /** Only an `up` is beyond doubt while the prober is offline: an error or a delay may come from the way there. */
  function rule({ result, span }: Pick<HeldResult, 'result' | 'span'>): Ruling {
    if (result.statusCode === 0) return watch.rule(span);
    const verdict = judgeAttempt(result, settings.slowOverMs);
    if (verdict === 'slow') return watch.ruleSlow(span);
    return verdict === 'down' && (!watch.online || watch.overlapsOutage(span)) ? 'own' : 'clear';
  }

  function settle(entry: Entry, result: CheckResult, ruling: Ruling): void {
    const verdict = judgeAttempt(result, settings.slowOverMs);
    if (ruling === 'clear' && result.suspect === null) {
      accept(entry, result, verdict);
    } else {
      suspect(result, verdict);
      if (ruling === 'own') affected.add(result.serviceId);
    }
  }

  function suspect(result: CheckResult, verdict: Verdict): void {
    suspectCount += 1;
    judging.addSample(toSample(result, verdict, true));
  }

  function accept(entry: Entry, result: CheckResult, verdict: Verdict): void {
    judging.addSample(toSample(result, verdict, false));
    judging.observe(entry, result);
  }

  /** A deadline has passed; false: it is not yet known whose fault that is, or a heartbeat is on its way. */
  function onDue(serviceId: number, { at, silenceMs: lengthMs, missed }: SilenceDeadline): boolean {
    const entry = entries.get(serviceId);
    if (entry === undefined || !isListening(entry.service)) {
      silence.disarm(serviceId);
      return true;
    }
    if (missed === 0) {
      const hears = entry.pending?.observation.via === 'heartbeat';
      if (hears || watch.ruleSilence() !== 'clear') return false;
      judging.observe(entry, { via: 'silence', deadlineAt: at, silenceMs: lengthMs });
    } else {
      // It has been told; but an hour of silence must weigh more in the history than its first moment.
      judging.addSample(sampleOfLatest(serviceId, latestOfSilence(at), null));
    }
    endBatch();
    return true;
  }

  function onHeartbeat(...written: Parameters<JudgingOptions['onHeartbeat']>): Sample | null {
    const [entry, , { counted, arrivedAt }] = written;
    if (counted) {
      entry.hasReported = true;
      entry.heardAt = Math.max(arrivedAt, entry.heardAt ?? arrivedAt);
      silence.arm(entry.service.id, arrivedAt, silenceOf(entry.service.check, silenceMs));
    }
    return desk.finish(...written);
  }

  /** A service that reports by itself, and has reported or been checked, has a deadline; after a change of its length a new one. */
  function watchSilence({ service, current, hasReported }: Entry): void {
    const lengthMs = silenceOf(service.check, silenceMs);
    const isKnown = hasReported || current.latest !== null;
    if (!isListening(service) || !isKnown) silence.disarm(service.id);
    else if (silence.deadlineOf(service.id)?.silenceMs !== lengthMs)
      silence.arm(service.id, clock.now(), lengthMs, current.latest?.source === 'silence' ? 1 : 0);
  }

  function onRulingsChange(): void {
    if (stopped) return;
    held.release(rule, ({ entry, result }, ruling) => {
      if (isWanted(entry, result)) settle(entry, result, ruling);
    });
    endBatch();
    if (toldOnline === watch.online) return;
    toldOnline = watch.online;
    if (toldOnline) silence.restart();
    for (const listener of proberListeners) listener(proberState());
  }

  function endBatch(): void {
    judging.endBatch();
    if (affected.size > 0 && watch.online && !stopped) {
      const serviceIds = [...affected];
      affected.clear();
      onRecheck(serviceIds, settings.firstSpreadMs);
    }
  }

  function applyChange(change: ServiceChange): void {
    const { serviceId, service } = change;
    const entry = entries.get(serviceId);
    if (service === null) {
      if (entry === undefined) return;
      entry.removed = true;
      forget(entry);
      publisher.remove(serviceId);
    } else if (entry === undefined) {
      const current = unknownStatus(serviceId);
      add({ service, current, memory: NO_MEMORY, openIncident: null });
      void publisher.put([current]);
    } else if (service.revision > entry.service.revision) {
      // What the prober has learnt was learnt of that check.
      entry.checkChanged = !isSameCheck(entry.service, service);
      if (entry.checkChanged) learn(entry, NO_MEMORY);
      // What another account's clock said is nothing to the new one.
      if (entry.service.accountId !== service.accountId) entry.toldAt = null;
      entry.service = service;
      watchSilence(entry);
      if (service.origin === 'owner') byDomain.set(service.domain, entry);
    }
    fleetSize = null;
    awaited.tell(change);
  }

  /** Waits for the feed of changes where it has not told of the service yet. */
  async function awaitEntry({ id, revision }: Service): Promise<Entry | undefined> {
    const known = entries.get(id)?.service.revision ?? 0;
    if (known < revision) await awaited.wait(id, revision);
    return entries.get(id);
  }

  function add(state: ServiceState): void {
    const entry = createEntry(state);
    entries.set(state.service.id, entry);
    if (state.service.origin === 'owner') byDomain.set(state.service.domain, entry);
    watchSilence(entry);
    fleetSize = null;
  }

  function forget(entry: Entry): void {
    const { id, domain } = entry.service;
    entries.delete(id);
    affected.delete(id);
    silence.disarm(id);
    if (byDomain.get(domain) === entry) byDomain.delete(domain);
  }

  function proberState(): ProberState {
    const { online, offlineSince, reason } = watch;
    return { online, offlineSince, reason, heldResults: held.size, suspectCount };
  }

  async function idle(): Promise<void> {
    await judging.flush();
    await Promise.all([publisher.idle(), samples.idle()]);
  }

  return {
    async load(states) {
      await feed.load();
      for (const state of states) add(state);
      await publisher.put(states.map(({ current }) => current));
    },
    applyChange,
    takeResults,
    async takeHeartbeat(received) {
      if (stopped) throw new HeartbeatRefused('The monitor is stopping; send the heartbeat again.');
      return desk.take(received);
    },
    startListening: silence.open,
    noteRefusal: silence.restart,
    deadlines: silence.running,
    knowledgeOf(serviceId) {
      const entry = entries.get(serviceId);
      if (entry === undefined || entry.checkChanged) return { memory: NO_MEMORY, lastCheckedAt: null };
      return { memory: entry.memory, lastCheckedAt: entry.current.latest?.checkedAt ?? null };
    },
    noteDoubt(failedAt) {
      watch.doubt(clock.monotonic() - Math.max(0, clock.now() - failedAt));
    },
    noteDelay: watch.noteDelay,
    prober: proberState,
    watchProber(listener) {
      proberListeners.add(listener);
      return () => void proberListeners.delete(listener);
    },
    watchTransitions: feed.watch,
    idle,
    async stop() {
      if (!stopped) {
        stopped = true;
        watch.stop();
        silence.stop();
        unwatchStorage?.();
        for (const { entry, result } of held.drain())
          if (isWanted(entry, result)) suspect(result, judgeAttempt(result, settings.slowOverMs));
        endBatch();
        judging.stop();
        samples.stop();
        publisher.stop();
        feed.stop();
      }
      await idle();
    },
  };
}

function countChecked(entries: ReadonlyMap<number, Entry>): number {
  let count = 0;
  for (const { service } of entries.values())
    if (!service.paused && service.check.kind !== 'heartbeat') count += 1;
  return count;
}
