/** Routes of the API that need a key: changes of what an account has, and reads that only the account may make; and refusals as errors. */

import { describeRefusal, type Refusal } from '../../domain/refusal.ts';
import { KEY_SCOPES, type KeyScope } from '../../domain/role.ts';
import { readRevisions } from '../../http/conditional.ts';
import {
  IF_NONE_MATCH,
  LIMIT_HEADERS,
  type OpenApiOperation,
  type OpenApiParameter,
  problems,
} from '../../http/openapi.ts';
import { HttpError, type ProblemCode } from '../../http/problem.ts';
import type {
  HttpRequest,
  HttpResponse,
  KeyBearer,
  Route,
  WriteMethod,
  WriteRequest,
} from '../../http/route.ts';
import { patchOf } from '../../http/schema.ts';
import type { TObject, TSchema } from '../../json-schema.ts';
import type { AccountPrincipal, Outcome, Refused } from './change.ts';
import type { ChangeTarget } from './create-changes.ts';

/** The parameter of changes that may depend on a revision. */
export const IF_MATCH: OpenApiParameter = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'ETags that the client has seen, or *. Only the revision at their beginning counts, since the status changes by itself. Absent: any.',
  schema: { type: 'string' },
};

export const ETAG_HEADER = { ETag: { description: 'Begins with the revision.', schema: { type: 'string' } } };

/** The headers of responses that show what was created. */
export const CREATED_HEADERS = {
  ...ETAG_HEADER,
  Location: { description: 'Where it can be read.', schema: { type: 'string' } },
};

interface RequestBody {
  readonly schema: TSchema;
  readonly example: object;
  /** Maximum size, bytes. */
  readonly maxBytes: number;
  /** Media types. Default `application/json`. */
  readonly types?: readonly string[];
}

/** The body of a change by a JSON Merge Patch (RFC 7396) of a document. */
export function patchBody(name: string, document: TObject, example: object, maxBytes: number): RequestBody {
  return {
    schema: patchOf(name, document),
    example,
    maxBytes,
    types: ['application/merge-patch+json', 'application/json'],
  };
}

/** The description of an operation that needs a key in the OpenAPI document. */
interface KeyedOperation {
  /** Operation id. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Parameters of the path, of the query and headers. */
  readonly parameters?: readonly OpenApiParameter[];
  /** Responses without an error, by status. */
  readonly answers: Readonly<
    Record<string, { readonly description: string; readonly headers?: object; readonly schema?: TSchema }>
  >;
  /** The requests that the server sends because of it. */
  readonly callbacks?: object;
  /** Additional errors, by status. */
  readonly problems?: Readonly<Record<string, string>>;
}

/** A route for one method that changes something. */
export interface WritingEndpoint extends KeyedOperation {
  readonly path: string;
  readonly method: WriteMethod;
  readonly scope?: KeyScope;
  /** Absent: there is none. */
  readonly body?: RequestBody;
  readonly handle: (request: WriteRequest) => Promise<HttpResponse>;
}

/** A route that only the account of a key may read. */
export interface OwnEndpoint extends KeyedOperation {
  readonly path: string;
  readonly handle: NonNullable<Route['handle']>;
}

/** Creates a route for one method, which needs a key with the scope, by default `write`. */
export function writeRoute(endpoint: WritingEndpoint): Route {
  const { path, method, scope = 'write', body, handle } = endpoint;
  const access = { scope };
  const { maxBytes = 0, types } = body ?? {};
  const operation = {
    access,
    maxBytes,
    ...(types === undefined ? {} : { types }),
    handle,
    describe: () => describe(endpoint, scope, body),
  };
  return { path, bucket: 'api', access, writes: { [method]: operation } };
}

/** Creates a route that needs a key with the scope `read`. */
export function ownRoute({ path, handle, ...endpoint }: OwnEndpoint): Route {
  const scope = 'read' satisfies KeyScope;
  const answers = { ...endpoint.answers, 304: { description: 'The client has it already (If-None-Match).' } };
  const parameters = [...(endpoint.parameters ?? []), IF_NONE_MATCH];
  const describeRead = () => describe({ ...endpoint, parameters, answers }, scope);
  return { path, bucket: 'api', access: { scope }, handle, describe: describeRead };
}

export function principalOf(key: KeyBearer): AccountPrincipal {
  const scopes = KEY_SCOPES.filter((scope) => key.scopes.includes(scope));
  return { role: 'owner', accountId: key.accountId, scopes };
}

/** The target of a change: `key`, with the revisions that `If-Match` names. */
export function targetOf<Key>(key: Key, { headers }: HttpRequest): ChangeTarget<Key> {
  return { key, revisions: readRevisions(headers['if-match']) };
}

/**
 * Returns true if a key sees what owners often enter secrets in: settings and addresses of checks, and URLs of webhooks.
 * Viewers of an account do not see them either (docs/accounts.md).
 */
export function mayWrite({ scopes }: KeyBearer): boolean {
  return scopes.includes('write');
}

/** The bearer of the key of a request that only an account may make. */
export function bearerOf({ key }: { readonly key?: KeyBearer }): KeyBearer {
  if (key === undefined) throw new Error('the route admitted a request without a key');
  return key;
}

/** A response to a change, with JSON. */
export function changed(
  status: 200 | 201,
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
  etag?: string,
): HttpResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(etag === undefined ? {} : { etag }),
  };
}

export const REMOVED: HttpResponse = { status: 204, headers: { 'Cache-Control': 'no-store' }, body: '' };

function describe(operation: KeyedOperation, scope: KeyScope, body?: RequestBody): OpenApiOperation {
  const { id, tag, summary, description, parameters = [], answers, callbacks, problems: more } = operation;
  const content = (schema: TSchema) => ({ content: { 'application/json': { schema } } });
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `${description} Needs a key with the scope ${scope}.`,
    security: [{ key: [] }],
    parameters,
    ...(body === undefined ? {} : { requestBody: { required: true, content: contentOf(body) } }),
    ...(callbacks === undefined ? {} : { callbacks }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, { description: text, headers, schema }]) => [
          status,
          {
            description: text,
            headers: { ...LIMIT_HEADERS, ...headers },
            ...(schema === undefined ? {} : content(schema)),
          },
        ]),
      ),
      ...problems({
        ...(body === undefined ? {} : { 400: 'The body is not valid; `errors` names each field.' }),
        401: 'There is no API key, or it is not valid.',
        403: `The key lacks the scope ${scope} (insufficient_scope).`,
        ...(body === undefined
          ? {}
          : {
              413: `The body is longer than ${body.maxBytes} bytes.`,
              415: `The body is not sent as ${(body.types ?? ['application/json']).join(' or ')}.`,
            }),
        ...more,
        429: 'Too many requests; Retry-After says how long to wait.',
        503: 'Nothing is changed: the disk is full or read-only (storage_full), or the registry does not respond (unavailable). Retry-After says how long to wait.',
      }),
    },
  };
}

function contentOf({ schema, example, types = ['application/json'] }: RequestBody): object {
  return Object.fromEntries(types.map((type) => [type, { schema, example }]));
}

/** A response that only the account may keep. */
export function privately(response: HttpResponse): HttpResponse {
  return { ...response, headers: { ...response.headers, 'Cache-Control': 'private, no-cache' } };
}

/** The number of a key or a webhook in a path. */
export const idParameter = (what: string): OpenApiParameter => ({
  name: 'id',
  in: 'path',
  required: true,
  description: `The number of the ${what}, as the list has it.`,
  schema: { type: 'string' },
  example: '7',
});

type NumberedThing = 'key' | 'webhook' | 'channel' | 'rule' | 'message';

/** The number in a path. Throws the error of a number that nothing has, where the text is no number. */
export function readId(text: string | undefined, what: NumberedThing): number {
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text);
  const message = `There is no ${what} ${JSON.stringify(text?.slice(0, 100))}: ids are numbers.`;
  throw new HttpError(`${what}_not_found`, message, {
    errors: [{ field: null, code: `no_${what}`, message }],
  });
}

type Kinds = Readonly<Record<string, { readonly settings: TObject }>>;

export function withSettings<S extends TObject>(schema: S, kinds: Kinds): S {
  const typed = {
    ...schema.properties.settings,
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      [...settingsOf(kinds)].map(([name, owners]) => [name, mergedSetting(owners)]),
    ),
  };
  return withMember(schema, 'settings', typed);
}

/** The schema with a member in place of another. */
export function withMember<S extends TObject>(schema: S, name: string, member: object): S {
  return { ...schema, properties: { ...schema.properties, [name]: member } };
}

function settingsOf(kinds: Kinds): ReadonlyMap<string, ReadonlyMap<string, TSchema>> {
  const found = new Map<string, Map<string, TSchema>>();
  for (const [kind, { settings }] of Object.entries(kinds))
    for (const [name, schema] of Object.entries<TSchema>(settings.properties))
      found.set(name, (found.get(name) ?? new Map<string, TSchema>()).set(kind, schema));
  return found;
}

/** One schema for a setting: what all its kinds have in common. It is a secret where no kind shows it. */
function mergedSetting(owners: ReadonlyMap<string, TSchema>): object {
  const schemas = [...owners.values()];
  const types = [...new Set(schemas.map(({ type }) => String(type)))];
  const words = schemas.map(({ enum: allowed }) => allowed);
  const [items] = schemas.map((schema) => schema.items);
  const described = [...owners].map(([kind, { description }]) =>
    description === undefined ? kind : `${kind}: ${description}`,
  );
  return {
    ...(types.length === 1 ? { type: types[0] } : { oneOf: types.map((type) => ({ type })) }),
    ...(items === undefined ? {} : { items }),
    ...(words.includes(undefined) ? {} : { enum: [...new Set(words.flat())] }),
    ...(schemas.every(({ writeOnly }) => writeOnly === true) ? { writeOnly: true } : {}),
    description: `Of ${described.join('; ').replace(/([^.])$/, '$1.')}`,
  };
}

/** Codes of errors by those of refusals. All others concern the body. */
const PROBLEM_OF: { readonly [Code in Refusal['code']]?: ProblemCode } = {
  no_owned_service: 'service_not_found',
  no_service: 'service_not_found',
  catalogue_service: 'service_not_found',
  no_page: 'page_not_found',
  no_incident: 'incident_not_found',
  no_maintenance: 'maintenance_not_found',
  no_key: 'key_not_found',
  no_webhook: 'webhook_not_found',
  no_channel: 'channel_not_found',
  no_rule: 'rule_not_found',
  no_message: 'message_not_found',
  no_alert: 'alert_not_found',
  foreign_domain: 'forbidden_domain',
  catalogue_domain: 'forbidden_domain',
  too_many_domains: 'domain_limit',
  too_many_registrations: 'domain_limit',
  too_many_keys: 'account_limit',
  too_many_pages: 'account_limit',
  too_many_incidents: 'account_limit',
  too_many_maintenances: 'account_limit',
  too_many_updates: 'account_limit',
  too_much_text: 'account_limit',
  incident_too_large: 'account_limit',
  no_running_maintenance: 'conflict',
  no_next_maintenance: 'conflict',
  too_many_webhooks: 'account_limit',
  too_many_channels: 'account_limit',
  too_many_rules: 'account_limit',
  scope_beyond_key: 'insufficient_scope',
  domain_taken: 'conflict',
  slug_taken: 'conflict',
  page_slug_taken: 'conflict',
  channel_name_taken: 'conflict',
  rule_name_taken: 'conflict',
  channel_unconfirmed: 'conflict',
  page_slug_of_service: 'conflict',
  shared_address: 'conflict',
  proof_missing: 'domain_unverified',
  no_page_domain: 'conflict',
  idempotency_mismatch: 'idempotency_mismatch',
  service_stale: 'precondition_failed',
  page_stale: 'precondition_failed',
  channel_stale: 'precondition_failed',
  rule_stale: 'precondition_failed',
  incident_stale: 'precondition_failed',
  maintenance_stale: 'precondition_failed',
};

/** The value of a change. Throws the error of a refused one; `members`: further members of its body. */
export function resultOf<T>(outcome: Outcome<T>, members: Readonly<Record<string, unknown>> = {}): T {
  if (outcome.ok) return outcome.value;
  throw refusedError(outcome, members);
}

/** The error of a refused change. */
export function refusedError(
  { refusals }: Refused,
  members: Readonly<Record<string, unknown>> = {},
): HttpError {
  const errors = refusals.map(({ field, refusal }) => ({
    field,
    code: refusal.code,
    message: describeRefusal(refusal),
  }));
  const codes = refusals.map(({ refusal }) => PROBLEM_OF[refusal.code] ?? 'invalid_body');
  // What is wrong with the body is put right first.
  const code = codes.includes('invalid_body') ? 'invalid_body' : (codes[0] ?? 'invalid_body');
  const [first] = refusals;
  const scope = first?.refusal.code === 'scope_beyond_key' ? { scope: first.refusal.scope } : {};
  return new HttpError(code, errors.map(({ message }) => message).join(' '), {
    errors,
    ...scope,
    ...members,
  });
}
