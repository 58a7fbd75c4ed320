/** Webhooks of an account: its owners and editors create, remove, test and replay them. */
import { type DestinationsOf, refuseUrl } from '../../domain/allowed-destinations.ts';
import { webhookBody } from '../../domain/webhook-event.ts';
import { createMessageId, createWebhookSecret } from '../../notify/webhook-sender.ts';
import type { Webhook, WebhookStore } from '../../store/ports/webhooks.ts';
import { type AccountPrincipal, accept, attempt, type Outcome, refuse, refuseRole } from '../kit/change.ts';

export interface WebhookContext {
  readonly registry: WebhookStore;
  readonly destinations: DestinationsOf;
  readonly now: () => number;
  /** Counts deliveries that an account sends manually. Rejects beyond {@link SENT_BY_HAND_PER_MINUTE}. */
  readonly charge: (what: keyof typeof SENT_BY_HAND_PER_MINUTE, accountId: number) => Promise<void>;
}

/**
 * Maximum number of deliveries that an account may send manually within a minute, since they go to servers of others.
 */
export const SENT_BY_HAND_PER_MINUTE = { tests: 5, replays: 30 } as const;

const MAX_URL_LENGTH = 2_000;

/** Creates a webhook with a new secret. Refused with `role_required`, `webhook_url_invalid`, `url_refused` or `too_many_webhooks`. */
export async function addWebhook(
  {
    registry,
    destinations,
    now,
  }: Omit<WebhookContext, 'registry' | 'charge'> & { readonly registry: WebhookStore },
  principal: AccountPrincipal,
  input: { readonly url: string },
): Promise<Outcome<Webhook>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  const url = readUrl(input.url);
  if (url === null) return refuse({ code: 'webhook_url_invalid' }, 'url');
  const problem = refuseUrl(await destinations(accountId), url);
  if (problem !== null) return refuse({ code: 'url_refused', problem }, 'url');
  const secret = createWebhookSecret();
  return await attempt(() => registry.addWebhook({ accountId, url, secret, createdAt: now() }), 'url');
}

/** Removes a webhook with its deliveries. Refused with `role_required` or `no_webhook`. */
export async function removeWebhook(
  { registry }: Pick<WebhookContext, 'registry'>,
  principal: AccountPrincipal,
  id: number,
): Promise<Outcome<void>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  return found(await registry.removeWebhook(accountId, id), { code: 'no_webhook', id });
}

/** Sends a test to a webhook. Refused with `role_required` or `no_webhook`; rejects beyond the limit per minute. */
export async function testWebhook(
  { registry, now, charge }: WebhookContext,
  principal: AccountPrincipal,
  id: number,
): Promise<Outcome<void>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  const at = now();
  await charge('tests', accountId);
  const body = webhookBody({ type: 'test', message: 'It works.' }, at);
  const delivery = { message: createMessageId(), type: 'test', body, now: at };
  return found(await registry.addDelivery(accountId, id, delivery), { code: 'no_webhook', id });
}

/** Sends a delivery again. Refused with `role_required` or `no_delivery`; rejects beyond the limit per minute. */
export async function replayDelivery(
  { registry, now, charge }: WebhookContext,
  principal: AccountPrincipal,
  id: number,
): Promise<Outcome<void>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  await charge('replays', accountId);
  return found(await registry.replayDelivery(accountId, id, now()), { code: 'no_delivery', id });
}

function found(isFound: boolean, refusal: Parameters<typeof refuse>[0]): Outcome<void> {
  return isFound ? accept(undefined) : refuse(refusal);
}

function readUrl(text: string): string | null {
  if (!/^https?:\/\//.test(text) || text.length > MAX_URL_LENGTH || !URL.canParse(text)) return null;
  const { href, username, password } = new URL(text);
  return username === '' && password === '' ? href : null;
}
