/** Sign-in by OpenID Connect and GitHub's OAuth: authorization code with PKCE, state and nonce, by `openid-client`. */

import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  fetchProtectedResource,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { describeCause } from '../domain/failure.ts';
import type { Requests } from '../outbound/outbound.ts';
import type { Identity } from '../store/ports/people.ts';
import { type IdentityProvider, SignInError, type SignInFlow } from './identity-provider.ts';

/** An entry of `auth.providers`. */
export interface ProviderSettings {
  readonly id: string;
  readonly kind: 'oidc' | 'github';
  /** URL of the provider; for `github` only if it is not github.com. */
  readonly issuer?: string | undefined;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The name on the button; absent: the host name of the provider. */
  readonly name?: string | undefined;
}

interface ProviderParts {
  readonly outbound: Requests;
}

const TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 1024 * 1024;
/** The operator named the provider: any address is allowed. */
const POLICY = { allowPrivate: ['0.0.0.0/0', '::/0'], ports: [] };
const GITHUB = 'https://github.com';

/** Creates the provider of an entry. The first sign-in makes the first request. */
export function createIdentityProvider(settings: ProviderSettings, parts: ProviderParts): IdentityProvider {
  return settings.kind === 'github' ? gitHubProvider(settings, parts) : oidcProvider(settings, parts);
}

function oidcProvider(settings: ProviderSettings, parts: ProviderParts): IdentityProvider {
  const { id, issuer = '', clientId, clientSecret } = settings;
  const fetch = fetchThrough(parts);
  let known: Promise<Configuration> | null = null;
  /** Requested once; after a failure, the next sign-in requests it again. */
  const configuration = async (): Promise<Configuration> => {
    known ??= discovery(new URL(issuer), clientId, undefined, ClientSecretBasic(clientSecret), {
      [customFetch]: fetch,
      timeout: TIMEOUT_MS / 1_000,
      execute: issuer.startsWith('http://') ? [allowInsecureRequests] : [],
    });
    try {
      return await known;
    } catch (error) {
      known = null;
      throw new SignInError('sign_in_away', `${hostOf(issuer)} does not answer. Try again later.`, {
        cause: error,
      });
    }
  };
  return {
    id,
    title: settings.name ?? hostOf(issuer),
    async begin(redirectUri) {
      return await beginFlow(await configuration(), redirectUri, 'openid profile');
    },
    async finish(callbackUrl, flow) {
      const tokens = await exchange(await configuration(), callbackUrl, flow, true);
      const claims = tokens.claims();
      if (claims === undefined)
        throw new SignInError('sign_in_refused', 'The provider returned no identity.');
      const name = claims.preferred_username ?? claims.name ?? claims.nickname;
      return { provider: id, subject: claims.sub, name: typeof name === 'string' ? name : id };
    },
  };
}

function gitHubProvider(settings: ProviderSettings, parts: ProviderParts): IdentityProvider {
  const { id, issuer = GITHUB, clientId, clientSecret } = settings;
  const base = issuer.replace(/\/+$/, '');
  const api = base === GITHUB ? 'https://api.github.com' : `${base}/api/v3`;
  const configuration = new Configuration(
    {
      issuer: base,
      authorization_endpoint: `${base}/login/oauth/authorize`,
      token_endpoint: `${base}/login/oauth/access_token`,
    },
    clientId,
    undefined,
    ClientSecretPost(clientSecret),
  );
  configuration[customFetch] = fetchThrough(parts);
  if (base.startsWith('http://')) allowInsecureRequests(configuration);
  return {
    id,
    title: settings.name ?? hostOf(base),
    begin: (redirectUri) => beginFlow(configuration, redirectUri, 'read:user'),
    async finish(callbackUrl, flow) {
      const tokens = await exchange(configuration, callbackUrl, flow, false);
      return await askGitHub(configuration, tokens.access_token, api, id);
    },
  };
}

async function beginFlow(configuration: Configuration, redirectUri: string, scope: string) {
  const flow: SignInFlow = {
    state: randomState(),
    nonce: randomNonce(),
    codeVerifier: randomPKCECodeVerifier(),
  };
  const url = buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope,
    state: flow.state,
    nonce: flow.nonce,
    code_challenge: await calculatePKCECodeChallenge(flow.codeVerifier),
    code_challenge_method: 'S256',
  });
  return { url: url.href, flow };
}

async function exchange(
  configuration: Configuration,
  callbackUrl: string,
  { state, nonce, codeVerifier }: SignInFlow,
  withIdToken: boolean,
) {
  try {
    return await authorizationCodeGrant(configuration, new URL(callbackUrl), {
      expectedState: state,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: withIdToken,
      ...(withIdToken ? { expectedNonce: nonce } : {}),
    });
  } catch (error) {
    throw new SignInError('sign_in_refused', 'The sign-in was refused, or took too long. Try again.', {
      cause: error,
    });
  }
}

async function askGitHub(
  configuration: Configuration,
  token: string,
  api: string,
  provider: string,
): Promise<Identity> {
  let user: { readonly id?: unknown; readonly login?: unknown };
  try {
    const response = await fetchProtectedResource(configuration, token, new URL(`${api}/user`), 'GET');
    user = (await response.json()) as typeof user;
  } catch (error) {
    throw new SignInError('sign_in_away', `${hostOf(api)} does not answer. Try again later.`, {
      cause: error,
    });
  }
  if (typeof user.id !== 'number' || typeof user.login !== 'string')
    throw new SignInError('sign_in_refused', 'The provider returned no identity.');
  return { provider, subject: String(user.id), name: user.login };
}

/** A fetch for `openid-client` that uses the program's outgoing connections. */
function fetchThrough({ outbound }: ProviderParts): CustomFetch {
  return async (url, { method, headers, body }) => {
    const text = body instanceof URLSearchParams ? body.toString() : body;
    if (text !== null && text !== undefined && typeof text !== 'string')
      throw new TypeError('a body of this kind is not sent');
    const answer = await outbound.request({
      url,
      method,
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof text === 'string' ? { body: text } : {}),
      timeoutMs: TIMEOUT_MS,
      maxBodyBytes: MAX_BODY_BYTES,
      policy: POLICY,
    });
    if (answer.fault !== null) throw new TypeError(describeCause(answer.fault.failure));
    const received = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) {
      // The body is decoded already.
      if (value === undefined || name === 'content-encoding' || name === 'content-length') continue;
      for (const one of Array.isArray(value) ? value : [value]) received.append(name, one);
    }
    const bodyless = answer.status === 204 || answer.status === 304;
    return new Response(bodyless ? null : new Uint8Array(answer.body ?? []), {
      status: answer.status,
      headers: received,
    });
  };
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
