/** `/dashboard/services/:slug`: a service of an owner, its settings, its newest heartbeats and its badges. */

import { readHostName } from '../../domain/host-name.ts';
import type { Sample } from '../../domain/sample.ts';
import type { Service } from '../../domain/service.ts';
import { unknownStatus } from '../../domain/status/current.ts';
import { seeOther } from '../../http/body.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import { timeToSecond } from '../../language/phrase.ts';
import { verifyDomain } from '../../resources/services/domains.ts';
import type { Trial } from '../../resources/services/new-service.ts';
import {
  makeHeartbeatAddress,
  removeHeartbeatAddress,
  renewBadgeAddress,
  serviceChanges,
} from '../../resources/services/services.ts';
import type { HeartbeatLog, StoredHeartbeat } from '../../store/ports/heartbeats.ts';
import { DEFAULT_BADGE, nameWithoutHost } from '../../view/badge-url.ts';
import { nameCause, whyUnreached } from '../../view/cause-of-down.ts';
import { serviceNotFound } from '../../view/service-directory.ts';
import { windowOf } from '../../view/time-ranges.ts';
import type { Language } from '../language/language.ts';
import { badgeSnippets } from '../parts/badge-snippets.ts';
import { viewPageIncident } from '../parts/incidents.ts';
import { createUptimeBars } from '../parts/uptime-bars.ts';
import { describeVerdict, STATUS_SHAPES } from '../parts/verdict.ts';
import { describeDay, sayUnreached } from '../service/service-days.ts';
import { drawingOf } from '../service/service-response-times.ts';
import {
  changeContext,
  type DashboardForm,
  type DashboardSources,
  formRoute,
  type RefusedForm,
  renameFields,
  type ShowPage,
  shownRevision,
  targetIn,
  visitorRoute,
} from './dashboard-forms.ts';
import {
  atFields,
  checkLabels,
  filledForm,
  patchIn,
  tryForm,
  viewServiceForm,
  viewTrial,
} from './service-form.ts';
import type { Visitor } from './sign-in-pages.ts';

const SHOWN_INCIDENTS = 5;

const RANGE = '24h';

const SHOWN = 20;
const NO_ANSWERS: readonly boolean[] = [];

/** The content of the page beside the service. */
interface Shown {
  /** The last part of a new heartbeat address. */
  readonly secret?: string | null;
  readonly trial?: Trial;
  /** `new` or another word after a redirect. */
  readonly saved?: string | undefined;
}

export function ownedServicePages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, directory } = sources;
  const context = changeContext(sources);
  const page = createPage(show, sources);

  /** Finds a service of the account, which may be newer than the list of this process. Services of other accounts are not found. */
  const find = async ({ params }: HttpRequest, { accountId }: Visitor): Promise<Service> => {
    const { slug = '' } = params;
    const service = directory.whole.bySlug(slug) ?? (await registry.findService(slug.toLowerCase()));
    if (service === null || service.accountId !== accountId) throw serviceNotFound(slug);
    return service;
  };

  const form = (name: string, take: DashboardForm<Service>['take']): Route =>
    formRoute(sources, {
      path: `/dashboard/services/:slug/${name}`,
      name,
      find,
      take,
      labels: (_, session) => checkLabels(session),
      back: ({ slug }) => `/dashboard/services/${slug}`,
      page,
    });

  const setPaused =
    (paused: boolean): DashboardForm<Service>['take'] =>
    ({ slug }, session, fields) =>
      serviceChanges.patch(context, session, targetIn(slug, fields), { paused });

  return [
    visitorRoute(sources, '/dashboard/services/:slug', 'viewer', async (session, request) =>
      page(await find(request, session), session, null, {
        saved: new URLSearchParams(request.query).get('saved') ?? undefined,
      }),
    ),
    form('save', async (service, session, fields) => {
      const { slug } = service;
      if (fields.has('show')) return await page(service, session, filledForm(fields));
      if (fields.has('try')) {
        const outcome = await tryForm(sources, session, fields, service);
        if ('problems' in outcome || !outcome.ok) return outcome;
        return await page(service, session, filledForm(fields), { trial: outcome.value });
      }
      const saved = await serviceChanges.patch(context, session, targetIn(slug, fields), patchIn(fields));
      const outcome = atFields(saved, fields);
      return outcome.ok ? seeOther(`/dashboard/services/${slug}?saved=yes`) : outcome;
    }),
    form('address', async (service, session, fields) => {
      const target = targetIn(service.slug, fields);
      if (fields.has('remove')) return await removeHeartbeatAddress(context, session, target);
      const outcome = await makeHeartbeatAddress(context, session, target);
      if (!outcome.ok) return outcome;
      return await page(service, session, null, { secret: outcome.value.secret });
    }),
    form('badge', ({ slug }, session, fields) => renewBadgeAddress(context, session, targetIn(slug, fields))),
    form('pause', setPaused(true)),
    form('resume', setPaused(false)),
    form('verify', async ({ domain, check }, session) => {
      const outcome = await verifyDomain(context, session, domain, check);
      return renameFields(outcome, { domain: 'form', kind: 'form' });
    }),
    form('delete', async ({ slug, domain }, session, fields) => {
      if (fields.get('confirm') !== domain)
        return { problems: { confirm: session.language.texts.dashboard.toDeleteService(domain) } };
      const outcome = await serviceChanges.remove(context, session, targetIn(slug, fields));
      return outcome.ok ? seeOther('/dashboard') : outcome;
    }),
  ];
}

/** Creates the function that shows a service with what was entered in a refused form. */
function createPage(show: ShowPage, sources: DashboardSources) {
  const {
    registry,
    directory,
    status,
    samples,
    beginHistory,
    proofs,
    siteUrl,
    bounds,
    clock,
    badgeAddresses,
  } = sources;
  const times = {
    intervalMs: bounds.usual.intervalMs,
    listenedAt: () => clock.now(),
    now: () => clock.now(),
  };
  const causes = { directory, status, ...times, isMember: true } as const;
  const readPast = createServicePast(sources);
  return async (
    service: Service,
    session: Visitor,
    refused: RefusedForm | null,
    { secret = null, trial, saved }: Shown = {},
  ): Promise<HttpResponse> => {
    const { id, slug, name } = service;
    const { texts } = session.language;
    const current = status.get(id) ?? unknownStatus(id);
    const { sealed = {} } = service.check;
    const [own, beats, logs, checks, foreign] = await Promise.all([
      registry.servicesOf(session.accountId),
      registry.recentHeartbeats(id),
      registry.heartbeatLogs(id),
      beginHistory()(() => samples.newest(id, SHOWN).catch((): Sample[] => [])),
      Object.keys(sealed).length === 0 ? NO_ANSWERS : registry.foreignCredentials(Object.values(sealed)),
    ]);
    const past = await readPast(service, session.language);
    const [subscribers = 0] = await registry.countSubscriptions([`service:${service.id}`]);
    const shownAs = directory.pageName(service);
    // Nobody can prove an address, or a name of a private network, and the API takes no heartbeats by it.
    const isPublicName = readHostName(service.domain).ok;
    const needsProof = !service.verified && isPublicName;
    const signed = badgeAddresses.urlOf(service);
    const badge = { siteUrl, page: shownAs, request: DEFAULT_BADGE };
    const snippets =
      signed === null
        ? badgeSnippets(badge, `${name} status`)
        : badgeSnippets({ ...badge, signed }, `${nameWithoutHost(service)} status`);
    return show('./dashboard-service', session, refused, {
      title: name,
      service,
      ...viewServiceForm(service, refused, session, { ...sources, own }),
      revision: shownRevision(refused, service),
      trial: trial === undefined ? null : viewTrial(trial, session.language),
      saved: saved === undefined ? null : savedText(service, saved, session.language),
      unreadable: foreign.includes(true),
      page: shownAs,
      subscribers: subscribers === 0 ? null : texts.subscribe.subscribers(subscribers),
      past,
      word: texts.status[current.status],
      status: current.status,
      shape: STATUS_SHAPES[current.status],
      verdict: describeVerdict(current, session.language, whyUnreached(causes, service, current)),
      proof: needsProof ? proofs.instructions(session.accountId, service.domain) : null,
      isOutOfReach: !service.verified && !needsProof && service.check.kind !== 'heartbeat',
      hasAddress: secret !== null || service.check.addressHash !== undefined,
      address: secret === null ? null : `${siteUrl}/beat/${secret}`,
      beats: newestReports(beats, logs).map((report) => ({ ...report, time: [timeToSecond(report.at)] })),
      checks: (checks ?? []).map((check) => ({ ...check, time: [timeToSecond(check.at)] })),
      curl: !isPublicName
        ? null
        : `curl -X POST ${siteUrl}/api/v1/heartbeat \\\n  -H "Authorization: Bearer $UPBEAT_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '{"domain":"${service.domain}","status":"ok","checks":{"database":{"status":"ok","latency":12}}}'`,
      markdown: snippets.markdown,
      html: snippets.html,
      badge: signed === null ? `/api/badge/${shownAs}` : signed.slice(siteUrl.length),
      signed,
      slug,
    });
  };
}

/** The consequence of the saved changes, as a text. */
function savedText({ verified, paused, check }: Service, saved: string, { texts }: Language): string {
  const { dashboard } = texts;
  const word = saved === 'new' ? dashboard.savedNew : dashboard.saved;
  if (check.kind === 'heartbeat') return `${word} ${dashboard.awaitsHeartbeat}`;
  if (!verified) return `${word} ${dashboard.awaitsProof}`;
  return paused ? word : `${word} ${dashboard.checkFollows}`;
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

function createServicePast(sources: DashboardSources) {
  const { registry, samples, beginHistory, directory, bounds, now } = sources;
  const readBars = createUptimeBars(sources);
  return async (service: Service, language: Language) => {
    const at = now();
    const window = windowOf(RANGE, at);
    const [bars, day, incidents] = await Promise.all([
      readBars([service.id]),
      beginHistory()(() => samples.query({ serviceId: service.id, ...window })),
      registry.listIncidents({ serviceId: service.id, limit: SHOWN_INCIDENTS, offset: 0 }),
    ]);
    const shown = bars.get(service.id);
    const { lines = [], told = [], uptimeRatio = null, knownDays = 0 } = shown ?? {};
    const unreached = sayUnreached(shown?.unreached ?? new Map(), language, (cause) =>
      nameCause(service, cause, { isMember: true }),
    );
    const uptime = uptimeRatio === null ? null : language.formats.percent(uptimeRatio);
    const intervalMs = service.check.intervalMs ?? bounds.usual.intervalMs;
    return {
      lines,
      told: told.map(({ day, ...place }) => ({
        ...place,
        label: describeDay(day, intervalMs, language, unreached.get(day.startAt)),
      })),
      uptime,
      knownDays,
      drawing: day === null ? null : drawingOf(day, window, language),
      range: language.texts.page.ago[RANGE],
      incidents: incidents.map((incident) =>
        viewPageIncident(incident, directory.pageName(service), at, language),
      ),
    };
  };
}
