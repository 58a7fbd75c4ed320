/**
 * The diary of a world: what happened to the program from outside, in order, and what it made of it. The program and the reference
 * implementation are compared by it, so it knows nothing of the rules.
 */

import type { Listed, WorkChange } from './world-announcements.ts';

/** When something happened. */
export interface Instant {
  /** Monotonic milliseconds. */
  readonly ms: number;
  /** Wall time, epoch milliseconds. */
  readonly wall: number;
}

/** An attempt that has ended. */
export interface AttemptMade {
  readonly what: 'attempt';
  readonly place: string;
  readonly service: number;
  /** Of the definition that it was made by. */
  readonly revision: number;
  /** Monotonic milliseconds. */
  readonly beganMs: number;
  /** Whether the service responded. */
  readonly responded: boolean;
  readonly failed: boolean;
  readonly timedOut: boolean;
  /** How long it seemed to take, milliseconds, and how much of it the process stood still. */
  readonly tookMs: number;
  readonly lostMs: number;
  /** The status word of the body. */
  readonly word: 'slow' | 'down' | null;
  readonly blocked: boolean;
  /** How long the response asks to wait, milliseconds; null: not at all. */
  readonly retryAfterMs: number | null;
  /** A fault of the prober, such as too many open files. */
  readonly ownFault: boolean;
}

/** What happened. */
export type Happening = Instant &
  (
    | AttemptMade
    /** The process, of a cluster the judge, starts, also after a kill. */
    | { readonly what: 'start' }
    /** The prober of a place starts or is gone. */
    | { readonly what: 'place' | 'gone'; readonly place: string }
    /** The control targets were asked at `askedMs`; false: none of them answered. */
    | {
        readonly what: 'control';
        readonly place: string;
        readonly askedMs: number;
        readonly answered: boolean;
      }
    /** An attempt has been waiting for a second. */
    | { readonly what: 'waiting'; readonly place: string }
    /** The regions that have a vote from now on. */
    | { readonly what: 'voting'; readonly places: readonly string[] }
    /** The process stood still until now; both clocks went on. */
    | { readonly what: 'stopped'; readonly forMs: number }
    /** The wall clock was set, or went on while the machine slept. */
    | { readonly what: 'wall'; readonly byMs: number }
    | {
        readonly what: 'beat';
        readonly service: number;
        readonly word: 'up' | 'slow' | 'down';
        readonly latencyMs: number | null;
        /** Epoch milliseconds. */
        readonly timestamp: number | null;
      }
    /** The owner changed the definition of a service. */
    | { readonly what: 'defined'; readonly definition: DefinedService }
    /** The owner announced maintenance. Epoch milliseconds. */
    | {
        readonly what: 'work';
        readonly work: number;
        readonly service: number;
        readonly startsAt: number;
        readonly lastsMs: number;
        readonly daily: boolean;
      }
    /** The owner changed it; `byMs`: of `extend`. */
    | {
        readonly what: 'work-change';
        readonly work: number;
        readonly change: WorkChange['what'];
        readonly byMs: number;
      }
    /** A vendor's page was read. */
    | { readonly what: 'page'; readonly page: number; readonly listed: readonly Listed[] }
    /** The program looks at the clock for maintenance that begins or ends. */
    | { readonly what: 'look' }
    /**
     * The alert engine decides which messages to send. `timer`: because of a timer, the monotonic milliseconds at which it was set and was due;
     * null: because something happened.
     */
    | { readonly what: 'decide'; readonly timer: { readonly setMs: number; readonly dueMs: number } | null }
    /** A rule was switched on or off. */
    | { readonly what: 'rule'; readonly rule: number; readonly isOn: boolean }
    /** Somebody has taken an alert. */
    | { readonly what: 'taken'; readonly thread: string }
  );

/** What happened, before it has a time. */
export type News = Happening extends infer One
  ? One extends Happening
    ? Omit<One, keyof Instant>
    : never
  : never;

/** A cron expression and its time zone. */
export interface DefinedSchedule {
  readonly cron: string;
  readonly timezone: string;
}

/** A service as its owner defined it. Milliseconds. */
export interface DefinedService {
  readonly id: number;
  /** Grows with each change. */
  readonly revision: number;
  readonly state: 'live' | 'paused' | 'removed';
  readonly slowOverMs: number;
  /** Between two checks. */
  readonly intervalMs: number;
  /** What is checked; null: the root of its domain. */
  readonly target: string | null;
  /** All that its owner has said of its checks: where it is the same, so are the checks. */
  readonly plan: string;
  /** Null: it is checked. */
  readonly beats: {
    readonly periodMs: number;
    readonly graceMs: number;
    /** In place of the period; null: none. */
    readonly schedule: DefinedSchedule | null;
  } | null;
  /** The vendor's page that tells of it, and its components there; null: the whole page. */
  readonly page: number;
  readonly components: readonly string[] | null;
}

/** A rule as it was made. Milliseconds. */
export interface DefinedRule {
  readonly id: number;
  readonly name: string;
  /** IDs of the services that it tells of. */
  readonly watches: 'all' | readonly number[];
  readonly events: readonly string[];
  /** IDs of channels. */
  readonly channels: readonly number[];
  readonly afterMs: number;
  readonly repeatMs: number | null;
  /** Minutes of the day. */
  readonly quiet: {
    readonly from: number;
    readonly to: number;
    readonly timeZone: string;
    readonly except: readonly string[];
  } | null;
  readonly isOn: boolean;
}

/** What is given beside the diary. */
export interface Given {
  /** As they are at the beginning. */
  readonly rules: readonly DefinedRule[];
  /** As they are defined at the beginning. */
  readonly services: readonly DefinedService[];
  readonly intervalMs: number;
  /** How many control targets there are; 0: the majority of the services decides whether the prober is offline. */
  readonly targets: number;
  /** More than one: a cluster. */
  readonly places: number;
  readonly quorum: 'majority' | 'any' | 'all' | number;
  /** Wall time of the beginning of the world, which is also that of vendors' times. */
  readonly startAt: number;
}

/** A change that alerts are decided from. Times are epoch milliseconds. */
export interface TellingEvent {
  readonly service: number;
  readonly kind: 'status' | 'scope' | 'incident' | 'maintenance';
  readonly what: string;
  readonly at: number;
  readonly recordedAt: number;
}

/** A message to a channel. Times are epoch milliseconds. */
export interface Telling {
  readonly decidedAt: number;
  readonly channel: number;
  readonly type: string;
  /** When it began; with `-r`: what was over before it was told. */
  readonly thread: string;
  readonly urgency: string;
  readonly since: number;
  /** It names a rule; which of several is not promised. */
  readonly hasRule: boolean;
  /** Number of services. */
  readonly total: number;
  readonly canBeTaken: boolean;
  /** What it says of each service, in alphabetical order. */
  readonly items: readonly string[];
}

/** What the program, or the reference, made of it. Times are epoch milliseconds. */
export interface Outcome {
  /** Those of each service in order. */
  readonly transitions: readonly {
    readonly service: number;
    readonly from: string;
    readonly to: string;
    readonly at: number;
    readonly recordedAt: number;
    readonly scope: string | null;
    readonly regions: string;
  }[];
  /** By ID, those of vendors by their entry and service; `timeline`: status and time of each update. */
  readonly incidents: readonly {
    readonly id: string;
    readonly severity: string;
    readonly status: string;
    readonly startedAt: number;
    readonly resolvedAt: number | null;
    readonly timeline: string;
  }[];
  /** What alerts are decided from: of each service by the kind of the change, in order. */
  readonly events: readonly TellingEvent[];
  /** What each channel was told, in order. */
  readonly tellings: readonly Telling[];
  /** For each own outage that is no maintenance the lag of the vendor's incident about it, milliseconds; null: there is none. */
  readonly lags: readonly {
    readonly id: string;
    readonly lagMs: number | null;
  }[];
  /** Figures of each day of each service, in order. */
  readonly days: readonly {
    readonly service: number;
    readonly day: string;
    readonly up: number;
    readonly slow: number;
    readonly down: number;
    readonly suspect: number;
    readonly uptime: number | null;
  }[];
}
