/** Kind `http`: a request of the owner's choice, and assertions on the response. */
import { type Failure, failureOf } from '../domain/failure.ts';
import { Type } from '../json-schema.ts';
import { decodeBody } from '../outbound/response-body.ts';
import { sendRequest, type WebResponse } from '../outbound/send-request.ts';
import { type Assertion, holds, needsBody, readAssertion } from './assertions.ts';
import { defineKind, invalidAddress, PortSetting, webAttemptOf } from './check-kind.ts';
import { isBlocked, judgeStatus } from './response-rules.ts';
import { MAX_REDIRECTS } from './root.ts';

/** Maximum number of bytes of a body that assertions look at. */
const MAX_BODY_BYTES = 262_144;
const METHODS_WITH_BODY = ['POST', 'PUT', 'PATCH'];
/** Methods whose redirects are followed; a redirected POST would lose or repeat its body. */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/** The check of a request. */
export const httpCheck = defineKind({
  settings: Type.Object({
    path: Type.Optional(Type.String({ format: 'path', maxLength: 2_000 })),
    plain: Type.Optional(Type.Boolean()),
    port: Type.Optional(PortSetting),
    method: Type.Optional(
      Type.Unsafe<string>({ type: 'string', enum: [...SAFE_METHODS, ...METHODS_WITH_BODY, 'DELETE'] }),
    ),
    headers: Type.Optional(Type.Array(Type.String({ format: 'header', maxLength: 2_000 }), { maxItems: 20 })),
    body: Type.Optional(Type.String({ maxLength: 16_384 })),
    assertions: Type.Optional(
      Type.Array(Type.String({ format: 'assertion', maxLength: 500 }), { maxItems: 10 }),
    ),
  }),
  portOf: ({ plain = false, port }) => port ?? (plain ? 80 : 443),
  refuse: ({ method = 'GET', body }) =>
    body === undefined || METHODS_WITH_BODY.includes(method)
      ? []
      : [{ setting: 'body', problem: { code: 'choice', choices: METHODS_WITH_BODY } }],
  prepare: ({ parts, clock, userAgent, trust, guardOf, destinationOf }) => {
    const headers = ['user-agent', userAgent, 'accept', '*/*', 'accept-encoding', 'identity'];
    return async (run, settings) => {
      const { target, options, deadline, startedAt } = run;
      const { path = '/', plain = false, port, method = 'GET', body = null } = settings;
      const origin = `${plain ? 'http' : 'https'}://${target.domain}${port === undefined ? '' : `:${port}`}`;
      const destination = destinationOf(target.check.url ?? `${origin}${path}`);
      if ('problem' in destination) return invalidAddress(run, 'http', destination);
      const own = (settings.headers ?? []).map(splitHeader);
      const names = new Set(own.map(([name]) => name.toLowerCase()));
      const assertions = (settings.assertions ?? []).flatMap((line) => readAssertion(line) ?? []);
      const response = await sendRequest(
        parts,
        {
          destination,
          method,
          headers: [...headers.filter((_, at) => !names.has(headers[at - (at % 2)] ?? '')), ...own.flat()],
          ownHeaders: names,
          body,
          wantsBody: () => assertions.some(needsBody),
          maxBodyBytes: MAX_BODY_BYTES,
          redirects: SAFE_METHODS.includes(method) ? MAX_REDIRECTS : 0,
          guard: guardOf(target, destination.port),
          trust: () => trust(target.check.caFile),
          fresh: options.number > 0,
        },
        deadline,
      );
      const judged = response.fault === null && !isBlocked(response);
      const failure = judged
        ? (judgeStatus(response, target.check.accept ?? ['2xx']) ?? judgeAssertions(assertions, response))
        : null;
      return webAttemptOf(startedAt, response, { failure, via: 'http', memory: target.memory }, clock.now);
    };
  },
});

function splitHeader(line: string): [name: string, value: string] {
  const at = line.indexOf(':');
  return [line.slice(0, at), line.slice(at + 1).trim()];
}

/** The failure of the first assertion that does not hold; null: all hold. */
function judgeAssertions(assertions: readonly Assertion[], response: WebResponse): Failure | null {
  const { statusCode, headers, timing, overlong } = response;
  const text = assertions.some(needsBody) ? readText(response) : null;
  const asserted = {
    statusCode,
    responseTimeMs: Math.round(timing.totalMs ?? 0),
    headers,
    body: text,
    whole: !overlong,
  };
  const broken = assertions.find((assertion) => !holds(assertion, asserted));
  if (broken === undefined) return null;
  const { subject, name, operator, value } = broken;
  const words = [subject, name, operator, value].filter((word) => word !== '').join(' ');
  const phase = needsBody(broken) ? 'body' : 'first_byte';
  return failureOf('content', phase, { code: 'assertion_failed', text: words });
}

/** The decoded body as UTF-8; null: it cannot be decoded. */
function readText({ body, headers, overlong }: WebResponse): string | null {
  if (body === null) return null;
  if (overlong) return body.toString('utf8');
  const decoded = decodeBody(body, headers, MAX_BODY_BYTES);
  return decoded.kind === 'body' ? decoded.body.toString('utf8') : null;
}
