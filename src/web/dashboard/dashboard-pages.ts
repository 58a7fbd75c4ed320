/** `/dashboard`: what sums the account up, its services and what waits for its owner. */

import { DAY_MS } from '../../domain/durations.ts';
import { includesRole, type Role } from '../../domain/role.ts';
import { MONITORING_KINDS, type Service } from '../../domain/service.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import { time } from '../../language/phrase.ts';
import { acknowledgeAlert, openAlerts } from '../../resources/alerts/open-alerts.ts';
import { accept } from '../../resources/kit/change.ts';
import { dropClaim } from '../../resources/services/domains.ts';
import type { Language } from '../language/language.ts';
import { STATUS_SHAPES } from '../parts/verdict.ts';
import type { RenderPage } from '../parts/views.ts';
import { accountPages } from './account-pages.ts';
import { channelPages } from './channel-pages.ts';
import { CONFIRMED_FIELD } from './confirmations.ts';
import {
  type AskFirst,
  changeContext,
  type DashboardSources,
  memberOf,
  type RefusedForm,
  type ShowPage,
  viewForms,
  viewRights,
  visitorForms,
  visitorRoute,
} from './dashboard-forms.ts';
import { incidentPages } from './incident-pages.ts';
import { invitationPages } from './invitation-pages.ts';
import { keyPages } from './key-pages.ts';
import { maintenancePages } from './maintenance-pages.ts';
import { memberPages } from './member-pages.ts';
import { newServicePages } from './new-service-page.ts';
import { ownedServicePages } from './owned-service-pages.ts';
import { pageEditor } from './page-editor.ts';
import { pageOverview } from './page-overview.ts';
import { leadBack } from './return-cookie.ts';
import { rulePages } from './rule-pages.ts';
import {
  arrangeRows,
  changedSince,
  createServiceTable,
  heldText,
  summarize,
  TABLE_ORDERS,
} from './service-table.ts';
import { invitationCookie, type Visitor } from './sign-in-pages.ts';
import { startChannelPages } from './start-channel-pages.ts';
import { START_PATH, startPages } from './start-pages.ts';
import { webhookPages } from './webhook-pages.ts';

/** A tab, and whether the page belongs to it. */
interface Tab {
  readonly href: string;
  readonly text: string;
  readonly isHere: boolean;
}

export function dashboardPages(render: RenderPage, given: DashboardSources): Route[] {
  const { registry, proofs, siteUrl, now } = given;
  const context = changeContext(given);
  const invitation = invitationCookie(given);

  const show: ShowPage = (template, data, session, code = 200) => {
    const { language, formToken: token, accountName: account } = session;
    const path = 'path' in data ? data.path : undefined;
    const tabs = tabsOf(language, session.role, template, path);
    const base = { language, siteUrl, token, account, tabs, ...viewRights(session) };
    const answer = render(template, { ...base, ...data }, code);
    return { ...answer, headers: { ...answer.headers, 'Cache-Control': 'no-store' } };
  };

  const askFirst: AskFirst = ({ thing, fields, ...asked }, session) => {
    const { dashboard } = session.language.texts;
    const sent = [...fields].filter(([name]) => name !== 'token' && name !== CONFIRMED_FIELD);
    return show(
      './dashboard-confirm',
      { ...dashboard.confirm[thing], ...asked, sent: [...sent, [CONFIRMED_FIELD, 'yes']] },
      session,
    );
  };
  const sources = { ...given, askFirst };
  const readTable = createServiceTable(sources);

  const overview = async (
    session: Visitor,
    refused: RefusedForm | null,
    query = '',
  ): Promise<HttpResponse> => {
    const { accountId, language } = session;
    const texts = language.texts.dashboard;
    const [services, claims, notices, accounts, alerts, channels, pages, isTrusted] = await Promise.all([
      registry.servicesOf(accountId),
      registry.claimsOf(accountId),
      registry.noticesOf(accountId),
      registry.membershipsOf(session.personId),
      openAlerts({ registry }, accountId),
      registry.channelsOf(accountId),
      registry.pagesOf(accountId),
      registry.isTrusted(accountId),
    ]);
    const rows = await readTable(services, language);
    const wanted = new URLSearchParams(query);
    const search = (wanted.get('q') ?? '').slice(0, 100);
    const order = TABLE_ORDERS.find((one) => one === wanted.get('sort')) ?? 'status';
    return show(
      './dashboard',
      {
        title: texts.title,
        forms: viewForms(refused),
        accounts,
        accountId,
        role: language.texts.members.role[session.role],
        isTrusted,
        notices: notices.map((notice) => ({
          ...notice,
          text: notice.notice === null ? notice.text : texts.notice(notice.notice),
          time: [time(notice.at)],
        })),
        services: arrangeRows(rows, search, order),
        count: rows.length,
        ...{ search, order, orders: TABLE_ORDERS },
        held: heldText(given.shareOf?.(accountId) ?? null, language),
        summary: summarize(rows, alerts.length, language),
        changed: changedSince(rows, now() - DAY_MS, language),
        steps: stepsOf({ services, channels, pages }),
        alerts: alerts.map(({ thread, since, services: affected, total, acknowledged }) => {
          const more = total - affected.length;
          const names = [
            ...affected.map(({ name }) => name),
            ...(more > 0 ? [language.texts.alerts.more(more)] : []),
          ].join(', ');
          return {
            thread,
            names,
            since: language.texts.alerts.openSince(time(since)),
            taken:
              acknowledged === null
                ? null
                : language.texts.alerts.acknowledgedBy(acknowledged.by, time(acknowledged.at)),
          };
        }),
        kinds: MONITORING_KINDS,
        claims: claims.map((claim) => ({ ...claim, ...proofs.instructions(accountId, claim.domain) })),
        shapes: STATUS_SHAPES,
      },
      session,
      refused === null ? 200 : 400,
    );
  };

  const form = visitorForms(sources, '/dashboard', overview);

  return [
    visitorRoute(
      sources,
      '/dashboard',
      async (session, request) =>
        invitation.follow(request) ??
        leadBack(request, siteUrl) ??
        (await overview(session, null, request.query)),
    ),
    form('domains/drop', async (_, session, fields) =>
      dropClaim(context, memberOf(session), fields.get('domain') ?? ''),
    ),
    form('alerts/acknowledge', async (_, session, fields) => {
      const thread = fields.get('thread') ?? '';
      return await acknowledgeAlert({ registry, now }, memberOf(session), thread, session.personName);
    }),
    form('notices/drop', async (_, { accountId }, fields) =>
      accept(await registry.dropNotice(accountId, Number(fields.get('id')) || 0)),
    ),
    ...keyPages(show, sources),
    ...accountPages(show, sources),
    ...newServicePages(show, sources),
    ...startPages(show, sources),
    ...startChannelPages(show, sources),
    ...ownedServicePages(show, sources),
    ...channelPages(show, sources),
    ...rulePages(show, sources),
    ...webhookPages(show, sources),
    ...incidentPages(show, sources),
    ...maintenancePages(show, sources),
    ...pageOverview(show, sources),
    ...pageEditor(show, sources),
    ...memberPages(show, sources),
    ...invitationPages(render, sources),
  ];
}

/** The first steps of an account, and which are done; empty: all that matter are. A status page is not for everyone. */
function stepsOf(of: {
  readonly services: readonly Pick<Service, 'verified' | 'slug'>[];
  readonly channels: readonly unknown[];
  readonly pages: readonly unknown[];
}) {
  const isWatched = of.services.length > 0;
  const waiting = of.services.find(({ verified }) => !verified);
  if (isWatched && of.channels.length > 0) return [];
  return [
    { step: 'service', href: START_PATH, isDone: isWatched },
    {
      step: 'proof',
      href: waiting === undefined ? '#services' : `/dashboard/services/${waiting.slug}`,
      isDone: of.services.some(({ verified }) => verified),
    },
    { step: 'channel', href: '/dashboard/channels', isDone: of.channels.length > 0 },
    { step: 'page', href: '/dashboard/pages', isDone: of.pages.length > 0 },
  ] as const;
}

/** The tabs that a role sees. `template`: that of the page; `path`: of pages that share a template, the path of their tab. */
function tabsOf(language: Language, role: Role, template: string, path?: unknown): Tab[] {
  const { alerts, dashboard, members, site } = language.texts;
  const all: readonly (readonly [href: string, text: string, templates: readonly string[], role?: Role])[] = [
    ['/dashboard', site.services, ['./dashboard', './dashboard-service', './dashboard-new-service']],
    ['/dashboard/rules', alerts.rules, ['./dashboard-rules', './dashboard-rule']],
    ['/dashboard/channels', alerts.channels, ['./dashboard-channels', './dashboard-channel']],
    ['/dashboard/pages', dashboard.pages, ['./dashboard-pages', './dashboard-page']],
    ['/dashboard/incidents', dashboard.reportIncident, []],
    ['/dashboard/maintenances', dashboard.planMaintenance, []],
    ['/dashboard/keys', dashboard.keys, ['./dashboard-keys', './dashboard-key'], 'owner'],
    ['/dashboard/webhooks', dashboard.webhooks, ['./dashboard-webhooks'], 'editor'],
    ['/dashboard/members', members.title, ['./dashboard-members']],
  ];
  return all
    .filter(([, , , needed = 'viewer']) => includesRole(role, needed))
    .map(([href, text, templates]) => ({
      href,
      text,
      isHere: templates.includes(template) || href === path,
    }));
}
