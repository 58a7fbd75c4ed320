/** Who may read a status page that not everyone sees: members of its account, and visitors who have entered its password. */
import { createPagePasswords, PASS_MS } from '../../auth/page-password.ts';
import { SECOND_MS } from '../../domain/durations.ts';
import type { OwnedPage } from '../../domain/status-page.ts';
import { readForm, seeOther } from '../../http/body.ts';
import { createSiteCookie } from '../../http/cookies.ts';
import { retryLater } from '../../http/problem.ts';
import { type HttpRequest, type HttpResponse, pageRoute, type Route } from '../../http/route.ts';
import { pathFor, redirectToDomain } from '../../view/page-address.ts';
import {
  findLockedPage,
  findShownPage,
  type PageViewSources,
  pageNotFound,
} from '../../view/status-page-view.ts';
import type { OwnerSources } from '../dashboard/dashboard-forms.ts';
import { findSession } from '../dashboard/sign-in-pages.ts';
import { type ChosenLanguage, chooseLanguage } from '../language/language.ts';
import type { RenderPage } from '../parts/views.ts';

export interface PageReaderSources {
  /** Null: this site has no owners, and nobody sees such pages. */
  readonly owners: OwnerSources | null;
  readonly siteUrl: string;
  readonly now: () => number;
}

/** The outcome of a password that was entered. */
export type UnlockOutcome =
  | { readonly kind: 'accepted'; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'refused' }
  | { readonly kind: 'wait'; readonly seconds: number };

/** Decides who may read pages. */
type PageReaders = ReturnType<typeof createPageReaders>;

export function createPageReaders({ owners, siteUrl, now }: PageReaderSources) {
  const sessionCookie = createSiteCookie(siteUrl);
  const cookieOf = ({ id }: Pick<OwnedPage, 'id'>) => createSiteCookie(siteUrl, `upbeat-page-${id}`);
  const passwords =
    owners === null
      ? null
      : createPagePasswords({ registry: owners.registry, secret: owners.local.secret, now });

  const accountsOf = async (request: HttpRequest): Promise<ReadonlySet<number>> => {
    if (request.key !== undefined) return new Set([request.key.accountId]);
    const visitor = owners === null ? null : await findSession(request, { ...owners, cookie: sessionCookie });
    if (owners === null || visitor === null) return new Set();
    const memberships = await owners.registry.membershipsOf(visitor.personId);
    return new Set([visitor.accountId, ...memberships.map(({ accountId }) => accountId)]);
  };

  const hasPassword = async (request: HttpRequest, page: OwnedPage): Promise<boolean> => {
    if (passwords === null) return false;
    if (passwords.isPass(page, cookieOf(page).read(request.headers.cookie))) return true;
    const given = readBasicPassword(request.headers.authorization);
    if (given === null) return false;
    const outcome = await passwords.attemptAgain(page, given, request.client);
    if (outcome.kind !== 'wait') return outcome.kind === 'accepted';
    const seconds = secondsOf(outcome.waitMs);
    throw retryLater('rate_limited', seconds, `Too many wrong passwords. Try again in ${seconds} s.`);
  };

  return {
    /** The accounts of which the sender of a request is a member, or whose key it has. */
    accountsOf,
    /** As `mayRead` of the sources of pages. */
    mayRead: async (request: HttpRequest, page: OwnedPage): Promise<boolean> =>
      (page.access === 'password' && (await hasPassword(request, page))) ||
      (await accountsOf(request)).has(page.accountId),
    /** Tries the password of a form; `headers` set the cookie of the page. */
    async unlock(page: OwnedPage, password: string, client: string): Promise<UnlockOutcome> {
      if (passwords === null) return { kind: 'refused' };
      const outcome = await passwords.attempt(page, password, client);
      if (outcome.kind === 'wait') return { kind: 'wait', seconds: secondsOf(outcome.waitMs) };
      if (outcome.kind === 'refused') return { kind: 'refused' };
      const headers = cookieOf(page).write(passwords.makePass(page), PASS_MS / SECOND_MS);
      return { kind: 'accepted', headers };
    },
  };
}

function secondsOf(waitMs: number): number {
  return Math.ceil(waitMs / SECOND_MS);
}

/** The password of HTTP Basic (RFC 7617); the user name is not read. Null: there is none. */
function readBasicPassword(authorization = ''): string | null {
  const [, base64 = null] = /^ *basic +([A-Za-z0-9+/]{1,2000}={0,2}) *$/i.exec(authorization) ?? [];
  if (base64 === null) return null;
  const text = Buffer.from(base64, 'base64').toString();
  const colon = text.indexOf(':');
  return colon === -1 ? null : text.slice(colon + 1).trim();
}

export interface UnlockSources extends Pick<PageViewSources, 'pages' | 'mayRead'> {
  readonly siteUrl: string;
  readonly unlock: PageReaders['unlock'];
}

/** The problem of the password that was entered. */
interface UnlockProblem {
  readonly status: 403 | 429;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Shows the form for the page of a request. */
export function showLocked(
  render: RenderPage,
  request: HttpRequest,
  { siteUrl, language }: { readonly siteUrl: string; readonly language: ChosenLanguage },
  problem: UnlockProblem | null = null,
): HttpResponse {
  const slug = (request.params.slug ?? '').toLowerCase();
  const shown = render(
    './status-page-locked',
    {
      language,
      title: language.texts.statusPage.locked,
      action: pathFor(request, slug, 'unlock'),
      problem: problem?.text ?? null,
      atDomain: request.atDomain,
      home: request.atDomain === true ? siteUrl : '',
    },
    problem?.status ?? 403,
  );
  const secrecy = { 'Cache-Control': 'private, no-store', 'X-Robots-Tag': 'noindex' };
  return { ...shown, headers: { ...shown.headers, ...secrecy, ...problem?.headers } };
}

/** `/p/:slug/unlock`. */
export function unlockRoute(render: RenderPage, sources: UnlockSources): Route {
  const { siteUrl, unlock } = sources;
  return pageRoute(
    { path: '/p/:slug/unlock', open: 'page', anyMethod: true, sameOrigin: true },
    async (request) => {
      const language = chooseLanguage(request);
      const { statusPage: texts } = language.texts;
      const page = await findLockedPage(request, sources);
      if (page === null) throw pageNotFound(request.params.slug ?? '');
      const redirect = redirectToDomain(request, siteUrl, page);
      if (redirect !== null) return redirect;
      // There is one place to go from here, whatever the address says.
      const done = (headers = {}) => seeOther(pathFor(request, page.slug), headers);
      if (request.method !== 'POST')
        return (await findShownPage(request, sources)) === null
          ? showLocked(render, request, { siteUrl, language })
          : done();
      const password = (await readForm(request)).get('password') ?? '';
      const outcome = await unlock(page, password, request.client);
      if (outcome.kind === 'accepted') return done(outcome.headers);
      const problem: UnlockProblem =
        outcome.kind === 'refused'
          ? { status: 403, text: texts.wrongPassword }
          : {
              status: 429,
              text: texts.tooManyPasswords(outcome.seconds),
              headers: { 'Retry-After': String(outcome.seconds) },
            };
      return showLocked(render, request, { siteUrl, language }, problem);
    },
  );
}
