/** `/dashboard/webhooks`: the addresses that are told what happens to an account's services, and what they were told. */
import type { ApiAnswer, Route } from '../../api/exchange.ts';
import type { OpenSession } from '../../auth/sessions.ts';
import { formatTime } from '../../domain/durations.ts';
import { createMessageId, createWebhookSecret } from '../../notify/webhook-signature.ts';
import { seeOther } from '../forms.ts';
import { findSession, requireForm } from '../sign-in-pages.ts';
import { describeTime } from '../words.ts';
import { type DashboardSources, refusable, type ShowPage } from './dashboard-sources.ts';

const PATH = '/dashboard/webhooks';
const LONGEST_URL = 2_000;

/** The routes. */
export function webhookPages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, now } = sources;

  const page = async (
    session: OpenSession,
    problem: string | null,
    secret: string | null = null,
  ): Promise<ApiAnswer> => {
    const [webhooks, deliveries] = await Promise.all([
      registry.webhooksOf(session.accountId),
      registry.deliveriesOf(session.accountId),
    ]);
    const urls = new Map(webhooks.map(({ id, url }) => [id, url]));
    return show(
      './dashboard-webhooks',
      {
        title: 'Webhooks',
        problem,
        secret,
        webhooks: webhooks.map(({ id, url, createdAt }) => ({ id, url, created: describeTime(createdAt) })),
        deliveries: deliveries.map((delivery) => ({
          ...delivery,
          url: urls.get(delivery.webhookId) ?? '',
          made: describeTime(delivery.createdAt),
          state:
            delivery.deliveredAt !== null
              ? `delivered ${describeTime(delivery.deliveredAt)}`
              : delivery.dueAt === null
                ? 'given up'
                : delivery.attempts === 0
                  ? 'waiting'
                  : `again ${describeTime(delivery.dueAt)}`,
        })),
      },
      session,
      problem === null ? 200 : 400,
    );
  };

  const form = (
    action: string,
    take: (session: OpenSession, fields: ReadonlyMap<string, string>) => Promise<ApiAnswer | string | null>,
  ): Route => ({
    path: `${PATH}/${action}`,
    bucket: 'pages',
    anyMethod: true,
    async handle(request) {
      const { session, form: fields } = await requireForm(request, sources);
      const outcome = await take(session, fields);
      if (outcome === null) return seeOther(PATH);
      return typeof outcome === 'string' ? await page(session, outcome) : outcome;
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
      if (url === null) return 'The address must begin with https:// or http://, and hold no password.';
      const secret = createWebhookSecret();
      const { accountId } = session;
      const problem = await refusable(() =>
        registry.addWebhook({ accountId, url, secret, createdAt: now() }),
      );
      return problem ?? (await page(session, null, secret));
    }),
    form('remove', async ({ accountId }, fields) => {
      const removed = await registry.removeWebhook(accountId, Number(fields.get('id')) || 0);
      return removed ? null : 'There is no such webhook.';
    }),
    form('test', async ({ accountId }, fields) => {
      const at = now();
      const body = JSON.stringify({
        type: 'test',
        timestamp: formatTime(at),
        data: { message: 'It works.' },
      });
      const delivery = { message: createMessageId(), type: 'test', body, now: at };
      const added = await registry.addDelivery(accountId, Number(fields.get('id')) || 0, delivery);
      return added ? null : 'There is no such webhook.';
    }),
    form('replay', async ({ accountId }, fields) => {
      const replayed = await registry.replayDelivery(accountId, Number(fields.get('id')) || 0, now());
      return replayed ? null : 'There is no such delivery.';
    }),
  ];
}

function readUrl(text: string): string | null {
  if (!/^https?:\/\//.test(text) || text.length > LONGEST_URL || !URL.canParse(text)) return null;
  const { href, username, password } = new URL(text);
  return username === '' && password === '' ? href : null;
}
