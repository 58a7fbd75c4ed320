/** Joins what tells people: the engine that decides, and the sender of messages. Only the monitor runs them. */
import { type AlertEngineOptions, startAlertEngine } from '../alerts/alert-engine.ts';
import type { AcknowledgeLinks } from '../auth/acknowledge-link.ts';
import { systemRandom } from '../clock.ts';
import type { Log } from '../log.ts';
import type { ChannelTools } from '../notify/channels/channel-kind.ts';
import { CHANNEL_KINDS_TABLE } from '../notify/channels/kinds-table.ts';
import { startMessageSender } from '../notify/message-sender.ts';
import type { ProberState } from '../record/connection-watch.ts';
import type { Registry } from '../store/ports/registry.ts';

/** What alerts are made from. */
export interface AlertParts extends Pick<AlertEngineOptions, 'services' | 'status'> {
  readonly registry: Registry;
  /** The prober's own connection: while it is offline nothing is decided or sent. */
  readonly prober: () => Pick<ProberState, 'online'>;
  /** Calls the listener after each transition, until the returned function is called. */
  readonly watchTransitions: (listener: () => void) => () => void;
  readonly links: AcknowledgeLinks;
  readonly tools: ChannelTools;
  readonly log: Log;
}

/** Starts both. Returns a function that stops them. */
export function startAlerts(parts: AlertParts, isMonitor: () => boolean): () => Promise<void> {
  const { registry, services, status, prober, watchTransitions, links, tools, log } = parts;
  const { clock, siteUrl } = tools;
  const isOurs = () => isMonitor() && prober().online;
  const sender = startMessageSender({
    ...{ registry, tools, log, isOurs },
    kinds: CHANNEL_KINDS_TABLE,
    random: systemRandom,
  });
  const engine = startAlertEngine({
    ...{ registry, services, status, siteUrl, clock, log, isOurs },
    acknowledgeUrl: (accountId, thread) => links.urlOf({ accountId, thread }),
    onMessages: sender.poll,
  });
  const unwatch = watchTransitions(engine.look);
  return async () => {
    unwatch();
    await engine.stop();
    await sender.stop();
  };
}
