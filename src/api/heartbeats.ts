/** The endpoints that services report to (contract 4.5; decisions, Heartbeats). */

import { formatDuration, formatTime } from '../domain/durations.ts';
import {
  type HeartbeatKind,
  type HeartbeatProblem,
  MAX_DEPENDENCIES,
  MAX_EXIT_CODE,
  MAX_LATENCY_MS,
  MAX_NAME_LENGTH,
  MIN_EXIT_CODE,
  readHeartbeat,
  STATUS_WORDS,
  withoutAddressMembers,
} from '../domain/heartbeat/heartbeat-body.ts';
import { refuseTimestamp } from '../domain/heartbeat/heartbeat-rules.ts';
import type { KeyScope } from '../domain/role.ts';
import { dashDomain } from '../domain/service.ts';
import { SERVICE_STATUSES } from '../domain/status.ts';
import { decodeText } from '../http/body.ts';
import { LIMIT_HEADERS, type OpenApiOperation, problems } from '../http/openapi.ts';
import { HttpError, type ProblemCode, retryLater } from '../http/problem.ts';
import type { HttpResponse, Route, WriteRequest } from '../http/route.ts';
import { enumOf, named, namedObject, nullable, TimeSchema, whole } from '../http/schema.ts';
import { type Static, strictObject, type TSchema, Type } from '../json-schema.ts';
import type { HeartbeatReceipt, ReceivedHeartbeat } from '../record/observation.ts';
import { MAX_REGISTRATIONS_PER_DAY } from '../store/ports/services.ts';
import type { ApiLimits } from '../view/monitor.ts';

/** Maximum size of a body, bytes (decisions). */
const MAX_HEARTBEAT_BYTES = 16_384;
/** The time after which a sender may retry after an internal error, seconds. */
const RETRY_SECONDS = 5;

/** The part that accepts heartbeats: the record. */
export interface HeartbeatIntake {
  takeHeartbeat(received: ReceivedHeartbeat): Promise<HeartbeatReceipt>;
  /** Called when a heartbeat was refused because of an internal error. */
  noteRefusal(): void;
}

const Word = enumOf(STATUS_WORDS, 'In any case of letters.');
const name = { minLength: 1, maxLength: MAX_NAME_LENGTH };

const DOMAIN = Type.String({
  description:
    'Host name of the reporting service, of at least two labels, without scheme, port or path; no IP address and no private suffix such as .local. IDNA is stored as ASCII. An unknown one is registered for the account of the key.',
  examples: ['shop.example.com'],
});
const TIMESTAMP = Type.Optional(
  Type.String({
    format: 'date-time',
    description:
      'When it was sent: at most 5 minutes ahead of our clock, at most 10 minutes behind. Of two heartbeats that carry one, the older changes nothing when it comes later.',
  }),
);
const RUN = Type.Optional(
  Type.String({ ...name, description: 'Pairs the start of a run with the heartbeat that ends it.' }),
);
const DependencyReportSchema = named(
  'DependencyReport',
  Type.Object({
    status: Word,
    latency: Type.Optional(
      Type.Integer({ minimum: 0, maximum: MAX_LATENCY_MS, description: 'Milliseconds.' }),
    ),
  }),
);
const CHECKS = Type.Optional(
  Type.Record(Type.String(name), DependencyReportSchema, {
    maxProperties: MAX_DEPENDENCIES,
    propertyNames: name,
    description: 'What the service says of the things that it depends on, by name.',
  }),
);

/** The body of a heartbeat (contract 2.4). */
const HeartbeatSchema = named(
  'Heartbeat',
  Type.Object({
    domain: DOMAIN,
    status: enumOf(STATUS_WORDS, 'The overall status, the word of the owner, in any case of letters.'),
    timestamp: TIMESTAMP,
    checks: CHECKS,
    run: RUN,
  }),
);

const StartSchema = named('HeartbeatStart', Type.Object({ domain: DOMAIN, timestamp: TIMESTAMP, run: RUN }));

const FailSchema = named(
  'HeartbeatFailure',
  Type.Object({
    domain: DOMAIN,
    timestamp: TIMESTAMP,
    checks: CHECKS,
    run: RUN,
    exit_code: Type.Optional(
      Type.Integer({
        minimum: MIN_EXIT_CODE,
        maximum: MAX_EXIT_CODE,
        not: { const: 0 },
        description: 'Exit code of the process, which is not 0.',
      }),
    ),
  }),
);

/** The response to a heartbeat (contract 4.5). */
const HeartbeatReplySchema = namedObject('HeartbeatReply', {
  ok: Type.Literal(true),
  service: Type.String({ description: 'Name of the service.' }),
  status: enumOf(SERVICE_STATUSES, 'The status of the service after the heartbeat.'),
  response_time: whole('The largest latency that was reported, milliseconds; 0 where none was.'),
  checked_at: TimeSchema,
  slug: Type.Optional(
    Type.String({
      description: 'Where the form that follows from the domain stands for another service.',
    }),
  ),
  run: Type.Optional(
    strictObject(
      {
        id: Type.String(),
        duration_ms: nullable(whole('Milliseconds since its start.'), 'Null where no start is known.'),
      },
      'Where the heartbeat names a run.',
    ),
  ),
});

/** Error codes by the reason why a domain is refused. */
const REFUSALS: Readonly<Record<string, ProblemCode>> = {
  foreign_domain: 'forbidden_domain',
  catalogue_domain: 'forbidden_domain',
  account_limit: 'domain_limit',
  // The service of a heartbeat address was removed meanwhile.
  not_found: 'address_not_found',
};

export interface HeartbeatSources {
  readonly siteUrl: string;
  readonly now: () => number;
  readonly heartbeats: HeartbeatIntake;
  /** The time that the nodes of a cluster share, epoch milliseconds. Absent: that of this process. */
  readonly sharedNow?: (() => number) | undefined;
  /** The limits in force. */
  readonly limits: () => ApiLimits;
}

export function heartbeatRoutes(sources: HeartbeatSources): Route[] {
  const { limits } = sources;
  const access = { scope: 'heartbeat' satisfies KeyScope };
  const route = (path: string, kind: HeartbeatKind, describe: () => OpenApiOperation): Route => ({
    path,
    bucket: 'api',
    isHeartbeat: true,
    access,
    writes: {
      POST: {
        access,
        maxBytes: MAX_HEARTBEAT_BYTES,
        handle: (request) => takeHeartbeat(sources, kind, request),
        describe,
      },
    },
    onFault: () => sources.heartbeats.noteRefusal(),
  });
  return [
    route('/api/v1/heartbeat', 'beat', () => describeHeartbeat(limits())),
    route('/api/v1/heartbeat/start', 'start', () =>
      postOperation({
        id: 'startRun',
        summary: 'Report that a run begins',
        description:
          'A sign of life that says nothing of the status. The heartbeat or the failure with the same run is answered with its duration.',
        body: StartSchema,
        example: { domain: EXAMPLE_DOMAIN, run: 'nightly-7' },
      }),
    ),
    route('/api/v1/heartbeat/fail', 'fail', () =>
      postOperation({
        id: 'failRun',
        summary: 'Report that a run failed',
        description: 'The same as a heartbeat whose status is down.',
        body: FailSchema,
        example: { domain: EXAMPLE_DOMAIN, run: 'nightly-7' },
      }),
    ),
  ];
}

async function takeHeartbeat(
  { heartbeats, siteUrl, now, sharedNow = now }: HeartbeatSources,
  kind: HeartbeatKind,
  { body, key }: WriteRequest,
): Promise<HttpResponse> {
  const arrivedAt = now();
  const text = withoutAddressMembers(decodeText(body));
  const reading = readHeartbeat(text, kind);
  if (!reading.ok) throw invalidBody(reading);
  const { report } = reading;
  const early = report.timestamp === null ? null : refuseTimestamp(report.timestamp, sharedNow());
  if (early !== null) throw invalidBody({ place: '/timestamp', problem: early, allowed: null });
  const receipt = await heartbeats
    .takeHeartbeat({ report, accountId: key.accountId, arrivedAt, body: text })
    .catch((error: unknown) => {
      throw explainHeartbeatError(error);
    });
  return answer(receipt, report.run, siteUrl);
}

function answer(receipt: HeartbeatReceipt, run: string | null, siteUrl: string): HttpResponse {
  const { service, status, responseTimeMs, checkedAt, runMs } = receipt;
  const view: Static<typeof HeartbeatReplySchema> = {
    ok: true,
    service: service.name,
    status,
    response_time: responseTimeMs ?? 0,
    checked_at: formatTime(checkedAt),
    // The response contains the slug if another service has the dashed domain (decisions, Badge).
    ...(service.slug === dashDomain(service.domain) ? {} : { slug: service.slug }),
    ...(run === null ? {} : { run: { id: run, duration_ms: runMs } }),
  };
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      // RFC 8631: the link to the status of the service.
      Link: `<${siteUrl}/api/v1/status/${service.slug}>; rel="status"`,
    },
    body: JSON.stringify(view),
  };
}

function invalidBody({ place, problem, allowed }: HeartbeatProblem): HttpError {
  const subject = place === '' ? 'The body' : place;
  const detail = `${subject} ${problem}.${allowed === null ? '' : ` Allowed: ${allowed.join(', ')}.`}`;
  return new HttpError('invalid_body', detail, { place, ...(allowed === null ? {} : { allowed }) });
}

/** The error for a heartbeat that was refused. */
export function explainHeartbeatError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const { code } = error;
  if (code === 'unavailable') return retryLater('unavailable', RETRY_SECONDS, error.message);
  const refusal = REFUSALS[String(code)];
  return refusal === undefined ? error : new HttpError(refusal, error.message);
}

const EXAMPLE_DOMAIN = 'shop.example.com';

function describeHeartbeat({ authenticatedPerMinute, silenceMs, domainsPerAccount }: ApiLimits) {
  return postOperation({
    id: 'sendHeartbeat',
    summary: 'Report how a service is',
    description: `At most ${authenticatedPerMinute} a minute for each key. The first heartbeat for a domain registers the service, at most ${domainsPerAccount} for each account, and ${MAX_REGISTRATIONS_PER_DAY} within a day, those that it removed again included. A domain belongs to the account that registered it first, until another one verifies it. Domains of the public catalogue, and all below them, need verification first (403), also where the catalogue gains them later. After ${formatDuration(silenceMs)} without one the service is down, unless its owner set another period.`,
    body: HeartbeatSchema,
    example: { domain: EXAMPLE_DOMAIN, status: 'ok', checks: { database: { status: 'ok', latency: 12 } } },
  });
}

interface PostEndpoint {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly body: TSchema;
  readonly example: object;
}

function postOperation({ id, summary, description, body, example }: PostEndpoint): OpenApiOperation {
  return {
    operationId: id,
    tags: ['Heartbeats'],
    summary,
    description,
    security: [{ key: [] }],
    parameters: [],
    requestBody: { required: true, content: { 'application/json': { schema: body, example } } },
    responses: {
      200: {
        description: 'It is on disk, and every read shows it.',
        headers: {
          ...LIMIT_HEADERS,
          Link: {
            description: 'Where the status can be read, with rel="status".',
            schema: { type: 'string' },
          },
        },
        content: { 'application/json': { schema: HeartbeatReplySchema } },
      },
      ...problems({
        400: 'The body is not valid; `place` is a JSON Pointer to what is wrong, `allowed` lists the values.',
        401: 'There is no API key, or it is not valid.',
        403: 'The domain belongs to another account or to the public catalogue (forbidden_domain), the account has as many as it may (domain_limit), or the key lacks the scope heartbeat (insufficient_scope).',
        413: `The body is longer than ${MAX_HEARTBEAT_BYTES} bytes.`,
        415: 'The body is not sent as application/json.',
        429: 'Too many requests; Retry-After says how long to wait.',
        503: 'It is not written: the disk is full or read-only (storage_full), or we cannot write for another reason (unavailable). Retry-After says how long to wait.',
      }),
    },
  };
}
