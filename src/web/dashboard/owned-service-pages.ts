/** `/dashboard/services/:slug`: a service of an owner, its settings, its newest heartbeats and its badges. */

import { verifyDomain } from '../../app/domains.ts';
import { makeHeartbeatAddress, removeHeartbeatAddress } from '../../app/heartbeat-addresses.ts';
import { changeService, removeService, type ServiceChanges } from '../../app/services.ts';
import { CATEGORIES } from '../../domain/category.ts';
import { formatDuration } from '../../domain/durations.ts';
import type { Sample } from '../../domain/sample.ts';
import type { Service } from '../../domain/service.ts';
import { unknownStatus } from '../../domain/status/current.ts';
import { seeOther } from '../../http/form.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import { timeToSecond } from '../../language/phrase.ts';
import type { HeartbeatLog, StoredHeartbeat } from '../../store/ports/heartbeats.ts';
import { DEFAULT_BADGE } from '../../view/badge-query.ts';
import { serviceNotFound } from '../../view/service-directory.ts';
import { badgeSnippets } from '../parts/badge-snippets.ts';
import { describeVerdict, STATUS_SHAPES } from '../parts/verdict.ts';
import { membersOf, settingsOf, viewSettings } from './check-fields.ts';
import {
  changeContext,
  type DashboardForm,
  type DashboardSources,
  type FormFields,
  formRoute,
  memberOf,
  type RefusedForm,
  renameFields,
  revisionIn,
  type ShowPage,
  shownRevision,
  viewForms,
  visitorRoute,
} from './dashboard-forms.ts';
import type { Visitor } from './sign-in-pages.ts';

const SHOWN = 20;
const NO_ANSWERS: readonly boolean[] = [];

/** The routes. */
export function ownedServicePages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, directory, status, samples, beginHistory, proofs, siteUrl } = sources;
  const context = changeContext(sources);

  /** Finds a service of the account. Services of other accounts are not found. */
  const find = ({ params }: HttpRequest, { accountId }: Visitor): Service => {
    const service = directory.bySlug(params.slug ?? '');
    if (service === null || service.accountId !== accountId) throw serviceNotFound(params.slug ?? '');
    return service;
  };

  const page = async (
    service: Service,
    session: Visitor,
    refused: RefusedForm | null,
    secret: string | null = null,
  ): Promise<HttpResponse> => {
    const { id, slug, name } = service;
    const { texts } = session.language;
    const current = status.get(id) ?? unknownStatus(id);
    const { sealed = {} } = service.check;
    const [beats, logs, checks, foreign] = await Promise.all([
      registry.recentHeartbeats(id),
      registry.heartbeatLogs(id),
      beginHistory()(() => samples.newest(id, SHOWN).catch((): Sample[] => [])),
      Object.keys(sealed).length === 0 ? NO_ANSWERS : registry.foreignCredentials(Object.values(sealed)),
    ]);
    const [subscribers = 0] = await registry.countSubscriptions([`service:${service.id}`]);
    const shownAs = directory.pageName(service);
    const snippets = badgeSnippets({ siteUrl, page: shownAs, request: DEFAULT_BADGE }, `${name} status`);
    return show(
      './dashboard-service',
      {
        title: name,
        service,
        forms: viewForms(refused),
        revision: shownRevision(refused, service),
        settings: viewSettings(service, refused, session.language, sources.bounds),
        unreadable: foreign.includes(true),
        page: shownAs,
        subscribers: subscribers === 0 ? null : texts.subscribe.subscribers(subscribers),
        word: texts.status[current.status],
        status: current.status,
        shape: STATUS_SHAPES[current.status],
        verdict: describeVerdict(current, session.language),
        categories: CATEGORIES,
        proof: service.verified ? null : proofs.instructions(session.accountId, service.domain),
        hasAddress: secret !== null || service.check.addressHash !== undefined,
        address: secret === null ? null : `${siteUrl}/beat/${secret}`,
        beats: newestReports(beats, logs).map((report) => ({ ...report, time: [timeToSecond(report.at)] })),
        checks: (checks ?? []).map((check) => ({ ...check, time: [timeToSecond(check.at)] })),
        curl: `curl -X POST ${siteUrl}/api/v1/heartbeat \\\n  -H "Authorization: Bearer $UPBEAT_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '{"domain":"${service.domain}","status":"ok","checks":{"database":{"status":"ok","latency":12}}}'`,
        markdown: snippets.markdown,
        html: snippets.html,
        badge: `/api/badge/${shownAs}`,
        period: service.check.periodMs === undefined ? '' : formatDuration(service.check.periodMs),
        grace: service.check.graceMs === undefined ? '' : formatDuration(service.check.graceMs),
        // The fields of heartbeats appear with the kind, and with their problems.
        takesHeartbeats:
          (refused?.typed.get('kind') ?? service.check.kind) === 'heartbeat' ||
          refused?.typed.has('period') === true,
        usualPeriod: formatDuration(sources.limits().silenceMs),
        usualZone: 'UTC',
        slug,
      },
      session,
      refused === null ? 200 : 400,
    );
  };

  const form = (name: string, take: DashboardForm<Service>['take']): Route =>
    formRoute(sources, {
      path: `/dashboard/services/:slug/${name}`,
      name,
      find,
      take,
      back: ({ slug }) => `/dashboard/services/${slug}`,
      page,
    });

  const setPaused =
    (paused: boolean): DashboardForm<Service>['take'] =>
    ({ slug }, session, fields) =>
      changeService(context, memberOf(session), slug, { paused }, revisionIn(fields));

  return [
    visitorRoute(sources, '/dashboard/services/:slug', (session, request) =>
      page(find(request, session), session, null),
    ),
    form('save', async ({ slug }, session, fields) =>
      changeService(context, memberOf(session), slug, changesIn(fields), revisionIn(fields)),
    ),
    form('address', async (service, session, fields) => {
      const { slug } = service;
      const revisions = revisionIn(fields);
      if (fields.get('remove') !== undefined)
        return await removeHeartbeatAddress(context, memberOf(session), slug, { revisions });
      const outcome = await makeHeartbeatAddress(context, memberOf(session), slug, { revisions });
      if (!outcome.ok) return outcome;
      return await page(service, session, null, outcome.value.secret);
    }),
    form('pause', setPaused(true)),
    form('resume', setPaused(false)),
    form('verify', async ({ domain, check }, session) => {
      const outcome = await verifyDomain(context, memberOf(session), domain, check);
      return renameFields(outcome, { domain: 'form', kind: 'form' });
    }),
    form('delete', async ({ slug, domain }, session, fields) => {
      if (fields.get('confirm') !== domain)
        return { problems: { confirm: session.language.texts.dashboard.toDeleteService(domain) } };
      const outcome = await removeService(context, memberOf(session), slug, revisionIn(fields));
      return outcome.ok ? seeOther('/dashboard') : outcome;
    }),
  ];
}

/** The changes that the form of a service asks for. */
function changesIn(fields: FormFields): ServiceChanges {
  return {
    name: fields.get('name') ?? '',
    category: fields.get('category') ?? '',
    kind: fields.get('kind') ?? '',
    settings: settingsOf(fields),
    accept: fields.get('accept'),
    ...membersOf(fields),
    ...heartbeatFields(fields),
    publicDependencies: fields.get('dependencies') === 'public',
  };
}

/** The fields of heartbeats. An empty field means the default; the forms of other kinds have none, and change nothing. */
function heartbeatFields(
  fields: FormFields,
): Pick<ServiceChanges, 'period' | 'grace' | 'schedule' | 'timezone'> {
  const hasFields = fields.get('kind') === 'heartbeat' || fields.has('period');
  const read = (name: string) => (hasFields ? fields.get(name) || null : undefined);
  return {
    period: read('period'),
    grace: read('grace'),
    schedule: read('schedule'),
    timezone: read('timezone'),
  };
}

/** A heartbeat or a log, as the page lists it. */
interface ShownReport {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly kind: StoredHeartbeat['kind'] | 'log';
  readonly verdict: StoredHeartbeat['verdict'];
  readonly body: string;
}

/** The newest heartbeats and logs together, newest first. */
function newestReports(beats: readonly StoredHeartbeat[], logs: readonly HeartbeatLog[]): ShownReport[] {
  return [
    ...beats.map(({ arrivedAt: at, kind, verdict, body }) => ({ at, kind, verdict, body })),
    ...logs.map(({ at, text: body }) => ({ at, kind: 'log', verdict: null, body }) as const),
  ]
    .sort((a, b) => b.at - a.at)
    .slice(0, SHOWN);
}
