/** `/dashboard/services/:slug`: one service of an owner, its settings, its last reports and how to show it. */

import { type EditReading, readServiceEdit } from '../../app/edit-service.ts';
import { CATEGORIES } from '../../domain/category.ts';
import { unknownStatus } from '../../domain/current.ts';
import { formatDuration } from '../../domain/durations.ts';
import type { Sample } from '../../domain/sample.ts';
import type { Service } from '../../domain/service.ts';
import { seeOther } from '../../http/form.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import { DEFAULT_BADGE } from '../../view/badge-query.ts';
import { serviceNotFound } from '../../view/service-directory.ts';
import { time } from '../language/phrase.ts';
import { badgeSnippets } from '../parts/badge-snippets.ts';
import { STATUS_SHAPES, sayVerdict } from '../parts/verdict.ts';
import { claimPlace, type DashboardSources, refusable, type ShowPage } from './dashboard-sources.ts';
import {
  type FormOutcome,
  isProblem,
  ofField,
  type RefusedForm,
  refuseForm,
  viewForms,
} from './refused-form.ts';
import { findSession, requireForm, type Visitor } from './sign-in-pages.ts';

const SHOWN = 20;

/** The routes. */
export function ownedServicePages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, directory, status, samples, proofs, siteUrl, now } = sources;

  /** The account's own service; another's is not found, as if it were not there. */
  const find = ({ params }: HttpRequest, { accountId }: Visitor): Service => {
    const service = directory.bySlug(params.slug ?? '');
    if (service === null || service.accountId !== accountId) throw serviceNotFound(params.slug ?? '');
    return service;
  };

  const page = async (
    service: Service,
    session: Visitor,
    refused: RefusedForm | null,
  ): Promise<HttpResponse> => {
    const { id, slug, name } = service;
    const { words } = session.language;
    const current = status.get(id) ?? unknownStatus(id);
    const [beats, checks] = await Promise.all([
      registry.recentHeartbeats(id),
      samples.newest(id, SHOWN).catch((): Sample[] => []),
    ]);
    const shownAs = directory.pageName(service);
    const snippets = badgeSnippets({ siteUrl, page: shownAs, request: DEFAULT_BADGE }, `${name} status`);
    return show(
      './dashboard-service',
      {
        title: name,
        service,
        forms: viewForms(refused),
        page: shownAs,
        word: words.status[current.status],
        status: current.status,
        shape: STATUS_SHAPES[current.status],
        verdict: sayVerdict(current, session.language),
        categories: CATEGORIES,
        proof: service.verified ? null : proofs.instructions(session.accountId, service.domain),
        beats: beats.slice(0, SHOWN).map((beat) => ({ ...beat, time: [time(beat.arrivedAt)] })),
        checks: checks.map((check) => ({ ...check, time: [time(check.at)] })),
        curl: `curl -X POST ${siteUrl}/api/v1/heartbeat \\\n  -H "Authorization: Bearer $UPBEAT_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '{"domain":"${service.domain}","status":"ok","checks":{"database":{"status":"ok","latency":12}}}'`,
        markdown: snippets.markdown,
        html: snippets.html,
        badge: `/api/badge/${shownAs}`,
        period: service.check.periodMs === undefined ? '' : formatDuration(service.check.periodMs),
        grace: service.check.graceMs === undefined ? '' : formatDuration(service.check.graceMs),
        usualPeriod: formatDuration(sources.limits().silenceMs),
        slug,
      },
      session,
      refused === null ? 200 : 400,
    );
  };

  const form = (
    action: string,
    take: (service: Service, session: Visitor, fields: ReadonlyMap<string, string>) => Promise<FormOutcome>,
  ): Route => ({
    path: `/dashboard/services/:slug/${action}`,
    bucket: 'pages',
    anyMethod: true,
    async handle(request) {
      const { session, form: fields } = await requireForm(request, sources);
      const service = find(request, session);
      const outcome = await take(service, session, fields);
      if (outcome === null) return seeOther(`/dashboard/services/${service.slug}`);
      if (!isProblem(outcome)) return outcome;
      return await page(
        service,
        session,
        refuseForm(action, fields, outcome, session.language.words.dashboard),
      );
    },
  });

  return [
    {
      path: '/dashboard/services/:slug',
      bucket: 'pages',
      async handle(request) {
        const session = await findSession(request, sources);
        return session === null ? seeOther('/sign-in') : await page(find(request, session), session, null);
      },
    },
    form('save', async ({ slug, domain, check }, { language }, fields) => {
      const words = language.words.dashboard;
      if ((fields.get('name') ?? '') === '') return { field: 'name', problem: words.needsName };
      const reading = readServiceEdit(check, {
        name: fields.get('name'),
        category: fields.get('category') ?? '',
        kind: fields.get('kind') ?? '',
        // An empty field means the default length.
        period: fields.get('period') || null,
        grace: fields.get('grace') || null,
        publicDependencies: fields.get('dependencies') === 'public',
      });
      if (!reading.ok) return problemOf(reading, words);
      const { edit } = reading;
      const kind = edit.check?.kind ?? check.kind;
      const noPlace = kind === check.kind ? null : await refusable(() => claimPlace(sources, domain, kind));
      if (noPlace !== null) return { field: 'kind', problem: noPlace };
      return ofField('name', await refusable(() => registry.changeService(slug, edit)));
    }),
    form('pause', ({ slug }) => refusable(() => registry.changeService(slug, { paused: true }))),
    form('resume', ({ slug }) => refusable(() => registry.changeService(slug, { paused: false }))),
    form('verify', async ({ domain, check }, { accountId }) => {
      const problem = await proofs.check(accountId, domain);
      if (problem !== null) return problem;
      return await refusable(async () => {
        await claimPlace(sources, domain, check.kind);
        await registry.proveDomain(accountId, domain, check.kind, now());
        await claimPlace(sources, domain, check.kind);
      });
    }),
    form('delete', async ({ slug, domain }, { language }, fields) => {
      if (fields.get('confirm') !== domain)
        return { field: 'confirm', problem: language.words.dashboard.toDeleteService(domain) };
      const problem = await refusable(() => registry.removeService(slug));
      return problem ?? seeOther('/dashboard');
    }),
  ];
}

/** The problem of a field, in the language of the page or as a code. */
function problemOf(
  reading: Extract<EditReading, { ok: false }>,
  words: Visitor['language']['words']['dashboard'],
) {
  const { field } = reading;
  if (field === 'name')
    return { field, problem: { code: 'name_invalid', problem: reading.problem } } as const;
  if (field === 'category') return { field, problem: words.noSuchCategory };
  return { field, problem: field === 'kind' ? words.noSuchKind : words.noDuration };
}
