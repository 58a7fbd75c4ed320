/**
 * Tells the operator, over the channels of `alerts.operator`, when the prober goes offline and when it is online again: each
 * once, over restarts too. Messages wait in the registry, since a prober that is offline may reach nobody before it is online
 * again; the next monitor continues with them.
 */
import type { Channel, ChannelKind } from '../domain/alert/channel.ts';
import type { AlertMessage } from '../domain/alert/message.ts';
import { RETRY_AFTER_MS } from '../domain/delivery-retries.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../domain/durations.ts';
import type { Log } from '../log.ts';
import type { FactStore } from '../store/ports/registry.ts';
import type { ChannelKindParts, ChannelTools } from './channels/define-channel.ts';
import { asTrusted, sendOnce } from './message-sender.ts';

const POLL_INTERVAL_MS = SECOND_MS;
/** The fact with what was told and what waits (JSON of {@link Told}). */
const MESSAGES_FACT = 'operator-messages';
/** The fact of earlier versions: the start of the outage that was told, epoch milliseconds; empty: none. */
const EARLIER_FACT = 'operator-told';

interface Waiting {
  /** Name of the channel. */
  readonly channel: string;
  readonly kind: ChannelKind;
  readonly message: AlertMessage;
  /** Epoch milliseconds. */
  readonly addedAt: number;
}

/** The notices that were sent and those that wait. */
interface Told {
  /** Start of the outage that was told, epoch milliseconds; null: that it is over was told. */
  readonly since: number | null;
  /** In order. */
  readonly waiting: readonly Waiting[];
  /** The last reference of each channel, by its name. */
  readonly references: Readonly<Record<string, string>>;
}

export function startOperatorSender(options: {
  /** The channels now; a change of the configuration may replace them. */
  readonly channels: () => readonly Channel[];
  readonly kinds: Readonly<Partial<Record<ChannelKind, ChannelKindParts>>>;
  readonly registry: FactStore;
  readonly tools: ChannelTools;
  readonly log: Log;
  readonly prober: () => { readonly online: boolean; readonly offlineSince: number | null };
  /** Returns true if this process is the monitor; if not, nothing is sent. */
  readonly isMonitor: () => boolean;
}) {
  const { registry, kinds, tools, log, prober, isMonitor } = options;
  const { clock } = tools;
  const end = new AbortController();
  /** Attempts of the first message of a channel, by its name, and the monotonic time of the next one. */
  const attempts = new Map<string, { readonly count: number; readonly dueAt: number }>();
  const sending = new Map<string, Promise<void>>();
  let told: Told | null = null;
  let looking: Promise<void> | null = null;

  let isStored = true;
  let storing: Promise<void> = Promise.resolve();

  const store = async (): Promise<void> => {
    isStored = true;
    try {
      await registry.setFact(MESSAGES_FACT, JSON.stringify(told));
    } catch (error) {
      isStored = false;
      throw error;
    }
  };
  /** Stores a change; one after the other, so that none is lost. If the registry is away, the next look stores it. */
  const keep = (next: Told): Promise<void> => {
    told = next;
    storing = storing.then(store, store);
    return storing;
  };

  const look = async (): Promise<void> => {
    told ??= await readTold(registry);
    if (!isStored) await keep(told);
    const channels = options.channels();
    const { online, offlineSince } = prober();
    if (online !== (told.since === null)) {
      const now = clock.now();
      const since = told.since ?? offlineSince ?? now;
      const message = messageOf(online ? 'prober_online' : 'prober_offline', since, tools);
      const added = channels.map(({ name, kind }) => ({ channel: name, kind, message, addedAt: now }));
      await keep({ ...told, since: online ? null : since, waiting: [...told.waiting, ...added] });
    }
    for (const channel of channels) {
      const first = told.waiting.find((one) => isFor(one, channel));
      const isDue = (attempts.get(channel.name)?.dueAt ?? 0) <= clock.monotonic();
      if (first === undefined || !isDue || sending.has(channel.name)) continue;
      const attempt = send(channel, first, told.references[channel.name] ?? null)
        .catch((error: unknown) => log.debug({ error }, 'what the operator was told could not be stored yet'))
        .finally(() => sending.delete(channel.name));
      sending.set(channel.name, attempt);
    }
    const known = told.waiting.filter((one) => channels.some((channel) => isFor(one, channel)));
    // The operator has removed their channels.
    if (known.length < told.waiting.length) await keep({ ...told, waiting: known });
  };

  const send = async (channel: Channel, first: Waiting, reference: string | null): Promise<void> => {
    const { name, kind } = channel;
    const { message, addedAt } = first;
    const key = `msg_${message.thread}-${message.type}-${name}`;
    const sending = { message, key, channel, reference };
    const result = await sendOnce(kinds[kind], asTrusted(tools), sending, end.signal);
    // Another process may have become the monitor meanwhile.
    if (result === null || told === null) return;
    if (result.outcome === 'failed' && clock.now() - addedAt <= DAY_MS) {
      const { count } = attempts.get(name) ?? { count: 0 };
      const wait = Math.min(result.retryAfterMs ?? RETRY_AFTER_MS[count] ?? HOUR_MS, HOUR_MS);
      attempts.set(name, { count: count + 1, dueAt: clock.monotonic() + wait });
      return;
    }
    attempts.delete(name);
    if (result.outcome !== 'delivered')
      log.error({ channel: name, problem: result.problem }, 'the operator could not be told');
    const next = (result.outcome === 'delivered' ? result.reference : undefined) ?? reference;
    const references = next === null ? told.references : { ...told.references, [name]: next };
    await keep({ ...told, references, waiting: told.waiting.filter((one) => one !== first) });
  };

  const poll = (): void => {
    if (!isMonitor()) {
      told = null;
      return;
    }
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
      await looking;
      await Promise.all(sending.values());
      await storing.catch(() => {});
    },
  };
}

function isFor(one: Waiting, { name, kind }: Channel): boolean {
  return one.channel === name && one.kind === kind;
}

async function readTold(registry: FactStore): Promise<Told> {
  const stored = await registry.getFact(MESSAGES_FACT);
  if (stored !== null) return JSON.parse(stored);
  const earlier = (await registry.getFact(EARLIER_FACT)) ?? '';
  return { since: earlier === '' ? null : Number(earlier), waiting: [], references: {} };
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
