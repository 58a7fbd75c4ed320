/** Webhooks of an account: its owners and editors create, remove, test and replay them, also by the API. */
import { type DestinationsOf, refuseUrl } from '../../domain/allowed-destinations.ts';
import { formatTime } from '../../domain/durations.ts';
import { WEBHOOK_FORMATS, type WebhookFormat, webhookBody } from '../../domain/webhook-event.ts';
import { parseJson } from '../../http/body.ts';
import type { Route } from '../../http/route.ts';
import { enumOf, named, namedObject, TimeSchema, whole } from '../../http/schema.ts';
import { type Static, Type } from '../../json-schema.ts';
import { createMessageId, createWebhookSecret } from '../../notify/webhook-sender.ts';
import type { IdempotencyStore } from '../../store/ports/idempotency.ts';
import type { IdempotentCalls } from '../../store/ports/registry.ts';
import type { Webhook, WebhookStore } from '../../store/ports/webhooks.ts';
import { type AccountPrincipal, accept, attempt, type Outcome, refuse, refuseRole } from '../kit/change.ts';
import { repeatableRoute } from '../kit/once.ts';
import { cutWindow, ownListRoute, placeOfId } from '../kit/own-list.ts';
import { createDocumentReader } from '../kit/read-document.ts';
import {
  changed,
  idParameter,
  mayWrite,
  principalOf,
  REMOVED,
  readId,
  resultOf,
  writeRoute,
} from '../kit/write-route.ts';

interface WebhookContext {
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

interface WebhookInput {
  readonly url: string;
  /** Default `json`. */
  readonly format?: WebhookFormat;
}

/** Creates a webhook with a new secret. Refused with `role_required`, `webhook_url_invalid`, `url_refused` or `too_many_webhooks`. */
export async function addWebhook(
  {
    registry,
    destinations,
    now,
  }: Omit<WebhookContext, 'registry' | 'charge'> & { readonly registry: WebhookStore },
  principal: AccountPrincipal,
  input: WebhookInput,
): Promise<Outcome<Webhook>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  const url = readUrl(input.url);
  if (url === null) return refuse({ code: 'webhook_url_invalid' }, 'url');
  const problem = refuseUrl(await destinations(accountId), url);
  if (problem !== null) return refuse({ code: 'url_refused', problem }, 'url');
  const secret = createWebhookSecret();
  const { format } = input;
  const chosen = format === undefined || format === 'json' ? {} : { format };
  return await attempt(
    () => registry.addWebhook({ accountId, url, secret, createdAt: now(), ...chosen }),
    'url',
  );
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

/** Maximum size of a body, bytes. */
const MAX_BYTES = 4_096;

const NewWebhookSchema = named(
  'WebhookInput',
  Type.Object(
    {
      url: Type.String({ maxLength: 2_000, description: 'Where events are sent, by POST.' }),
      format: Type.Optional(
        Type.Unsafe<WebhookFormat>({
          type: 'string',
          enum: [...WEBHOOK_FORMATS],
          description:
            'json: the payload. cloudevents: a CloudEvent 1.0 in structured mode, with the payload as its data. Default: json.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
);
const readNewWebhook = createDocumentReader<WebhookInput>(NewWebhookSchema);

const WEBHOOK_MEMBERS = {
  id: whole('Its number.'),
  url: Type.String(),
  created_at: TimeSchema,
  format: enumOf(WEBHOOK_FORMATS, 'The form of what it gets.'),
};
const WebhookSchema = namedObject('Webhook', WEBHOOK_MEMBERS);
const CreatedWebhookSchema = namedObject('CreatedWebhook', {
  ...WEBHOOK_MEMBERS,
  secret: Type.String({ description: 'Signs every delivery; it is shown only here.' }),
});

export function webhookRoutes(sources: {
  readonly registry: WebhookStore & IdempotencyStore & IdempotentCalls;
  readonly destinations: DestinationsOf;
  readonly now: () => number;
  /** The requests to the server of a webhook, for the OpenAPI document. */
  readonly callbacks: object;
}): Route[] {
  const { registry, callbacks } = sources;
  return [
    ownListRoute({
      path: '/api/v1/webhooks',
      id: 'listWebhooks',
      tag: 'Account',
      summary: 'List webhooks',
      description:
        'Without their secrets. A key without the scope write sees no more of a URL than its origin, since its path is often a secret.',
      name: 'WebhookList',
      member: 'webhooks',
      item: WebhookSchema,
      order: 'Oldest first.',
      place: ['number'],
      placeOf: placeOfId,
      async read(accountId, window) {
        return cutWindow(await registry.webhooksOf(accountId), window, placeOfId);
      },
      view: (webhook, key) => viewWebhook(mayWrite(key) ? webhook : withoutPath(webhook)),
    }),
    repeatableRoute(sources, {
      path: '/api/v1/webhooks',
      id: 'createWebhook',
      tag: 'Account',
      summary: 'Create a webhook',
      description: 'It gets the events of the services of the account.',
      body: { schema: NewWebhookSchema, example: { url: 'https://example.com/hook' }, maxBytes: MAX_BYTES },
      answers: { 201: { description: 'The webhook.', schema: CreatedWebhookSchema } },
      callbacks,
      problems: {
        403: 'The account has as many webhooks as it may (account_limit), or the key lacks the scope write (insufficient_scope).',
      },
      change: async (context, { key, body }) =>
        resultOf(await addWebhook(context, principalOf(key), resultOf(readNewWebhook(parseJson(body))))),
      answer: (webhook) => changed(201, { ...viewWebhook(webhook), secret: webhook.secret }),
    }),
    writeRoute({
      path: '/api/v1/webhooks/:id',
      method: 'DELETE',
      id: 'removeWebhook',
      tag: 'Account',
      summary: 'Delete a webhook',
      description: 'Its deliveries are removed, too.',
      parameters: [idParameter('webhook')],
      answers: { 204: { description: 'It is removed.' } },
      problems: { 404: 'The account has no such webhook (webhook_not_found).' },
      async handle({ key, params }) {
        resultOf(await removeWebhook(sources, principalOf(key), readId(params.id, 'webhook')));
        return REMOVED;
      },
    }),
  ];
}

/** The webhook with `…` in place of what follows the origin of its URL. */
function withoutPath(webhook: Webhook): Webhook {
  const { origin, href } = new URL(webhook.url);
  return href === `${origin}/` ? webhook : { ...webhook, url: `${origin}/…` };
}

function viewWebhook({ id, url, createdAt, format = 'json' }: Webhook): Static<typeof WebhookSchema> {
  return { id, url, created_at: formatTime(createdAt), format };
}
