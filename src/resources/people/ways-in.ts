/**
 * The ways in of a person, who adds, changes and removes them. Each change of a signed-in person needs a recent sign-in, so
 * that a browser that was left open, or a stolen session, cannot replace it (docs/sign-in.md).
 */
import type { Passkeys } from '../../auth/passkeys.ts';
import { findPasswordProblem, hashPassword } from '../../auth/password-hash.ts';
import { makeRecoveryCodes, nameKeyOf } from '../../auth/password-sign-in.ts';
import { readSetupSecret, type SignInSecret } from '../../auth/sign-in-secret.ts';
import { findTotpStep } from '../../auth/totp.ts';
import { MINUTE_MS } from '../../domain/durations.ts';
import { readGivenName } from '../../domain/printable-text.ts';
import type {
  Enrolment,
  NewPasskey,
  NewPassword,
  SetupLinkStore,
  SignInStore,
} from '../../store/ports/sign-in.ts';
import { accept, attempt, type Outcome, type Refused, readAll, refuse } from '../kit/change.ts';

/** The dependencies of these changes. */
export interface WaysInContext {
  readonly registry: SignInStore & SetupLinkStore;
  readonly passkeys: Passkeys;
  readonly secret: SignInSecret;
  /** The providers that the site offers, by ID. */
  readonly providers: readonly string[];
  readonly now: () => number;
}

export interface SignedInPerson {
  readonly personId: number;
  /** SHA-256 of the token of the session, which a change does not end. */
  readonly session: Uint8Array;
  /** The time at which the session began, epoch milliseconds. */
  readonly signedInAt: number;
}

export interface PasswordInput {
  /** The name to sign in with. */
  readonly name: string;
  readonly password: string;
  /** A code of the authenticator app, which shows that it has the secret. */
  readonly code: string;
  /** The seed of the offered secret of the codes (`SignInSecret.offerTotpSecret`). */
  readonly seed: string;
}

export interface PasskeyInput {
  /** Whom it was begun for (`PasskeyOwner.subject`). */
  readonly subject: string;
  readonly name: string;
  readonly state: string;
  readonly answer: string;
}

/** The input of a link: one of the two ways. `name`: of a new person. */
export type EnrolmentInput =
  | { readonly way: 'password'; readonly password: PasswordInput }
  | { readonly way: 'passkey'; readonly name: string; readonly passkey: PasskeyInput };

/** Maximum age of a sign-in for these changes, minutes. */
export const MAX_SIGN_IN_AGE_MINUTES = 15;

/**
 * Uses a link: its person signs in that way from then on. Resolves with the person and the recovery codes to show, which
 * are empty for a passkey; null: the link is not valid. Refused with `name_invalid`, `sign_in_name_taken`,
 * `password_length`, `password_weak`, `code_wrong`, `passkey_refused` and `passkey_known`.
 */
export async function enrolByLink(
  context: WaysInContext,
  linkSecret: string,
  input: EnrolmentInput,
): Promise<Outcome<{ readonly personId: number; readonly recoveryCodes: readonly string[] }> | null> {
  const sha256 = readSetupSecret(linkSecret);
  if (sha256 === null || (await context.registry.findSetupLink(sha256, context.now())) === null) return null;
  const reading = await readEnrolment(context, input);
  if (!reading.ok) return reading;
  const { enrolment, recoveryCodes } = reading.value;
  const field = input.way === 'password' ? 'name' : null;
  const used = await attempt(() => context.registry.useSetupLink(sha256, enrolment, context.now()), field);
  if (!used.ok) return used;
  return used.value === null ? null : accept({ personId: used.value, recoveryCodes });
}

async function readEnrolment(
  context: WaysInContext,
  input: EnrolmentInput,
): Promise<Outcome<{ readonly enrolment: Enrolment; readonly recoveryCodes: readonly string[] }>> {
  if (input.way === 'password') {
    const reading = await readPassword(context, input.password);
    if (!reading.ok) return reading;
    const { password, recoveryCodes } = reading.value;
    return accept({
      enrolment: { name: password.name, credential: { kind: 'password', password } },
      recoveryCodes,
    });
  }
  const name = readName(input.name);
  if (!name.ok) return name;
  const reading = await readPasskey(context, input.passkey);
  if (!reading.ok) return reading;
  const enrolment: Enrolment = {
    name: name.value,
    credential: { kind: 'passkey', passkey: reading.value },
  };
  return accept({ enrolment, recoveryCodes: [] });
}

/**
 * Sets or replaces the password with its authenticator app, and ends the other sessions of the person. Resolves with the
 * new recovery codes. Refused as {@link enrolByLink}, and with `sign_in_again`.
 */
export async function changePassword(
  context: WaysInContext,
  person: SignedInPerson,
  input: PasswordInput,
): Promise<Outcome<readonly string[]>> {
  const { registry, now } = context;
  const stale = refuseStale(context, person);
  if (stale !== null) return stale;
  const reading = await readPassword(context, input);
  if (!reading.ok) return reading;
  const { password, recoveryCodes } = reading.value;
  const set = await attempt(() => registry.setPassword(person.personId, password, now()), 'name');
  if (!set.ok) return set;
  await registry.endOtherSessions(person.personId, person.session);
  return accept(recoveryCodes);
}

/** Removes the password, and ends the other sessions. Refused with `last_way_in` and `sign_in_again`. */
export async function removePassword(
  context: WaysInContext,
  person: SignedInPerson,
): Promise<Outcome<unknown>> {
  const { registry, providers } = context;
  const stale = refuseStale(context, person);
  if (stale !== null) return stale;
  const removed = await attempt(() => registry.removePassword(person.personId, providers));
  if (removed.ok) await registry.endOtherSessions(person.personId, person.session);
  return removed;
}

/** Replaces the recovery codes of a person with a password; resolves with the new ones. Refused with `sign_in_again`. */
export async function renewRecoveryCodes(
  context: WaysInContext,
  person: SignedInPerson,
): Promise<Outcome<readonly string[]>> {
  const stale = refuseStale(context, person);
  if (stale !== null) return stale;
  const codes = makeRecoveryCodes();
  const sha256s = codes.map(({ sha256 }) => sha256);
  await context.registry.setRecoveryCodes(person.personId, sha256s);
  return accept(codes.map(({ shown }) => shown));
}

/**
 * Adds a passkey. Refused with `name_invalid`, `passkey_refused`, `passkey_known`, `too_many_passkeys` and
 * `sign_in_again`.
 */
export async function addPasskey(
  context: WaysInContext,
  person: SignedInPerson,
  input: PasskeyInput,
): Promise<Outcome<void>> {
  const { registry, now } = context;
  const stale = refuseStale(context, person);
  if (stale !== null) return stale;
  const reading = await readPasskey(context, input);
  if (!reading.ok) return reading;
  return await attempt(() => registry.addPasskey(person.personId, reading.value, now()));
}

/** Gives a passkey another name. Refused with `name_invalid` and `no_passkey`. */
export async function renamePasskey(
  { registry }: WaysInContext,
  { personId }: SignedInPerson,
  id: string,
  text: string,
): Promise<Outcome<void>> {
  const reading = readAll({ name: readName(text, null) });
  if (!reading.ok) return reading;
  const isRenamed = await registry.renamePasskey(personId, id, reading.value.name);
  return isRenamed ? accept(undefined) : refuse({ code: 'no_passkey' });
}

/** Removes a passkey, and ends the other sessions. Refused with `no_passkey`, `last_way_in` and `sign_in_again`. */
export async function removePasskey(
  context: WaysInContext,
  person: SignedInPerson,
  id: string,
): Promise<Outcome<unknown>> {
  const { registry, providers } = context;
  const stale = refuseStale(context, person);
  if (stale !== null) return stale;
  const removed = await attempt(() => registry.removePasskey(person.personId, id, providers));
  if (!removed.ok) return removed;
  if (!removed.value) return refuse({ code: 'no_passkey' });
  await registry.endOtherSessions(person.personId, person.session);
  return removed;
}

/** Ends a session of the person by the start of its SHA-256, in hexadecimal digits. Refused with `no_session`. */
export async function endSession(
  { registry, now }: WaysInContext,
  { personId }: SignedInPerson,
  id: string,
): Promise<Outcome<void>> {
  const sessions = await registry.sessionsOf(personId, now());
  const found = sessions.find(({ sha256 }) => sessionIdOf(sha256) === id);
  const isEnded = found !== undefined && (await registry.endSessionOf(personId, found.sha256));
  return isEnded ? accept(undefined) : refuse({ code: 'no_session' });
}

/** The name of a session on a page: the start of its SHA-256, from which its token cannot be found. */
export function sessionIdOf(sha256: Uint8Array): string {
  return Buffer.from(sha256.subarray(0, 12)).toString('hex');
}

/** Returns true if the person signed in so recently that they may change how they sign in. */
export function isRecentSignIn({ now }: WaysInContext, { signedInAt }: SignedInPerson): boolean {
  return now() - signedInAt <= MAX_SIGN_IN_AGE_MINUTES * MINUTE_MS;
}

function refuseStale(context: WaysInContext, person: SignedInPerson): Refused | null {
  return isRecentSignIn(context, person)
    ? null
    : refuse({ code: 'sign_in_again', minutes: MAX_SIGN_IN_AGE_MINUTES });
}

/** Reads a password with the first code of its app, and makes its recovery codes. */
async function readPassword(
  { secret, now }: WaysInContext,
  { name: givenName, password, code, seed }: PasswordInput,
): Promise<Outcome<{ readonly password: NewPassword; readonly recoveryCodes: readonly string[] }>> {
  const name = readName(givenName);
  if (!name.ok) return name;
  const problem = findPasswordProblem(password, name.value);
  if (problem !== null) return refuse(problem, 'password');
  const totpSecret = secret.offerTotpSecret(seed);
  const totpStep = await findTotpStep(totpSecret, code.replaceAll(/\s/g, ''), now(), 0);
  if (totpStep === null) return refuse({ code: 'code_wrong' }, 'code');
  const codes = makeRecoveryCodes();
  return accept({
    password: {
      name: name.value,
      nameKey: nameKeyOf(name.value),
      hash: await hashPassword(password),
      totpSecret,
      totpStep,
      recoveryCodes: codes.map(({ sha256 }) => sha256),
    },
    recoveryCodes: codes.map(({ shown }) => shown),
  });
}

/** Reads the answer of an authenticator that has made a passkey. */
async function readPasskey(
  { passkeys }: WaysInContext,
  { subject, name: givenName, state, answer }: PasskeyInput,
): Promise<Outcome<NewPasskey>> {
  const name = readName(givenName, 'passkey');
  if (!name.ok) return name;
  const passkey = await passkeys.finish({ subject }, state, answer, name.value);
  return passkey === null ? refuse({ code: 'passkey_refused' }) : accept(passkey);
}

/** The name of a person or a passkey, in the field `field`. */
function readName(text: string, field: string | null = 'name'): Outcome<string> {
  const reading = readGivenName(text);
  return reading.ok
    ? accept(reading.name)
    : refuse({ code: 'name_invalid', problem: reading.problem }, field);
}
