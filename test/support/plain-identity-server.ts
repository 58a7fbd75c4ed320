/**
 * A provider of OpenID Connect without a form: every visitor with a code is signed in. The code is the `nonce` of the
 * beginning, which the token repeats.
 */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { type Loopback, listenOn } from './loopback.ts';

/** The provider. */
export interface PlainIdentityServer extends Pick<Loopback, 'port' | 'close'> {
  /** The status of all answers, without a body; 200: it works. */
  status: number;
}

const CLIENT_ID = 'upbeat';
const KEY_ID = 'one';

/** An entry of `auth.providers` for the provider at an address. */
export function plainProvider(issuer: string) {
  return { id: 'acme', kind: 'oidc', issuer, clientId: CLIENT_ID, clientSecret: 'not-a-secret-of-anyone' };
}

/** Starts it. */
export async function startPlainIdentityServer(): Promise<PlainIdentityServer> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const state = { status: 200 };
  const server = await listenOn(
    createServer(async (request, response) => {
      // A road in front of it has another port.
      const issuer = `http://${request.headers.host}`;
      const answers: Readonly<Record<string, () => Promise<object> | object>> = {
        '/.well-known/openid-configuration': () => metadataOf(issuer),
        '/keys': () => ({
          keys: [{ ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'RS256', use: 'sig' }],
        }),
        '/token': async () => tokensFor(issuer, await readForm(request), privateKey),
      };
      const answer = answers[request.url ?? ''];
      if (state.status !== 200 || answer === undefined) {
        response.writeHead(state.status === 200 ? 404 : state.status).end();
        return;
      }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(await answer()));
    }),
  );
  return Object.assign(state, { port: server.port, close: server.close });
}

function metadataOf(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };
}

function tokensFor(issuer: string, form: URLSearchParams, key: KeyObject): object {
  const seconds = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: issuer,
    sub: 'ada',
    aud: CLIENT_ID,
    iat: seconds,
    exp: seconds + 600,
    nonce: form.get('code'),
  };
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'RS256', kid: KEY_ID })}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), key).toString('base64url');
  return { access_token: 'a', token_type: 'bearer', expires_in: 600, id_token: `${signed}.${signature}` };
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString());
}
