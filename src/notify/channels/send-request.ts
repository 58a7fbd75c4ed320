/** Sends a request of a channel and reads how it ended: delivered, to be tried again, or refused; also into the thread of an alert. */
import type { ChannelProblem } from '../../domain/alert/channel.ts';
import { MINUTE_MS, SECOND_MS } from '../../domain/durations.ts';
import type { OutboundResponse } from '../../outbound/outbound.ts';
import { readRetryAfter } from '../../outbound/response-head.ts';
import type { ChannelTools, Sending, SendResult } from './define-channel.ts';
import { cleanLine } from './message-cut.ts';

/** The limit of a request, milliseconds. */
export const SEND_TIMEOUT_MS = 15 * SECOND_MS;
const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_PROBLEM_LENGTH = 200;
/** The longest time that a receiver can ask for in seconds, before the outbox bounds it. */
const MAX_WAIT_MS = 24 * 60 * MINUTE_MS;

export interface ChannelRequest {
  readonly url: string;
  /** Default POST. */
  readonly method?: 'POST' | 'PUT' | 'PATCH';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: object;
  /** Sent as it is, in place of `json`. */
  readonly body?: string;
  /** Texts that problems do not show, such as tokens. */
  readonly secrets?: readonly string[];
}

/** The rules for reading the responses of a service. */
export interface ResponseRules {
  /** The members of a problem, from the JSON of the response: what the service says. Default: the response as text. */
  readonly explain?: (json: unknown) => string;
  /** Of 429 and 503: when to try again, milliseconds; null: the response does not say. Default: the header `Retry-After`. */
  readonly retryAfterMs?: (json: unknown, headers: OutboundResponse['headers']) => number | null;
  /** Returns true if a status other than 2xx and 429 ends the attempts. Default: all of 4xx but 408, 425 and 429. */
  readonly isFinal?: (statusCode: number) => boolean;
  /** True if success is in the body, so that a response whose body cannot be read is none. */
  readonly needsBody?: boolean;
}

/** The response, or how the attempt ended. */
export type Answer =
  | { readonly ok: true; readonly json: unknown; readonly text: string }
  | { readonly ok: false; readonly statusCode: number; readonly json: unknown; readonly result: SendResult };

/** Sends a request. Rejects only with the reason of the signal. Redirects are not followed: the owner configures the new URL. */
export async function sendRequest(
  { outbound, policy, clock }: ChannelTools,
  { signal }: Sending,
  request: ChannelRequest,
  rules: ResponseRules = {},
): Promise<Answer> {
  const { url, method = 'POST', headers = {}, json, body = json === undefined ? '' : toJson(json) } = request;
  const response = await outbound.request({
    url,
    method,
    headers: {
      ...(json === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }),
      ...headers,
    },
    body,
    timeoutMs: SEND_TIMEOUT_MS,
    maxBodyBytes: MAX_RESPONSE_BYTES,
    policy,
    signal,
  });
  const { status: statusCode, fault } = response;
  const text = response.body?.toString('utf8') ?? '';
  const answer = readJson(text);
  const isSuccess = statusCode >= 200 && statusCode < 300;
  // The service has the message, whatever became of its response.
  if (isSuccess && (fault === null || rules.needsBody !== true)) return { ok: true, json: answer, text };
  const ended = (result: SendResult): Answer => ({ ok: false, statusCode, json: answer, result });
  if (statusCode === 429 || statusCode === 503) {
    const wait =
      rules.retryAfterMs?.(answer, response.headers) ??
      readRetryAfter(response.headers['retry-after'], clock.now());
    const problem: ChannelProblem =
      statusCode === 429 ? { code: 'too_many', statusCode } : { code: 'status', statusCode, text: '' };
    return ended({
      outcome: 'failed',
      problem,
      ...(wait === null ? {} : { retryAfterMs: Math.min(wait, MAX_WAIT_MS) }),
    });
  }
  if (fault !== null && (statusCode === 0 || isSuccess))
    return ended({ outcome: 'failed', problem: { code: 'failed', failure: fault.failure } });
  const said = (answer === null ? null : rules.explain?.(answer)) ?? text;
  const problem: ChannelProblem = { code: 'status', statusCode, text: withoutSecrets(said, request.secrets) };
  return ended({ outcome: (rules.isFinal ?? isRefusal)(statusCode) ? 'refused' : 'failed', problem });
}

/** The result of an answer where nothing is kept of it. */
export function resultOf(answer: Answer): SendResult {
  return answer.ok ? { outcome: 'delivered' } : answer.result;
}

/** A member of JSON of an unknown form; undefined: there is none. */
export function memberOf(json: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? Object.entries(value).find(([key]) => key === name)?.[1]
        : undefined,
    json,
  );
}

/** A member that is text; empty: it is not. */
export function textMember(json: unknown, ...path: readonly string[]): string {
  const value = memberOf(json, ...path);
  return typeof value === 'string' ? value : '';
}

/** A time in seconds as milliseconds, rounded up; null: it is none. */
export function secondsToMs(value: unknown): number | null {
  const seconds = typeof value === 'string' && /^\d{1,9}(?:\.\d{1,9})?$/.test(value) ? Number(value) : value;
  return typeof seconds === 'number' && seconds >= 0 && Number.isFinite(seconds)
    ? Math.min(Math.ceil(seconds * 1_000), MAX_WAIT_MS)
    : null;
}

/** JSON without halves of surrogate pairs, which have no UTF-8. */
export function toJson(value: object): string {
  return JSON.stringify(value, (_, member) => (typeof member === 'string' ? member.toWellFormed() : member));
}

/** 4xx says that the request is wrong, unless it came too early or took too long. */
function isRefusal(statusCode: number): boolean {
  return statusCode >= 400 && statusCode < 500 && ![408, 425].includes(statusCode);
}

function withoutSecrets(text: string, secrets: readonly string[] = []): string {
  const hidden = secrets.reduce(
    (said, secret) => (secret === '' ? said : said.replaceAll(secret, '***')),
    text,
  );
  return cleanLine(hidden, MAX_PROBLEM_LENGTH);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// Sends a message into the thread of its alert, or edits the one that it replaces. The reference of a thread is the identifier by
// which it is continued, then that of its newest message if that is an alert, which the next one may replace.

/** The requests by which a service posts and edits. */
interface ThreadParts {
  /** Posts into the thread; null: into a new one. */
  readonly post: (thread: string | null) => Promise<Answer>;
  readonly edit: (id: string) => Promise<Answer>;
  /** Returns true if a refused post says that the thread is gone. Absent: the service does not say so. */
  readonly isGone?: (answer: Answer) => boolean;
  /** By which the thread that a post began is continued, and by which the post is edited; empty: there is none. */
  readonly identify: (json: unknown) => { readonly thread: string; readonly id: string };
}

/** The reference of services that show no threads. */
export const NO_THREAD = '-';

/** Makes one attempt. What can no longer be edited, such as a message that was deleted, is said in a new one. */
export async function sendInThread(
  { message, reference }: Sending,
  { post, edit, isGone, identify }: ThreadParts,
): Promise<SendResult> {
  const [thread = null, newest = null] = reference?.split(' ') ?? [];
  if (message.replaces === true && newest !== null) {
    const edited = await edit(newest);
    if (edited.ok) return { outcome: 'delivered' };
    if (edited.result.outcome !== 'refused') return edited.result;
  }
  let answer = await post(thread);
  const isAlone = !answer.ok && isGone?.(answer) === true;
  if (isAlone) answer = await post(null);
  if (!answer.ok) return answer.result;
  const posted = identify(answer.json);
  const begun = thread === null || isAlone ? posted.thread : thread;
  if (begun === '') return { outcome: 'delivered' };
  const after = message.type === 'alert' && posted.id !== '' ? `${begun} ${posted.id}` : begun;
  return after === reference ? { outcome: 'delivered' } : { outcome: 'delivered', reference: after };
}
