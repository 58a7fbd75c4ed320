/**
 * `/beat/<secret>`: the heartbeat address of a service, for cron jobs and scripts that need no more than `curl`. GET, HEAD, POST
 * and PUT do the same. What the path reports counts, whatever else the request carries; the body is kept as a log. The same
 * secret is a push token at `/api/push/<token>`, which takes what scripts send to Uptime Kuma and answers as it does.
 */

import { MAX_NAME_LENGTH, STATUS_WORDS } from '../domain/heartbeat/heartbeat-body.ts';
import { hashAddressSecret, MAX_LOG_LENGTH, readAddressSignal } from '../domain/heartbeat/heartbeat-rules.ts';
import type { Service } from '../domain/service.ts';
import { readStatusWord } from '../domain/status.ts';
import {
  LIMIT_HEADERS,
  OPEN_TO_ALL,
  type OpenApiOperation,
  type OpenApiParameter,
  problems,
  queryParameters,
  typeName,
} from '../http/openapi.ts';
import { type ParameterSchemas, readParameters } from '../http/parameters.ts';
import { HttpError } from '../http/problem.ts';
import type { HttpRequest, HttpResponse, Route } from '../http/route.ts';
import { Type } from '../json-schema.ts';
import type { HeartbeatStore } from '../store/ports/heartbeats.ts';
import type { ShownDirectory } from '../view/service-directory.ts';
import type { HeartbeatSources } from './heartbeats.ts';
import { createSignalTaker, requireSignalMethod, type SignalAnswer } from './take-signal.ts';

const OK: SignalAnswer = { type: 'text/plain; charset=utf-8', body: 'OK\n' };
const PUSHED: SignalAnswer = { type: 'application/json; charset=utf-8', body: '{"ok":true}' };
const NO_PUSH_MONITOR: HttpResponse = {
  status: 404,
  headers: { 'Content-Type': PUSHED.type, 'Cache-Control': 'no-store' },
  body: '{"ok":false,"msg":"Monitor not found or not active."}',
};

/** Of a heartbeat alone. A status decides, so it is refused where it is not known. */
const OF_HEARTBEATS = {
  status: Type.Optional(
    Type.String({
      description: `As Uptime Kuma's monitors of type push have it: \`up\` (the default), \`down\`, or another word of the vocabulary: ${STATUS_WORDS.join(', ')}.`,
    }),
  ),
  ping: Type.Optional(
    Type.String({
      description: 'Response time in milliseconds. Empty, or anything but a number, is ignored.',
    }),
  ),
} satisfies ParameterSchemas;

/** Optional parameters. Nothing here makes a request fail: a failed run that names itself wrongly has failed too. */
const ASIDES = {
  run: Type.Optional(
    Type.String({
      description: `Pairs the start of a run with its end, 1 to ${MAX_NAME_LENGTH} characters. Any other name is ignored.`,
    }),
  ),
  rid: Type.Optional(Type.String({ description: 'The same as `run`, for scripts that call it so.' })),
  msg: Type.Optional(
    Type.String({
      description:
        'Kept as the log where the request has no body. With a `status` that is down it is also the reason, which everyone sees who sees the service.',
    }),
  ),
} satisfies ParameterSchemas;

export interface AddressSources extends HeartbeatSources {
  readonly directory: ShownDirectory;
  readonly registry: HeartbeatStore;
}

export function addressRoutes({ directory, heartbeats, registry, siteUrl, now }: AddressSources): Route[] {
  const find = ({ params }: HttpRequest): Service | null =>
    directory.byAddressHash(hashAddressSecret(params.secret ?? ''));
  const takeAndAnswer = createSignalTaker({ heartbeats, registry, siteUrl, now });

  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    const { params, query } = request;
    requireSignalMethod(request);
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
        'After the address come start, fail, log, an exit code (a whole number of 32 bits), or nothing.',
      );
    const status = signal.kind === 'beat' ? readParameters(query, OF_HEARTBEATS).status || 'ok' : null;
    if (status !== null && readStatusWord(status) === null) throw unknownStatus(status);
    return await takeAndAnswer({ service, signal, status, request }, OK);
  };

  const handlePush = async (request: HttpRequest): Promise<HttpResponse> => {
    const service = find(request);
    if (service === null || service.paused) return NO_PUSH_MONITOR;
    const status = readPushStatus(request.query);
    return await takeAndAnswer({ service, signal: { kind: 'beat' }, status, request }, PUSHED);
  };

  const route = (path: string, answer: typeof handle, described: AddressDescription): Route => ({
    path,
    bucket: 'api',
    isHeartbeat: true,
    access: 'secret',
    anyMethod: true,
    handle: answer,
    payer(request) {
      const service = find(request);
      if (service === null) return null;
      // Logs count apart, so that many of them leave room for what changes the status.
      return `${request.params.signal === 'log' ? 'logs of ' : ''}service ${service.id}`;
    },
    onFault: () => heartbeats.noteRefusal(),
    describe: () => describeAddress(described),
    describeOthers: () =>
      Object.fromEntries(described.methods.map((method) => [method, describeAddress(described, method)])),
  });

  return [
    route('/beat/:secret', handle, BEAT),
    route('/beat/:secret/:signal', handle, SIGNALLED_BEAT),
    route('/api/push/:secret', handlePush, PUSH),
  ];
}

const PUSH_STATUS =
  '`up`, or nothing: it is up. Other words of the vocabulary count as what they mean, and any other text, as with Uptime Kuma, as `down`.';

/** The status of a push; of several, one that is not up counts. */
function readPushStatus(query: string): string {
  const words = new URLSearchParams(query).getAll('status').filter((word) => word !== '');
  if (words.some((word) => (readStatusWord(word) ?? 'down') === 'down')) return 'down';
  return words[0] ?? 'ok';
}

const SIGNAL: OpenApiParameter = {
  name: 'signal',
  in: 'path',
  required: true,
  description:
    '`start`: a run begins. `fail`: it failed. An exit code: 0 is a heartbeat, any other whole number of 32 bits, with a sign or without, a failure. `log`: the body is kept, and changes nothing.',
  schema: { type: 'string', pattern: '^(start|fail|log|0|-?[1-9]\\d{0,9})$' },
  example: 'start',
};

function unknownStatus(status: string): HttpError {
  const words = STATUS_WORDS.join(', ');
  return new HttpError(
    'invalid_parameter',
    `Parameter "status" is ${JSON.stringify(status.slice(0, 40).toWellFormed())}, which is not known. Allowed: ${words}.`,
    { parameter: 'status', allowed: STATUS_WORDS },
  );
}

/** Any media type is taken; a log is text. */
const LOG_CONTENT = {
  'text/plain': {
    schema: Type.String({ description: 'A log, whatever its media type says.' }),
    example: 'backed up 1,204 files',
  },
};

/** The description of one of the paths in the OpenAPI document. */
interface AddressDescription {
  /** The beginning of its operation ids. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** Methods beside GET and HEAD. */
  readonly methods: readonly ('post' | 'put')[];
  /** A parameter of the path beside the secret. */
  readonly parameter?: OpenApiParameter;
  readonly query: ParameterSchemas;
  readonly answers: OpenApiOperation['responses'];
}

const CLOSING = `its first ${MAX_LOG_LENGTH} characters are kept, which ends with \`[cut]\` where there was more. Requests count by service, with the limit of a key`;
const PROBLEMS = {
  401: 'The request has an API key that is not valid.',
  403: 'The domain was added to the public catalogue and is not verified (forbidden_domain).',
  429: 'Too many requests; Retry-After says how long to wait.',
  503: 'It is not written: the disk is full or read-only (storage_full), or we cannot write for another reason (unavailable). Retry-After says how long to wait.',
};
const NO_ADDRESS =
  'There is no such address (address_not_found), or its last part is not known (route_not_found).';

const SIGNAL_ANSWERS = {
  200: {
    description: 'It is on disk, and every read shows it.',
    headers: LIMIT_HEADERS,
    content: { 'text/plain': { schema: Type.String({ description: 'OK and a line feed.' }) } },
  },
  ...problems({ ...PROBLEMS, 404: NO_ADDRESS }),
};

const BEAT = {
  name: 'beat',
  summary: 'Send a heartbeat to the address of a service',
  description: `Needs no key, since the address has a secret. A secret that is a UUID is also pinged at /ping/UUID and /UUID, as with Healthchecks. GET, HEAD, POST and PUT do the same. The path counts whatever the body is, which is the log: ${CLOSING}; logs count apart.`,
  methods: ['post', 'put'],
  query: OF_HEARTBEATS,
  answers: {
    ...SIGNAL_ANSWERS,
    ...problems({ 400: 'The status is not known, so nothing was counted; `allowed` lists the words.' }),
  },
} as const satisfies AddressDescription;

const SIGNALLED_BEAT = {
  ...BEAT,
  name: 'signal',
  summary: 'Report the start, the failure or the exit code of a run, or send a log',
  parameter: SIGNAL,
  query: {},
  answers: SIGNAL_ANSWERS,
};

/** As Uptime Kuma answers. */
const PUSH_JSON = {
  'application/json': { schema: Type.Object({ ok: Type.Boolean(), msg: Type.Optional(Type.String()) }) },
};

const PUSH = {
  name: 'push',
  summary: 'Send a heartbeat as scripts for Uptime Kuma do',
  description: `The address of a monitor of the type push of Uptime Kuma. The token is the secret of a heartbeat address, or one that was imported from Uptime Kuma. Every method does the same. \`msg\` is the reason where the service is down, and the log where there is no body: ${CLOSING}.`,
  methods: ['post'],
  query: { ...OF_HEARTBEATS, status: Type.Optional(Type.String({ description: PUSH_STATUS })) },
  answers: {
    200: {
      description: 'It is on disk, and every read shows it.',
      headers: LIMIT_HEADERS,
      content: PUSH_JSON,
    },
    ...problems(PROBLEMS),
    404: {
      description: 'No service has this token, or it is paused.',
      headers: LIMIT_HEADERS,
      content: PUSH_JSON,
    },
  },
} as const satisfies AddressDescription;

function describeAddress(
  { name, summary, description, parameter, query, answers }: AddressDescription,
  method: 'get' | 'post' | 'put' = 'get',
): OpenApiOperation {
  return {
    operationId: method === 'get' ? `${name}ByAddress` : `${method}${typeName(name)}ByAddress`,
    tags: ['Heartbeats'],
    summary: method === 'get' ? summary : `${summary}, by ${method.toUpperCase()}`,
    description,
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
      ...(parameter === undefined ? [] : [parameter]),
      ...queryParameters({ ...query, ...ASIDES }),
    ],
    ...(method === 'get' ? {} : { requestBody: { required: false, content: LOG_CONTENT } }),
    responses: answers,
  };
}
