/** `/sign-in`: every way to sign in on one page, and the forms of passkeys and passwords. */
import { KNOWN_BROWSER_MS, type PasswordOutcome } from '../../auth/password-sign-in.ts';
import { readForm, seeOther } from '../../http/body.ts';
import { createSiteCookie } from '../../http/cookies.ts';
import { HttpError } from '../../http/problem.ts';
import { type HttpRequest, type HttpResponse, json, pageRoute, type Route } from '../../http/route.ts';
import { accept } from '../../resources/kit/change.ts';
import {
  HOME,
  languageOf,
  type ShowSignIn,
  type SignInSources,
  showRefused,
  startSession,
} from './sign-in-pages.ts';

/** Path of the page after a sign-in with a recovery code, which shows how many are left. */
const ACCOUNT = '/dashboard/account';

export function localSignInPages(page: ShowSignIn, sources: SignInSources): Route[] {
  const { local, siteUrl, log } = sources;
  const browserCookie = createSiteCookie(siteUrl, 'upbeat-browser');

  const refuse = (request: HttpRequest, way: string, typedName = ''): Promise<HttpResponse> => {
    const { texts } = languageOf(request);
    log.warn({ way, client: request.client }, 'a sign-in failed');
    const problem =
      way === 'passkey' ? texts.dashboard.refusal({ code: 'passkey_refused' }) : texts.signIn.wrong;
    return page(request, problem, 400, typedName);
  };

  const delay = async (
    request: HttpRequest,
    { waitMs }: Extract<PasswordOutcome, { readonly kind: 'wait' }>,
    name: string,
  ): Promise<HttpResponse> => {
    const { signIn: texts } = languageOf(request).texts;
    const seconds = Math.ceil(waitMs / 1_000);
    const duration = seconds < 100 ? texts.seconds(seconds) : texts.minutes(Math.ceil(seconds / 60));
    log.warn({ way: 'password', client: request.client, waitMs }, 'a sign-in was delayed');
    const answer = await page(request, texts.wait(duration), 429, name);
    return { ...answer, headers: { ...answer.headers, 'Retry-After': String(seconds) } };
  };

  const usePassword = async (request: HttpRequest, form: ReadonlyMap<string, string>) => {
    const name = form.get('name') ?? '';
    const outcome = await local.passwords.attempt({
      name,
      password: form.get('password') ?? '',
      code: form.get('code') ?? '',
      client: request.client,
      browser: browserCookie.read(request.headers.cookie),
    });
    if (outcome.kind === 'wait') return await delay(request, outcome, name);
    if (outcome.kind === 'refused') return await refuse(request, 'password', name);
    const mark = browserCookie.write(local.passwords.markBrowser(name), KNOWN_BROWSER_MS / 1_000);
    const target = outcome.usedRecoveryCode ? ACCOUNT : HOME;
    const { session, cookies } = await startSession(sources, request, outcome.personId);
    return { ...seeOther(target, session), cookies: [...Object.values(mark), ...cookies] };
  };

  const usePasskey = async (request: HttpRequest, form: ReadonlyMap<string, string>) => {
    const personId = await local.passkeys.finishSignIn(form.get('state') ?? '', form.get('answer') ?? '');
    if (personId === null) return await refuse(request, 'passkey');
    const { session, cookies } = await startSession(sources, request, personId);
    return { ...seeOther(HOME, session), cookies };
  };

  return [
    pageRoute({ path: '/sign-in', open: true, anyMethod: true }, async (request) => {
      if (request.method === 'GET' || request.method === 'HEAD') return await page(request, null);
      requirePost(request, 'GET, HEAD, POST');
      const form = await readForm(request);
      const signIn = form.get('way') === 'passkey' ? usePasskey : usePassword;
      return await showRefused(page, request, async () => accept(await signIn(request, form)));
    }),
    pageRoute({ path: '/sign-in/passkeys/challenge', open: true, anyMethod: true }, async (request) => {
      requirePost(request, 'POST');
      await readForm(request);
      return notStored(json(await local.passkeys.beginSignIn()));
    }),
  ];
}

/** Throws `method_not_allowed` for anything but POST. */
export function requirePost({ method }: HttpRequest, allowed: string): void {
  if (method !== 'POST')
    throw new HttpError('method_not_allowed', `${method} is not possible here.`, {}, { Allow: allowed });
}

/** The response, which no cache may store. */
export function notStored(answer: HttpResponse): HttpResponse {
  return { ...answer, headers: { ...answer.headers, 'Cache-Control': 'no-store' } };
}
