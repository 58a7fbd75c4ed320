/**
 * `/dashboard/channels`: where an account is told, the messages that were sent there, and the forms that change it, with fields
 * made from the schema of each kind.
 */
import {
  CHANNEL_KINDS,
  type Channel,
  type ChannelKind,
  MESSAGE_LANGUAGES,
} from '../../domain/alert/channel.ts';
import { DAY_MS } from '../../domain/durations.ts';
import { seeOther } from '../../http/body.ts';
import { HttpError } from '../../http/problem.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import type { TSchema } from '../../json-schema.ts';
import { type Phrase, time } from '../../language/phrase.ts';
import {
  type ChannelKinds,
  channelChanges,
  propertiesOf,
  replayMessage,
  settingOfText,
  testChannel,
} from '../../resources/channels/channels.ts';
import type { Outcome } from '../../resources/kit/change.ts';
import { resultOf } from '../../resources/kit/write-route.ts';
import { type RuleContext, ruleChanges } from '../../resources/rules/rules.ts';
import type { StoredMessage } from '../../store/ports/channels.ts';
import type { Language, LanguageTexts } from '../language/language.ts';
import {
  changeContext,
  type DashboardForm,
  type DashboardSources,
  describeRefusals,
  type FormFields,
  formRoute,
  type LabelOf,
  numberIn,
  type RefusedForm,
  requireRole,
  type ShowPage,
  shownRevision,
  targetIn,
  visitorRoute,
} from './dashboard-forms.ts';
import type { Visitor } from './sign-in-pages.ts';

/** Fields of settings begin with this, as the paths of refusals do. */
const PREFIX = 'settings.';
/** Fields that remove a secret begin with this. */
const REMOVAL = 'remove.';

/** The name, the language and the settings of a form, as a merge patch of the document of the channel. */
export function readChannelFields(
  kinds: ChannelKinds,
  kind: ChannelKind,
  fields: FormFields,
  before: Channel | null,
): object {
  const settings: Record<string, string | number | boolean | null> = {};
  for (const [name, property] of Object.entries(propertiesOf(kinds, kind))) {
    const text = fields.get(`${PREFIX}${name}`) ?? '';
    if (text !== '') settings[name] = settingOfText(text, property);
    // A secret that is not entered stays; another setting without a text is removed.
    else if (before !== null && (property.writeOnly !== true || fields.has(`${REMOVAL}${name}`)))
      settings[name] = null;
  }
  return {
    name: fields.get('name') ?? '',
    language: fields.get('language') ?? 'en',
    settings,
  };
}

/** A channel in a form; null: it is a new one. */
interface ShownChannel {
  readonly kinds: ChannelKinds;
  readonly kind: ChannelKind;
  readonly channel: Channel | null;
}

/** The fields for the template, with what was entered in a refused form. Secrets are not shown again. */
export function channelFields(
  { kinds, kind, channel }: ShownChannel,
  refused: RefusedForm | null,
  { texts: { alerts, checks } }: LanguageTexts,
) {
  const required: readonly string[] = kinds[kind]?.settings.required ?? [];
  return Object.entries(propertiesOf(kinds, kind)).map(([name, property]) => {
    const key = `${PREFIX}${name}`;
    const made = channel === null ? kinds[kind]?.make?.[name]?.() : undefined;
    // What is made here has to be copied to the receiver.
    const secret = property.writeOnly === true && made === undefined;
    const stored = channel?.settings[name];
    const text = alerts.setting(kind, name);
    const choices: readonly string[] = property.enum ?? [];
    return {
      key,
      title: text?.title ?? property.title ?? name,
      where: text?.where ?? property.description ?? '',
      secret,
      isMade: made !== undefined,
      // Null: there is no secret that can be removed.
      removal: secret && stored !== undefined && !required.includes(name) ? `${REMOVAL}${name}` : null,
      input: inputOf(property),
      required: required.includes(name) && !(secret && stored !== undefined),
      value: secret ? '' : (refused?.typed.get(key) ?? String(stored ?? made ?? '')),
      hint: secret && stored !== undefined ? alerts.keptSecret : String(property.examples?.[0] ?? ''),
      choices:
        property.type === 'boolean'
          ? [
              { value: 'true', text: checks.yes },
              { value: 'false', text: checks.no },
            ]
          : choices.map((value) => ({ value, text: value })),
    };
  });
}

function inputOf({ type, enum: choices }: TSchema): 'number' | 'choice' | 'text' {
  if (choices !== undefined || type === 'boolean') return 'choice';
  return type === 'integer' || type === 'number' ? 'number' : 'text';
}

/** The labels of settings in the form of a channel. */
export function channelLabels(
  kinds: ChannelKinds,
  kind: ChannelKind,
  { language }: { readonly language: LanguageTexts },
): LabelOf {
  const properties = propertiesOf(kinds, kind);
  const { alerts } = language.texts;
  return (name) => alerts.setting(kind, name)?.title ?? properties[name]?.title;
}

const PATH = '/dashboard/channels';
/** The time for which the form of a test waits for the outcome, milliseconds. */
const TEST_WAIT_MS = 6_000;
const POLL_MS = 250;
/** Time over which delays are counted. */
const DELAYS_MS = 30 * DAY_MS;

export function channelPages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, kinds } = sources;
  const ruleContext = changeContext(sources);
  const editor = createEditor(show, sources);

  const find = async ({ params }: HttpRequest, session: Visitor): Promise<Channel> =>
    resultOf(await channelChanges.find(sources, session, Number(params.id) || 0));

  const findKind = ({ params }: HttpRequest): ChannelKind => {
    const kind = offeredKinds(kinds).find((one) => one === params.kind);
    if (kind === undefined) throw new HttpError('route_not_found', 'There is no such kind of channel.');
    return kind;
  };

  const form = (name: string, take: DashboardForm<Channel>['take'], back?: () => string): Route =>
    formRoute(sources, {
      path: `${PATH}/:id/${name}`,
      name,
      find,
      take,
      labels: ({ kind }, session) => channelLabels(kinds, kind, session),
      back: back ?? (({ id }) => `${PATH}/${id}`),
      page: editor,
    });

  return [
    visitorRoute(sources, PATH, 'viewer', (session) => showOverview(show, sources, session)),
    visitorRoute(sources, `${PATH}/new/:kind`, 'editor', (session, request) =>
      editor(findKind(request), session, null),
    ),
    formRoute<ChannelKind>(sources, {
      path: `${PATH}/new/:kind/save`,
      name: 'save',
      find: findKind,
      labels: (kind, session) => channelLabels(kinds, kind, session),
      async take(kind, session, fields) {
        const document = { kind, ...readChannelFields(kinds, kind, fields, null) };
        const outcome = await channelChanges.add(sources, session, document);
        if (!outcome.ok) return outcome;
        const hasRule = await addFirstRule(ruleContext, outcome.value, session);
        return seeOther(`${PATH}/${outcome.value.id}?new=${hasRule ? 'rule' : 'channel'}`);
      },
      back: () => PATH,
      page: editor,
    }),
    visitorRoute(sources, `${PATH}/:id`, 'viewer', async (session, request) => {
      const { alerts } = session.language.texts;
      const added = new URLSearchParams(request.query).get('new');
      const channel = await find(request, session);
      const note = channel.confirmedAt === null ? alerts.unconfirmedLead : alerts.newChannel;
      const notes = added === null ? [] : [note, ...(added === 'rule' ? [alerts.firstRuleMade] : [])];
      return await editor(channel, session, null, notes.length === 0 ? null : notes.join(' '));
    }),
    form('save', async (channel, session, fields) => {
      const patch = readChannelFields(kinds, channel.kind, fields, channel);
      return await channelChanges.patch(sources, session, targetIn(channel.id, fields), patch);
    }),
    form('ask', async ({ id }, session) => {
      requireRole(session, 'editor');
      await registry.askChannelAgain(session.accountId, id);
      return { ok: true, value: undefined };
    }),
    form('rule', (channel, session, fields) => addToRule(ruleContext, channel, session, fields)),
    form('test', async (channel, session) => {
      requireRole(session, 'editor');
      const outcome = await testChannel(sources, session, channel.id);
      if (!outcome.ok) return { problems: describeRefusals(outcome, session) };
      const note = await outcomeOf(sources, channel, outcome.value, session.language);
      return await editor(channel, session, null, note);
    }),
    form('replay', ({ id }, session, fields) =>
      replayMessage(sources, session, id, numberIn(fields, 'message')),
    ),
    form(
      'remove',
      ({ id }, session, fields) => channelChanges.remove(sources, session, targetIn(id, fields)),
      () => PATH,
    ),
  ];
}

async function showOverview(
  show: ShowPage,
  { registry, now, kinds }: DashboardSources,
  session: Visitor,
): Promise<HttpResponse> {
  const { accountId, language } = session;
  const { alerts } = language.texts;
  const [channels, rules, messages, delay] = await Promise.all([
    registry.channelsOf(accountId),
    registry.rulesOf(accountId),
    registry.messagesOf(accountId),
    registry.alertDelay(accountId, now() - DELAYS_MS),
  ]);
  const { count, p50Ms, p99Ms } = delay;
  const { number } = language.formats;
  const seconds = (ms: number) => `${number(Math.max(0.1, Math.round(ms / 100) / 10))} s`;
  return show('./dashboard-channels', session, null, {
    title: alerts.channels,
    delay:
      p50Ms === null || p99Ms === null ? null : alerts.delay(number(count), seconds(p50Ms), seconds(p99Ms)),
    channels: channels.map((channel) => ({
      ...viewChannel(kinds, channel, messages, language),
      isInRule: rules.some((rule) => rule.channels.includes(channel.id)),
    })),
    kinds: offeredKinds(kinds).map((kind) => ({ kind, word: alerts.kind[kind] })),
    messages: viewMessages(messages, channels, language),
  });
}

/** The form of a new channel, or of one of the account with its messages. */
function createEditor(show: ShowPage, { registry, kinds }: DashboardSources) {
  return async (
    subject: ChannelKind | Channel,
    session: Visitor,
    refused: RefusedForm | null,
    note: string | null = null,
  ): Promise<HttpResponse> => {
    const { language, accountId } = session;
    const channel = typeof subject === 'string' ? null : subject;
    const kind = typeof subject === 'string' ? subject : subject.kind;
    const [messages, rules] = await Promise.all([
      channel === null ? [] : registry.messagesOf(accountId, channel.id),
      registry.rulesOf(accountId),
    ]);
    const [inRules, otherRules] = [true, false].map((isIn) =>
      rules.filter(({ channels }) => channel !== null && channels.includes(channel.id) === isIn),
    );
    const word = language.texts.alerts.kind[kind];
    return show('./dashboard-channel', session, refused, {
      title: channel?.name ?? language.texts.alerts.addKind(word),
      path: `${PATH}/${channel === null ? `new/${kind}` : channel.id}`,
      kind,
      word,
      note,
      inRules,
      otherRules,
      name: channel?.name ?? (channel === null ? word : ''),
      chosen: channel?.language ?? language.code,
      languages: MESSAGE_LANGUAGES,
      fields: channelFields({ kinds, kind, channel }, refused, language),
      channel: channel === null ? null : viewChannel(kinds, channel, messages, language),
      revision: channel === null ? 0 : shownRevision(refused, channel),
      messages: channel === null ? [] : viewMessages(messages, [channel], language),
    });
  };
}

/** The outcome of a test as a sentence; it is waited for a short time. */
export async function outcomeOf(
  { registry, clock }: DashboardSources,
  { id, accountId }: Channel,
  thread: string,
  { texts }: Language,
): Promise<string> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const messages = await registry.messagesOf(accountId, id);
    const sent = messages.find(({ message }) => message.thread === thread);
    if (sent?.problem) return texts.alerts.testFailed(texts.alerts.problem(sent.problem));
    if (sent?.deliveredAt) return texts.alerts.tested;
    if (waitedMs >= TEST_WAIT_MS) return texts.alerts.testWaits;
    await new Promise<void>((resolve) => clock.after(POLL_MS, resolve));
  }
}

async function addToRule(
  context: RuleContext,
  { name }: Channel,
  session: Visitor,
  fields: FormFields,
): Promise<Outcome<unknown>> {
  const found = await ruleChanges.find(context, session, numberIn(fields, 'rule'));
  if (!found.ok) return found;
  const { channels = [] } = await ruleChanges.documentOf(context, found.value);
  const patch = { channels: [...channels.filter((one) => one !== name), name] };
  const { id, revision } = found.value;
  return await ruleChanges.patch(context, session, { key: id, revisions: [revision] }, patch);
}

/** The first channel gets a rule, so that the account is told something. */
export async function addFirstRule(
  context: RuleContext,
  { name }: Channel,
  session: Visitor,
): Promise<boolean> {
  if ((await context.registry.rulesOf(session.accountId)).length > 0) return false;
  const document = { name: session.language.texts.alerts.firstRule, own: true, channels: [name] };
  return (await ruleChanges.add(context, session, document)).ok;
}

/** The kinds that can be chosen, in the order in which they are shown. */
export function offeredKinds(kinds: ChannelKinds): ChannelKind[] {
  return CHANNEL_KINDS.filter((kind) => kinds[kind] !== undefined);
}

function viewChannel(
  kinds: ChannelKinds,
  channel: Channel,
  messages: readonly StoredMessage[],
  { texts: { alerts } }: Language,
) {
  const last = messages.find(({ channelId }) => channelId === channel.id);
  return {
    id: channel.id,
    name: channel.name,
    kind: channel.kind,
    word: alerts.kind[channel.kind],
    destination: kinds[channel.kind]?.describe(channel.settings) ?? '',
    isConfirmed: channel.confirmedAt !== null,
    // Why nothing is sent; null: messages are.
    lack:
      channel.confirmedAt !== null
        ? null
        : channel.stoppedAt === undefined
          ? { word: alerts.unconfirmed, lead: alerts.unconfirmedLead }
          : { word: alerts.stopped, lead: alerts.stoppedLead },
    last: last === undefined ? [alerts.nothingSent] : stateOf(last, alerts),
    hasFailed: last !== undefined && last.problem !== null,
  };
}

function viewMessages(
  messages: readonly StoredMessage[],
  channels: readonly Channel[],
  { texts: { alerts }, formats }: Language,
) {
  const names = new Map(channels.map(({ id, name }) => [id, name]));
  return messages.map((stored) => {
    const { id, channelId, message, createdAt, attempts } = stored;
    const word = alerts.message[message.type];
    const services = message.items.map(({ service }) => service.name).slice(0, 3);
    const more = message.total - services.length;
    const about = [...services, ...(more > 0 && services.length > 0 ? [alerts.more(more)] : [])];
    return {
      id,
      channelId,
      to: names.get(channelId) ?? '',
      made: [time(createdAt)],
      what: about.length === 0 ? word : `${word}: ${about.join(', ')}`,
      state: stateOf(stored, alerts),
      attempts,
      replay: alerts.replayOf(word, formats.time(createdAt)),
    };
  });
}

function stateOf(
  { createdAt, deliveredAt, dueAt, attempts, problem }: StoredMessage,
  alerts: Language['texts']['alerts'],
): Phrase {
  const why = problem === null ? [] : [`: ${alerts.problem(problem)}`];
  if (dueAt !== null) return attempts === 0 ? [alerts.waits] : [...alerts.againAt(time(dueAt)), ...why];
  return deliveredAt === null
    ? [...alerts.failedAt(time(createdAt)), ...why]
    : alerts.delivered(time(deliveredAt));
}
