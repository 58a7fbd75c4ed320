/** `/dashboard/rules`: which changes an account is told of, where and how, and its open alerts. */

import type { AlertRule } from '../../domain/alert/rule.ts';
import { DEFAULT_ALERT_EVENTS } from '../../domain/alert/rule.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import { nameOnPage } from '../../resources/kit/listed-services.ts';
import { resultOf } from '../../resources/kit/refused.ts';
import type { RuleDocument } from '../../resources/rules/rule-document.ts';
import { type RuleContext, ruleChanges } from '../../resources/rules/rules.ts';
import type { Language } from '../language/language.ts';
import {
  changeContext,
  type DashboardForm,
  type DashboardSources,
  formRoute,
  numberIn,
  type RefusedForm,
  type ShowPage,
  shownRevision,
  targetIn,
  visitorRoute,
} from './dashboard-forms.ts';
import { readRuleFields, ruleFields, ruleProblems } from './rule-fields.ts';
import type { Visitor } from './sign-in-pages.ts';

const RULES_PATH = '/dashboard/rules';
const MAX_SEARCH_LENGTH = 100;

/** A rule of the account, or a new one. */
interface RuleSubject {
  /** Null: it is new. */
  readonly id: number | null;
  /** 0: it is new. */
  readonly revision: number;
  readonly document: RuleDocument;
}

export function rulePages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, directory } = sources;
  const context = changeContext(sources);

  const editor = async (
    { id, revision, document }: RuleSubject,
    session: Visitor,
    refused: RefusedForm | null,
    search = '',
  ): Promise<HttpResponse> => {
    const { accountId, language } = session;
    const [own, pages, channels] = await Promise.all([
      registry.servicesOf(accountId),
      registry.pagesOf(accountId),
      registry.channelsOf(accountId),
    ]);
    const shown = refused === null ? document : readRuleFields(refused.typed);
    const parts = { document: shown, accountId, own, pages, channels, directory, search };
    return show('./dashboard-rule', session, refused, {
      title: id === null ? language.texts.alerts.newRule : document.name,
      path: `${RULES_PATH}/${id ?? 'new'}`,
      isNew: id === null,
      revision: shownRevision(refused, { revision }),
      rule: ruleFields(parts, language),
    });
  };

  /** Saves a form, or shows it again with the services that were searched for. */
  const save: DashboardForm<RuleSubject>['take'] = async (subject, session, fields) => {
    const document = readRuleFields(fields);
    if (fields.has('find')) {
      const revision = numberIn(fields, 'revision');
      const search = (fields.get('q') ?? '').slice(0, MAX_SEARCH_LENGTH);
      return await editor({ ...subject, revision, document }, session, null, search);
    }
    if (document.channels.length === 0) return ruleProblems(refuseWithoutChannel);
    return ruleProblems(
      subject.id === null
        ? await ruleChanges.add(context, session, document)
        : await ruleChanges.replace(context, session, targetIn(subject.id, fields), document),
    );
  };

  const find = async ({ params }: HttpRequest, session: Visitor): Promise<RuleSubject> => {
    const found = resultOf(await ruleChanges.find(context, session, Number(params.id) || 0));
    const { id, revision } = found;
    return { id, revision, document: await ruleChanges.documentOf(context, found) };
  };

  const form = (
    path: string,
    name: string,
    subject: DashboardForm<RuleSubject>['find'],
    take: DashboardForm<RuleSubject>['take'],
  ): Route =>
    formRoute(sources, {
      path: `${RULES_PATH}/${path}/${name}`,
      name,
      find: subject,
      take,
      back: () => RULES_PATH,
      page: (rule, session, refused) => editor(rule, session, refused),
    });

  return [
    visitorRoute(sources, RULES_PATH, 'viewer', (session) => showOverview(show, context, sources, session)),
    visitorRoute(
      sources,
      `${RULES_PATH}/new`,
      'editor',
      async (session, request) => await editor(await newRule(sources, request, session), session, null),
    ),
    form('new', 'save', (request, session) => newRule(sources, request, session), save),
    visitorRoute(
      sources,
      `${RULES_PATH}/:id`,
      'editor',
      async (session, request) => await editor(await find(request, session), session, null),
    ),
    form(':id', 'save', find, save),
    form(':id', 'remove', find, ({ id }, session, fields) =>
      ruleChanges.remove(context, session, targetIn(id ?? 0, fields)),
    ),
  ];
}

async function showOverview(
  show: ShowPage,
  context: RuleContext,
  { registry, directory }: DashboardSources,
  session: Visitor,
): Promise<HttpResponse> {
  const { accountId, language } = session;
  const [rules, channels, pages] = await Promise.all([
    ruleChanges.list(context, accountId),
    registry.channelsOf(accountId),
    registry.pagesOf(accountId),
  ]);
  const titles = new Map(pages.map(({ slug, title }) => [slug, title]));
  const own = directory.to(new Set([accountId]));
  const nameOf = (id: number) => own.byId(id)?.name ?? null;
  return show('./dashboard-rules', session, null, {
    title: language.texts.alerts.rules,
    hasChannels: channels.length > 0,
    rules: rules.map(({ entity: rule, document }) => viewRule(rule, document, { nameOf, titles }, language)),
  });
}

/** The rule that the form of a new one begins with. `service` of the query: it watches that service. */
async function newRule(
  { registry, directory }: DashboardSources,
  { query }: HttpRequest,
  { accountId }: Visitor,
): Promise<RuleSubject> {
  const [only, ...others] = await registry.channelsOf(accountId);
  const service = directory.whole.bySlug(new URLSearchParams(query).get('service') ?? '');
  const isOwn = service?.accountId === accountId;
  const watched = service !== null && (isOwn || service.origin === 'catalogue') ? service : null;
  return {
    id: null,
    revision: 0,
    document: {
      name: watched?.name ?? '',
      ...(watched === null ? { own: true } : { services: [nameOnPage(watched)] }),
      channels: only !== undefined && others.length === 0 ? [only.name] : [],
    },
  };
}

const refuseWithoutChannel = {
  ok: false,
  refusals: [{ field: 'channels', refusal: { code: 'rule_channels_missing' } }],
} as const;

function viewRule(
  rule: AlertRule,
  { channels, after, repeat, quiet }: RuleDocument,
  {
    nameOf,
    titles,
  }: {
    readonly nameOf: (id: number) => string | null;
    readonly titles: ReadonlyMap<string, string>;
  },
  { texts: { alerts, category } }: Language,
) {
  const { of, events } = rule;
  const timing = [
    ...(after === undefined ? [] : [alerts.lasts(after)]),
    ...(repeat === undefined ? [] : [alerts.reminds(repeat)]),
    ...(quiet === undefined ? [] : [alerts.quietHours(quiet.from, quiet.to, quiet.timezone ?? 'UTC')]),
  ];
  return {
    id: rule.id,
    name: rule.name,
    enabled: rule.enabled,
    watches: alerts.watches({
      own: of.own,
      services: of.services.flatMap((id) => nameOf(id) ?? []),
      categories: of.categories.map((one) => category[one]),
      publicCategories: of.publicCategories.map((one) => category[one]),
      pages: of.pages.flatMap((slug) => titles.get(slug) ?? []),
    }),
    events: (events.length === 0 ? DEFAULT_ALERT_EVENTS : events)
      .map((event) => alerts.event[event])
      .join(', '),
    channels: channels.join(', '),
    timing: timing.join(', '),
  };
}
