/** Receives heartbeats: finds or claims the service, passes the observation on, and waits until it is committed. */
import { createListeners } from '../async/listeners.ts';
import type { Clock } from '../clock.ts';
import type { Service } from '../domain/service.ts';
import type { OwnershipStore, ServiceChange } from '../store/ports/services.ts';
import type { HeartbeatDeadlines } from './heartbeat-deadlines.ts';
import {
  type HeartbeatEnd,
  type HeartbeatReceipt,
  HeartbeatRefused,
  type ReceivedHeartbeat,
} from './observation.ts';
import type { TrackedService, TrackedServices } from './tracked-services.ts';
import type { UpdatePipeline } from './update-pipeline.ts';

/** A sender is refused after this time, though its heartbeat may still be committed. */
const COMMIT_TIMEOUT_MS = 10_000;

export function createHeartbeatIntake(options: {
  readonly registry: OwnershipStore;
  /** Returns true if the domain is in the catalogue or below a domain of it, so that only its verified owner may report for it. */
  readonly isCatalogueDomain: (domain: string) => boolean;
  readonly services: TrackedServices;
  /** Resolves when the record has loaded the service, if it exists. */
  readonly whenLoaded: (serviceId: number) => Promise<void>;
  readonly revisions: AwaitedRevisions;
  readonly pipeline: UpdatePipeline;
  readonly deadlines: HeartbeatDeadlines;
  readonly clock: Clock;
}) {
  const { registry, isCatalogueDomain, services, whenLoaded, revisions, pipeline, deadlines, clock } =
    options;

  /** The service, if the record knows that it accepts the heartbeat; undefined: the registry decides. */
  function findService({ report, accountId }: ReceivedHeartbeat): TrackedService | undefined {
    const { domain, serviceId } = report;
    const tracked = serviceId === undefined ? services.byDomain(domain) : services.get(serviceId);
    if (tracked?.service.domain !== domain || !isAccepted(tracked.service, accountId)) return undefined;
    const isContested = !tracked.service.verified && isCatalogueDomain(tracked.service.domain);
    return isContested ? undefined : tracked;
  }

  /**
   * Claims the service in the registry, and waits until the feed of changes has delivered it: every part of the program
   * knows it before the sender is answered. Undefined: the service was removed meanwhile.
   */
  async function claimService({ report, accountId }: ReceivedHeartbeat): Promise<TrackedService | undefined> {
    const { id, revision } = await registry.claimDomain(report.domain, accountId, report.serviceId);
    await whenLoaded(id);
    const known = services.get(id)?.service.revision ?? 0;
    if (known < revision) await revisions.wait(id, revision);
    return services.get(id);
  }

  function observe(tracked: TrackedService | undefined, received: ReceivedHeartbeat): Promise<HeartbeatEnd> {
    return new Promise((resolve) => {
      if (tracked === undefined) return resolve('gone');
      pipeline.observe(tracked, { via: 'heartbeat', received }, resolve);
      pipeline.flush();
    });
  }

  /** Resolves with the value of `work`, or with `unavailable` after the timeout. */
  function withTimeout(work: Promise<HeartbeatEnd>): Promise<HeartbeatEnd> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(COMMIT_TIMEOUT_MS, () => resolve('unavailable'));
      work.then(resolve, reject).finally(cancel);
    });
  }

  return {
    /**
     * Resolves when the heartbeat is committed and published. Rejects with {@link HeartbeatRefused}, or with the
     * registry's error if the domain does not belong to the account.
     */
    async take(received: ReceivedHeartbeat): Promise<HeartbeatReceipt> {
      let end = await withTimeout(observe(findService(received), received));
      if (end === 'gone')
        end = await withTimeout(claimService(received).then((tracked) => observe(tracked, received)));
      if (typeof end !== 'string') return end;
      deadlines.restart();
      const code = end === 'gone' ? 'unavailable' : end;
      throw new HeartbeatRefused('The heartbeat could not be written; send it again.', code);
    },
  };
}

/**
 * Returns true if the current definition of the service takes heartbeats of the account. Those of a paused one ask the registry, since
 * another process may just have ended the pause.
 */
function isAccepted({ accountId, paused, check }: Service, account: number): boolean {
  return accountId === account && !paused && (check.kind === 'heartbeat' || check.keepsKind === true);
}

const WAIT_TIMEOUT_MS = 5_000;

/** Heartbeats that wait until the feed of changes has delivered the revision of their service. */
export type AwaitedRevisions = ReturnType<typeof createAwaitedRevisions>;

/** Makes an empty list of waiting heartbeats. */
export function createAwaitedRevisions(clock: Clock) {
  const listeners = createListeners<[change: ServiceChange]>();
  return {
    /**
     * Resolves when a change has delivered this revision of the service, a later one, or its removal. Resolves after
     * five seconds in any case, since a removal that was delivered before is not delivered again.
     */
    wait: (id: number, revision: number): Promise<void> =>
      new Promise((resolve) => {
        const end = () => {
          cancel();
          remove();
          resolve();
        };
        const cancel = clock.after(WAIT_TIMEOUT_MS, end);
        const remove = listeners.add(({ serviceId, service }) => {
          if (serviceId === id && (service === null || service.revision >= revision)) end();
        });
      }),
    /** A change was applied. */
    notify: listeners.notify,
  };
}
