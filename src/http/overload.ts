/**
 * Overload: what is less important is refused first, so that what is more important is answered in time. Pages, pictures and event
 * streams go before the API, and the API goes before heartbeats, whose loss would look like an outage of their senders.
 */
import type { Cancel, Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { type HttpError, retryLater } from './problem.ts';
import type { Route } from './route.ts';
import type { Turns } from './turns.ts';

/** Classes of requests, in the order in which they are refused. */
export const REQUEST_CLASSES = ['pages', 'api', 'heartbeats'] as const;

export type RequestClass = (typeof REQUEST_CLASSES)[number];

/** The interval at which the event loop is measured, milliseconds. */
const TICK_MS = 100;
/** An event loop is overloaded while its ticks are later than this, milliseconds. A heartbeat waits for about as long. */
const MAX_LATENESS_MS = 250;
/** It is overloaded, too, while a request waits for longer than this to be started, milliseconds. */
const MAX_WAIT_MS = 1_000;
/** The program is overloaded while it has more requests in flight: they wait for a store that is slow, and take memory. */
const MAX_IN_FLIGHT = 2_000;
/** The change of the pressure per millisecond: a class is refused entirely after 2 s of overload. */
const PRESSURE_PER_MS = 1 / 2_000;
/** A single late tick counts as so much at the most, milliseconds: one long pause, such as a garbage collection, is no overload. */
const MAX_COUNTED_MS = 500;
/** Below zero nothing is refused: overload is first borne for a second. */
const MIN_PRESSURE = -0.5;
const MAX_PRESSURE = REQUEST_CLASSES.length;

/** The time after which a client may repeat a refused request, seconds. */
const RETRY_SECONDS = 10;

/** The measures that show overload. */
export interface Load {
  /** The event loop is late, or too many requests are in flight: it concerns all classes. */
  readonly isLate: boolean;
  /** Requests of these classes wait for too long to be started. Heartbeats are started at once. */
  readonly waits: Readonly<Record<'pages' | 'api', boolean>>;
}

/**
 * The pressure after a tick, from {@link MIN_PRESSURE} to {@link MAX_PRESSURE}. It rises while the program is overloaded, but no
 * further than to refuse the classes that wait, and falls at the same rate otherwise, so that it settles where as much is refused as has to be.
 */
export function stepPressure(pressure: number, elapsedMs: number, { isLate, waits }: Load): number {
  const change = Math.min(elapsedMs, MAX_COUNTED_MS) * PRESSURE_PER_MS;
  const target = isLate ? MAX_PRESSURE : waits.api ? 2 : waits.pages ? 1 : MIN_PRESSURE;
  return pressure < target ? Math.min(target, pressure + change) : Math.max(target, pressure - change);
}

/** The part of the requests of a class that is refused, from 0 to 1: a class begins when all of the one before it is refused. */
export function refusedPart(pressure: number, requestClass: RequestClass): number {
  return Math.min(1, Math.max(0, pressure - REQUEST_CLASSES.indexOf(requestClass)));
}

/** The class of the requests for a route; null: they are never refused, such as those for the state of the program. */
export function classOf({ bucket, isHeartbeat = false }: Route): RequestClass | null {
  if (bucket === 'none') return null;
  if (bucket === 'api') return isHeartbeat ? 'heartbeats' : 'api';
  return 'pages';
}

/** The answer to a request that is refused. */
export function overloaded(): HttpError {
  return retryLater(
    'overloaded',
    RETRY_SECONDS,
    'There is too much to do at present. Send the request again.',
  );
}

export type Overload = ReturnType<typeof createOverload>;

/** Measures while there are requests. `onRefused` is called for each refused request. */
export function createOverload({
  clock,
  log,
  turns,
  onRefused,
}: {
  readonly clock: Clock;
  readonly log: Log;
  readonly turns: Turns;
  readonly onRefused: (requestClass: RequestClass) => void;
}) {
  let pressure = MIN_PRESSURE;
  let inFlight = 0;
  let tickedAt = clock.monotonic();
  /** Requests refused since the overload began. */
  let refused = 0;
  /** By class: the sum of the parts, of which the whole ones were refused. So one in four is refused at a part of 0.25. */
  const sums = new Map<RequestClass, number>();
  /** The last class whose requests the log says are refused; 0: none. */
  let logged = 0;

  const note = (): void => {
    const classes = Math.max(0, Math.ceil(pressure));
    if (classes > logged) {
      log.warn(
        { refused: REQUEST_CLASSES.slice(0, classes), inFlight },
        'overloaded; requests are refused, the least important first',
      );
      logged = classes;
    } else if (pressure === MIN_PRESSURE && logged > 0) {
      log.info({ requests: refused }, 'no longer overloaded; nothing is refused any more');
      logged = 0;
      refused = 0;
      sums.clear();
    }
  };

  /** Null: nothing is measured, because there was no request for a tick. */
  let cancel: Cancel | null = null;
  let isActive = false;
  const stop = (): void => {
    cancel?.();
    cancel = null;
  };
  const tick = (): void => {
    const now = clock.monotonic();
    const elapsedMs = now - tickedAt;
    tickedAt = now;
    const waited = turns.waitedMs();
    pressure = stepPressure(pressure, elapsedMs, {
      isLate: elapsedMs - TICK_MS > MAX_LATENESS_MS || inFlight > MAX_IN_FLIGHT,
      waits: { pages: waited.others > MAX_WAIT_MS, api: waited.first > MAX_WAIT_MS },
    });
    note();
    if (!isActive && inFlight === 0 && pressure === MIN_PRESSURE) stop();
    isActive = false;
  };
  const measure = (): void => {
    isActive = true;
    if (cancel !== null) return;
    tickedAt = clock.monotonic();
    cancel = clock.every(TICK_MS, tick);
  };

  return {
    /** Counts a request that waited for {@link MAX_TURN_MS} to be started, and is refused in place of being handled. */
    refuseLate(requestClass: RequestClass): void {
      refused++;
      onRefused(requestClass);
    },
    /** Returns true if a request is refused now. Counts it as refused. */
    refuses(requestClass: RequestClass): boolean {
      measure();
      const part = refusedPart(pressure, requestClass);
      if (part === 0) return false;
      const sum = (sums.get(requestClass) ?? 0) + part;
      sums.set(requestClass, sum % 1);
      if (sum < 1) return false;
      refused++;
      onRefused(requestClass);
      return true;
    },
    /** The requests that are refused at present, for people; null: none. */
    problem(): string | null {
      const classes = REQUEST_CLASSES.filter((requestClass) => refusedPart(pressure, requestClass) > 0);
      return classes.length === 0 ? null : `requests are refused: ${classes.join(', ')}`;
    },
    /** A request has begun, or goes on after it has waited for its client. */
    enter(): void {
      measure();
      inFlight++;
    },
    /** A request has ended, or waits for its client. */
    leave: (): void => void inFlight--,
    stop,
  };
}
