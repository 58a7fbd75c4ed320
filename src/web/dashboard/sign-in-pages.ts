/**
 * Signing in by a provider, and signing out: the redirect to a provider and its callback, `/sign-out`. The page that a visitor
 * wanted is in a cookie that every way to sign in leaves alone.
 */

import { type IdentityProvider, SignInError, type SignInFlow } from '../../auth/identity-provider.ts';
import type { LocalSignIn } from '../../auth/password-sign-in.ts';
import { isFormToken, type OpenSession, SESSION_MS, type Sessions } from '../../auth/sessions.ts';
import { percentDecoded } from '../../domain/printable-text.ts';
import type { Refusal } from '../../domain/refusal.ts';
import { readForm, seeOther } from '../../http/body.ts';
import { createSiteCookie, type SiteCookie } from '../../http/cookies.ts';
import { HttpError } from '../../http/problem.ts';
import type { ChargeChange } from '../../http/rate-limits.ts';
import { type HttpRequest, type HttpResponse, pageRoute, type Route } from '../../http/route.ts';
import type { Log } from '../../log.ts';
import { accept, attempt, type Outcome } from '../../resources/kit/change.ts';
import { acceptInvitation, admitIdentity } from '../../resources/members/members.ts';
import type { MemberStore } from '../../store/ports/accounts.ts';
import type { InvitationStore, PeopleStore } from '../../store/ports/people.ts';
import type { SetupLinkStore, SignInStore } from '../../store/ports/sign-in.ts';
import type { AboutSettings } from '../about-page.ts';
import { type ChosenLanguage, chooseLanguage } from '../language/language.ts';
import type { RenderPage } from '../parts/views.ts';

export interface SignInSources {
  readonly providers: readonly IdentityProvider[];
  readonly sessions: Sessions;
  readonly registry: PeopleStore & InvitationStore & MemberStore & SignInStore & SetupLinkStore;
  /** Sign-in without a provider. */
  readonly local: LocalSignIn;
  readonly cookie: SiteCookie;
  /** Counts forms as changes of their account. Absent: nothing does. */
  readonly chargeChange?: ChargeChange;
  readonly siteUrl: string;
  readonly now: () => number;
  readonly log: Log;
}

/** Maximum time between the redirect to the provider and its callback, seconds. */
const FLOW_SECONDS = 600;
const FLOW_MARK = 'flow.';

/** Renders the sign-in page. `problem`: why the last attempt failed, as a sentence or as a refusal. */
export type ShowSignIn = (
  request: HttpRequest,
  problem: string | Refusal | null,
  status?: number,
  typedName?: string,
) => Promise<HttpResponse>;

/**
 * The page with every way to sign in that somebody has. People who are a member of no account read there what to do. A visitor whose session
 * is no more reads so: it ended, or they were removed from the account.
 */
export function signInPage(
  render: RenderPage,
  sources: SignInSources & { readonly about: Pick<AboutSettings, 'operator'> },
): ShowSignIn {
  const { providers, registry, sessions, cookie, local, siteUrl, about } = sources;
  return async (request, refused, status = 200, typedName = '') => {
    const language = languageOf(request);
    const { dashboard, signIn } = language.texts;
    const { token } = readCookie(cookie.read(request.headers.cookie));
    const hasEnded = refused === null && token !== '' && (await sessions.find(token)) === null;
    const said = hasEnded ? signIn.sessionEnded : refused;
    const problem = said === null || typeof said === 'string' ? said : dashboard.refusal(said);
    const isClosed = typeof refused === 'object' && refused?.code === 'accounts_closed';
    const { hasAccounts, hasPasskeys, hasPasswords } = await registry.signInWays();
    const answer = render(
      './sign-in',
      {
        // A failed request cannot be repeated, so the page has no links to other languages.
        language: { ...language, choices: refused === null ? language.choices : [] },
        title: isClosed ? signIn.noMember : dashboard.signIn,
        problem,
        isClosed,
        operator: about.operator,
        siteUrl,
        providers,
        hasAccounts,
        passkeys: hasPasskeys && local.passkeys.isAllowed,
        passwords: hasPasswords,
        typedName,
      },
      status,
    );
    return { ...answer, headers: { ...answer.headers, 'Cache-Control': 'no-store' } };
  };
}

/**
 * Signs a person in: ends the session of the browser and opens one with a new token, so that a token that was planted
 * before is worthless (session fixation). A person without an account who comes from an invitation becomes a member of that
 * account and of no other. Returns the header that sets the cookie, and further cookies. `hasJoined`: the invitation is used up.
 */
export async function startSession(
  sources: SignInSources,
  request: HttpRequest,
  personId: number,
  hasJoined = false,
): Promise<{ readonly session: Readonly<Record<string, string>>; readonly cookies: readonly string[] }> {
  const { sessions, cookie, registry } = sources;
  const known = readCookie(cookie.read(request.headers.cookie));
  const invitation = invitationCookie(sources);
  const secret = invitation.read(request);
  const isInvited = !hasJoined && secret !== '' && (await registry.membershipsOf(personId)).length === 0;
  const joins = isInvited && (await acceptInvitation(sources, secret, personId)).ok;
  const { token } = await sessions.open(personId);
  await sessions.end(known.token);
  return {
    session: cookie.write(token, SESSION_MS / 1_000),
    // The cookie of an invitation would lead back to one that is used up.
    cookies: hasJoined || joins ? Object.values(invitation.write('')) : [],
  };
}

/** The response of a sign-in, or the sign-in page with why it is refused. */
export async function showRefused(
  page: ShowSignIn,
  request: HttpRequest,
  signIn: () => Promise<Outcome<HttpResponse>>,
): Promise<HttpResponse> {
  const outcome = await attempt(signIn);
  const result = outcome.ok ? outcome.value : outcome;
  if (result.ok) return result.value;
  const [first] = result.refusals;
  return await page(request, first?.refusal ?? null, 403);
}

/** Maximum time between asking for a page, such as that of an invitation, and signing in, seconds. */
const RETURN_SECONDS = 3_600;

/** Creates the cookie that leads back to an invitation after signing in. */
export function invitationCookie({ siteUrl }: SignInSources) {
  const cookie = createSiteCookie(siteUrl, 'upbeat-invitation');
  const read = ({ headers }: HttpRequest) => cookie.read(headers.cookie);
  return {
    read,
    write: (secret: string) => cookie.write(secret, RETURN_SECONDS),
    /** The response that leads to the invitation of a request's cookie and removes the cookie; null: it has none. */
    follow(request: HttpRequest): HttpResponse | null {
      const secret = read(request);
      if (!/^[\w-]{1,100}$/.test(secret)) return null;
      return seeOther(`/invitations/${secret}`, cookie.write('', 0));
    },
  };
}

export function providerPages(page: ShowSignIn, sources: SignInSources): Route[] {
  const { providers, sessions, cookie, siteUrl, now, log } = sources;
  const invitation = invitationCookie(sources);
  const find = ({ params }: HttpRequest): IdentityProvider => {
    const provider = providers.find(({ id }) => id === params.provider);
    if (provider === undefined) throw new HttpError('route_not_found', 'There is no such way to sign in.');
    return provider;
  };
  const redirectUri = ({ id }: IdentityProvider) => `${siteUrl}/sign-in/${id}/callback`;
  /** The page shows the failure as a sentence; the log has the details. */
  const showFailure = (request: HttpRequest, error: unknown): Promise<HttpResponse> => {
    if (!(error instanceof SignInError)) throw error;
    log.warn({ code: error.code, error: error.cause }, 'a sign-in failed');
    return page(request, error.message, error.code === 'sign_in_away' ? 502 : 400);
  };

  return [
    pageRoute({ path: '/sign-in/:provider', open: true }, async (request) => {
      const provider = find(request);
      try {
        const { url, flow } = await provider.begin(redirectUri(provider));
        const begun = Buffer.from(JSON.stringify([provider.id, flow, now()])).toString('base64url');
        // The cookie keeps the session, so that the visitor stays signed in until a new sign-in succeeds.
        const { token } = readCookie(cookie.read(request.headers.cookie));
        const value = FLOW_MARK + begun + (token === '' ? '' : `.${token}`);
        const seconds = token === '' ? FLOW_SECONDS : SESSION_MS / 1_000;
        return { ...seeOther(url, cookie.write(value, seconds)), status: 302 };
      } catch (error) {
        return await showFailure(request, error);
      }
    }),
    pageRoute({ path: '/sign-in/:provider/callback', open: true }, async (request) => {
      const provider = find(request);
      const known = readCookie(cookie.read(request.headers.cookie));
      const flow = readFlow(known.flow, provider.id, now());
      if (flow === null) return await page(request, languageOf(request).texts.dashboard.signInLate, 400);
      try {
        const identity = await provider.finish(`${redirectUri(provider)}?${request.query}`, flow);
        return await showRefused(page, request, async () => {
          const secret = invitation.read(request);
          const admitted = await admitIdentity(sources, identity, secret, sessions.mayAddAccounts);
          if (!admitted.ok) return admitted;
          const { person, hasJoined } = admitted.value;
          const { session, cookies } = await startSession(sources, request, person.id, hasJoined);
          return accept({ ...seeOther(HOME, session), cookies });
        });
      } catch (error) {
        return await showFailure(request, error);
      }
    }),
    pageRoute({ path: '/sign-out', access: 'members', anyMethod: true }, async (request) => {
      const { token } = await requireForm(request, { sessions, cookie });
      await sessions.end(token);
      return seeOther('/', cookie.write('', 0));
    }),
    pageRoute({ path: '/sign-out/everywhere', access: 'members', anyMethod: true }, async (request) => {
      const { session } = await requireForm(request, { sessions, cookie });
      await sessions.endAll(session.personId);
      return seeOther('/', cookie.write('', 0));
    }),
  ];
}

/** The signed-in person in one of their accounts, with the language of the pages. */
export interface Visitor extends OpenSession {
  readonly language: ChosenLanguage;
}

/** The signed-in person; null: none. */
export async function findSession(
  request: HttpRequest,
  { sessions, cookie }: Pick<SignInSources, 'sessions' | 'cookie'>,
): Promise<Visitor | null> {
  const session = await sessions.find(readCookie(cookie.read(request.headers.cookie)).token);
  return session === null ? null : { ...session, language: languageOf(request) };
}

/** The language of a page. The response to a form has no URL, so it has no links to other languages. */
export function languageOf(request: HttpRequest): ChosenLanguage {
  const language = chooseLanguage(request);
  return request.method === 'POST' ? { ...language, choices: [] } : language;
}

/**
 * Accepts a POST of a form by the signed-in visitor and parses it by `read`, by default as a form without files. Throws
 * an HttpError for anything else.
 */
export async function requireForm(
  request: HttpRequest,
  sources: Pick<SignInSources, 'sessions' | 'cookie' | 'chargeChange'>,
  read: (request: HttpRequest) => Promise<ReadonlyMap<string, string>> = readForm,
) {
  if (request.method !== 'POST')
    throw new HttpError(
      'method_not_allowed',
      `${request.method} is not possible here.`,
      {},
      { Allow: 'POST' },
    );
  const form = await read(request);
  const { token } = readCookie(sources.cookie.read(request.headers.cookie));
  const session = await sources.sessions.find(token);
  if (session === null) throw new HttpError('forbidden_form', 'You are not signed in any more.');
  if (!isFormToken(session, form.get('token') ?? ''))
    throw new HttpError('forbidden_form', 'This form is not of your session. Load the page again.');
  await sources.chargeChange?.(session.accountId);
  const visitor: Visitor = { ...session, language: languageOf(request) };
  return { session: visitor, token, form };
}

/** The content of the cookie: a sign-in in progress and a session, each empty if there is none. */
function readCookie(value: string): { readonly flow: string; readonly token: string } {
  if (!value.startsWith(FLOW_MARK)) return { flow: '', token: value };
  const [flow = '', token = ''] = value.slice(FLOW_MARK.length).split('.');
  return { flow, token };
}

function readFlow(text: string, provider: string, now: number): SignInFlow | null {
  if (text === '') return null;
  try {
    const [id, flow, at] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [
      unknown,
      Partial<SignInFlow> | null,
      unknown,
    ];
    // A cookie with a session may be older than a sign-in may take.
    if (typeof at !== 'number' || now - at > FLOW_SECONDS * 1_000) return null;
    const { state, nonce, codeVerifier } = flow ?? {};
    const whole = [state, nonce, codeVerifier].every((part) => typeof part === 'string');
    return id === provider && whole ? (flow as SignInFlow) : null;
  } catch {
    return null;
  }
}

/** Path of the page after signing in. */
export const HOME = '/dashboard';
const MAX_PATH_LENGTH = 600;
/** A path of this site with its query: neither another host nor what a header could not contain. */
const PATH_FORM = /^\/(?![/\\])[!-[\]-~]*$/;

/** The redirect to the sign-in page, from which a visitor comes back to what was requested. */
export function leadToSignIn(request: HttpRequest, siteUrl: string): HttpResponse {
  const { url, query, atDomain } = request;
  if (atDomain === true) return seeOther(`${siteUrl}/sign-in`);
  const path = (url?.slice(siteUrl.length) ?? '') + (query === '' ? '' : `?${query}`);
  const isKept = path !== HOME && path.length <= MAX_PATH_LENGTH && PATH_FORM.test(path);
  return seeOther(
    '/sign-in',
    isKept ? cookieOf(siteUrl).write(encodeURIComponent(path), RETURN_SECONDS) : {},
  );
}

/** The response that leads back, and removes the cookie; null: the request has none. */
export function leadBack({ headers }: HttpRequest, siteUrl: string): HttpResponse | null {
  const cookie = cookieOf(siteUrl);
  const path = percentDecoded(cookie.read(headers.cookie), '');
  return PATH_FORM.test(path) ? seeOther(path, cookie.write('', 0)) : null;
}

/** The header that removes the cookie. */
export function forgetReturn(siteUrl: string): Readonly<Record<string, string>> {
  return cookieOf(siteUrl).write('', 0);
}

function cookieOf(siteUrl: string) {
  return createSiteCookie(siteUrl, 'upbeat-return');
}
