/** `/dashboard/account`: what the signed-in person signs in with, and their sessions. */

import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../auth/password-hash.ts';
import { describeTotp } from '../../auth/totp.ts';
import { type HttpResponse, json, pageRoute, type Route } from '../../http/route.ts';
import { asText, time } from '../../language/phrase.ts';
import {
  addPasskey,
  changePassword,
  endSession,
  isRecentSignIn,
  MAX_SIGN_IN_AGE_MINUTES,
  removePasskey,
  removePassword,
  renamePasskey,
  renewRecoveryCodes,
  type SignedInPerson,
  sessionIdOf,
  type WaysInContext,
} from '../../resources/people/ways-in.ts';
import {
  type DashboardSources,
  type FormFields,
  type RefusedForm,
  type ShowPage,
  visitorForms,
  visitorRoute,
} from './dashboard-forms.ts';
import { notStored } from './local-sign-in-pages.ts';
import { requireForm, type SignInSources, type Visitor } from './sign-in-pages.ts';

const PATH = '/dashboard/account';

/** The context of changes of what people sign in with. */
export function waysInContext({ registry, local, providers, now }: SignInSources): WaysInContext {
  const { passkeys, secret } = local;
  return { registry, passkeys, secret, providers: providers.map(({ id }) => id), now };
}

/** The routes. Every member may use them, whatever their role. */
export function accountPages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, local, providers, siteUrl, now } = sources;
  const context = waysInContext(sources);

  const page = async (session: Visitor, refused: RefusedForm | null): Promise<HttpResponse> => {
    const { language, personId, personName } = session;
    const { signIn: texts } = language.texts;
    const [ways, sessions] = await Promise.all([
      registry.waysOf(personId),
      registry.sessionsOf(personId, now()),
    ]);
    const { password } = ways;
    const { host } = new URL(siteUrl);
    const seed = seedOf(session, password?.changedAt ?? 0);
    return show('./dashboard-account', session, refused, {
      title: texts.accountTitle,
      person: personName,
      isRecent: isRecentSignIn(context, personOf(session)),
      maxAgeMinutes: MAX_SIGN_IN_AGE_MINUTES,
      passkeysAllowed: local.passkeys.isAllowed,
      passkeys: ways.passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
        id,
        name,
        made: [time(createdAt)],
        used: [lastUsedAt === null ? texts.never : time(lastUsedAt)],
      })),
      password: password === null ? null : texts.passwordSince(password.name, time(password.changedAt)),
      passwordOpen: refused?.form === 'password',
      recoveryCodes: ways.recoveryCodes,
      signInName: password?.name ?? personName,
      minPassword: MIN_PASSWORD_LENGTH,
      maxPassword: MAX_PASSWORD_LENGTH,
      totp: await describeTotp(local.secret.offerTotpSecret(seed), `${personName} (${host})`),
      providers: ways.providers.map((id) => providers.find((one) => one.id === id)?.title ?? id),
      sessions: sessions.map(({ sha256, accountName, createdAt, expiresAt }) => ({
        id: sessionIdOf(sha256),
        accountName,
        since: [time(createdAt)],
        until: [time(expiresAt)],
        isThis: Buffer.compare(sha256, session.sha256) === 0,
        endLabel: texts.endOf(asText([time(createdAt)], language.formats, now())),
      })),
    });
  };

  const showCodes = (session: Visitor, codes: readonly string[]): HttpResponse =>
    show('./recovery-codes', session, null, { title: session.language.texts.signIn.codesTitle, codes });

  const form = visitorForms(sources, PATH, page, 'viewer');
  const idOf = (fields: FormFields) => fields.get('id') ?? '';

  return [
    visitorRoute(sources, PATH, 'viewer', (session) => page(session, null)),
    form('password', async (_, session, fields) => {
      const { password } = await registry.waysOf(session.personId);
      const outcome = await changePassword(context, personOf(session), {
        name: fields.get('name') ?? '',
        password: fields.get('password') ?? '',
        code: fields.get('code') ?? '',
        seed: seedOf(session, password?.changedAt ?? 0),
      });
      return outcome.ok ? showCodes(session, outcome.value) : outcome;
    }),
    form('password/remove', (_, session) => removePassword(context, personOf(session))),
    form('codes', async (_, session) => {
      const outcome = await renewRecoveryCodes(context, personOf(session));
      return outcome.ok ? showCodes(session, outcome.value) : outcome;
    }),
    form('passkeys', (_, session, fields) =>
      addPasskey(context, personOf(session), {
        subject: subjectOf(session),
        name: fields.get('passkey') ?? '',
        state: fields.get('state') ?? '',
        answer: fields.get('answer') ?? '',
      }),
    ),
    form('passkeys/rename', (_, session, fields) =>
      renamePasskey(context, personOf(session), idOf(fields), fields.get('name') ?? ''),
    ),
    form('passkeys/remove', (_, session, fields) => removePasskey(context, personOf(session), idOf(fields))),
    form('sessions/end', (_, session, fields) => endSession(context, personOf(session), idOf(fields))),
    pageRoute(
      { path: `${PATH}/passkeys/challenge`, access: { member: 'viewer' }, anyMethod: true },
      async (request) => {
        const { session } = await requireForm(request, sources);
        const { passkeys } = await registry.waysOf(session.personId);
        const owner = { subject: subjectOf(session), name: session.personName, passkeys };
        return notStored(json(await local.passkeys.begin(owner)));
      },
    ),
  ];
}

function personOf({ personId, sha256, createdAt }: Visitor): SignedInPerson {
  return { personId, session: sha256, signedInAt: createdAt };
}

function subjectOf({ personId }: Visitor): string {
  return `person ${personId}`;
}

/** A new password gets a new secret of the app; until then the session sees the same one. */
function seedOf({ formToken }: Visitor, changedAt: number): string {
  return `${formToken} ${changedAt}`;
}
