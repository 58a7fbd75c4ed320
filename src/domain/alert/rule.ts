/** Rules: which changes an account is told of, where, and how. */
import type { Category } from '../category.ts';

export const ALERT_EVENTS = [
  'down',
  'up',
  'slow',
  'incident',
  'incident_update',
  'vendor_incident',
  'maintenance',
  'certificate',
  'heartbeat_missed',
  'run_failed',
  'scope',
] as const;

/** A word for what happened. A missed heartbeat and a failed run are also `down`. */
export type AlertEventName = (typeof ALERT_EVENTS)[number];

export const DEFAULT_ALERT_EVENTS: readonly AlertEventName[] = ['down', 'up', 'certificate'];

/** The services of a rule: each of these that is given adds services. */
export interface RuleServices {
  /** All services of the account. */
  readonly own: boolean;
  /** IDs of services: those of the account, and public ones. */
  readonly services: readonly number[];
  /** The account's services of these categories. */
  readonly categories: readonly Category[];
  /** The public services of these categories. */
  readonly publicCategories: readonly Category[];
  /** Slugs of the account's status pages: the services on them. */
  readonly pages: readonly string[];
}

export interface QuietHours {
  /** Minutes after midnight, 0 to 1,439. */
  readonly from: number;
  /** Minutes after midnight; before `from`: on the next day. */
  readonly to: number;
  /** IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** Events that are told nevertheless. */
  readonly except: readonly AlertEventName[];
}

interface RuleTiming {
  /** Only what lasts so long is told, milliseconds; 0: at once. */
  readonly afterMs: number;
  /** Time between reminders until it is over or someone acknowledges it, milliseconds; null: none. */
  readonly repeatMs: number | null;
  /** Null: none. */
  readonly quiet: QuietHours | null;
}

export interface AlertRule extends RuleTiming {
  readonly id: number;
  readonly accountId: number;
  /** Unique within the account. */
  readonly name: string;
  readonly of: RuleServices;
  readonly events: readonly AlertEventName[];
  /** IDs of channels of the account. */
  readonly channels: readonly number[];
  /** False: it is switched off. */
  readonly enabled: boolean;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Increases with each change. */
  readonly revision: number;
}
