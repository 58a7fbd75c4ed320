/** `/dashboard/start`: what a new account wants to have watched, as pasted lines. Each is tried and added at once. */
import { isIP } from 'node:net';
import type { Channel, ChannelKind } from '../../domain/alert/channel.ts';
import type { PastedTarget } from '../../domain/pasted/pasted-lines.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import { channelChanges, testChannel } from '../../resources/channels/channels.ts';
import { type RuleContext, ruleChanges } from '../../resources/rules/rules.ts';
import { type WatchedLine, watchPasted } from '../../resources/services/new-service.ts';
import { needsProof } from '../../resources/services/services.ts';
import { STATUS_SHAPES } from '../parts/verdict.ts';
import {
  addFirstRule,
  channelFields,
  channelLabels,
  offeredKinds,
  outcomeOf,
  readChannelFields,
} from './channel-pages.ts';
import {
  changeContext,
  type DashboardSources,
  describeRefusals,
  type FormFields,
  formRoute,
  numberIn,
  type RefusedForm,
  type ShowPage,
  shownRevision,
  targetIn,
  visitorRoute,
} from './dashboard-forms.ts';
import { viewTrial } from './service-form.ts';
import type { Visitor } from './sign-in-pages.ts';

/** Path of the first question to a new account. */
export const START_PATH = '/dashboard/start';

export function startPages(show: ShowPage, sources: DashboardSources): Route[] {
  const { siteUrl } = sources;
  const context = { ...changeContext(sources), tryCheck: sources.tryCheck, charge: sources.charge };

  const page = (
    session: Visitor,
    lines: readonly WatchedLine[],
    refused: RefusedForm | null = null,
  ): HttpResponse => {
    const { start } = session.language.texts;
    const watched = lines.flatMap((line) => viewWatched(line, session));
    const left = lines.flatMap((line) => viewRefused(line, session));
    const title =
      lines.length === 0
        ? start.question
        : watched.length === 0
          ? start.nothingWatched
          : start.watched(watched.length);
    return show('./dashboard-start', session, refused, {
      title,
      tabs: null,
      styles: [],
      problem: refused?.problems.form ?? null,
      watched,
      refused: left,
      typed: left.map(({ typed }) => typed).join('\n'),
      addresses: lines.flatMap(({ target, secret }) =>
        target === undefined || secret === null
          ? []
          : [{ name: target.name, line: `curl -fsS ${siteUrl}/beat/${secret}` }],
      ),
      shapes: STATUS_SHAPES,
    });
  };

  return [
    visitorRoute(sources, START_PATH, 'editor', (session) => page(session, [])),
    formRoute<Visitor>(sources, {
      path: `${START_PATH}/watch`,
      name: 'watch',
      find: (_request, session) => session,
      async take(_, session, fields) {
        const lines = await watchPasted(context, session, fields.get('addresses') ?? '');
        if (lines.length > 0) return page(session, lines);
        return { problems: { form: session.language.texts.start.nothingTyped } };
      },
      back: () => START_PATH,
      page: (_, session, refused) => page(session, [], refused),
    }),
  ];
}

/** A line whose service is watched, for the template. */
function viewWatched(
  { target, outcome, trial, isKnown, ignoresCertificate }: WatchedLine,
  { language }: Visitor,
) {
  if (target === undefined || outcome?.ok !== true) return [];
  const { start } = language.texts;
  const notes = [
    ...(isKnown ? [start.isKnown] : []),
    ...(target.kind === 'heartbeat' ? [start.waitsForHeartbeat] : []),
    ...(trial === null && !isKnown && target.kind !== 'heartbeat' && outcome.value.verified
      ? [start.notTried]
      : []),
    ...(ignoresCertificate ? [start.unverified] : []),
    ...(outcome.value.verified || target.kind === 'heartbeat' ? [] : [start.needsProof]),
  ];
  return [
    {
      ...{ name: outcome.value.name, slug: outcome.value.slug, kind: outcome.value.check.kind, notes },
      place: placeText(target),
      trial: trial === null ? null : viewTrial(trial, language),
    },
  ];
}

/** A line that is not watched, with the reason. */
function viewRefused({ typed, problem, outcome }: WatchedLine, session: Visitor) {
  const { start } = session.language.texts;
  if (problem !== undefined) return [{ typed, why: start.problem[problem] }];
  if (outcome === null || outcome.ok) return [];
  if (needsProof(outcome)) return [{ typed, why: start.needsProof }];
  return [{ typed, why: Object.values(describeRefusals(outcome, session)).join(' ') }];
}

/** Host and port, if the name does not say them. */
function placeText({ kind, host, port, name }: PastedTarget): string | null {
  if (kind === 'heartbeat') return null;
  const place = port === null ? host : isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
  return place === name ? null : place;
}

const PATH = `${START_PATH}/notify`;

interface Shown {
  /** Null: none is chosen. */
  readonly kind: ChannelKind | null;
  /** The channel that was added; null: none was. */
  readonly channel?: Channel | null;
  /** The outcome of the test. */
  readonly note?: string | null;
  /** True if the channel hears of outages as far as the test shows. */
  readonly isTold?: boolean;
  readonly refused?: RefusedForm | null;
}

export function startChannelPages(show: ShowPage, sources: DashboardSources): Route[] {
  const { kinds } = sources;
  const ruleContext = changeContext(sources);
  const kindOf = (text: string | null | undefined) => offeredKinds(kinds).find((one) => one === text) ?? null;

  const page = (
    session: Visitor,
    { kind, channel = null, note = null, isTold = false, refused = null }: Shown,
  ): HttpResponse => {
    const { language } = session;
    const { alerts, start } = language.texts;
    return show('./dashboard-start-notify', session, refused, {
      title: start.where,
      tabs: null,
      styles: [],
      kind,
      kinds: offeredKinds(kinds).map((one) => ({ kind: one, word: alerts.kind[one] })),
      word: kind === null ? '' : alerts.kind[kind],
      name: channel?.name ?? (kind === null ? '' : alerts.kind[kind]),
      chosen: channel?.language ?? language.code,
      fields: kind === null ? [] : channelFields({ kinds, kind, channel }, refused, language),
      channel,
      revision: channel === null ? 0 : shownRevision(refused, channel),
      note: channel === null ? null : note,
      isTold,
    });
  };

  /** Adds the channel of a form, or changes the one that it added before. */
  const save = async (kind: ChannelKind, session: Visitor, fields: FormFields) => {
    const before = await addedBefore(session, fields);
    const document = readChannelFields(kinds, kind, fields, before);
    if (before === null) return await channelChanges.add(sources, session, { kind, ...document });
    const { id } = before;
    const changed = await channelChanges.patch(sources, session, targetIn(id, fields), document);
    return changed.ok ? await channelChanges.find(sources, session, id) : changed;
  };

  const addedBefore = async (session: Visitor, fields: FormFields): Promise<Channel | null> => {
    const id = numberIn(fields, 'channel');
    const found = id === 0 ? null : await channelChanges.find(sources, session, id);
    return found?.ok === true ? found.value : null;
  };

  return [
    visitorRoute(sources, PATH, 'editor', (session, request) =>
      page(session, { kind: kindOf(new URLSearchParams(request.query).get('kind')) }),
    ),
    formRoute<ChannelKind | null>(sources, {
      path: `${PATH}/:kind`,
      name: 'save',
      find: ({ params }: HttpRequest) => kindOf(params.kind),
      labels: (kind, session) => (kind === null ? () => undefined : channelLabels(kinds, kind, session)),
      async take(kind, session, fields) {
        if (kind === null) return page(session, { kind });
        const { alerts, start } = session.language.texts;
        const outcome = await save(kind, session, fields);
        if (!outcome.ok) return outcome;
        const channel = outcome.value;
        await hearAll(ruleContext, channel, session);
        if (channel.confirmedAt === null)
          return page(session, { kind, channel, note: alerts.unconfirmedLead });
        const test = await testChannel(sources, session, channel.id);
        const said = test.ok
          ? await outcomeOf(sources, channel, test.value, session.language)
          : Object.values(describeRefusals(test, session)).join(' ');
        const isTold = said === alerts.tested || said === alerts.testWaits;
        return page(session, {
          ...{ kind, channel, isTold },
          note: isTold ? `${said} ${start.isTold(channel.name)}` : said,
        });
      },
      back: () => PATH,
      async page(kind, session, refused) {
        return page(session, { kind, channel: await addedBefore(session, refused.typed), refused });
      },
    }),
  ];
}

/** The channel is in a rule about everything of the account. */
async function hearAll(context: RuleContext, channel: Channel, session: Visitor): Promise<void> {
  if (await addFirstRule(context, channel, session)) return;
  const rules = await context.registry.rulesOf(session.accountId);
  const [first] = rules;
  if (first === undefined || rules.some(({ channels }) => channels.includes(channel.id))) return;
  const { channels = [] } = await ruleChanges.documentOf(context, first);
  const patch = { channels: [...channels, channel.name] };
  await ruleChanges.patch(context, session, { key: first.id, revisions: [first.revision] }, patch);
}
