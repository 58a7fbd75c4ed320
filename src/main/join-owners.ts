/** Joins what owners need: sign-in, sessions, proofs of domains, webhooks. */
import { openDomainProofs } from '../auth/domain-proof.ts';
import { createIdentityProvider } from '../auth/openid-provider.ts';
import { createSessions } from '../auth/sessions.ts';
import { type Clock, systemRandom } from '../clock.ts';
import type { Config } from '../config/resolve-config.ts';
import type { Log } from '../log.ts';
import { startWebhookSender } from '../notify/webhook-sender.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { userAgentOf } from '../outbound/user-agent.ts';
import type { Registry } from '../store/ports/registry.ts';
import type { SampleStore } from '../store/ports/samples.ts';
import { VERSION } from '../version.ts';
import { createForbiddenLog } from './forbidden-log.ts';

/** Everything waits to be asked. */
export async function joinOwners(parts: {
  readonly config: Config;
  readonly registry: Registry;
  readonly samples: Pick<SampleStore, 'query' | 'newest'>;
  readonly clock: Clock;
  readonly log: Log;
}) {
  const { registry, samples, clock, log } = parts;
  const { checks, http, auth } = parts.config;
  const { nameservers, ports, allowPrivate, ownersMayProbePrivate } = checks;
  const outbound = createOutbound(
    { userAgent: userAgentOf(VERSION, http.siteUrl), nameservers },
    clock,
    createForbiddenLog(log, clock),
  );
  // What owners choose never reaches a private address, but in tests.
  const policy = { allowPrivate: ownersMayProbePrivate ? allowPrivate : [], ports };
  const proofs = await openDomainProofs({ registry, outbound, policy, nameservers });
  return {
    /**
     * Begins to deliver webhooks; only the monitor may, or each would be delivered by every process. `isOurs`: whether
     * it is the monitor still. Returns how they are ended.
     */
    startDeliveries(isOurs: () => boolean) {
      const random = systemRandom;
      const webhooks = startWebhookSender({ registry, outbound, policy, clock, random, log, isOurs });
      return webhooks.stop;
    },
    /** What the dashboard works on. */
    door: {
      registry,
      samples,
      providers: auth.providers.map((provider) => createIdentityProvider(provider, { outbound })),
      sessions: createSessions({ registry, clock }),
      proofs,
    },
    /** After the end of deliveries. */
    stop: outbound.close,
  };
}
