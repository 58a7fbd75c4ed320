/** What services report, in the OpenAPI document. */
import type { TSchema } from '@sinclair/typebox';
import { formatDuration } from '../domain/durations.ts';
import {
  LIMIT_HEADERS,
  type OpenApiOperation,
  type OpenApiPath,
  operation,
  problems,
  SERVICE_SLUG,
} from '../http/openapi.ts';
import { MAX_REGISTRATIONS_PER_DAY } from '../store/ports/ownership.ts';
import type { ApiLimits } from '../view/limits.ts';
import { DEPENDENCIES_QUERY, SERVICE_DEPENDENCIES_QUERY } from './dependencies.ts';
import {
  DependenciesSchema,
  FailSchema,
  HeartbeatAnswerSchema,
  HeartbeatSchema,
  ServiceDependenciesSchema,
  StartSchema,
} from './heartbeat-schemas.ts';
import { MAX_HEARTBEAT_BYTES } from './heartbeats.ts';

/** The paths. */
export function heartbeatPaths(limits: ApiLimits): Readonly<Record<string, OpenApiPath>> {
  const { authenticatedPerMinute, silenceMs, domainsPerAccount } = limits;
  const domain = 'shop.example.com';
  return {
    '/api/v1/heartbeat': {
      post: posting(
        'sendHeartbeat',
        'Reports how a service is',
        `At most ${authenticatedPerMinute} a minute for each key. The first heartbeat for a domain registers the service, at most ${domainsPerAccount} for each account, and ${MAX_REGISTRATIONS_PER_DAY} within a day, those that it removed again included. A domain belongs to the account that registered it first, until another one verifies it. Domains of the public catalogue, and all below them, need verification first (403), also where the catalogue gains them later. After ${formatDuration(silenceMs)} without one the service is down, unless its owner set a period of its own.`,
        HeartbeatSchema,
        { domain, status: 'ok', checks: { database: { status: 'ok', latency: 12 } } },
      ),
    },
    '/api/v1/heartbeat/start': {
      post: posting(
        'startRun',
        'Reports that a run begins',
        'A sign of life that says nothing of the status. The heartbeat or the failure with the same run is answered with its duration.',
        StartSchema,
        { domain, run: 'nightly-7' },
      ),
    },
    '/api/v1/heartbeat/fail': {
      post: posting(
        'failRun',
        'Reports that a run failed',
        'The same as a heartbeat whose status is down.',
        FailSchema,
        { domain, run: 'nightly-7' },
      ),
    },
    '/api/v1/services/{slug}/dependencies': {
      get: operation(
        'listServiceDependencies',
        'Heartbeats',
        'What a service says of its dependencies',
        'Only where its owner has made them public.',
        [SERVICE_SLUG],
        SERVICE_DEPENDENCIES_QUERY,
        ServiceDependenciesSchema,
        { 403: 'The owner has not made them public.' },
      ),
    },
    '/api/v1/dependencies': {
      get: operation(
        'listDependencies',
        'Heartbeats',
        'Dependencies that are reported as failing now, and by how many services',
        'Over verified services whose owners have made their dependencies public.',
        [],
        DEPENDENCIES_QUERY,
        DependenciesSchema,
      ),
    },
  };
}

function posting(
  operationId: string,
  summary: string,
  description: string,
  body: TSchema,
  example: object,
): OpenApiOperation {
  return {
    operationId,
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
        content: { 'application/json': { schema: HeartbeatAnswerSchema } },
      },
      ...problems({
        400: 'The body is not valid; `place` is a JSON Pointer to what is wrong, `allowed` lists the values.',
        401: 'There is no API key, or it is not valid.',
        403: 'The domain belongs to another account or to the public catalogue (forbidden_domain), or the account has as many as it may (domain_limit).',
        413: `The body is longer than ${MAX_HEARTBEAT_BYTES} bytes.`,
        415: 'The body is not sent as application/json.',
        429: 'Too many requests; Retry-After says how long to wait.',
        500: 'A fault of ours, with a request id.',
        503: 'It is not written: the disk is full or read-only (storage_full), or we cannot write for another reason (unavailable). Retry-After says how long to wait.',
      }),
    },
  };
}
