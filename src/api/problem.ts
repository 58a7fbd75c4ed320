/** Every error that the API can answer: one table of codes, and their form on the wire (RFC 9457; decisions, Errors). */

/** Codes with their HTTP status and title. A code never changes its meaning. */
export const PROBLEMS = {
  invalid_parameter: { status: 400, title: 'A parameter is not valid' },
  invalid_key: { status: 401, title: 'The API key is not valid' },
  service_not_found: { status: 404, title: 'There is no such service' },
  route_not_found: { status: 404, title: 'There is nothing at this address' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  rate_limited: { status: 429, title: 'Too many requests' },
  too_many_streams: { status: 429, title: 'Too many open event streams' },
  internal_error: { status: 500, title: 'Something went wrong on our side' },
} as const;

/** Stable word of an error. */
export type ProblemCode = keyof typeof PROBLEMS;

/** The body of an error. */
export interface Problem {
  /** Address of the error's description. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
  /** Name of the parameter that is meant, with `invalid_parameter`. */
  readonly parameter?: string;
  /** What would have been accepted, with `invalid_parameter`. */
  readonly allowed?: readonly string[];
  /** What to quote to the operator, with `internal_error`. */
  readonly request_id?: string;
}

/** Members and headers that an error carries beside the common ones. */
export interface ProblemExtras {
  readonly members?: Pick<Problem, 'parameter' | 'allowed' | 'request_id'>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error that the client is told of. `message` becomes `detail`: it must say nothing of the inside. */
export class ApiError extends Error {
  readonly code: ProblemCode;
  readonly extras: ProblemExtras;

  constructor(code: ProblemCode, detail: string, extras: ProblemExtras = {}) {
    super(detail);
    this.name = 'ApiError';
    this.code = code;
    this.extras = extras;
  }
}

/** A parameter that is not as it must be; `allowed` lists values, or forms in words. */
export function invalidParameter(parameter: string, detail: string, allowed: readonly string[]): ApiError {
  return new ApiError('invalid_parameter', detail, { members: { parameter, allowed } });
}

/** The body of an error. `siteUrl` has no slash at its end. */
export function problemOf({ code, message, extras }: ApiError, siteUrl: string): Problem {
  const { status, title } = PROBLEMS[code];
  return {
    type: `${siteUrl}/docs#error-${code}`,
    title,
    status,
    detail: message,
    code,
    ...extras.members,
  };
}
