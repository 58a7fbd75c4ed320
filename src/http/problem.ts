/** Errors of the API: the registry of codes with their HTTP status, and their body (RFC 9457). */
import { Type } from '../json-schema.ts';
import { enumOf, named } from './schema.ts';

/**
 * Error codes, which are stable, with status and title. A title is true for every case of its code, since it does not change from
 * one to the next (RFC 9457, 3.1.3); the detail says which case it is.
 */
export const PROBLEMS = {
  invalid_parameter: { status: 400, title: 'Invalid parameter' },
  invalid_body: { status: 400, title: 'Invalid body' },
  bad_request: { status: 400, title: 'Bad request' },
  invalid_key: { status: 401, title: 'Invalid API key' },
  page_password_required: { status: 401, title: 'Password of the page needed' },
  insufficient_scope: { status: 403, title: 'Scope missing' },
  forbidden_origin: { status: 403, title: 'Origin refused' },
  forbidden_form: { status: 403, title: 'Form refused' },
  forbidden_role: { status: 403, title: 'Role missing' },
  forbidden_domain: { status: 403, title: 'Domain must be verified first' },
  domain_limit: { status: 403, title: 'Too many domains' },
  dependencies_private: { status: 403, title: 'Dependencies are not public' },
  account_limit: { status: 403, title: 'Limit of the account' },
  service_not_found: { status: 404, title: 'Service not found' },
  address_not_found: { status: 404, title: 'Heartbeat address not found' },
  incident_not_found: { status: 404, title: 'Incident not found' },
  maintenance_not_found: { status: 404, title: 'Maintenance not found' },
  key_not_found: { status: 404, title: 'API key not found' },
  webhook_not_found: { status: 404, title: 'Webhook not found' },
  channel_not_found: { status: 404, title: 'Channel not found' },
  rule_not_found: { status: 404, title: 'Rule not found' },
  message_not_found: { status: 404, title: 'Message not found' },
  alert_not_found: { status: 404, title: 'Alert not found' },
  page_not_found: { status: 404, title: 'Status page not found' },
  route_not_found: { status: 404, title: 'No such route' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'Request took too long' },
  conflict: { status: 409, title: 'Conflict with what is there' },
  domain_unverified: { status: 409, title: 'Domain not verified' },
  precondition_failed: { status: 412, title: 'Changed in the meantime' },
  body_too_large: { status: 413, title: 'Body too large' },
  expectation_failed: { status: 417, title: 'Expectation failed' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  headers_too_large: { status: 431, title: 'Request headers too large' },
  idempotency_mismatch: { status: 422, title: 'Idempotency-Key of another request' },
  rate_limited: { status: 429, title: 'Rate limit exceeded' },
  too_many_streams: { status: 429, title: 'Too many open streams' },
  storage_full: { status: 503, title: 'Nothing can be written now' },
  overloaded: { status: 503, title: 'Too much to do' },
  unavailable: { status: 503, title: 'Not available now' },
  history_unavailable: { status: 503, title: 'History unavailable' },
  internal_error: { status: 500, title: 'Internal server error' },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

/** An error for the client. Handlers throw it; the response is `application/problem+json`. */
export class HttpError extends Error {
  readonly code: ProblemCode;
  /** Further members of the body, such as the parameter's name. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    detail: string,
    members: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.code = code;
    this.members = members;
    this.headers = headers;
  }
}

/** An error with `Retry-After`: the client may retry after `seconds`. */
export function retryLater(
  code: ProblemCode,
  seconds: number,
  detail: string,
  members: HttpError['members'] = {},
): HttpError {
  return new HttpError(code, detail, members, { 'Retry-After': String(seconds) });
}

/** The schema of every error body (RFC 9457). */
export const ProblemSchema = named(
  'Problem',
  Type.Object({
    type: Type.String({ format: 'uri' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: enumOf(Object.keys(PROBLEMS), 'Stable word for programs.'),
    scope: Type.Optional(
      Type.String({ description: 'Of insufficient_scope: the scope that the key lacks.' }),
    ),
    parameter: Type.Optional(Type.String({ description: 'Of invalid_parameter: its name.' })),
    errors: Type.Optional(
      Type.Array(
        named(
          'FieldError',
          Type.Object({
            field: Type.Union([Type.String(), Type.Null()], {
              description: 'Path of the member, such as check.settings.port; null: the body as a whole.',
            }),
            code: Type.String({ description: 'Stable word for programs.' }),
            message: Type.String(),
          }),
        ),
        { description: 'Of a refused change: what is wrong with each member of the body.' },
      ),
    ),
    retry_after: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Of rate_limited: seconds to wait, as Retry-After has them.' }),
    ),
    place: Type.Optional(Type.String({ description: 'Of invalid_body: JSON Pointer to what is wrong.' })),
    allowed: Type.Optional(
      Type.Array(Type.String(), { description: 'The allowed values, where they can be listed.' }),
    ),
  }),
);

/** The beginning of the detail about an address that does not exist. */
export const NOTHING_AT = 'There is nothing at ';

/** The body of an error. `type` is a URL on this site that explains the code. */
export function problemBody(error: HttpError, siteUrl: string): string {
  const { status, title } = PROBLEMS[error.code];
  return JSON.stringify({
    type: `${siteUrl}/docs#${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    ...error.members,
  });
}

/**
 * Returns true if a client gets an error as a page: a browser does, by its `Accept` (decisions, Errors). A client that names
 * no type, any type, or JSON with the same weight gets JSON.
 */
export function prefersPage(accept = ''): boolean {
  const weights = new Map<string, number>();
  for (const range of accept.slice(0, MAX_ACCEPT_LENGTH).toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(type, weight === undefined ? 1 : Number(weight) || 0);
  }
  const weightOf = (...types: readonly string[]) =>
    Math.max(0, ...types.map((type) => weights.get(type) ?? 0));
  return (
    weightOf('text/html', 'application/xhtml+xml') > weightOf('application/problem+json', 'application/json')
  );
}

const MAX_ACCEPT_LENGTH = 1_000;
