/** `Idempotency-Key` on POST: a request that is sent again gets the answer of the first one (docs/api.md, Idempotency). */
import { createHash } from 'node:crypto';
import type { OpenApiParameter } from '../../http/openapi.ts';
import { HttpError } from '../../http/problem.ts';
import type { HttpResponse, Route, WriteRequest } from '../../http/route.ts';
import {
  IDEMPOTENT_NAMES,
  type IdempotencyStore,
  type IdempotentName,
  type IdempotentOutcome,
  type IdempotentRequest,
} from '../../store/ports/idempotency.ts';
import type { IdempotentCalls } from '../../store/ports/registry.ts';
import { attempt } from './change.ts';
import { resultOf, type WritingEndpoint, writeRoute } from './write-route.ts';

/** The changes with the request's key, and the outcome of the one that was made. */
interface IdempotentChanges {
  readonly calls: IdempotentCalls;
  /** Stores `text` with the changes that follow, in place of the request's secret. */
  keep(text: string): void;
  /** Null: none was made. */
  outcome(): IdempotentOutcome<unknown> | null;
}

/** A change that a client may repeat. */
export interface RepeatableChange<T> {
  /** Operation id; the same key of a client for another operation is refused. */
  readonly id: string;
  readonly request: WriteRequest;
  /** A secret that the change makes; null: none. */
  readonly secret: string | null;
  /**
   * Makes the change by `calls`; the value has at least what `answer` shows of the registry's. `keep` replaces the secret by a text
   * that the answer needs and that is known only now. Throws the error of a refused change.
   */
  readonly change: (calls: IdempotentCalls, secret: string, keep: (text: string) => void) => Promise<T>;
  /** The response; the secret, or the text that was kept, may be that of an earlier request. */
  readonly answer: (value: T, secret: string | null) => HttpResponse | Promise<HttpResponse>;
}

/** The parameter of operations that a client may repeat. */
export const IDEMPOTENCY_KEY: OpenApiParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A word of the client for this request, such as a UUID: 1 to 255 visible characters, with or without quotes. The same request with it gets the same answer within 24 hours, with the header Idempotent-Replayed, and changes nothing.',
  schema: { type: 'string', pattern: '^(?:"[!#-[\\]-~]{1,255}"|[!#-~]{1,255})$' },
};

/** The errors of operations that a client may repeat. */
export const REPEAT_PROBLEMS = {
  422: 'The Idempotency-Key was used for another request (idempotency_mismatch).',
};

/** The same, of operations without a body, which can be refused as malformed for nothing else. */
const BODILESS_REPEAT_PROBLEMS = {
  400: 'The Idempotency-Key does not have 1 to 255 visible characters (bad_request).',
  ...REPEAT_PROBLEMS,
};

/** Makes a change, or answers as before if the client repeats it. */
export async function once<T>(
  { registry, now }: { readonly registry: IdempotencyStore & IdempotentCalls; readonly now: () => number },
  { id, request, secret, change, answer }: RepeatableChange<T>,
): Promise<HttpResponse> {
  const key = readIdempotencyKey(request);
  let kept = secret;
  const noteKept = (text: string) => {
    kept = text;
  };
  if (key === null) {
    const value = await change(registry, secret ?? '', noteKept);
    return await answer(value, kept);
  }
  const { accountId } = request.key;
  const asked = { accountId, key, fingerprint: fingerprintOf(id, request), secret, now: now() };
  const known = resultOf(await attempt(() => registry.findIdempotent(asked)));
  if (known !== null) return replay(await answer(known.value as T, known.secret));
  const changes = createIdempotentChanges(registry, asked);
  const value = await change(changes.calls, secret ?? '', (text) => {
    noteKept(text);
    changes.keep(text);
  });
  const outcome = changes.outcome();
  if (outcome?.isReplay !== true) return await answer(value, kept);
  return replay(await answer(outcome.value as T, outcome.secret));
}

function replay(response: HttpResponse): HttpResponse {
  return { ...response, headers: { ...response.headers, 'Idempotent-Replayed': 'true' } };
}

function readIdempotencyKey({ headers }: WriteRequest): string | null {
  const text = headers['idempotency-key'];
  if (text === undefined) return null;
  const [, quoted, bare] = /^(?:"([!#-[\]-~]{1,255})"|([!#-~]{1,255}))$/.exec(String(text).trim()) ?? [];
  const key = quoted ?? bare;
  if (key === undefined)
    throw new HttpError('bad_request', 'An Idempotency-Key has 1 to 255 visible characters of ASCII.');
  return key;
}

/** Another API key with the same word is another client: it may have other scopes. */
function fingerprintOf(id: string, { params, query, body, key }: WriteRequest): string {
  const hash = createHash('sha256');
  const { slug, ...others } = params;
  const named = Object.keys(others).length === 0 ? [] : [others];
  hash.update(JSON.stringify([id, key.id, slug?.toLowerCase() ?? null, query, ...named]));
  return hash.update(body).digest('base64url');
}

/** Creates the changes of one request: the first one is made unless an earlier request has made it. */
function createIdempotentChanges(registry: IdempotencyStore, request: IdempotentRequest): IdempotentChanges {
  let { secret } = request;
  let last: IdempotentOutcome<unknown> | null = null;
  const call =
    (name: IdempotentName) =>
    async (...args: readonly unknown[]): Promise<unknown> => {
      const outcome = await registry.callIdempotent({ ...request, secret }, name, args);
      last = outcome;
      return outcome.value;
    };
  const calls: Record<string, (...args: never[]) => Promise<unknown>> = Object.fromEntries(
    IDEMPOTENT_NAMES.map((name) => [name, call(name)]),
  );
  // The registry's method of that name returns the value.
  const keep = (text: string) => {
    secret = text;
  };
  return { calls: calls as unknown as IdempotentCalls, keep, outcome: () => last };
}

/** The context of changes that a repeated request does not make again. */
export interface RepeatableContext {
  readonly registry: IdempotencyStore & IdempotentCalls;
  readonly now: () => number;
}

/** A route for such a change. */
interface RepeatableEndpoint<T, Context>
  extends Omit<WritingEndpoint, 'method' | 'handle'>,
    Pick<RepeatableChange<T>, 'answer'> {
  /** Makes the secret of a change. Absent: it has none. */
  readonly makeSecret?: () => string;
  /** Makes the change in a context whose registry makes it once, and as {@link RepeatableChange} otherwise. */
  readonly change: (
    context: Context,
    request: WriteRequest,
    secret: string,
    keep: (text: string) => void,
  ) => Promise<T>;
}

export function repeatableRoute<T, Context extends RepeatableContext>(
  context: Context,
  { makeSecret, change, answer, ...endpoint }: RepeatableEndpoint<T, Context>,
): Route {
  const { id, parameters = [], body, problems } = endpoint;
  const { path = [], more = [] } = Object.groupBy(parameters, (one) => (one.in === 'path' ? 'path' : 'more'));
  return writeRoute({
    ...endpoint,
    method: 'POST',
    parameters: [...path, IDEMPOTENCY_KEY, ...more],
    problems: { ...problems, ...(body === undefined ? BODILESS_REPEAT_PROBLEMS : REPEAT_PROBLEMS) },
    handle: (request) =>
      once<T>(context, {
        ...{ id, request, answer },
        secret: makeSecret?.() ?? null,
        change: (calls, secret, keep) =>
          change({ ...context, registry: { ...context.registry, ...calls } }, request, secret, keep),
      }),
  });
}
