/**
 * `/beat/<secret>`: the heartbeat address of a service, for cron jobs and scripts that need no more than `curl`. GET, HEAD
 * and POST do the same; the body of a POST is kept as a log.
 */
import {
  type AddressSignal,
  hashAddressSecret,
  MAX_LOG_LENGTH,
  readAddressSignal,
  readLog,
} from '../domain/heartbeat-address.ts';
import { MAX_NAME_LENGTH, readHeartbeat } from '../domain/heartbeat-body.ts';
import type { Service } from '../domain/service.ts';
import {
  LIMIT_HEADERS,
  OPEN_TO_ALL,
  type OpenApiOperation,
  problems,
  queryParameters,
} from '../http/openapi.ts';
import { type ParameterSchemas, readParameters } from '../http/parameters.ts';
import { HttpError } from '../http/problem.ts';
import type { HttpRequest, HttpResponse, Route } from '../http/route.ts';
import { Type } from '../json-schema.ts';
import type { HeartbeatStore } from '../store/ports/heartbeats.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import { explainHeartbeatError, type HeartbeatSources } from './heartbeats.ts';

/** Maximum size of a body that is read, bytes; a longer log is refused. */
const MAX_LOG_BYTES = 65_536;
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST']);

const PARAMETERS = {
  run: Type.Optional(
    Type.String({
      description: `Pairs the start of a run with its end, 1 to ${MAX_NAME_LENGTH} characters.`,
    }),
  ),
  rid: Type.Optional(Type.String({ description: 'The same as `run`, for scripts that call it so.' })),
} satisfies ParameterSchemas;

/** Sources of the routes. */
export interface AddressSources extends Pick<HeartbeatSources, 'heartbeats' | 'siteUrl' | 'now'> {
  readonly directory: Pick<ServiceDirectory, 'byAddressHash'>;
  readonly registry: Pick<HeartbeatStore, 'addHeartbeatLog'>;
}

/** The routes. */
export function addressRoutes({ directory, heartbeats, registry, siteUrl, now }: AddressSources): Route[] {
  const find = ({ params }: HttpRequest): Service | null =>
    directory.byAddressHash(hashAddressSecret(params.secret ?? ''));

  const take = async (service: Service, signal: AddressSignal, request: HttpRequest): Promise<void> => {
    const { run, rid } = readParameters(request.query, PARAMETERS);
    const arrivedAt = now();
    const log = request.readBody === undefined ? null : readLog(await request.readBody(MAX_LOG_BYTES));
    const { kind } = signal;
    const body = JSON.stringify({
      domain: service.domain,
      ...(kind === 'beat' ? { status: 'ok' } : {}),
      ...((run ?? rid) === undefined ? {} : { run: run ?? rid }),
      ...(kind === 'fail' && signal.exitCode !== null ? { exit_code: signal.exitCode } : {}),
      ...(log === null ? {} : { log }),
    });
    // A log is read like a start, for its run.
    const reading = readHeartbeat(body, kind === 'log' ? 'start' : kind);
    if (!reading.ok)
      throw new HttpError('invalid_parameter', `The parameter run ${reading.problem}.`, { parameter: 'run' });
    const { report } = reading;
    const accountId = service.accountId ?? 0;
    if (kind !== 'log') await heartbeats.takeHeartbeat({ report, accountId, arrivedAt, body });
    else if (log !== null)
      await registry.addHeartbeatLog(service.id, accountId, { at: arrivedAt, run: report.run, text: log });
  };

  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    const { method, params } = request;
    if (!METHODS.has(method))
      throw new HttpError(
        'method_not_allowed',
        `${method} is not possible here.`,
        {},
        { Allow: 'GET, HEAD, POST' },
      );
    const service = find(request);
    if (service === null)
      throw new HttpError(
        'address_not_found',
        'There is no such heartbeat address, or it has been replaced.',
      );
    const signal = readAddressSignal(params.signal ?? '');
    if (signal === null)
      throw new HttpError(
        'route_not_found',
        'After the address come start, fail, log, an exit code from 0 to 255, or nothing.',
      );
    await take(service, signal, request).catch((error: unknown) => {
      throw explainHeartbeatError(error);
    });
    return {
      status: 200,
      headers: {
        'Content-Type': 'text/plain; charset=utf-8',
        'Cache-Control': 'no-store',
        Link: `<${siteUrl}/api/v1/status/${service.slug}>; rel="status"`,
      },
      body: 'OK\n',
    };
  };

  const route = (path: string, describe: () => OpenApiOperation): Route => ({
    path,
    bucket: 'api',
    isHeartbeat: true,
    access: 'secret',
    anyMethod: true,
    handle,
    payer(request) {
      const service = find(request);
      return service === null ? null : `service ${service.id}`;
    },
    onFault: () => heartbeats.noteRefusal(),
    describe,
  });

  return [
    route('/beat/:secret', () =>
      describeAddress('beat', 'Sends a heartbeat to the address of a service', []),
    ),
    route('/beat/:secret/:signal', () =>
      describeAddress('signal', 'Reports the start, the failure or the exit code of a run, or sends a log', [
        {
          name: 'signal',
          in: 'path',
          required: true,
          description:
            '`start`: a run begins. `fail`: it failed. An exit code: 0 is a heartbeat, 1 to 255 a failure. `log`: the body is kept, and changes nothing.',
          schema: { type: 'string', pattern: '^(start|fail|log|\\d{1,3})$' },
          example: 'start',
        },
      ]),
    ),
  ];
}

function describeAddress(
  name: string,
  summary: string,
  parameters: OpenApiOperation['parameters'],
): OpenApiOperation {
  return {
    operationId: `${name}ByAddress`,
    tags: ['Heartbeats'],
    summary,
    description: `Needs no key, since the address has a secret. HEAD and POST do the same; the body of a POST, whatever its type, is kept as a log of up to ${MAX_LOG_LENGTH} characters. Requests count by service, with the limit of a key.`,
    security: OPEN_TO_ALL,
    parameters: [
      {
        name: 'secret',
        in: 'path',
        required: true,
        description: 'The secret of the address, as the dashboard or the command line showed it once.',
        schema: { type: 'string' },
        example: 'q8mOGyrv6Jc0vTGTUlZ5Yg',
      },
      ...parameters,
      ...queryParameters(PARAMETERS),
    ],
    responses: {
      200: {
        description: 'It is on disk, and every read shows it.',
        headers: LIMIT_HEADERS,
        content: { 'text/plain': { schema: Type.Literal('OK\n') } },
      },
      ...problems({
        400: 'The name of the run is not valid.',
        401: 'The request has an API key that is not valid.',
        403: 'The domain was added to the public catalogue and is not verified (forbidden_domain).',
        404: 'There is no such address (address_not_found), or its last part is not known (route_not_found).',
        413: `The body is longer than ${MAX_LOG_BYTES} bytes.`,
        429: 'Too many requests; Retry-After says how long to wait.',
        503: 'It is not written: the disk is full or read-only (storage_full), or we cannot write for another reason (unavailable). Retry-After says how long to wait.',
      }),
    },
  };
}
