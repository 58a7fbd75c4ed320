/** `/dashboard`: what an owner has (keys, services, domains that wait) and the forms that change it. */
import type { ApiAnswer, Route } from '../../api/exchange.ts';
import { createApiKey } from '../../auth/api-keys.ts';
import type { OpenSession } from '../../auth/sessions.ts';
import { unknownStatus } from '../../domain/current.ts';
import { readHostName } from '../../domain/host-name.ts';
import { seeOther } from '../forms.ts';
import { findSession, requireForm } from '../sign-in-pages.ts';
import type { RenderPage } from '../views.ts';
import { describeTime, STATUS_SHAPES, STATUS_WORDS } from '../words.ts';
import {
  claimPlace,
  type DashboardSources,
  readKind,
  refusable,
  type ShowPage,
} from './dashboard-sources.ts';
import { ownedServicePages } from './owned-service-pages.ts';
import { pageEditor } from './page-editor.ts';
import { pageOverview } from './page-overview.ts';
import { webhookPages } from './webhook-pages.ts';

const DAY_MS = 86_400_000;
const LIFETIMES: Readonly<Record<string, number | null>> = {
  '30d': 30 * DAY_MS,
  '90d': 90 * DAY_MS,
  '365d': 365 * DAY_MS,
  never: null,
};
const LONGEST_NAME = 100;

/** The routes. */
export function dashboardPages(render: RenderPage, sources: DashboardSources): Route[] {
  const { registry, directory, status, proofs, siteUrl, now } = sources;

  const show: ShowPage = (template, data, session, code = 200) => {
    const base = { offline: null, siteUrl, token: session.formToken, account: session.accountName };
    const answer = render(template, { ...base, ...data }, code);
    return { ...answer, headers: { ...answer.headers, 'Cache-Control': 'no-store' } };
  };

  const overview = async (session: OpenSession, problem: string | null): Promise<ApiAnswer> => {
    const { accountId } = session;
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
        title: 'Dashboard',
        problem,
        notices: notices.map((notice) => ({ ...notice, time: describeTime(notice.at) })),
        keys: keys.map((key) => ({
          ...key,
          created: describeTime(key.createdAt),
          used: key.lastUsedAt === null ? 'never' : describeTime(key.lastUsedAt),
          state:
            key.revokedAt !== null
              ? `revoked ${describeTime(key.revokedAt)}`
              : key.expiresAt === null
                ? 'does not expire'
                : `${key.expiresAt <= at ? 'expired' : 'expires'} ${describeTime(key.expiresAt)}`,
          isLive: key.revokedAt === null && (key.expiresAt === null || key.expiresAt > at),
        })),
        services: services.map((service) => {
          const word = (status.get(service.id) ?? unknownStatus(service.id)).status;
          return { service, page: directory.pageName(service), word };
        }),
        claims: claims.map((claim) => ({ ...claim, ...proofs.instructions(accountId, claim.domain) })),
        shapes: STATUS_SHAPES,
        words: STATUS_WORDS,
      },
      session,
      problem === null ? 200 : 400,
    );
  };

  /** A form of the dashboard: it changes something and goes back, or says what is wrong. */
  const form = (
    path: string,
    take: (session: OpenSession, fields: ReadonlyMap<string, string>) => Promise<ApiAnswer | string | null>,
  ): Route => ({
    path,
    bucket: 'pages',
    anyMethod: true,
    async handle(request) {
      const { session, form: fields } = await requireForm(request, sources);
      const outcome = await take(session, fields);
      if (outcome === null) return seeOther('/dashboard');
      return typeof outcome === 'string' ? await overview(session, outcome) : outcome;
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
      const name = (fields.get('name') ?? '').slice(0, LONGEST_NAME);
      if (name === '') return 'A key needs a name, such as the machine that will use it.';
      const lifetime = LIFETIMES[fields.get('expires') ?? '90d'];
      if (lifetime === undefined) return 'A key expires after 30d, 90d, 365d or never.';
      const expiresAt = lifetime === null ? null : now() + lifetime;
      const request = { account: session.accountName, name, expiresAt, now: now() };
      const { key } = await createApiKey(registry, request);
      return show('./dashboard-key', { title: 'New key', name, key }, session);
    }),
    form('/dashboard/keys/revoke', async ({ accountId }, fields) => {
      const id = Number(fields.get('id'));
      const own = (await registry.listKeys(accountId)).some((key) => key.id === id);
      if (!own) return 'There is no such key.';
      await registry.revokeKey(id, now());
      return null;
    }),
    form('/dashboard/domains', async ({ accountId }, fields) => {
      const reading = readHostName(fields.get('domain') ?? '');
      if (!reading.ok) return `The domain ${reading.problem}.`;
      const kind = readKind(fields.get('kind'));
      if (kind === null) return 'A service is monitored by root, health or heartbeat.';
      return await refusable(() =>
        registry.addClaim(accountId, { domain: reading.domain, kind, createdAt: now() }),
      );
    }),
    form('/dashboard/domains/verify', async ({ accountId }, fields) => {
      const domain = fields.get('domain') ?? '';
      const claim = (await registry.claimsOf(accountId)).find((one) => one.domain === domain);
      if (claim === undefined) return 'There is no such domain waiting.';
      const problem = await proofs.check(accountId, domain);
      if (problem !== null) return problem;
      return await refusable(async () => {
        await claimPlace(sources, domain, claim.kind);
        await registry.proveDomain(accountId, domain, claim.kind, now());
        await claimPlace(sources, domain, claim.kind);
      });
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
