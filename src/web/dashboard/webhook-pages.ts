/** `/dashboard/webhooks`: the addresses that get the events of an account's services, and the deliveries to them. */

import { webhookBody } from '../../domain/webhook-event.ts';
import { seeOther } from '../../http/form.ts';
import { HttpError } from '../../http/problem.ts';
import { createLimitMemory, createRateLimiter, type RateLimiter } from '../../http/rate-limits.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import { createMessageId, createWebhookSecret } from '../../notify/webhook-signature.ts';
import { time } from '../language/phrase.ts';
import { type DashboardSources, refusable, type ShowPage } from './dashboard-sources.ts';
import {
  type FormOutcome,
  isProblem,
  ofField,
  type RefusedForm,
  refuseForm,
  viewForms,
} from './refused-form.ts';
import { findSession, requireForm, type Visitor } from './sign-in-pages.ts';

const PATH = '/dashboard/webhooks';
const MAX_URL_LENGTH = 2_000;
/** Test deliveries of an account within a minute: they go to servers of others. */
const MAX_TESTS_PER_MINUTE = 5;
const MAX_REPLAYS_PER_MINUTE = 30;
/** Accounts that are remembered; of more, the oldest are forgotten. */
const MAX_ACCOUNTS = 10_000;

/** The routes. */
export function webhookPages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, now, clock } = sources;
  const memory = createLimitMemory(clock, MAX_ACCOUNTS);
  const tests = createRateLimiter('webhook-tests', MAX_TESTS_PER_MINUTE, memory);
  const replays = createRateLimiter('webhook-replays', MAX_REPLAYS_PER_MINUTE, memory);

  const page = async (
    session: Visitor,
    refused: RefusedForm | null,
    secret: string | null = null,
  ): Promise<HttpResponse> => {
    const [webhooks, deliveries] = await Promise.all([
      registry.webhooksOf(session.accountId),
      registry.deliveriesOf(session.accountId),
    ]);
    const { words, formats } = session.language;
    const { dashboard } = words;
    const urls = new Map(webhooks.map(({ id, url }) => [id, url]));
    return show(
      './dashboard-webhooks',
      {
        title: dashboard.webhooks,
        forms: viewForms(refused),
        secret,
        webhooks: webhooks.map(({ id, url, createdAt }) => ({
          id,
          url,
          since: dashboard.since(time(createdAt)),
        })),
        deliveries: deliveries.map((delivery) => ({
          ...delivery,
          url: urls.get(delivery.webhookId) ?? '',
          made: [time(delivery.createdAt)],
          problem: delivery.problem === null ? null : dashboard.deliveryProblem(delivery.problem),
          replay: dashboard.replayOf(delivery.type, formats.time(delivery.createdAt)),
          state:
            delivery.deliveredAt !== null
              ? dashboard.deliveredAt(time(delivery.deliveredAt))
              : delivery.dueAt === null
                ? [dashboard.givenUp]
                : delivery.attempts === 0
                  ? [dashboard.waiting]
                  : dashboard.againAt(time(delivery.dueAt)),
        })),
      },
      session,
      refused === null ? 200 : 400,
    );
  };

  const form = (
    action: string,
    take: (session: Visitor, fields: ReadonlyMap<string, string>) => Promise<FormOutcome>,
  ): Route => ({
    path: `${PATH}/${action}`,
    bucket: 'pages',
    anyMethod: true,
    async handle(request) {
      const { session, form: fields } = await requireForm(request, sources);
      const outcome = await take(session, fields);
      if (outcome === null) return seeOther(PATH);
      if (!isProblem(outcome)) return outcome;
      return await page(session, refuseForm(action, fields, outcome, session.language.words.dashboard));
    },
  });

  return [
    {
      path: PATH,
      bucket: 'pages',
      async handle(request) {
        const session = await findSession(request, sources);
        return session === null ? seeOther('/sign-in') : await page(session, null);
      },
    },
    form('add', async (session, fields) => {
      const url = readUrl(fields.get('url') ?? '');
      if (url === null) return { field: 'url', problem: session.language.words.dashboard.badAddress };
      const secret = createWebhookSecret();
      const { accountId } = session;
      const problem = await refusable(() =>
        registry.addWebhook({ accountId, url, secret, createdAt: now() }),
      );
      return ofField('url', problem) ?? (await page(session, null, secret));
    }),
    form('remove', async ({ accountId, language }, fields) => {
      const removed = await registry.removeWebhook(accountId, Number(fields.get('id')) || 0);
      return removed ? null : language.words.dashboard.noSuchWebhook;
    }),
    form('test', async ({ accountId, language }, fields) => {
      const at = now();
      await charge(tests, accountId);
      const body = webhookBody({ type: 'test', message: 'It works.' }, at);
      const delivery = { message: createMessageId(), type: 'test', body, now: at };
      const added = await registry.addDelivery(accountId, Number(fields.get('id')) || 0, delivery);
      return added ? null : language.words.dashboard.noSuchWebhook;
    }),
    form('replay', async ({ accountId, language }, fields) => {
      await charge(replays, accountId);
      const replayed = await registry.replayDelivery(accountId, Number(fields.get('id')) || 0, now());
      return replayed ? null : language.words.dashboard.noSuchDelivery;
    }),
  ];
}

/** Throws `rate_limited` if the account has reached its limit. */
async function charge(limiter: RateLimiter, accountId: number): Promise<void> {
  const { allowed, limit, retryAfterSeconds } = await limiter.charge(String(accountId));
  if (allowed) return;
  throw new HttpError(
    'rate_limited',
    `At most ${limit} a minute can be sent by hand. Wait ${retryAfterSeconds} s.`,
    { retry_after: retryAfterSeconds },
    { 'Retry-After': String(retryAfterSeconds) },
  );
}

function readUrl(text: string): string | null {
  if (!/^https?:\/\//.test(text) || text.length > MAX_URL_LENGTH || !URL.canParse(text)) return null;
  const { href, username, password } = new URL(text);
  return username === '' && password === '' ? href : null;
}
