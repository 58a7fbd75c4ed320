/**
 * Writes judgements into the registry, one group at a time. Changes go at once, and what piles up during one commit is
 * the next group; plain checks are gathered, at most one write a second for each service.
 */
import type { Clock } from '../clock.ts';
import type { CurrentStatus, Transition } from '../domain/current.ts';
import type { Incident } from '../domain/incident.ts';
import type { Log } from '../log.ts';
import type { HeartbeatWrite } from '../store/ports/heartbeats.ts';
import type { IncidentStore } from '../store/ports/incidents.ts';
import { refusalOf, type StorageRefusal } from '../store/ports/storage-health.ts';
import type { CommitOutcome, StatusUpdate, UpdateStore } from '../store/ports/updates.ts';
import { type Entry, type PendingChange, plainJudgement } from './entry.ts';
import type { Observation } from './observation.ts';
import type { StatusPublisher } from './status-publisher.ts';
import type { TransitionFeed } from './transition-feed.ts';

const GATHER_MS = 1_000;
const MAX_GROUP = 1_000;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_DELAY_MS = 5_000;
/** While stopping nobody waits for a registry that is away. */
const TRIES_AT_STOP = 3;

/** What the queue needs. */
export interface CommitQueueOptions {
  readonly registry: Pick<UpdateStore, 'commitUpdates'> & Pick<IncidentStore, 'listIncidents'>;
  readonly publisher: Pick<StatusPublisher, 'put'>;
  readonly feed: Pick<TransitionFeed, 'tell'>;
  readonly clock: Clock;
  readonly log: Log;
  /** An own incident is written as it is now; it may be told again. */
  readonly onIncident: (incident: Incident) => void;
  /** A change has been dealt with, and the entry is free for the next one. */
  readonly onSettled: (entry: Entry, settled: SettledChange) => void;
  /** Changes of these entries wait until the registry accepts writes again. */
  readonly onHeld: (entries: readonly Entry[], refusal: StorageRefusal) => void;
}

/** How a change ended. */
export interface SettledChange {
  /** What it was judged from. */
  readonly observation: Observation;
  /**
   * `again`: another writer was first, and it is to be judged anew. `gone`: the registry no longer has the service, or
   * the heartbeat's account no longer has it. `lost`: it was given up at stop. Otherwise a heartbeat that was not
   * written, because the registry takes no writes: its sender is told, and sends it again.
   */
  readonly end: 'committed' | 'again' | 'gone' | 'lost' | StorageRefusal;
  /** What was to be written of the heartbeat; undefined: there was none. */
  readonly heartbeat: HeartbeatWrite | undefined;
  /** Of the heartbeat that was committed; null: it ended no run, or there was none. */
  readonly runMs: number | null;
}

/** The one road to the registry. */
export interface CommitQueue {
  /** Puts a change in; {@link run} starts writing. The entry is taken until `onSettled`. */
  change(entry: Entry, pending: PendingChange): void;
  /** Notes that `entry.current` is ahead of the registry by a plain check. */
  touch(entry: Entry): void;
  run(): void;
  /** Resolves when everything put in before is written, or given up at stop. */
  flush(): Promise<void>;
  /** The registry takes writes again: what waits is tried now. */
  retry(): void;
  /** From now on a failing registry is given up after a few tries. */
  stop(): void;
}

/** Makes the queue. */
export function createCommitQueue(options: CommitQueueOptions): CommitQueue {
  const { registry, publisher, feed, clock, log, onIncident, onSettled, onHeld } = options;
  const changes: Entry[] = [];
  const touched = new Set<Entry>();
  const plainGroups: Entry[][] = [];
  let cancelGathering: (() => void) | null = null;
  let endPause: (() => void) | null = null;
  let running = false;
  let failing = false;
  let stopping = false;
  const waiters: (() => void)[] = [];

  function gathered(): void {
    cancelGathering?.();
    cancelGathering = null;
    if (failing && !stopping) {
      // They wait where each service stands once, however long the registry is away.
      cancelGathering = clock.after(GATHER_MS, gathered);
      return;
    }
    const entries = [...touched];
    touched.clear();
    for (let at = 0; at < entries.length; at += MAX_GROUP)
      plainGroups.push(entries.slice(at, at + MAX_GROUP));
    run();
  }

  function run(): void {
    if (running || (changes.length === 0 && plainGroups.length === 0)) return;
    running = true;
    void loop();
  }

  async function loop(): Promise<void> {
    for (;;) {
      const plain = changes.length > 0 ? undefined : plainGroups.shift();
      if (plain !== undefined) await commitPlain(plain);
      else if (changes.length > 0) await commitChanges(changes.splice(0, MAX_GROUP));
      else break;
    }
    running = false;
    for (const resolve of waiters.splice(0)) resolve();
  }

  async function commitPlain(group: readonly Entry[]): Promise<void> {
    // A pending change carries the newest record itself.
    const entries = group.filter((entry) => !entry.removed && entry.pending === null);
    const judgements = entries.map(plainJudgement);
    const outcomes = await write(() => judgements);
    for (const [index, entry] of entries.entries()) {
      const outcome = outcomes[index];
      if (outcome?.kind !== 'stale' || entry.removed || entry.pending !== null) continue;
      // Its record counts, and the next check is judged from there.
      if (outcome.current.seq > entry.current.seq) await adopt(entry, outcome.current);
    }
  }

  async function commitChanges(all: readonly Entry[]): Promise<void> {
    let group = all;
    const outcomes = await write(
      () => group.flatMap(({ pending }) => (pending === null ? [] : [pending.judgement])),
      (refusal) => {
        group = refuseHeartbeats(group, refusal);
      },
    );
    const pendings = group.map((entry) => entry.pending);
    const records: CurrentStatus[] = [];
    const transitions: Transition[] = [];
    const ends: SettledChange['end'][] = [];
    let behind = false;
    for (const [index, entry] of group.entries()) {
      const outcome = outcomes[index];
      const pending = entry.pending;
      if (outcome === undefined || pending === null) {
        ends.push('lost');
        continue;
      }
      const { judgement } = pending;
      if (outcome.kind === 'committed') {
        entry.current = judgement.current;
        if (judgement.incident !== null) {
          entry.incident = judgement.incident.status === 'resolved' ? null : judgement.incident;
          onIncident(judgement.incident);
        }
        if (!entry.removed) records.push(judgement.current);
        if (outcome.transition !== null) transitions.push(outcome.transition);
        ends.push('committed');
      } else if (outcome.current.seq > judgement.expectedSeq) {
        // Another writer was first, or we were ourselves by a try whose answer was lost; then judging again changes
        // nothing. The transition's position stands in the feed only.
        await adopt(entry, outcome.current);
        ends.push('again');
        behind = true;
      } else {
        // The change of the list that says so is on its way to us.
        ends.push('gone');
      }
    }
    // Whoever is told of a transition finds it in the status store.
    await publisher.put(records);
    await feed.tell(transitions, behind);
    for (const [index, entry] of group.entries()) {
      const outcome = outcomes[index];
      const pending = pendings[index];
      entry.pending = null;
      if (pending === null || pending === undefined) continue;
      const { observation, judgement } = pending;
      const runMs = outcome?.kind === 'committed' ? (outcome.runMs ?? null) : null;
      onSettled(entry, { observation, heartbeat: judgement.heartbeat, end: ends[index] ?? 'lost', runMs });
    }
  }

  /** Answers the senders of heartbeats, who send them again; what is left waits. */
  function refuseHeartbeats(group: readonly Entry[], refusal: StorageRefusal): readonly Entry[] {
    const held: Entry[] = [];
    for (const entry of group) {
      const { pending } = entry;
      if (pending?.observation.via !== 'heartbeat') {
        held.push(entry);
        continue;
      }
      entry.pending = null;
      const { observation, judgement } = pending;
      // What the prober has learnt was to be written with it.
      if (judgement.memory !== null) entry.memoryChanged = true;
      onSettled(entry, { observation, heartbeat: judgement.heartbeat, end: refusal, runMs: null });
    }
    onHeld(held, refusal);
    return held;
  }

  async function adopt(entry: Entry, current: CurrentStatus): Promise<void> {
    log.warn(
      { serviceId: current.serviceId, seq: current.seq },
      'the registry has a newer update of this service; continuing from it',
    );
    try {
      const incidents = await registry.listIncidents({ serviceId: current.serviceId, limit: 100, offset: 0 });
      const own = incidents.filter(({ source }) => source === 'own');
      entry.incident = own.find(({ status }) => status !== 'resolved') ?? null;
      for (const incident of own) onIncident(incident);
    } catch (error) {
      log.error({ error, serviceId: current.serviceId }, 'the own incident could not be read again');
    }
    entry.current = current;
    entry.memoryChanged = true;
    if (!entry.removed) await publisher.put([current]);
  }

  /** `onRefused` is called where the registry takes no writes; there may be fewer judgements after it. */
  async function write(
    judgementsNow: () => readonly StatusUpdate[],
    onRefused: (refusal: StorageRefusal) => void = () => {},
  ): Promise<CommitOutcome[]> {
    let tries = 0;
    for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(delayMs * 2, MAX_RETRY_DELAY_MS)) {
      const judgements = judgementsNow();
      if (judgements.length === 0) return [];
      try {
        const outcomes = await registry.commitUpdates(judgements);
        if (failing) log.info({}, 'the registry accepts updates again');
        failing = false;
        return outcomes;
      } catch (error) {
        if (!failing)
          log.error({ error, judgements: judgements.length }, 'the registry accepts no updates; retrying');
        failing = true;
        const refusal = refusalOf(error);
        if (refusal !== null) onRefused(refusal.code);
        if (stopping && ++tries >= TRIES_AT_STOP) {
          log.error({ judgements: judgements.length }, 'updates were dropped at stop');
          return [];
        }
        if (!stopping) await pause(delayMs);
      }
    }
  }

  function pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(delayMs, resolve);
      endPause = () => {
        cancel();
        resolve();
      };
    });
  }

  return {
    change(entry, pending) {
      entry.pending = pending;
      touched.delete(entry);
      changes.push(entry);
    },
    touch(entry) {
      touched.add(entry);
      cancelGathering ??= clock.after(GATHER_MS, gathered);
    },
    run,
    async flush() {
      // Twice: what waited for a change was judged when that was written, and may have left plain checks behind.
      for (let round = 0; round < 2; round++) {
        gathered();
        if (running) await new Promise<void>((resolve) => waiters.push(resolve));
      }
    },
    retry: () => endPause?.(),
    stop() {
      stopping = true;
      endPause?.();
    },
  };
}
