/** `/dashboard`: what an owner has (keys, services, domains that wait) and the forms that change it. */

import { isCheckKind } from '../../app/edit-service.ts';
import { createApiKey } from '../../auth/api-keys.ts';
import { unknownStatus } from '../../domain/current.ts';
import { DAY_MS } from '../../domain/durations.ts';
import { readGivenName } from '../../domain/given-name.ts';
import { readHostName } from '../../domain/host-name.ts';
import { seeOther } from '../../http/form.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import { time } from '../language/phrase.ts';
import { STATUS_SHAPES } from '../parts/verdict.ts';
import type { RenderPage } from '../parts/views.ts';
import { claimPlace, type DashboardSources, refusable, type ShowPage } from './dashboard-sources.ts';
import { ownedServicePages } from './owned-service-pages.ts';
import { pageEditor } from './page-editor.ts';
import { pageOverview } from './page-overview.ts';
import {
  type FormOutcome,
  isProblem,
  ofField,
  type RefusedForm,
  refuseForm,
  viewForms,
} from './refused-form.ts';
import { findSession, requireForm, type Visitor } from './sign-in-pages.ts';
import { webhookPages } from './webhook-pages.ts';

const LIFETIMES = new Map<string, number | null>(
  Object.entries({
    '30d': 30 * DAY_MS,
    '90d': 90 * DAY_MS,
    '365d': 365 * DAY_MS,
    never: null,
  }),
);
/** Every key has a limit of its own, so that without a bound an account would have none (contract 8). */
const MAX_KEYS = 100;

/** The routes. */
export function dashboardPages(render: RenderPage, sources: DashboardSources): Route[] {
  const { registry, directory, status, proofs, siteUrl, now } = sources;

  const show: ShowPage = (template, data, session, code = 200) => {
    const { language, formToken: token, accountName: account } = session;
    const base = { language, siteUrl, token, account };
    const answer = render(template, { ...base, ...data }, code);
    return { ...answer, headers: { ...answer.headers, 'Cache-Control': 'no-store' } };
  };

  const overview = async (session: Visitor, refused: RefusedForm | null): Promise<HttpResponse> => {
    const { accountId, language } = session;
    const words = language.words.dashboard;
    const [keys, services, claims, notices] = await Promise.all([
      registry.listKeys(accountId),
      registry.servicesOf(accountId),
      registry.claimsOf(accountId),
      registry.noticesOf(accountId),
    ]);
    const at = now();
    return show(
      './dashboard',
      {
        title: words.title,
        forms: viewForms(refused),
        notices: notices.map((notice) => ({
          ...notice,
          text: notice.notice === null ? notice.text : words.notice(notice.notice),
          time: [time(notice.at)],
        })),
        keys: keys.map((key) => ({
          ...key,
          created: [time(key.createdAt)],
          used: [key.lastUsedAt === null ? words.never : time(key.lastUsedAt)],
          state:
            key.revokedAt !== null
              ? words.revokedAt(time(key.revokedAt))
              : key.expiresAt === null
                ? [words.noExpiry]
                : key.expiresAt <= at
                  ? words.expiredAt(time(key.expiresAt))
                  : words.expiresAt(time(key.expiresAt)),
          isLive: key.revokedAt === null && (key.expiresAt === null || key.expiresAt > at),
        })),
        services: services.map((service) => {
          const word = (status.get(service.id) ?? unknownStatus(service.id)).status;
          return { service, page: directory.pageName(service), word };
        }),
        claims: claims.map((claim) => ({ ...claim, ...proofs.instructions(accountId, claim.domain) })),
        shapes: STATUS_SHAPES,
      },
      session,
      refused === null ? 200 : 400,
    );
  };

  /** A form of the dashboard: it changes something and redirects back, or shows its problem. */
  const form = (
    path: string,
    take: (session: Visitor, fields: ReadonlyMap<string, string>) => Promise<FormOutcome>,
  ): Route => ({
    path,
    bucket: 'pages',
    anyMethod: true,
    async handle(request) {
      const { session, form: fields } = await requireForm(request, sources);
      const outcome = await take(session, fields);
      if (outcome === null) return seeOther('/dashboard');
      if (!isProblem(outcome)) return outcome;
      const name = path.slice('/dashboard/'.length);
      return await overview(session, refuseForm(name, fields, outcome, session.language.words.dashboard));
    },
  });

  return [
    {
      path: '/dashboard',
      bucket: 'pages',
      async handle(request) {
        const session = await findSession(request, sources);
        return session === null ? seeOther('/sign-in') : await overview(session, null);
      },
    },
    form('/dashboard/keys', async (session, fields) => {
      const words = session.language.words.dashboard;
      if ((fields.get('name') ?? '') === '') return { field: 'name', problem: words.keyNeedsName };
      const reading = readGivenName(fields.get('name') ?? '');
      if (!reading.ok) return { field: 'name', problem: { code: 'name_invalid', problem: reading.problem } };
      const { name } = reading;
      const lifetime = LIFETIMES.get(fields.get('expires') ?? '90d');
      if (lifetime === undefined) return { field: 'expires', problem: words.noSuchLifetime };
      const expiresAt = lifetime === null ? null : now() + lifetime;
      const request = { account: session.accountId, name, expiresAt, now: now(), maxPerAccount: MAX_KEYS };
      let key = '';
      const problem = await refusable(async () => {
        ({ key } = await createApiKey(registry, request));
      });
      return ofField('name', problem) ?? show('./dashboard-key', { title: words.newKey, name, key }, session);
    }),
    form('/dashboard/keys/revoke', async ({ accountId, language }, fields) => {
      const id = Number(fields.get('id'));
      const own = (await registry.listKeys(accountId)).some((key) => key.id === id);
      if (!own) return language.words.dashboard.noSuchKey;
      await registry.revokeKey(id, now());
      return null;
    }),
    form('/dashboard/domains', async ({ accountId, language }, fields) => {
      const reading = readHostName(fields.get('domain') ?? '');
      if (!reading.ok)
        return { field: 'domain', problem: { code: 'domain_invalid', problem: reading.problem } };
      const kind = fields.get('kind') ?? '';
      if (!isCheckKind(kind)) return { field: 'kind', problem: language.words.dashboard.noSuchKind };
      const claim = { domain: reading.domain, kind, createdAt: now() };
      return ofField('domain', await refusable(() => registry.addClaim(accountId, claim)));
    }),
    form('/dashboard/domains/verify', async ({ accountId, language }, fields) => {
      const domain = fields.get('domain') ?? '';
      const claim = (await registry.claimsOf(accountId)).find((one) => one.domain === domain);
      if (claim === undefined) return language.words.dashboard.noSuchDomain;
      const problem = await proofs.check(accountId, domain);
      if (problem !== null) return { field: domain, problem };
      const refusal = await refusable(async () => {
        await claimPlace(sources, domain, claim.kind);
        await registry.proveDomain(accountId, domain, claim.kind, now());
        await claimPlace(sources, domain, claim.kind);
      });
      return ofField(domain, refusal);
    }),
    form('/dashboard/domains/drop', async ({ accountId }, fields) => {
      await registry.dropClaim(accountId, fields.get('domain') ?? '');
      return null;
    }),
    form('/dashboard/notices/drop', async ({ accountId }, fields) => {
      await registry.dropNotice(accountId, Number(fields.get('id')) || 0);
      return null;
    }),
    ...ownedServicePages(show, sources),
    ...webhookPages(show, sources),
    ...pageOverview(show, sources),
    ...pageEditor(show, sources),
  ];
}
