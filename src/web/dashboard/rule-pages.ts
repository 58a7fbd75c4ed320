/** `/dashboard/rules`: which changes an account is told of, where and how, with its open alerts; and the form of a rule. */

import type { Channel } from '../../domain/alert/channel.ts';
import { ALERT_EVENTS, type AlertRule, DEFAULT_ALERT_EVENTS } from '../../domain/alert/rule.ts';
import { parseDuration } from '../../domain/durations.ts';
import { CATEGORIES, type Service } from '../../domain/service.ts';
import type { OwnedPage } from '../../domain/status-page.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import type { Outcome } from '../../resources/kit/change.ts';
import { nameOnPage } from '../../resources/kit/listed-services.ts';
import { resultOf } from '../../resources/kit/write-route.ts';
import { type RuleContext, type RuleDocument, ruleChanges } from '../../resources/rules/rules.ts';
import type { ShownDirectory } from '../../view/service-directory.ts';
import type { Language, LanguageTexts } from '../language/language.ts';
import {
  changeContext,
  type DashboardForm,
  type DashboardSources,
  type FormFields,
  formRoute,
  numberIn,
  type RefusedForm,
  type ShowPage,
  shownRevision,
  targetIn,
  visitorRoute,
} from './dashboard-forms.ts';
import type { Visitor } from './sign-in-pages.ts';

/** Lengths that the form offers. */
const AFTER = ['1m', '2m', '5m', '10m', '30m', '1h'];
const REPEAT = ['15m', '30m', '1h', '4h', '1d'];
/** Maximum number of own services that are listed without a search. */
const MAX_LISTED = 60;
const MAX_FOUND = 12;

/** The document that the fields of a form describe. Its reader refuses what is wrong with it. */
function readRuleFields(fields: FormFields): RuleDocument {
  const chosen = (prefix: string) =>
    [...fields.keys()].filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  const among = <T extends string>(prefix: string, words: readonly T[]) => {
    const names = new Set(chosen(prefix));
    return words.filter((word) => names.has(word));
  };
  const [from = '', to = ''] = [fields.get('quiet_from'), fields.get('quiet_to')];
  const after = fields.get('after') ?? '';
  const repeat = fields.get('repeat') ?? '';
  const timezone = fields.get('quiet_zone') || 'UTC';
  const except = among('except.', ALERT_EVENTS);
  const selection = {
    own: fields.has('own'),
    services: chosen('service.'),
    categories: among('category.', CATEGORIES),
    publicCategories: among('public.', CATEGORIES),
    pages: chosen('page.'),
  };
  return {
    name: fields.get('name') ?? '',
    ...Object.fromEntries(
      Object.entries(selection).filter(
        ([, value]) => value === true || (Array.isArray(value) && value.length > 0),
      ),
    ),
    events: among('event.', ALERT_EVENTS),
    channels: chosen('channel.'),
    ...(after === '' ? {} : { after }),
    ...(repeat === '' ? {} : { repeat }),
    ...(from === '' && to === '' ? {} : { quiet: { from, to, timezone, except } }),
    enabled: fields.has('enabled'),
  };
}

/** Refusals of a document under the names of the fields of the form. */
function ruleProblems<T>(outcome: Outcome<T>): Outcome<T> {
  if (outcome.ok) return outcome;
  const refusals = outcome.refusals.map(({ field, refusal }) => {
    const [first = '', second = ''] = (field ?? '').split('.');
    const name = first === 'quiet' ? (QUIET_FIELDS[second] ?? 'quiet_from') : first;
    return { field: field === null ? null : (FIELDS[name] ?? name), refusal };
  });
  return { ok: false, refusals };
}

const QUIET_FIELDS: Readonly<Record<string, string>> = {
  from: 'quiet_from',
  to: 'quiet_to',
  timezone: 'quiet_zone',
};
/** Members whose problems stand beside another field. */
const FIELDS: Readonly<Record<string, string>> = {
  own: 'services',
  categories: 'services',
  publicCategories: 'services',
};

interface RuleFormParts {
  readonly document: RuleDocument;
  readonly accountId: number;
  readonly own: readonly Service[];
  readonly pages: readonly OwnedPage[];
  readonly channels: readonly Channel[];
  readonly directory: ShownDirectory;
  /** The text to search services for; empty: none. */
  readonly search: string;
}

function ruleFields(
  { document, accountId, own, pages, channels, directory, search }: RuleFormParts,
  { texts: { alerts, category } }: LanguageTexts,
) {
  const { services = [], events = DEFAULT_ALERT_EVENTS, quiet } = document;
  const byName = new Map(own.map((service) => [nameOnPage(service), service]));
  const chosen = services.map((name) => ({
    key: `service.${name}`,
    text: (byName.get(name) ?? directory.bySlug(name))?.name ?? name,
    checked: true,
  }));
  const others = (list: readonly Service[]) =>
    list
      .filter((service) => !services.includes(nameOnPage(service)))
      .map((service) => ({ key: `service.${nameOnPage(service)}`, text: labelOf(service), checked: false }));
  const tick = <Word extends string>(
    prefix: string,
    words: readonly Word[],
    picked: readonly string[],
    textOf: (word: Word) => string,
  ) => words.map((word) => ({ key: `${prefix}${word}`, text: textOf(word), checked: picked.includes(word) }));
  return {
    name: document.name,
    own: document.own === true,
    services: [...chosen, ...(own.length > MAX_LISTED ? [] : others(own))],
    search,
    found: search === '' ? null : others(searchServices(directory, accountId, search)),
    categories: tick('category.', CATEGORIES, document.categories ?? [], (word) => category[word]),
    publicCategories: tick('public.', CATEGORIES, document.publicCategories ?? [], (word) => category[word]),
    pages: pages.map(({ slug, title }) => ({
      key: `page.${slug}`,
      text: title,
      checked: document.pages?.includes(slug) === true,
    })),
    events: tick('event.', ALERT_EVENTS, events, (word) => alerts.event[word]),
    channels: channels.map(({ name, kind }) => ({
      key: `channel.${name}`,
      text: `${name} (${alerts.kind[kind]})`,
      checked: document.channels.includes(name),
    })),
    after: withCurrent(AFTER, document.after),
    repeat: withCurrent(REPEAT, document.repeat),
    quiet: {
      from: quiet?.from ?? '',
      to: quiet?.to ?? '',
      zone: quiet?.timezone ?? '',
      zoneHint: 'Europe/Berlin',
    },
    except: tick('except.', ALERT_EVENTS, quiet?.except ?? [], (word) => alerts.event[word]),
    enabled: document.enabled !== false,
  };
}

/** The lengths that are offered, with the one that is chosen. */
function withCurrent(offered: readonly string[], current: string | undefined) {
  const all =
    current === undefined || current === '0s' || offered.includes(current) ? offered : [...offered, current];
  return [...all]
    .sort((one, other) => (parseDuration(one) ?? 0) - (parseDuration(other) ?? 0))
    .map((value) => ({ value, selected: value === current }));
}

function labelOf({ name, domain, origin }: Service): string {
  return name === domain || origin === 'catalogue' ? name : `${name} (${domain})`;
}

/** Services of the account and public ones whose name, domain or slug contains the text; own ones first. */
function searchServices({ whole }: ShownDirectory, accountId: number, text: string): readonly Service[] {
  const wanted = text.toLowerCase();
  const found = whole
    .all()
    .filter(({ origin, accountId: owner }) => origin === 'catalogue' || owner === accountId)
    .filter(({ name, domain, slug }) => `${name}\n${domain}\n${slug}`.toLowerCase().includes(wanted));
  const rank = ({ origin, name }: Service) =>
    (origin === 'owner' ? 0 : 2) + (name.toLowerCase().startsWith(wanted) ? 0 : 1);
  return [...found]
    .sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, 'en'))
    .slice(0, MAX_FOUND);
}

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
