/**
 * Loads the services of a record that judges already: first those that an observation needs, and all others behind them.
 * The caller holds the writer lease, so that no other process changes what is read, and nothing that a former monitor
 * committed in its last moment is missed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { CurrentStatus } from '../domain/status/current.ts';
import { messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { ServicePages, ServiceState, ServiceStateStore } from '../store/ports/services.ts';

export interface ServiceSource extends ServicePages {
  readonly statesOf: ServiceStateStore['statesOf'];
  /** Takes the statuses that were read. */
  learn(currents: readonly CurrentStatus[]): void;
  /** Called once when all services are loaded. */
  complete(): void;
}

export interface ServiceLoaderOptions {
  readonly source: ServiceSource;
  readonly isKnown: (serviceId: number) => boolean;
  readonly add: (state: ServiceState) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export type ServiceLoader = ReturnType<typeof startServiceLoader>;

/** Ids of one read of the list; the event loop serves others after each. */
const PAGE = 2_000;
/** Maximum number of services of one read by their ids. */
const MAX_WANTED = 4_000;
const RETRY_MS = 500;
/** Time before the first page of the list, milliseconds: the first observations after a takeover have the registry to themselves. */
const LIST_PAUSE_MS = 2_000;
/** Maximum time for which the list waits after each page while observations wait for their services, milliseconds. */
const MAX_YIELD_MS = 250;

export function startServiceLoader({ source, isKnown, add, clock, log }: ServiceLoaderOptions) {
  /** Reads of services that were wanted by their ids. */
  const wanted = new Map<number, Promise<void>>();
  /** Services that were removed since the start: a read from before must not add them. */
  const removed = new Set<number>();
  /** Resolves when everything before has had its turn; null: nothing waits. */
  let lastTurn: Promise<void> | null = null;
  let isComplete = false;
  let isStopped = false;

  function take(states: readonly ServiceState[]): void {
    const fresh = states.filter(({ service: { id } }) => !isKnown(id) && !removed.has(id));
    for (const state of fresh) add(state);
    source.learn(fresh.map(({ current }) => current));
  }

  /** Repeats the read until it succeeds; null: the loader was stopped. */
  async function read<T>(work: () => Promise<T>): Promise<T | null> {
    let isFailing = false;
    while (!isStopped) {
      try {
        const found = await work();
        return isStopped ? null : found;
      } catch (error) {
        if (!isFailing && !isStopped)
          log.warn({ problem: messageOf(error) }, 'services could not be loaded; retrying');
        isFailing = true;
        await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
      }
    }
    return null;
  }

  async function readWanted(ids: readonly number[]): Promise<void> {
    take((await read(() => source.statesOf(ids))) ?? []);
    // Ids of no service stay, so that they are read once.
    for (const id of ids) if (isKnown(id)) wanted.delete(id);
  }

  /** Reads of single services and commits share the thread of the registry with the list, which nothing waits for. */
  async function yieldToObservations(): Promise<void> {
    const pause = new Promise<void>((resolve) => clock.after(MAX_YIELD_MS, resolve));
    await (lastTurn === null ? nextTurn() : Promise.race([lastTurn, pause]));
  }

  async function loadAll(): Promise<void> {
    await new Promise<void>((resolve) => clock.after(LIST_PAUSE_MS, resolve));
    // Services that are added from now on are in the feed of changes.
    const lastId = await read(source.lastServiceId);
    if (lastId === null) return;
    for (let after = 0; after < lastId; after += PAGE) {
      if (after > 0) await yieldToObservations();
      const page = await read(() => source.servicesBetween(after, after + PAGE));
      if (page === null) return;
      take(page);
    }
    isComplete = true;
    wanted.clear();
    source.complete();
  }

  /** Resolves when each of these services is loaded, does not exist, or the loader was stopped. Never rejects. */
  async function need(serviceIds: Iterable<number>): Promise<void> {
    if (isComplete) return;
    const reads = new Set<Promise<void>>();
    const missing = new Set<number>();
    for (const id of serviceIds) {
      if (isKnown(id) || removed.has(id)) continue;
      const reading = wanted.get(id);
      if (reading === undefined) missing.add(id);
      else reads.add(reading);
    }
    const ids = [...missing];
    for (let at = 0; at < ids.length; at += MAX_WANTED) {
      const some = ids.slice(at, at + MAX_WANTED);
      const reading = readWanted(some);
      for (const id of some) wanted.set(id, reading);
      reads.add(reading);
    }
    await Promise.all(reads);
  }

  void loadAll();
  return {
    get isComplete(): boolean {
      return isComplete;
    },
    need,
    /** Calls `work` when these services are loaded, after the work of all calls before. */
    inTurn(serviceIds: readonly number[], work: () => void): void {
      if (isComplete && lastTurn === null) {
        work();
        return;
      }
      const turn = Promise.all([need(serviceIds), lastTurn]).then(() => {
        work();
        if (lastTurn === turn) lastTurn = null;
      });
      lastTurn = turn;
    },
    /** A service was added or changed: one that an earlier read did not find is read again. */
    revive(serviceId: number): void {
      removed.delete(serviceId);
      wanted.delete(serviceId);
    },
    forget(serviceId: number): void {
      if (!isComplete) removed.add(serviceId);
    },
    stop(): void {
      isStopped = true;
    },
  };
}
