/**
 * Tells the operator, over the channels of `alerts.operator`, when the prober goes offline and when it is online again: each
 * once, over restarts too. Messages wait in memory, since a prober that is offline may reach nobody before it is online again.
 */
import type { Cancel } from '../clock.ts';
import type { Channel, ChannelKind } from '../domain/alert/channel.ts';
import type { AlertMessage } from '../domain/alert/message.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../domain/durations.ts';
import type { Log } from '../log.ts';
import type { FactStore } from '../store/ports/registry.ts';
import type { ChannelKindParts, ChannelTools } from './channels/channel-kind.ts';
import { sendOnce } from './message-sender.ts';
import { RETRY_AFTER_MS } from './outbox.ts';

/** Options of the sender. */
export interface OperatorSenderOptions {
  readonly channels: readonly Channel[];
  readonly kinds: Readonly<Partial<Record<ChannelKind, ChannelKindParts>>>;
  readonly registry: FactStore;
  readonly tools: ChannelTools;
  readonly log: Log;
  readonly prober: () => { readonly online: boolean; readonly offlineSince: number | null };
  /** Whether this process is the monitor; if not, nothing is sent. */
  readonly isMonitor: () => boolean;
}

const POLL_INTERVAL_MS = SECOND_MS;
/** The fact with the start of the outage that was told, epoch milliseconds; empty: that it is over was told. */
const TOLD_FACT = 'operator-told';

/** Starts to watch the prober. */
export function startOperatorSender(options: OperatorSenderOptions) {
  const { channels, registry, tools, log, prober, isMonitor } = options;
  const { clock } = tools;
  const end = new AbortController();
  const queues = channels.map((channel) => createQueue(channel, options, end.signal));
  let looking: Promise<void> | null = null;

  const look = async (): Promise<void> => {
    const { online, offlineSince } = prober();
    const told = (await registry.getFact(TOLD_FACT)) ?? '';
    if (online === (told === '')) return;
    const since = online ? Number(told) : (offlineSince ?? clock.now());
    await registry.setFact(TOLD_FACT, online ? '' : String(since));
    const message = messageOf(online ? 'prober_online' : 'prober_offline', since, tools);
    for (const queue of queues) queue.add(message);
  };
  const poll = (): void => {
    if (!isMonitor()) return;
    looking ??= look()
      // The registry is away: it is tried again.
      .catch((error: unknown) => log.debug({ error }, 'the operator could not be told yet'))
      .finally(() => {
        looking = null;
      });
  };
  const cancel = clock.every(POLL_INTERVAL_MS, poll);
  return {
    async stop(): Promise<void> {
      cancel();
      end.abort();
      for (const queue of queues) queue.stop();
      await looking;
    },
  };
}

/** The messages of one channel, in order. */
function createQueue(channel: Channel, options: OperatorSenderOptions, end: AbortSignal) {
  const { kinds, tools, log } = options;
  const { clock } = tools;
  const waiting: { readonly message: AlertMessage; readonly key: string; readonly addedAt: number }[] = [];
  let isSending = false;
  let cancelRetry: Cancel = () => {};
  let reference: string | null = null;

  const sendFirst = async (attempt: number): Promise<void> => {
    const [first] = waiting;
    if (first === undefined || end.aborted) {
      isSending = false;
      return;
    }
    const result = await sendOnce(kinds[channel.kind], tools, { ...first, channel, reference }, end);
    if (result === null) return;
    const isLate = clock.monotonic() - first.addedAt > DAY_MS;
    if (result.outcome === 'failed' && !isLate) {
      const wait = result.retryAfterMs ?? RETRY_AFTER_MS[attempt] ?? HOUR_MS;
      cancelRetry = clock.after(Math.min(wait, HOUR_MS), () => void sendFirst(attempt + 1));
      return;
    }
    if (result.outcome === 'delivered') reference = result.reference ?? reference;
    else log.error({ channel: channel.name, problem: result.problem }, 'the operator could not be told');
    waiting.shift();
    await sendFirst(0);
  };

  return {
    add(message: AlertMessage): void {
      const key = `msg_${message.thread}-${message.type}-${channel.name}`;
      waiting.push({ message, key, addedAt: clock.monotonic() });
      if (isSending) return;
      isSending = true;
      void sendFirst(0);
    },
    stop: () => cancelRetry(),
  };
}

function messageOf(
  type: 'prober_offline' | 'prober_online',
  since: number,
  { clock, siteUrl }: ChannelTools,
): AlertMessage {
  return {
    type,
    thread: `prober-${since}`,
    urgency: type === 'prober_offline' ? 'high' : 'low',
    at: type === 'prober_offline' ? since : clock.now(),
    items: [],
    total: 0,
    cause: null,
    rule: null,
    url: siteUrl,
    acknowledgeUrl: null,
    note: null,
  };
}
