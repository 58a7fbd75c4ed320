/** Routes for changes by POST that a client may repeat: each is made once (docs/api.md, Idempotency). */
import type { Route, WriteRequest } from '../../http/route.ts';
import type { IdempotencyStore, IdempotentCalls } from '../../store/ports/idempotency.ts';
import {
  BODILESS_REPEAT_PROBLEMS,
  IDEMPOTENCY_KEY,
  once,
  REPEAT_PROBLEMS,
  type RepeatableChange,
} from './once.ts';
import { type WritingEndpoint, writeRoute } from './write-route.ts';

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
