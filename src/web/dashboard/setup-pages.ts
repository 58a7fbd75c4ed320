/** `/setup/:secret`: one-time links by which a person gets a first or a new way to sign in. */

import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../auth/password-hash.ts';
import { makeSetupLink, readSetupSecret } from '../../auth/sign-in-secret.ts';
import { describeTotp } from '../../auth/totp.ts';
import { readForm, seeOther } from '../../http/body.ts';
import { HttpError } from '../../http/problem.ts';
import { type HttpRequest, type HttpResponse, json, pageRoute, type Route } from '../../http/route.ts';
import { admitByInvitation } from '../../resources/members/members.ts';
import { type EnrolmentInput, enrolByLink } from '../../resources/people/ways-in.ts';
import type { InvitationStore } from '../../store/ports/people.ts';
import type { FoundSetupLink } from '../../store/ports/sign-in.ts';
import type { RenderPage } from '../parts/views.ts';
import { waysInContext } from './account-pages.ts';
import { describeRefusals, type RefusedForm, viewForms } from './dashboard-forms.ts';
import { notStored, requirePost } from './local-sign-in-pages.ts';
import { mayEnrol } from './member-pages.ts';
import { forgetReturn, HOME, languageOf, type SignInSources, startSession } from './sign-in-pages.ts';
import { START_PATH } from './start-pages.ts';

export function setupPages(
  render: RenderPage,
  sources: SignInSources & { readonly registry: InvitationStore },
): Route[] {
  const { registry, local, siteUrl, now, log } = sources;
  const context = waysInContext(sources);

  /** The link of a request; null: it is not valid. */
  const find = async ({ params }: HttpRequest): Promise<FoundSetupLink | null> => {
    const sha256 = readSetupSecret(params.secret ?? '');
    return sha256 === null ? null : await registry.findSetupLink(sha256, now());
  };

  const showEnded = (request: HttpRequest): HttpResponse => {
    const language = languageOf(request);
    return hide(render('./setup-ended', { language, title: language.texts.signIn.linkEnded }, 404));
  };

  const show = async (
    request: HttpRequest,
    link: FoundSetupLink,
    refused: RefusedForm | null,
  ): Promise<HttpResponse> => {
    const language = languageOf(request);
    const { signIn: texts } = language.texts;
    const secret = request.params.secret ?? '';
    const { personName } = link;
    const { host } = new URL(siteUrl);
    const label = personName === null ? host : `${personName} (${host})`;
    const data = {
      language,
      title: personName === null ? texts.setupTitle : texts.resetTitle,
      lead: personName === null ? texts.setupLead : texts.resetLead(personName),
      isReset: personName !== null,
      forms: viewForms(refused),
      path: `/setup/${secret}`,
      passkeys: local.passkeys.isAllowed,
      signInName: personName ?? '',
      minPassword: MIN_PASSWORD_LENGTH,
      maxPassword: MAX_PASSWORD_LENGTH,
      totp: await describeTotp(local.secret.offerTotpSecret(secret), label),
    };
    return hide(render('./setup', data, refused === null ? 200 : 400));
  };

  const take = async (request: HttpRequest, link: FoundSetupLink): Promise<HttpResponse> => {
    const secret = request.params.secret ?? '';
    const form = await readForm(request);
    const input = readInput(form, link, secret);
    const outcome = await enrolByLink(context, secret, input);
    if (outcome === null) return showEnded(request);
    const language = languageOf(request);
    if (!outcome.ok) {
      const problems = describeRefusals(outcome, { language });
      return await show(request, link, { form: input.way, problems, typed: form });
    }
    const { personId, recoveryCodes: codes } = outcome.value;
    log.info({ kind: link.kind, way: input.way, personId }, 'a person has used a link to sign in');
    const started = await startSession(sources, request, personId, link.invitation !== null);
    const { session } = started;
    // A link is a beginning: it does not lead back to a page that was requested before.
    const cookies = [...started.cookies, ...Object.values(forgetReturn(siteUrl))];
    const next = link.kind === 'first' ? START_PATH : HOME;
    if (codes.length === 0) return { ...seeOther(next, session), cookies };
    const answer = hide(
      render('./recovery-codes', { language, title: language.texts.signIn.codesTitle, codes, next }),
    );
    return { ...answer, headers: { ...answer.headers, ...session }, cookies };
  };

  return [
    pageRoute({ path: '/setup/:secret', access: 'secret', anyMethod: true }, async (request) => {
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (!isRead) requirePost(request, 'GET, HEAD, POST');
      const link = await find(request);
      if (link === null) return showEnded(request);
      // A mail program that follows the link to show a preview does not use it up.
      return isRead ? await show(request, link, null) : await take(request, link);
    }),
    pageRoute({ path: '/setup/:secret/challenge', access: 'secret', anyMethod: true }, async (request) => {
      requirePost(request, 'POST');
      const link = await find(request);
      if (link === null) throw new HttpError('route_not_found', 'This link is not valid any more.');
      const form = await readForm(request);
      const name = link.personName ?? form.get('name') ?? '';
      const owner = { subject: subjectOf(request.params.secret ?? ''), name, passkeys: [] };
      return notStored(json(await local.passkeys.begin(owner)));
    }),
    // Somebody who was invited and has no way in gets one, and is a member as soon as it is made.
    pageRoute({ path: '/invitations/:secret/setup', access: 'secret', anyMethod: true }, async (request) => {
      requirePost(request, 'POST');
      await readForm(request);
      if (!(await mayEnrol(sources))) return showEnded(request);
      const admitted = await admitByInvitation(sources, request.params.secret ?? '');
      if (!admitted.ok) return showEnded(request);
      const target = { kind: 'person', accountId: null, personId: null, ...admitted.value } as const;
      const { url } = await makeSetupLink(registry, siteUrl, target, now());
      return seeOther(new URL(url).pathname);
    }),
  ];
}

function readInput(
  form: ReadonlyMap<string, string>,
  { personName }: FoundSetupLink,
  secret: string,
): EnrolmentInput {
  const field = (name: string) => form.get(name) ?? '';
  if (field('way') !== 'passkey') {
    const [name, password, code] = [field('name'), field('password'), field('code')];
    return { way: 'password', password: { name, password, code, seed: secret } };
  }
  const [state, answer] = [field('state'), field('answer')];
  const passkey = { subject: subjectOf(secret), name: field('passkey'), state, answer };
  return { way: 'passkey', name: personName ?? field('name'), passkey };
}

function subjectOf(secret: string): string {
  return `link ${secret}`;
}

/** A page whose address is a secret: it is not cached, and not told to other sites. */
function hide(answer: HttpResponse): HttpResponse {
  return notStored({ ...answer, headers: { ...answer.headers, 'Referrer-Policy': 'same-origin' } });
}
