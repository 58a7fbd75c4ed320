/** Open alerts of an account: its members see them, owners and editors acknowledge them, and receivers do so by a link. */
import { listOpenAlerts, NO_ALERTS, type OpenAlert, readAlertState } from '../../domain/alert/alert-state.ts';
import type { AlertStore } from '../../store/ports/alerts.ts';
import { type AccountPrincipal, accept, type Outcome, refuse, refuseRole } from '../kit/change.ts';

export interface AlertContext {
  readonly registry: AlertStore;
  readonly now: () => number;
}

export interface LinkedAlert {
  readonly accountId: number;
  readonly thread: string;
}

/** The open alerts of an account, oldest first. */
export async function openAlerts(
  { registry }: { readonly registry: AlertStore },
  accountId: number,
): Promise<OpenAlert[]> {
  const { state, acknowledgements } = await registry.alertsOf(accountId);
  const taken = new Map(acknowledgements.map(({ thread, by, at }) => [thread, { by, at }]));
  return listOpenAlerts(state === null ? NO_ALERTS : readAlertState(state), taken);
}

/** Says that somebody has taken an alert; again changes nothing. Refused with `role_required` or `no_alert`. */
export async function acknowledgeAlert(
  context: AlertContext,
  principal: AccountPrincipal,
  thread: string,
  by: string,
): Promise<Outcome<void>> {
  const denied = refuseRole(principal, 'editor');
  return denied ?? (await takeAlert(context, principal.accountId, thread, by));
}

/** The same for the receiver of a message, whose link proves that the message came from here. */
export async function acknowledgeByLink(
  context: AlertContext,
  { accountId, thread }: LinkedAlert,
): Promise<Outcome<void>> {
  return await takeAlert(context, accountId, thread, '');
}

/** The thread that a link stands for now: the account that made it may have been merged into another one. */
export async function followLink(
  { registry }: { readonly registry: AlertStore },
  { accountId, thread }: LinkedAlert,
): Promise<LinkedAlert> {
  return { accountId: (await registry.accountOfThread(thread)) ?? accountId, thread };
}

async function takeAlert(
  { registry, now }: AlertContext,
  accountId: number,
  thread: string,
  by: string,
): Promise<Outcome<void>> {
  const isOpen = await registry.acknowledge({ accountId, thread, by, at: now() });
  return isOpen ? accept(undefined) : refuse({ code: 'no_alert' });
}
