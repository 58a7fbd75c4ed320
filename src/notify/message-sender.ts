/**
 * Sends the messages of alerts: each channel gets its messages one after the other, in the order in which they were decided,
 * and no channel holds up another. Messages wait in the registry, so that a restart loses none.
 */
import type { Random } from '../clock.ts';
import { asOfNow } from '../domain/alert/alert-messages.ts';
import {
  type ChannelKind,
  type ChannelProblem,
  describeChannelProblem,
  MAX_RETRY_WAIT_MS,
} from '../domain/alert/channel.ts';
import type { AlertMessage } from '../domain/alert/message.ts';
import { RETRY_AFTER_MS, TRIED_MS } from '../domain/delivery-retries.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/durations.ts';
import { failureOf } from '../domain/failure.ts';
import { messageOf } from '../error.ts';
import type { DueMessage, FailingChannel, MessageOutcome, MessageStore } from '../store/ports/channels.ts';
import type { WriteCounter } from '../store/ports/storage-health.ts';
import type { ChannelKindParts, ChannelTools, Sending, SendResult } from './channels/define-channel.ts';
import { deliveryEnd, type SenderContext, startOutbox } from './outbox.ts';

/** Maximum duration of an attempt, whatever the kind of the channel allows. */
const ATTEMPT_TIMEOUT_MS = 30 * SECOND_MS;
/** Maximum time between two attempts while something that is down has to be told, but for a tenth of it at random. */
const MAX_URGENT_WAIT_MS = MINUTE_MS;
/** A channel that has failed for this time is told of over another one. */
const FAILING_AFTER_MS = HOUR_MS;
/** No kind has a greater pace. */
const MAX_PACE_MS = MINUTE_MS;
const LOOK_INTERVAL_MS = MINUTE_MS;
const JITTER = 0.1;

const UNKNOWN_KIND = 'this version knows no such kind of channel';

const TIMED_OUT: ChannelProblem = {
  code: 'failed',
  failure: failureOf('timeout', 'first_byte', {
    code: 'timeout',
    phase: 'first_byte',
    timeoutMs: ATTEMPT_TIMEOUT_MS,
  }),
};

export function startMessageSender(
  options: Omit<SenderContext, 'clock'> & {
    readonly registry: MessageStore & Partial<WriteCounter>;
    readonly kinds: Readonly<Partial<Record<ChannelKind, ChannelKindParts>>>;
    readonly tools: ChannelTools;
    readonly random: Random;
    /** Returns true if a service is down now. */
    readonly isDown: (serviceId: number) => boolean;
  },
) {
  const { registry, kinds, tools, random, isDown } = options;
  const { clock } = tools;

  const attempt = async (due: DueMessage, signal: AbortSignal): Promise<MessageOutcome | null> => {
    const { id, dueAt: wasDueAt, createdAt, attempts, isUrgent } = due;
    const triedAt = clock.now();
    if (kinds[due.channel.kind]?.paceMs !== undefined) begunAt.set(due.channelId, clock.monotonic());
    const message = asOfNow(due.message, isDown);
    const rules = due.isTrusted === true ? asTrusted(tools) : tools;
    const result = await sendOnce(kinds[due.channel.kind], rules, { ...due, message }, signal);
    if (result === null) return null;
    const now = clock.now();
    const settled = { id, wasDueAt, triedAt, at: now, deliveredAt: null, dueAt: null };
    if (result.outcome === 'delivered') {
      const { reference } = result;
      const told = { ...settled, deliveredAt: now, problem: null };
      return reference === undefined ? told : { ...told, reference };
    }
    const { problem } = result;
    if (result.outcome === 'refused' || now - createdAt >= TRIED_MS) return { ...settled, problem };
    const wait = result.retryAfterMs ?? RETRY_AFTER_MS[attempts] ?? MAX_RETRY_WAIT_MS;
    // A receiver that is flooded is left alone for as long as it asks. One that is down may be repaired at any time.
    const isAsked = problem.code === 'too_many' && result.retryAfterMs !== undefined;
    const maxWaitMs = isUrgent && !isAsked ? MAX_URGENT_WAIT_MS : MAX_RETRY_WAIT_MS;
    const waitMs = Math.min(maxWaitMs, Math.max(SECOND_MS, wait)) * (1 + JITTER * random());
    return { ...settled, problem, dueAt: now + Math.round(waitMs) };
  };

  /** The time at which the newest attempt of a channel that has a pace began, by the monotonic clock. */
  const begunAt = new Map<number, number>();
  /** For how long the pace of its kind holds a channel up, milliseconds. */
  const heldMs = ({ channelId, channel }: DueMessage): number => {
    const paceMs = kinds[channel.kind]?.paceMs ?? 0;
    const before = begunAt.get(channelId);
    return before === undefined ? 0 : Math.max(0, before + paceMs - clock.monotonic());
  };
  /** The messages that may be sent now. */
  const inPace = (messages: readonly DueMessage[], lookAfter: (ms: number) => void): DueMessage[] => {
    for (const [id, at] of begunAt) if (clock.monotonic() - at >= MAX_PACE_MS) begunAt.delete(id);
    const held = messages.map(heldMs);
    const nextMs = Math.min(...held.filter((ms) => ms > 0));
    if (Number.isFinite(nextMs)) lookAfter(nextMs);
    return messages.filter((_, index) => held[index] === 0);
  };

  let lookedAt = Number.NEGATIVE_INFINITY;
  /** Tells accounts of channels that have failed for long, each once. */
  const tellFailing = async (): Promise<void> => {
    if (clock.monotonic() - lookedAt < LOOK_INTERVAL_MS) return;
    lookedAt = clock.monotonic();
    const now = clock.now();
    for (const failing of await registry.failingChannels(now - FAILING_AFTER_MS))
      await registry.tellFailingChannel(failing, messageOfFailing(failing, tools.siteUrl), now);
  };

  return startOutbox<DueMessage, MessageOutcome>({
    ...options,
    async due(now, limit, lookAfter) {
      await tellFailing();
      return inPace(await registry.dueMessages(now, limit), lookAfter);
    },
    isEmpty: async () => !(await registry.hasMessages()),
    writes: registry.writes,
    keyOf: ({ channelId }) => channelId,
    attempt,
    note: registry.noteMessage,
    endOf: ({ deliveredAt, dueAt }) => deliveryEnd(deliveredAt !== null, dueAt),
    forget: registry.forgetMessages,
    clock,
    what: 'messages of alerts',
  });
}

/** The tools for a channel of a trusted account or of the operator. */
export function asTrusted({ trustedPolicy, ...tools }: ChannelTools): ChannelTools {
  return trustedPolicy === undefined ? tools : { ...tools, policy: trustedPolicy };
}

/** Makes one attempt, which ends after 30 s. Does not reject. Null: it was aborted because the program ends. */
export async function sendOnce(
  kind: ChannelKindParts | undefined,
  tools: ChannelTools,
  { channel, key, ...due }: Pick<DueMessage, 'channel' | 'message' | 'reference' | 'key' | 'stopSecret'>,
  end: AbortSignal,
): Promise<SendResult | null> {
  // The receiver agrees first; what was decided before it withdrew is not sent.
  if (channel.confirmedAt === null) return { outcome: 'refused', problem: { code: 'not_confirmed' } };
  // A later version of the program has added the channel.
  if (kind === undefined) return { outcome: 'failed', problem: { code: 'text', text: UNKNOWN_KIND } };
  const deadline = new AbortController();
  const cancel = tools.clock.after(ATTEMPT_TIMEOUT_MS, () => deadline.abort());
  try {
    const signal = AbortSignal.any([end, deadline.signal]);
    const sending: Sending = { ...due, channel, id: key, signal };
    const result = await Promise.race([kind.send(tools, sending), aborted(signal)]);
    if (result !== null) return result;
    return end.aborted ? null : { outcome: 'failed', problem: TIMED_OUT };
  } catch (error) {
    if (end.aborted) return null;
    return { outcome: 'failed', problem: deadline.signal.aborted ? TIMED_OUT : textOf(error) };
  } finally {
    cancel();
  }
}

/** Resolves with null when the signal is aborted. */
function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}

function textOf(error: unknown): ChannelProblem {
  return { code: 'text', text: messageOf(error) };
}

/** The message over another channel of the account. */
function messageOfFailing(
  { channelId, name, since, problem }: FailingChannel,
  siteUrl: string,
): AlertMessage {
  return {
    type: 'channel_failing',
    thread: `channel-${channelId}-${since}`,
    urgency: 'normal',
    at: since,
    items: [],
    total: 0,
    cause: null,
    rule: null,
    url: `${siteUrl}/dashboard/channels`,
    acknowledgeUrl: null,
    note: { channel: name, problem: problem === null ? '' : describeChannelProblem(problem) },
  };
}
