/** `/dashboard/webhooks`: the addresses that get the events of an account's services, and the deliveries to them. */

import type { WebhookFormat } from '../../domain/webhook-event.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import { time } from '../../language/phrase.ts';
import { addWebhook, removeWebhook, replayDelivery, testWebhook } from '../../resources/webhooks/webhooks.ts';
import {
  type DashboardSources,
  numberIn,
  type RefusedForm,
  type ShowPage,
  visitorForms,
  visitorRoute,
} from './dashboard-forms.ts';
import type { Visitor } from './sign-in-pages.ts';

const PATH = '/dashboard/webhooks';
/** The same in every language. */
const FORMAT_NAMES: Readonly<Record<WebhookFormat, string>> = {
  json: 'JSON',
  cloudevents: 'CloudEvents 1.0',
};

export function webhookPages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry } = sources;

  const page = async (
    session: Visitor,
    refused: RefusedForm | null,
    secret: string | null = null,
  ): Promise<HttpResponse> => {
    const [webhooks, deliveries] = await Promise.all([
      registry.webhooksOf(session.accountId),
      registry.deliveriesOf(session.accountId),
    ]);
    const { texts, formats } = session.language;
    const { dashboard } = texts;
    const urls = new Map(webhooks.map(({ id, url }) => [id, url]));
    return show('./dashboard-webhooks', session, refused, {
      title: dashboard.webhooks,
      formats: Object.entries(FORMAT_NAMES),
      secret,
      webhooks: webhooks.map(({ id, url, createdAt, format }) => ({
        id,
        url,
        format: format === undefined || format === 'json' ? null : FORMAT_NAMES[format],
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
    });
  };

  const form = visitorForms(sources, PATH, page);

  return [
    // Addresses of receivers often have a secret in them.
    visitorRoute(sources, PATH, 'editor', (session) => page(session, null)),
    form('add', async (_, session, fields) => {
      const outcome = await addWebhook(sources, session, {
        url: fields.get('url') ?? '',
        format: fields.get('format') === 'cloudevents' ? 'cloudevents' : 'json',
      });
      return outcome.ok ? await page(session, null, outcome.value.secret) : outcome;
    }),
    form('remove', (_, session, fields) => removeWebhook(sources, session, numberIn(fields, 'id'))),
    form('test', (_, session, fields) => testWebhook(sources, session, numberIn(fields, 'id'))),
    form('replay', (_, session, fields) => replayDelivery(sources, session, numberIn(fields, 'id'))),
  ];
}
