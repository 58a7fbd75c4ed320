/** Messages of alerts, before a channel writes them in its own form. */
import type { Phase } from '../failure.ts';
import type { StatusReason } from '../incident/incident.ts';
import type { Scope } from '../status/current.ts';
import type { ServiceStatus } from '../status.ts';
import type { AlertChange, EventIncident } from './event.ts';
import type { AlertEventName } from './rule.ts';

/** Maximum number of services that a message describes; `total` says how many there are. */
export const MAX_MESSAGE_ITEMS = 20;

/** States in the order in which a first line names them, the worst first. `up`, `fast`, `resolved` and `ended` are what is over. */
export const MESSAGE_STATES = [
  'down',
  'flapping',
  'slow',
  'partial',
  'incident',
  'up',
  'fast',
  'resolved',
  'maintenance',
  'ended',
  'certificate',
  'unwatched',
] as const;

/** A state. `partial`: down in some regions; `unwatched`: no longer checked. */
export type MessageState = (typeof MESSAGE_STATES)[number];

/** Number of services by state; absent: none. A service about which two things are said is in two of them. */
export type StateCounts = Readonly<Partial<Record<MessageState, number>>>;

/** The common cause of several services of a message, if the data shows one. */
export interface CommonCause {
  readonly kind: 'address' | 'dependency' | 'vendor' | 'region' | 'certificate';
  /** Such as `198.51.100.7`, `postgres`, `githubstatus.com`, `eu` or `R11`. */
  readonly name: string;
}

export interface MessageItem {
  readonly service: {
    readonly id: number;
    readonly slug: string;
    readonly name: string;
    readonly domain: string;
    /** Page of the service. */
    readonly url: string;
  };
  readonly event: AlertEventName;
  /** The status after it; for reminders the status now. */
  readonly status: ServiceStatus;
  /** It was told before and still is so; the message is about what has no such mark. Absent: it is news. */
  readonly told?: true;
  /** The time at which it began, epoch milliseconds. */
  readonly since: number;
  /** Of a recovery: how long it lasted, milliseconds; null: it goes on. */
  readonly lastedMs: number | null;
  readonly reason: StatusReason | null;
  readonly phase: Phase | null;
  readonly lastGoodAt: number | null;
  /** Null: it is not known where it fails. */
  readonly scope: Scope | null;
  readonly regions: readonly string[];
  /** The vendor's present entry; null: none. */
  readonly vendor: { readonly title: string; readonly url: string } | null;
  /** Null: it does not flap. It is told once, until the service is steady again. */
  readonly flapping: { readonly changes: number; readonly withinMs: number } | null;
  /** Of `incident`, `incident_update` and `vendor_incident`. */
  readonly incident: EventIncident | null;
  /** Of `maintenance`. */
  readonly maintenance: Omit<
    Extract<AlertChange, { readonly type: 'maintenance' }>,
    'type' | 'id' | 'source'
  > | null;
  /** The service without which it cannot be reached, and which is down; absent: nothing, or it is not known. */
  readonly because?: { readonly slug: string; readonly name: string };
  /** Number of services that cannot be reached without it and are not told of by themselves; absent: none. */
  readonly behind?: number;
  /** Why nothing more will be told of the service although it is not over; absent: it is still monitored. */
  readonly ended?: 'paused' | 'removed';
  /** Of `certificate`. */
  readonly certificate: { readonly endsAt: number; readonly days: number } | null;
}

export interface AlertMessage {
  /**
   * `alert`: something began; `recovery`: all of it is over; `update`: something about it changed; `reminder`: it still goes on;
   * `acknowledged`: a person has taken it; `test`: the owner tries the channel; `channel_failing`: another channel of the account
   * fails; `prober_offline`, `prober_online`: a word to the operator.
   */
  readonly type:
    | 'alert'
    | 'recovery'
    | 'update'
    | 'reminder'
    | 'acknowledged'
    | 'test'
    | 'channel_failing'
    | 'prober_offline'
    | 'prober_online';
  /** The thread, which a recovery shares with its alert. Letters, digits and `-`, at most 64. */
  readonly thread: string;
  /** Other threads that end with this message, where a channel shows no threads; absent: none. */
  readonly endsAlso?: readonly string[];
  /** `high`: something is down; `normal`; `low`: all is well. */
  readonly urgency: 'high' | 'normal' | 'low';
  /** Epoch milliseconds: when the first of it happened. */
  readonly at: number;
  readonly items: readonly MessageItem[];
  /** Number of services, of which `items` are the first. */
  readonly total: number;
  /** The number of all services in each state; absent: an earlier version made the message. */
  readonly counts?: StateCounts;
  readonly cause: CommonCause | null;
  /** Name of the rule; null: no rule made it. */
  readonly rule: string | null;
  /** A page that shows all of it. */
  readonly url: string;
  /** A page to acknowledge it without signing in; null: there is nothing to acknowledge. */
  readonly acknowledgeUrl: string | null;
  /** It says all that the message before it in the thread said, seconds ago, and more: where a channel can, it takes its place. */
  readonly replaces?: true;
  /** Number of messages to the channel before this one that were dropped, since too many waited; absent: none. */
  readonly dropped?: number;
  /** Of `acknowledged`: who did; of `channel_failing`: the name of the channel and why. */
  readonly note: { readonly by: string } | { readonly channel: string; readonly problem: string } | null;
}

export function countStates(items: Iterable<MessageItem>): StateCounts {
  const services = new Map<MessageState, Set<number>>();
  for (const item of items) {
    const state = stateOf(item);
    const those = services.get(state) ?? new Set();
    services.set(state, those.add(item.service.id));
  }
  return Object.fromEntries([...services].map(([state, { size }]) => [state, size]));
}

/** The state that an item tells. What is over by its words, but is not so by its status, counts as what it is now. */
export function stateOf({ event, status, lastedMs, flapping, ended, incident }: MessageItem): MessageState {
  if (ended !== undefined) return 'unwatched';
  if (flapping !== null) return 'flapping';
  const isOver = lastedMs !== null;
  switch (event) {
    case 'maintenance':
      return isOver ? 'ended' : 'maintenance';
    case 'certificate':
      return 'certificate';
    case 'incident':
    case 'incident_update':
    case 'vendor_incident':
      return isOver || incident?.status === 'resolved' ? 'resolved' : 'incident';
    case 'down':
    case 'heartbeat_missed':
    case 'run_failed':
      if (!isOver) return 'down';
      break;
    case 'scope':
      if (!isOver) return status === 'down' ? 'down' : 'partial';
      break;
    case 'slow':
      if (!isOver) return 'slow';
  }
  if (status === 'down' || status === 'slow') return status;
  return event === 'slow' ? 'fast' : 'up';
}
