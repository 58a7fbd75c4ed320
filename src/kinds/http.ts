/** Kind `http`: a request of the owner's choice, and assertions on the response. */
import type { Failure } from '../domain/failure.ts';
import { hostInUrl } from '../domain/host-name.ts';
import { type AcceptRule, ignoresCertificate } from '../domain/service.ts';
import { Type } from '../json-schema.ts';
import { readBody } from '../outbound/read-body.ts';
import { sendRequest, type WebResponse } from '../outbound/send-request.ts';
import { type Assertion, needsBody, readAssertion } from './assertions.ts';
import {
  defineKind,
  invalidAddress,
  PortSetting,
  RedirectSetting,
  redirectsOf,
  type WrongSetting,
  webAttemptOf,
} from './check-kind.ts';
import { CLIENT_CERTIFICATE_SETTINGS, clientCertificateOf, refuseClientCertificate } from './connect.ts';
import { judgeAssertions, MAX_ASSERTED_BYTES } from './judge-assertions.ts';
import { isBlocked, judgeStatus } from './response-rules.ts';
import { namesCredential } from './setting-formats.ts';

const METHODS_WITH_BODY = ['POST', 'PUT', 'PATCH'];
/** Methods whose redirects are followed by default; a redirected POST would lose or repeat its body. */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/** A credential: it is encrypted before it is stored, and never shown. */
const SECRET = { minLength: 1, writeOnly: true };

export const httpCheck = defineKind({
  settings: Type.Object({
    path: Type.Optional(Type.String({ format: 'path', maxLength: 2_000 })),
    plain: Type.Optional(Type.Boolean()),
    port: Type.Optional(PortSetting),
    certificate: Type.Optional(Type.String({ format: 'certificate-rule', maxLength: 16_384 })),
    method: Type.Optional(
      Type.Unsafe<string>({ type: 'string', enum: [...SAFE_METHODS, ...METHODS_WITH_BODY, 'DELETE'] }),
    ),
    username: Type.Optional(Type.String({ format: 'username', maxLength: 500, ...SECRET })),
    password: Type.Optional(Type.String({ format: 'password', maxLength: 1_000, ...SECRET })),
    token: Type.Optional(Type.String({ format: 'bearer-token', maxLength: 8_000, ...SECRET })),
    ...RedirectSetting,
    headers: Type.Optional(Type.Array(Type.String({ format: 'header', maxLength: 2_000 }), { maxItems: 20 })),
    secretHeaders: Type.Optional(
      Type.Array(Type.String({ format: 'secret-header', maxLength: 8_000 }), {
        minItems: 1,
        maxItems: 20,
        writeOnly: true,
      }),
    ),
    ...CLIENT_CERTIFICATE_SETTINGS,
    body: Type.Optional(Type.String({ maxLength: 16_384, writeOnly: true })),
    assertions: Type.Optional(
      Type.Array(Type.String({ format: 'assertion', maxLength: 500 }), { maxItems: 10 }),
    ),
  }),
  portOf,
  destinationOf: (settings, url) => {
    const { plain, certificate = 'verify' } = settings;
    const place =
      url === null
        ? `${plain === true ? 'http' : 'https'}:${portOf(settings)}`
        : (URL.parse(url)?.origin ?? '');
    // Whom the check trusts decides who can read what it sends.
    return certificate === 'verify' ? place : `${place}+${certificate}`;
  },
  sortSecrets: ({ headers = [], secretHeaders = [], ...settings }) => {
    const shown = headers.filter((line) => !namesCredential(line));
    const secret = [...secretHeaders, ...headers.filter(namesCredential)];
    return {
      ...settings,
      ...(shown.length === 0 ? {} : { headers: shown }),
      ...(secret.length === 0 ? {} : { secretHeaders: secret }),
    };
  },
  refuse: (settings, names) => {
    const { method = 'GET' } = settings;
    const wrong: WrongSetting[] = refuseClientCertificate(settings, names);
    if (settings.plain === true && names.has('certificate'))
      wrong.push({ setting: 'certificate', problem: { code: 'not_with', other: 'plain' } });
    if (names.has('body') && !METHODS_WITH_BODY.includes(method))
      wrong.push({ setting: 'body', problem: { code: 'choice', choices: METHODS_WITH_BODY } });
    if (method === 'HEAD' && readAssertions(settings).some(needsBody))
      wrong.push({ setting: 'assertions', problem: { code: 'not_with', other: 'method HEAD' } });
    if (names.has('password') && !names.has('username'))
      wrong.push({ setting: 'username', problem: { code: 'missing' } });
    if (names.has('token') && names.has('username'))
      wrong.push({ setting: 'token', problem: { code: 'not_with', other: 'username' } });
    return wrong;
  },
  prepare: ({ parts, clock, userAgent, trust, guardOf, destinationOf }) => {
    const headers = ['user-agent', userAgent, 'accept', '*/*', 'accept-encoding', 'identity'];
    return async (run, settings) => {
      const { target, options, deadline, startedAt } = run;
      const { path = '/', plain = false, port, method = 'GET', body = null } = settings;
      const origin = `${plain ? 'http' : 'https'}://${hostInUrl(target.domain)}${port === undefined ? '' : `:${port}`}`;
      const destination = destinationOf(target.check.url ?? `${origin}${path}`);
      if ('problem' in destination) return invalidAddress(run, 'http', destination);
      const own = [...(settings.headers ?? []), ...(settings.secretHeaders ?? [])].map(splitHeader);
      const authorization = authorizationOf(settings);
      if (authorization !== null && !own.some(([name]) => name.toLowerCase() === 'authorization'))
        own.push(['authorization', authorization]);
      const names = new Set(own.map(([name]) => name.toLowerCase()));
      const assertions = readAssertions(settings);
      const response = await sendRequest(
        parts,
        {
          destination,
          method,
          headers: [...headers.filter((_, at) => !names.has(headers[at - (at % 2)] ?? '')), ...own.flat()],
          ownHeaders: names,
          body,
          wantsBody: () => assertions.some(needsBody),
          maxBodyBytes: MAX_ASSERTED_BYTES,
          redirects: redirectsOf(settings, SAFE_METHODS.includes(method)),
          guard: guardOf(target, destination.port),
          trust: (isOwn) =>
            isOwn
              ? trust(target.check.caFile, clientCertificateOf(settings), settings.certificate)
              : trust(target.check.caFile),
          fresh: options.number > 0,
        },
        deadline,
      );
      const accept = target.check.accept ?? expectedStatuses(assertions);
      const failure = await judgeResponse(response, accept, assertions);
      // The end of a certificate that nobody verifies says nothing.
      const certificateExpiresAt = ignoresCertificate(target.check) ? null : response.certificateExpiresAt;
      const judgement = { failure, via: 'http', memory: target.memory } as const;
      return webAttemptOf(startedAt, { ...response, certificateExpiresAt }, judgement, clock.now);
    };
  },
});

function portOf({ plain = false, port }: { readonly plain?: boolean; readonly port?: number }): number {
  return port ?? (plain ? 80 : 443);
}

function readAssertions({ assertions = [] }: { readonly assertions?: readonly string[] }): Assertion[] {
  return assertions.flatMap((line) => readAssertion(line) ?? []);
}

/** The value of `Authorization` (RFC 7617, RFC 6750); null: the check has no credentials for it. */
function authorizationOf({
  username,
  password = '',
  token,
}: {
  readonly username?: string;
  readonly password?: string;
  readonly token?: string;
}): string | null {
  if (token !== undefined) return `Bearer ${token}`;
  if (username === undefined) return null;
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}

function splitHeader(line: string): [name: string, value: string] {
  const at = line.indexOf(':');
  return [line.slice(0, at), line.slice(at + 1).trim()];
}

/** The statuses of a check without `accept`: those that its assertions name, else any success. */
function expectedStatuses(assertions: readonly Assertion[]): readonly AcceptRule[] {
  const named = assertions.filter(({ subject, operator }) => subject === 'status' && operator === 'is');
  return named.length === 0 ? ['2xx'] : named.map(({ value }) => Number(value));
}

/** The failure of what the owner expects of the response; null: all is as expected. */
async function judgeResponse(
  response: WebResponse,
  accept: readonly AcceptRule[],
  assertions: readonly Assertion[],
): Promise<Failure | null> {
  if (response.fault !== null || isBlocked(response)) return null;
  const failure = judgeStatus(response, accept);
  if (failure !== null || assertions.length === 0) return failure;
  const { statusCode, headers, timing } = response;
  const body = assertions.some(needsBody) ? await readBody(response, MAX_ASSERTED_BYTES) : null;
  const responseTimeMs = Math.round(timing.totalMs ?? 0);
  return judgeAssertions(assertions, { statusCode, responseTimeMs, headers, body });
}
