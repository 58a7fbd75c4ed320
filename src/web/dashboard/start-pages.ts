/** `/dashboard/start`: what a new account wants to have watched, as pasted lines. Each is tried and added at once. */
import { isIP } from 'node:net';
import type { PastedTarget } from '../../domain/pasted/pasted-lines.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import { needsProof } from '../../resources/services/services.ts';
import { type WatchedLine, watchPasted } from '../../resources/services/watch-pasted.ts';
import { STATUS_SHAPES } from '../parts/verdict.ts';
import {
  changeContext,
  type DashboardSources,
  describeRefusals,
  formRoute,
  memberOf,
  type RefusedForm,
  type ShowPage,
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
    return show(
      './dashboard-start',
      {
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
      },
      session,
      refused === null ? 200 : 400,
    );
  };

  return [
    visitorRoute(sources, START_PATH, (session) => page(session, []), 'editor'),
    formRoute<Visitor>(sources, {
      path: `${START_PATH}/watch`,
      name: 'watch',
      find: (_request, session) => session,
      async take(_, session, fields) {
        const lines = await watchPasted(context, memberOf(session), fields.get('addresses') ?? '');
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
