/** A decision in the making: copies of the maps of a state, and the messages so far. Conditions in it are replaced, not changed. */
import type { AlertContext, AlertService } from './alert-context.ts';
import type { AlertState, Condition, ConditionKind, Lane, NamedService, Thread } from './alert-state.ts';
import type { AlertMessage } from './message.ts';
import { quietUntil } from './quiet.ts';
import type { AlertEventName, AlertRule } from './rule.ts';

/** A message that was decided. */
export interface DecidedAlert {
  readonly channelId: number;
  readonly message: AlertMessage;
}

/** A decision in the making. */
export interface AlertDraft {
  readonly context: AlertContext;
  readonly conditions: Map<string, Condition>;
  readonly threads: Map<string, Thread>;
  readonly certificates: Map<number, { readonly endsAt: number; readonly days: number }>;
  readonly maintenances: Map<number, readonly string[]>;
  readonly lanes: Partial<Record<Lane, number>>;
  readonly messages: DecidedAlert[];
  threadCount: number;
  /** No timer is due before it, epoch milliseconds. */
  timerAt: number;
}

/** Makes a draft of a state. */
export function draftOf(state: AlertState, context: AlertContext): AlertDraft {
  return {
    context,
    conditions: new Map(state.conditions),
    threads: new Map(state.threads),
    certificates: new Map(state.certificates),
    maintenances: new Map(state.maintenances),
    lanes: { ...state.lanes },
    messages: [],
    threadCount: state.threadCount,
    timerAt: 0,
  };
}

/** Whether alerts about the service wait for the end of a maintenance. */
export function isHeld(draft: AlertDraft, kind: ConditionKind, serviceId: number): boolean {
  return (
    (kind === 'status' || kind === 'scope' || kind === 'recovered') &&
    (draft.maintenances.has(serviceId) || draft.context.service(serviceId)?.isInMaintenance === true)
  );
}

/** When a rule lets words out that are ready at `at`, epoch milliseconds. */
export function readyAt(rule: AlertRule, words: readonly AlertEventName[], at: number): number {
  const { quiet } = rule;
  return quiet === null || words.some((word) => quiet.except.includes(word)) ? at : quietUntil(quiet, at);
}

/** When the first of the rules lets words out. Rules that are gone hold nothing back. */
export function firstReadyAt(
  { context }: AlertDraft,
  rules: readonly number[],
  words: readonly AlertEventName[],
  at: number,
): number {
  const known = rules.map((id) => context.rule(id)).filter((rule) => rule !== null);
  return known.length === 0 ? at : Math.min(...known.map((rule) => readyAt(rule, words, at)));
}

/** What is kept of a service for words about it. */
export function nameService({ id, slug, name, domain, url }: AlertService): NamedService {
  return { id, slug, name, domain, url };
}
