/** Makes single attempts of checks that an owner tries before a service is saved. */
import { createConcurrencyLimiter } from '../async/concurrency-limiter.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/resolve-config.ts';
import type { CheckTarget } from '../domain/check-target.ts';
import type { Attempt } from '../domain/result.ts';
import type { Log } from '../log.ts';
import { addressLoadOfProcess } from '../outbound/address-load.ts';
import { createForbiddenAddressLog } from '../outbound/forbidden-address-log.ts';
import { createProber, type Prober } from '../probe/prober.ts';
import { findChecksKey } from '../store/secrets/secret-box.ts';
import { VERSION } from '../version.ts';

/** Attempts at a time; further ones wait. */
const MAX_RUNNING = 16;

/** Creates the maker of attempts. Its prober is opened by the first one, since most processes make none. */
export function createCheckTrials(
  { checks, http, limits, secrets, storage }: Config,
  clock: Clock,
  log: Log,
) {
  const { allowPrivate, trustedPrivate, ports, nameservers, ownersMayProbePrivate } = checks;
  const limited = createConcurrencyLimiter(MAX_RUNNING);
  const slots = Array.from({ length: MAX_RUNNING }, (_, slot) => slot);
  const stopped = new AbortController();
  let prober: Prober | null = null;
  const open = () =>
    createProber(
      {
        ...{ version: VERSION, siteUrl: http.siteUrl, allowPrivate, ports, nameservers },
        ...{ ownersMayProbePrivate, trustedPrivate, concurrency: MAX_RUNNING },
        ...{ connectionsPerAddress: limits.connectionsPerAddress, addressLoad: addressLoadOfProcess() },
        checksKey: findChecksKey(storage.dataDir, secrets),
      },
      clock,
      { onForbidden: createForbiddenAddressLog(log, clock) },
    );
  return {
    /** Makes an attempt. A failed HEAD is followed by the GET that shows whether HEAD was the reason, as in a check. */
    run: (target: CheckTarget, timeoutMs: number): Promise<Attempt> =>
      limited(async () => {
        prober ??= open();
        const slot = slots.pop() ?? 0;
        try {
          const options = { timeoutMs, slot, signal: stopped.signal };
          const first = await prober.runAttempt(target, { ...options, number: 0 });
          if (first.failure === null || !first.headUnproven) return first;
          return await prober.runAttempt({ ...target, memory: first.memory }, { ...options, number: 1 });
        } finally {
          slots.push(slot);
        }
      }),
    /** Ends running attempts. */
    stop(): void {
      stopped.abort();
      void prober?.close();
    },
  };
}
