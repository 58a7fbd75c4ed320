/** Joins what tells people: the engine that decides, and the sender of messages. Only the monitor runs them. */
import { type AlertEngineOptions, startAlertEngine } from '../alerts/alert-engine.ts';
import { type AlertFigures, watchAlertFigures } from '../alerts/alert-figures.ts';
import type { AcknowledgeLinks } from '../auth/acknowledge-link.ts';
import { systemRandom } from '../clock.ts';
import type { Channel } from '../domain/alert/channel.ts';
import type { CheckTiming } from '../domain/check-timing.ts';
import type { Log } from '../log.ts';
import type { ChannelTools } from '../notify/channels/channel-kind.ts';
import { CHANNEL_KINDS_TABLE } from '../notify/channels/kinds-table.ts';
import { startMessageSender } from '../notify/message-sender.ts';
import { startOperatorSender } from '../notify/operator-sender.ts';
import type { DeliveryCounter } from '../notify/outbox.ts';
import type { ProberState } from '../record/connection-watch.ts';
import type { RetentionNow } from '../record/retention-time.ts';
import type { Registry } from '../store/ports/registry.ts';

/** The sources of alerts. */
export interface AlertParts extends Pick<AlertEngineOptions, 'services' | 'status' | 'lastOutageOf'> {
  readonly registry: Registry;
  /** The prober's own connection: while it is offline nothing is decided or sent. */
  readonly prober: () => Pick<ProberState, 'online' | 'offlineSince'>;
  /** Calls the listener after each transition, until the returned function is called. */
  readonly watchTransitions: (listener: () => void) => () => void;
  /** Checks services as soon as slots are free. */
  readonly recheck: (serviceIds: readonly number[]) => void;
  /** Times of checks that have none of their own. */
  readonly usual: CheckTiming;
  readonly links: AcknowledgeLinks;
  /** The operator's own channels, as they are configured now. */
  readonly operator: () => readonly Channel[];
  readonly tools: ChannelTools;
  readonly retentionNow: RetentionNow;
  /** Counts the attempts to send messages. */
  readonly counter: DeliveryCounter;
  readonly log: Log;
}

/** The running parts that notify people. */
export interface Alerts {
  /** Null: nothing was read yet. */
  figures(): AlertFigures | null;
  stop(): Promise<void>;
}

/** Starts both. */
export function startAlerts(parts: AlertParts, isMonitor: () => boolean): Alerts {
  const {
    registry,
    services,
    status,
    prober,
    watchTransitions,
    recheck,
    usual,
    lastOutageOf,
    links,
    operator,
    tools,
    retentionNow,
    counter,
    log,
  } = parts;
  const { clock, siteUrl } = tools;
  const isOurs = () => isMonitor() && prober().online;
  const sender = startMessageSender({
    ...{ registry, tools, retentionNow, counter, log, isOurs },
    isDown: (serviceId) => status.get(serviceId)?.status === 'down',
    kinds: CHANNEL_KINDS_TABLE,
    random: systemRandom,
  });
  const engine = startAlertEngine({
    ...{ registry, services, status, siteUrl, clock, log, isOurs, recheck, usual, lastOutageOf },
    acknowledgeUrl: (accountId, thread) => links.urlOf({ accountId, thread }),
    onMessages: sender.poll,
  });
  const unwatch = watchTransitions(engine.look);
  const operatorSender = startOperatorSender({
    ...{ registry, tools, log, prober, isMonitor },
    channels: operator,
    kinds: CHANNEL_KINDS_TABLE,
  });
  const figures = watchAlertFigures({ registry, clock, log, isOurs });
  return {
    figures: figures.current,
    async stop() {
      unwatch();
      await operatorSender.stop();
      await figures.stop();
      await engine.stop();
      await sender.stop();
    },
  };
}
