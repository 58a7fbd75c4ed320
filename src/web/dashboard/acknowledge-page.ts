/**
 * `/alerts/acknowledge/:secret`: the page to which messages of alerts link. Its address proves that the message came from here, so
 * nobody has to sign in. A request for it changes nothing, because programs follow links too: only its button does.
 */

import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import { time } from '../../language/phrase.ts';
import { acknowledgeByLink, followLink, openAlerts } from '../../resources/alerts/open-alerts.ts';
import { type RenderPage, withSecrecy } from '../parts/views.ts';
import type { DashboardSources } from './dashboard-forms.ts';
import { languageOf } from './sign-in-pages.ts';

export function acknowledgePage(render: RenderPage, sources: DashboardSources): Route {
  const { acknowledgeLinks, siteUrl } = sources;

  const page = async (request: HttpRequest): Promise<HttpResponse> => {
    const language = languageOf(request);
    const { alerts } = language.texts;
    const secret = request.params.secret ?? '';
    const link = acknowledgeLinks.read(secret);
    if (link === null) return show({ title: alerts.acknowledgeTitle, problem: alerts.wrongLink }, 404);
    const found = await followLink(sources, link);
    const isSent = request.method === 'POST' && (await acknowledgeByLink(sources, found)).ok;
    const open = await openAlerts(sources, found.accountId);
    const alert = open.find(({ thread }) => thread === found.thread);
    if (alert === undefined)
      return show({ title: alerts.overTitle, lead: alerts.overLead }, isSent ? 200 : 410);
    const { acknowledged, services, total, since } = alert;
    const more = total - services.length;
    return show({
      title: acknowledged === null ? alerts.acknowledgeTitle : alerts.acknowledgedTitle,
      lead: acknowledged === null ? alerts.acknowledgeLead : null,
      taken: acknowledged === null ? null : alerts.acknowledgedBy(acknowledged.by, time(acknowledged.at)),
      services: services.map(({ name, url }) => ({ name, url })),
      more: more > 0 ? alerts.more(more) : null,
      since: [time(since)],
      action: acknowledged === null ? `/alerts/acknowledge/${secret}` : null,
    });

    function show(data: object, status = 200): HttpResponse {
      const empty = { problem: null, lead: null, taken: null, services: [], more: null, since: null };
      return withSecrecy(
        render('./acknowledge', { language, siteUrl, action: null, ...empty, ...data }, status),
      );
    }
  };

  return {
    path: '/alerts/acknowledge/:secret',
    bucket: 'pages',
    access: 'secret',
    anyMethod: true,
    handle: page,
  };
}
