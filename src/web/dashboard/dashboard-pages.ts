/** `/dashboard`: what sums the account up, its services and what waits for its owner. */

import { DAY_MS } from '../../domain/durations.ts';
import { includesRole, type Role } from '../../domain/role.ts';
import { MONITORING_KINDS, type Service } from '../../domain/service.ts';
import { unknownStatus } from '../../domain/status/current.ts';
import type { ServiceStatus } from '../../domain/status.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import { age, lasting, type Phrase, time } from '../../language/phrase.ts';
import { acknowledgeAlert, openAlerts } from '../../resources/alerts/open-alerts.ts';
import { accept } from '../../resources/kit/change.ts';
import { dropClaim } from '../../resources/services/domains.ts';
import { daysUntil, hoursUntil } from '../../view/time-ranges.ts';
import type { Language } from '../language/language.ts';
import { createUptimeBars } from '../parts/uptime-bars.ts';
import { STATUS_SHAPES } from '../parts/verdict.ts';
import type { RenderPage } from '../parts/views.ts';
import { accountPages } from './account-pages.ts';
import { channelPages } from './channel-pages.ts';
import { CONFIRMED_FIELD } from './confirmations.ts';
import {
  type AccountShare,
  type AskFirst,
  changeContext,
  type DashboardSources,
  numberIn,
  type RefusedForm,
  type ShowPage,
  viewForms,
  viewRights,
  visitorForms,
  visitorRoute,
} from './dashboard-forms.ts';
import { incidentPages } from './incident-pages.ts';
import { keyPages } from './key-pages.ts';
import { maintenancePages } from './maintenance-pages.ts';
import { invitationPages, memberPages } from './member-pages.ts';
import { ownedServicePages } from './owned-service-pages.ts';
import { pageEditor, pageOverview } from './page-editor.ts';
import { rulePages } from './rule-pages.ts';
import { newServicePages } from './service-form.ts';
import { invitationCookie, leadBack, type Visitor } from './sign-in-pages.ts';
import { START_PATH, startChannelPages, startPages } from './start-pages.ts';
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

  const show: ShowPage = (template, session, refused, data) => {
    const { language, formToken: token, accountName: account } = session;
    const path = 'path' in data ? data.path : undefined;
    const tabs = tabsOf(language, session.role, template, path);
    const base = { language, siteUrl, token, account, tabs, ...viewRights(session) };
    const code = Object.keys(refused?.problems ?? {}).length === 0 ? 200 : 400;
    const answer = render(template, { ...base, forms: viewForms(refused), ...data }, code);
    return { ...answer, headers: { ...answer.headers, 'Cache-Control': 'no-store' } };
  };

  const askFirst: AskFirst = ({ thing, fields, ...asked }, session) => {
    const { dashboard } = session.language.texts;
    const sent = [...fields].filter(([name]) => name !== 'token' && name !== CONFIRMED_FIELD);
    return show('./dashboard-confirm', session, null, {
      ...{ ...dashboard.confirm[thing], ...asked },
      sent: [...sent, [CONFIRMED_FIELD, 'yes']],
    });
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
    return show('./dashboard', session, refused, {
      title: texts.title,
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
    });
  };

  const form = visitorForms(sources, '/dashboard', overview);

  return [
    visitorRoute(
      sources,
      '/dashboard',
      'viewer',
      async (session, request) =>
        invitation.follow(request) ??
        leadBack(request, siteUrl) ??
        (await overview(session, null, request.query)),
    ),
    form('domains/drop', async (_, session, fields) =>
      dropClaim(context, session, fields.get('domain') ?? ''),
    ),
    form('alerts/acknowledge', async (_, session, fields) => {
      const thread = fields.get('thread') ?? '';
      return await acknowledgeAlert({ registry, now }, session, thread, session.personName);
    }),
    form('notices/drop', async (_, { accountId }, fields) =>
      accept(await registry.dropNotice(accountId, numberIn(fields, 'id'))),
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

/** Services beyond these have neither uptime nor bars, so that the page of a large account is not slow. */
const MAX_WITH_PAST = 200;
const UPTIME_DAYS = 30;
/** The last bar is the hour that goes on. */
const BARS = 24;

function createServiceTable(sources: DashboardSources) {
  const readUptime = createUptimeBars(sources, (at) => daysUntil(at, UPTIME_DAYS));
  const readBars = createUptimeBars(sources, (at) => hoursUntil(at, BARS));
  return async (services: readonly Service[], { formats, texts }: Language) => {
    const ids = services.slice(0, MAX_WITH_PAST).map(({ id }) => id);
    const [uptimes, bars] = [await readUptime(ids), await readBars(ids)];
    const rows = services.map((service) => {
      const { status: word, latest, since } = sources.status.get(service.id) ?? unknownStatus(service.id);
      const ratio = uptimes.get(service.id)?.uptimeRatio ?? null;
      const checked: Phrase = latest === null ? [texts.dashboard.never] : [age(latest.checkedAt)];
      return {
        service,
        word,
        since,
        ratio,
        checked,
        checkedAt: latest?.checkedAt ?? null,
        uptime: ratio === null ? null : formats.percent(ratio),
        lines: bars.get(service.id)?.lines ?? [],
      };
    });
    return rows.sort((a, b) => rankOf(a) - rankOf(b) || byName(a, b));
  };
}

const TABLE_ORDERS = ['status', 'name', 'uptime', 'checked'] as const;

/** The rows whose name, domain or slug contains a text, in an order. `rows`: those in trouble first. */
function arrangeRows<R extends Row>(rows: readonly R[], text: string, order: (typeof TABLE_ORDERS)[number]) {
  const wanted = text.trim().toLowerCase();
  const found = rows.filter(({ service: { name, domain, slug } }) =>
    `${name}\n${domain}\n${slug}`.toLowerCase().includes(wanted),
  );
  return order === 'status' ? found : found.sort(ORDERS[order]);
}

const byName = (a: Row, b: Row) => a.service.name.localeCompare(b.service.name);
/** The orders of the table; unknown values come last. */
const ORDERS: Readonly<Record<Exclude<(typeof TABLE_ORDERS)[number], 'status'>, (a: Row, b: Row) => number>> =
  {
    name: byName,
    uptime: (a, b) => (a.ratio ?? 2) - (b.ratio ?? 2) || byName(a, b),
    checked: (a, b) => (b.checkedAt ?? 0) - (a.checkedAt ?? 0) || byName(a, b),
  };

/** The part of a row that is summed up. */
interface Row {
  readonly service: Service;
  readonly word: ServiceStatus;
  readonly since: number | null;
  /** Uptime from 0 to 1; null: it is not known. */
  readonly ratio: number | null;
  /** Of the newest check, epoch milliseconds; null: there is none. */
  readonly checkedAt: number | null;
}

/** The order of states: what is in trouble comes first, and what is paused last. */
function rankOf({ word, service }: Row): number {
  return service.paused ? STATES.length : STATES.indexOf(word);
}

const STATES: readonly Row['word'][] = ['down', 'slow', 'unknown', 'up'];

/** A word that stands alone elsewhere. */
function inSentence(word: string): string {
  return word.slice(0, 1).toLowerCase() + word.slice(1);
}

/** The account in a sentence; null: it has no services. */
function summarize(rows: readonly Row[], openAlerts: number, { texts, formats }: Language): string | null {
  if (rows.length === 0) return null;
  const { dashboard, status } = texts;
  const states = STATES.flatMap((word) => {
    const count = rows.filter((row) => row.word === word && !row.service.paused).length;
    return count === 0 ? [] : [`${formats.number(count)} ${inSentence(status[word])}`];
  });
  const ratios = rows.flatMap(({ ratio }) => ratio ?? []);
  const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
  const uptime = ratios.length === 0 ? null : formats.percent(mean);
  return dashboard.summary(formats.number(rows.length), states.join(', '), uptime, openAlerts);
}

/** The services whose state began after a time, the newest first. */
function changedSince(rows: readonly Row[], after: number, { texts }: Language) {
  return rows
    .filter(({ since, word }) => since !== null && since > after && word !== 'unknown')
    .sort((a, b) => (b.since ?? 0) - (a.since ?? 0))
    .slice(0, MAX_CHANGED)
    .map(({ service: { slug, name }, word, since }) => ({
      ...{ slug, name, word },
      sentence: texts.dashboard.forTime(lasting(since ?? 0)),
    }));
}

const MAX_CHANGED = 6;

/** Why checks of the account are late, in a sentence; null: they are not, or not by its own share. */
function heldText(share: AccountShare | null, { texts, formats }: Language): string | null {
  return share === null
    ? null
    : texts.dashboard.ownShareUsed(formats.number(share.held), formats.number(share.waiting));
}
