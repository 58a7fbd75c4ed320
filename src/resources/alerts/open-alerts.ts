/** Open alerts of an account: its members see them, owners and editors acknowledge them, and receivers do so by a link. */
import { listOpenAlerts, NO_ALERTS, type OpenAlert, readAlertState } from '../../domain/alert/alert-state.ts';
import { formatTime } from '../../domain/durations.ts';
import type { OpenApiParameter } from '../../http/openapi.ts';
import type { Route } from '../../http/route.ts';
import { namedObject, nullable, TimeSchema, whole } from '../../http/schema.ts';
import { type Static, Type } from '../../json-schema.ts';
import type { KeyStore } from '../../store/ports/accounts.ts';
import type { AlertStore } from '../../store/ports/alerts.ts';
import { type AccountPrincipal, accept, type Outcome, refuse, refuseRole } from '../kit/change.ts';
import { type RepeatableContext, repeatableRoute } from '../kit/once.ts';
import { cutWindow, ownListRoute } from '../kit/own-list.ts';
import { principalOf, REMOVED, resultOf } from '../kit/write-route.ts';

interface AlertContext {
  readonly registry: AlertStore;
  readonly now: () => number;
}

interface LinkedAlert {
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

const AlertSchema = namedObject('Alert', {
  thread: Type.String({ description: 'What its messages have in common.' }),
  since: TimeSchema,
  services: Type.Array(
    namedObject('AlertService', { slug: Type.String(), name: Type.String(), url: Type.String() }),
    { description: 'The first 20 services that it is about.' },
  ),
  service_count: whole('Number of services.'),
  acknowledged_at: nullable(TimeSchema, 'Null: nobody has acknowledged it.'),
  acknowledged_by: nullable(Type.String(), 'Empty: somebody, by the link in a message.'),
});

const THREAD: OpenApiParameter = {
  name: 'thread',
  in: 'path',
  required: true,
  description: 'The thread of the alert, as the list has it.',
  schema: { type: 'string' },
  example: '3',
};

interface AlertSources {
  readonly context: AlertContext & RepeatableContext & { readonly registry: KeyStore };
}

export function alertRoutes({ context }: AlertSources): Route[] {
  const placeOf = ({ since, thread }: OpenAlert) => [since, thread];
  return [
    ownListRoute({
      path: '/api/v1/alerts',
      id: 'listAlerts',
      tag: 'Alerts',
      summary: 'List open alerts',
      description: 'Those that were sent to a channel and are not over.',
      name: 'AlertList',
      member: 'alerts',
      item: AlertSchema,
      order: 'Oldest first.',
      place: ['number', 'string'],
      placeOf,
      read: async (accountId, window) => cutWindow(await openAlerts(context, accountId), window, placeOf),
      view: viewAlert,
    }),
    repeatableRoute(context, {
      path: '/api/v1/alerts/:thread/acknowledge',
      id: 'acknowledgeAlert',
      tag: 'Alerts',
      summary: 'Acknowledge an alert',
      description:
        'The channels are notified once, and reminders stop until something changes. Doing it again changes nothing.',
      parameters: [THREAD],
      answers: { 204: { description: 'It is acknowledged.' } },
      problems: {
        404: 'There is no such alert, or it is over (alert_not_found).',
      },
      async change(made, { key, params }) {
        const keys = await made.registry.listKeys(key.accountId);
        const name = keys.find(({ id }) => id === key.id)?.name ?? '';
        resultOf(await acknowledgeAlert(made, principalOf(key), params.thread ?? '', name));
      },
      answer: () => REMOVED,
    }),
  ];
}

function viewAlert({ thread, since, services, total, acknowledged }: OpenAlert): Static<typeof AlertSchema> {
  return {
    thread,
    since: formatTime(since),
    services: services.map(({ slug, name, url }) => ({ slug, name, url })),
    service_count: total,
    acknowledged_at: acknowledged === null ? null : formatTime(acknowledged.at),
    acknowledged_by: acknowledged?.by ?? null,
  };
}
