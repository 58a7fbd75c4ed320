/** Joins the parts for owners: sign-in, sessions, domain verification, webhooks; and the alerts of the monitor. */
import { randomBytes } from 'node:crypto';
import { type AlertEngineOptions, startAlertEngine } from '../alerts/alert-engine.ts';
import { type AlertFigures, watchAlertFigures } from '../alerts/alert-figures.ts';
import { createEventIds } from '../api/events.ts';
import { type AcknowledgeLinks, createAcknowledgeLinks } from '../auth/acknowledge-link.ts';
import { openDomainProofs, startDomainRechecks } from '../auth/domain-proof.ts';
import { createLocalSignIn } from '../auth/password-sign-in.ts';
import { createSessions } from '../auth/sessions.ts';
import { type Clock, systemRandom } from '../clock.ts';
import type { Config } from '../config/resolve-config.ts';
import type { Channel } from '../domain/alert/channel.ts';
import type { CheckTiming } from '../domain/check-target.ts';
import { type NodeState, regionsOf } from '../domain/node.ts';
import { createHandCharge } from '../http/rate-limits.ts';
import type { Log } from '../log.ts';
import type { ChannelTools } from '../notify/channels/define-channel.ts';
import { CHANNEL_KINDS_TABLE } from '../notify/channels/kinds-table.ts';
import { startMessageSender } from '../notify/message-sender.ts';
import { startOperatorSender } from '../notify/operator-sender.ts';
import { createDeliveryCounter, type DeliveryCounter } from '../notify/outbox.ts';
import { startWebhookSender } from '../notify/webhook-sender.ts';
import { destinationsByTrust, ownerPolicy } from '../outbound/address-guard.ts';
import { createForbiddenAddressLog } from '../outbound/forbidden-address-log.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { userAgentOf } from '../outbound/send-request.ts';
import type { ProberState } from '../record/connection-watch.ts';
import { createRetentionTime, type RetentionNow } from '../record/retention-time.ts';
import { TRIALS_PER_MINUTE } from '../resources/services/new-service.ts';
import { SENT_BY_HAND_PER_MINUTE } from '../resources/webhooks/webhooks.ts';
import type { Registry } from '../store/ports/registry.ts';
import type { SampleReads } from '../store/ports/samples.ts';
import { findKey } from '../store/secrets/secret-box.ts';
import { VERSION } from '../version.ts';
import { createBadgeAddresses } from '../view/badge-url.ts';
import { whyUnreached } from '../view/cause-of-down.ts';
import { openMailer } from './mail-server.ts';
import { operatorChannels } from './operator-channels.ts';
import { createCheckTrials } from './try-check.ts';
import type { CheckWatches } from './watch-checks.ts';

/** The parts. */
export type Owners = Awaited<ReturnType<typeof joinOwners>>;

/** Builds the parts. Nothing runs before it is called. */
export async function joinOwners(parts: {
  readonly config: Config;
  readonly registry: Registry;
  readonly samples: SampleReads;
  readonly nodes: () => readonly NodeState[];
  readonly shareOf: CheckWatches['shareOf'];
  readonly alerts: Pick<
    AlertParts,
    'services' | 'status' | 'prober' | 'watchTransitions' | 'recheck' | 'lastOutageOf'
  >;
  readonly clock: Clock;
  readonly sharedNow: () => number;
  readonly log: Log;
}) {
  const { registry, samples, nodes, clock, sharedNow, log } = parts;
  const { checks, http, auth, limits, accounts, site } = parts.config;
  const { nameservers } = checks;
  const outbound = createOutbound(
    { userAgent: userAgentOf(VERSION, http.siteUrl), nameservers },
    clock,
    createForbiddenAddressLog(log, clock),
  );
  const policy = ownerPolicy(checks, false);
  const trustedPolicy = ownerPolicy(checks, true);
  const trials = createCheckTrials(parts.config, clock, log);
  const proofs = await openDomainProofs({ registry, outbound, policy, nameservers });
  const secretKey = readSecretKey(parts.config);
  const links = createAcknowledgeLinks(secretKey, http.siteUrl);
  const providers = await Promise.all(
    auth.providers.map(async (provider) => {
      // A site without sign-in does not load the libraries of OpenID Connect.
      const { createIdentityProvider } = await import('../auth/openid-provider.ts');
      return createIdentityProvider(provider, { outbound });
    }),
  );
  let operatorsOwn = operatorChannels(parts.config, CHANNEL_KINDS_TABLE);
  const operator = () => operatorsOwn;
  const mailer = await openMailer(parts.config, { clock, log });
  // A site without a mail server does not load what writes letters.
  const letters = mailer === null ? null : await import('../notify/letter-sender.ts');
  let alerts: Alerts | null = null;
  const deliveries = {
    webhooks: createDeliveryCounter('webhooks', clock, log),
    letters: createDeliveryCounter('letters', clock, log),
    messages: createDeliveryCounter('messages of alerts', clock, log),
  };
  return {
    /** Figures of alerts; null: another process decides and sends. */
    alertFigures: () => alerts?.figures() ?? null,
    /** The ends of attempts to deliver since the start, by what was sent. */
    deliveries: () => ({
      webhooks: deliveries.webhooks.counts(),
      letters: deliveries.letters.counts(),
      messages: deliveries.messages.counts(),
    }),
    /** Why the mail server takes no letters; null: it does, or there is none. */
    mailProblem: () => mailer?.problem() ?? null,
    /**
     * Starts deliveries of webhooks and letters, and alerts. Only the monitor may do so, or every process would deliver each of
     * them. `isOurs` tells whether this process is still the monitor. Returns a function that stops the deliveries.
     */
    startDeliveries(isOurs: () => boolean) {
      const random = systemRandom;
      const retentionNow = createRetentionTime({ registry, clock });
      const common = { registry, retentionNow, clock, random, log, isOurs };
      const webhooks = startWebhookSender({
        ...common,
        sharedNow,
        counter: deliveries.webhooks,
        siteUrl: http.siteUrl,
        outbound,
        policy,
        trustedPolicy,
      });
      const tools = { outbound, policy, trustedPolicy, mailer, clock, sharedNow, siteUrl: http.siteUrl };
      alerts = startAlerts(
        {
          ...{ ...parts.alerts, registry, links, operator, tools, retentionNow, log },
          counter: deliveries.messages,
          usual: checks,
        },
        isOurs,
      );
      const { siteUrl } = http;
      const sender =
        mailer === null
          ? undefined
          : letters?.startLetterSender({
              ...{ ...common, counter: deliveries.letters, siteUrl, mailer },
              isDown: (serviceId) => parts.alerts.status.get(serviceId)?.status === 'down',
              whyUnreached: (serviceId) => unreachedForAll(parts, serviceId),
            });
      const isAble = () => isOurs() && parts.alerts.prober().online;
      const stopRechecks = startDomainRechecks({ registry, proofs, clock, log, isAble });
      return async () => {
        await Promise.all([stopRechecks(), webhooks.stop(), alerts?.stop(), sender?.stop()]);
      };
    },
    eventIds: createEventIds(secretKey),
    /** The parts that the dashboard uses. */
    site: {
      registry,
      samples,
      providers,
      local: createLocalSignIn({ registry, secretKey, siteUrl: http.siteUrl, now: clock.now, log }),
      sessions: createSessions({
        registry,
        clock,
        mayAddAccounts: accounts.open && site.access !== 'members',
      }),
      acknowledgeLinks: links,
      badgeAddresses: createBadgeAddresses(secretKey, http.siteUrl),
      proofs,
      kinds: CHANNEL_KINDS_TABLE,
      charge: createHandCharge({ ...SENT_BY_HAND_PER_MINUTE, trials: TRIALS_PER_MINUTE }, clock),
      tryCheck: trials.run,
      shareOf: parts.shareOf,
      sendsMail: mailer !== null,
      destinations: destinationsByTrust(checks, registry),
      bounds: {
        usual: checks,
        minIntervalMs: limits.minIntervalMs,
        regions: () => regionsOf(nodes()).map(({ region }) => region),
        ownRegion: parts.config.node.region,
      },
    },
    /** Takes the channels of `alerts.operator` of a changed configuration. Throws `ConfigError`. */
    reload(config: Config): void {
      operatorsOwn = operatorChannels(config, CHANNEL_KINDS_TABLE);
    },
    /** Closes the parts. Call it after deliveries have stopped. */
    stop(): void {
      mailer?.close();
      trials.stop();
      outbound.close();
    },
  };
}

/** The key of secrets. A node that only serves and has none makes links and passes with a key that it forgets. */
function readSecretKey({ storage, secrets }: Config): Uint8Array {
  const found = findKey(storage.dataDir, secrets.key);
  return found.kind === 'none' ? randomBytes(32) : found.key;
}

/** Why a service cannot be reached, for people outside its account; null: it can, as far as that is known. */
function unreachedForAll(
  { alerts: { services, status }, config, clock }: Parameters<typeof joinOwners>[0],
  serviceId: number,
) {
  const service = services.byId(serviceId);
  const current = status.get(serviceId);
  if (service === null || current === null) return null;
  const { intervalMs } = config.checks;
  const sources = {
    directory: { whole: services },
    status,
    intervalMs,
    listenedAt: clock.now,
    now: clock.now,
  };
  return whyUnreached({ ...sources, isPublished: true }, service, current);
}

interface AlertParts extends Pick<AlertEngineOptions, 'services' | 'status' | 'lastOutageOf'> {
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
interface Alerts {
  /** Null: nothing was read yet. */
  figures(): AlertFigures | null;
  stop(): Promise<void>;
}

function startAlerts(parts: AlertParts, isMonitor: () => boolean): Alerts {
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
