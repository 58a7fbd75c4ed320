/** Passkeys: registration and sign-in (WebAuthn Level 3) by `@simplewebauthn/server`. */
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { NewPasskey, SignInGuardStore, SignInStore } from '../store/ports/sign-in.ts';
import { digestOf, type SignInSecret } from './sign-in-secret.ts';

/** The options with which a browser uses or makes a passkey. */
export interface PasskeyRequest<Options> {
  readonly options: Options;
  /** The state, which the browser sends back with its answer. */
  readonly state: string;
}

export interface PasskeyOwner {
  /** Whom the passkey is for: a person or a link. */
  readonly subject: string;
  /** Shown by the authenticator. */
  readonly name: string;
  /** The passkeys that the person has, which an authenticator does not make again. */
  readonly passkeys: readonly NewPasskey[];
}

interface PasskeysOptions {
  /** The address of the site; passkeys belong to its host name. */
  readonly siteUrl: string;
  readonly secret: SignInSecret;
  readonly registry: SignInStore & SignInGuardStore;
  readonly now: () => number;
  readonly log: Log;
}

export type Passkeys = ReturnType<typeof createPasskeys>;

/** Time for the dialogs of the browser, milliseconds. */
const CHALLENGE_MS = 300_000;
const CHALLENGE_BYTES = 32;
const USER_HANDLE_BYTES = 32;
/** COSE algorithms: EdDSA, ES256 and RS256, one of which every authenticator has. */
const ALGORITHMS = [-8, -7, -257];
const MAX_RESPONSE_LENGTH = 12_000;

/**
 * Returns true if browsers allow passkeys on a site: its address has a host name and is https, or is `localhost` (WebAuthn,
 * 5.1.3; Secure Contexts).
 */
export function allowsPasskeys(siteUrl: string): boolean {
  const { protocol, hostname } = new URL(siteUrl);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return false;
  return protocol === 'https:' || host === 'localhost' || host.endsWith('.localhost');
}

/** Creates the passkeys of a site. The library is loaded at the first use. */
export function createPasskeys({ siteUrl, secret, registry, now, log }: PasskeysOptions) {
  const { hostname: rpId, origin } = new URL(siteUrl);
  const load = () => import('@simplewebauthn/server');

  const makeState = async (purpose: 'passkey-sign-in' | 'passkey-new', subject: string, handle = '') => {
    const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
    const values = [challenge, handle];
    const state = secret.sign({ purpose, subject, values, expiresAt: now() + CHALLENGE_MS });
    return { challenge: new Uint8Array(Buffer.from(challenge, 'base64url')), state };
  };

  /** The challenge and the user handle of a state that is used for the first time; null: it is not valid. */
  const openState = async (text: string, purpose: 'passkey-sign-in' | 'passkey-new', subject: string) => {
    const state = secret.verify(text, purpose, subject, now());
    if (state === null) return null;
    const [challenge = '', userHandle = ''] = state.values;
    return { challenge, userHandle, expiresAt: state.expiresAt };
  };

  /** Uses a challenge; false: it was used before. */
  const spend = ({ challenge, expiresAt }: { readonly challenge: string; readonly expiresAt: number }) =>
    registry.useOnce(digestOf(`challenge ${challenge}`), expiresAt, now());

  /** The result of a verification of the library, which throws for everything that is wrong; null: it has thrown. */
  const verified = async <T>(verification: Promise<T>): Promise<T | null> => {
    try {
      return await verification;
    } catch (error) {
      log.warn({ problem: messageOf(error) }, 'a passkey was refused');
      return null;
    }
  };

  return {
    /** True if browsers allow passkeys on this site. */
    isAllowed: allowsPasskeys(siteUrl),

    /** Begins a sign-in with any passkey of this site. */
    async beginSignIn(): Promise<PasskeyRequest<PublicKeyCredentialRequestOptionsJSON>> {
      const { generateAuthenticationOptions } = await load();
      const { challenge, state } = await makeState('passkey-sign-in', '');
      const options = await generateAuthenticationOptions({
        rpID: rpId,
        challenge,
        timeout: CHALLENGE_MS,
        userVerification: 'required',
      });
      return { options, state };
    },

    /** The person whose passkey has answered; null: the answer is refused. */
    async finishSignIn(state: string, answer: string): Promise<number | null> {
      const opened = await openState(state, 'passkey-sign-in', '');
      const response = readAnswer(answer, isAuthenticationResponse);
      if (opened === null || response === null) return null;
      const passkey = await registry.findPasskey(response.id);
      if (passkey === null) return null;
      // A handle of another person means that the authenticator has mixed up its accounts (WebAuthn, 7.2, step 6).
      const handle = response.response.userHandle;
      if (handle !== undefined && handle !== passkey.userHandle) return null;
      const { verifyAuthenticationResponse } = await load();
      const { id, publicKey, counter } = passkey;
      const result = await verified(
        verifyAuthenticationResponse({
          response,
          expectedChallenge: opened.challenge,
          expectedOrigin: origin,
          expectedRPID: rpId,
          credential: { id, publicKey: new Uint8Array(publicKey), counter },
          requireUserVerification: true,
        }),
      );
      if (result?.verified !== true || !(await spend(opened))) return null;
      const isNew = await registry.usePasskey(id, result.authenticationInfo.newCounter, now());
      return isNew ? passkey.personId : null;
    },

    async begin(owner: PasskeyOwner): Promise<PasskeyRequest<PublicKeyCredentialCreationOptionsJSON>> {
      const { generateRegistrationOptions } = await load();
      const handle = owner.passkeys[0]?.userHandle ?? randomBytes(USER_HANDLE_BYTES).toString('base64url');
      const { challenge, state } = await makeState('passkey-new', owner.subject, handle);
      const options = await generateRegistrationOptions({
        rpName: 'Upbeat',
        rpID: rpId,
        userName: owner.name,
        userDisplayName: owner.name,
        userID: new Uint8Array(Buffer.from(handle, 'base64url')),
        challenge,
        timeout: CHALLENGE_MS,
        attestationType: 'none',
        excludeCredentials: owner.passkeys.map(({ id, transports }) => ({ id, transports: [...transports] })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        supportedAlgorithmIDs: ALGORITHMS,
      });
      return { options, state };
    },

    /** The passkey that an authenticator has made; null: the answer is refused. */
    async finish(
      { subject }: Pick<PasskeyOwner, 'subject'>,
      state: string,
      answer: string,
      name: string,
    ): Promise<NewPasskey | null> {
      const opened = await openState(state, 'passkey-new', subject);
      const response = readAnswer(answer, isRegistrationResponse);
      if (opened === null || response === null) return null;
      const { verifyRegistrationResponse } = await load();
      const result = await verified(
        verifyRegistrationResponse({
          response,
          expectedChallenge: opened.challenge,
          expectedOrigin: origin,
          expectedRPID: rpId,
          requireUserVerification: true,
          supportedAlgorithmIDs: ALGORITHMS,
        }),
      );
      if (result?.verified !== true || !(await spend(opened))) return null;
      const { id, publicKey, counter } = result.registrationInfo.credential;
      const transports = (response.response.transports ?? []).filter((one) => TRANSPORTS.includes(one));
      return { id, name, publicKey, counter, transports, userHandle: opened.userHandle };
    },
  };
}

/** Parses the JSON of an answer; null: it is too long, no JSON, or of another shape. */
function readAnswer<T>(text: string, isAnswer: (value: unknown) => value is T): T | null {
  if (text.length > MAX_RESPONSE_LENGTH) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isAnswer(value) ? value : null;
  } catch {
    return null;
  }
}

function isAuthenticationResponse(value: unknown): value is AuthenticationResponseJSON {
  return hasResponse(value, ['clientDataJSON', 'authenticatorData', 'signature'], ['userHandle']);
}

function isRegistrationResponse(value: unknown): value is RegistrationResponseJSON {
  return hasResponse(value, ['clientDataJSON', 'attestationObject'], []);
}

/** Returns true if a value is a credential whose response has these texts, and those of `optional` if at all as texts. */
function hasResponse(value: unknown, required: readonly string[], optional: readonly string[]): boolean {
  if (!isRecord(value) || !isRecord(value.response)) return false;
  const { response } = value;
  return (
    ['id', 'rawId', 'type'].every((name) => typeof value[name] === 'string') &&
    isRecord(value.clientExtensionResults) &&
    required.every((name) => typeof response[name] === 'string') &&
    optional.every((name) => ['string', 'undefined'].includes(typeof response[name])) &&
    (response.transports === undefined || Array.isArray(response.transports))
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** The transports that browsers know; others are not stored. */
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];
