/** Kind `icmp`: echo requests, by the ping of the system. */
import { createConcurrencyLimiter } from '../async/concurrency-limiter.ts';
import { hostInUrl } from '../domain/host-name.ts';
import { Type } from '../json-schema.ts';
import type { AddressLoad } from '../outbound/address-guard.ts';
import type { Deadline } from '../outbound/deadline.ts';
import { busyFault, timeoutFault } from '../outbound/fault.ts';
import { type Echo, examinePing, ping, type ResolvedAddress, resolveAddress } from '../outbound/ping.ts';
import { attemptOf, defineKind, invalidAddress } from './check-kind.ts';

/** Maximum number of pings of a thread at a time; further ones wait. */
const MAX_PINGS = 32;
/** Maximum number of further addresses of a host that are tried if the first one does not reply. */
const MAX_FURTHER_ADDRESSES = 3;
/** Time that is kept for them, milliseconds; a quarter of the timeout at most. */
const RESERVE_MS = 1_000;

type Resolved = Exclude<ResolvedAddress, { readonly fault: object }>;

export const icmpCheck = defineKind({
  settings: Type.Object({}),
  obstacle: examinePing,
  prepare({ parts, clock, guardOf, destinationOf }) {
    const limit = createConcurrencyLimiter(MAX_PINGS);
    /**
     * Waits for a place. A deadline that ends before is a fault of ours. `untilMs`: the time of the attempt after which the address
     * gives way to another one, if `hasOther` then.
     */
    const pingInTurn = (address: string, deadline: Deadline, untilMs: number, hasOther: () => boolean) =>
      new Promise<Echo>((resolve) => {
        const interrupt = () => resolve({ fault: timeoutFault('first_byte', deadline.timeoutMs, true) });
        deadline.interrupt = interrupt;
        void limit(async () => {
          if (deadline.over !== null) return;
          const cut = new AbortController();
          const leftMs = Math.max(0, deadline.startedAt + untilMs - clock.monotonic());
          const cancel = clock.after(leftMs, () => {
            if (hasOther()) cut.abort();
          });
          resolve(await ping(address, deadline, cut.signal));
          cancel();
        });
      });

    /** The same, if the address may have another check. */
    const pingCounted = async (load: AddressLoad | undefined, address: string, ping: () => Promise<Echo>) => {
      const waitMs = load?.open(address) ?? 0;
      if (waitMs > 0) return { fault: busyFault(waitMs) };
      return await ping().finally(() => load?.close(address));
    };

    /** Pings the first address, and the others of the host if that does not reply: one dead address is no dead host. */
    const pingHost = async (
      { address, others }: Resolved,
      deadline: Deadline,
      load: AddressLoad | undefined,
    ): Promise<Echo> => {
      const { timeoutMs } = deadline;
      let further: readonly string[] = [];
      const found = others().then((addresses) => {
        further = addresses.slice(0, MAX_FURTHER_ADDRESSES);
      });
      const reserveMs = Math.min(RESERVE_MS, timeoutMs / 4);
      const first = await pingCounted(load, address, () =>
        pingInTurn(address, deadline, timeoutMs - reserveMs, () => further.length > 0),
      );
      if (!('fault' in first)) return first;
      let failed: Echo = first;
      await found;
      for (const [index, other] of further.entries()) {
        if (deadline.over !== null) break;
        const elapsedMs = clock.monotonic() - deadline.startedAt;
        const left = further.length - index;
        const untilMs = elapsedMs + (timeoutMs - elapsedMs) / left;
        const echo = await pingCounted(load, other, () =>
          pingInTurn(other, deadline, untilMs, () => left > 1),
        );
        if (!('fault' in echo)) return echo;
        // An address that was not asked might have replied.
        if (isBusy(echo)) failed = echo;
      }
      return failed;
    };

    return async (run) => {
      const { target, options, deadline } = run;
      const destination = destinationOf(`http://${hostInUrl(target.domain)}/`);
      if ('problem' in destination) return invalidAddress(run, 'icmp', destination);
      const guard = guardOf(target, null);
      const order = { destination, guard, fresh: options.number > 0 };
      const resolved = await resolveAddress(parts, order, deadline);
      const { lostMs } = deadline;
      const { dnsMs } = resolved;
      const echo = 'fault' in resolved ? resolved : await pingHost(resolved, deadline, guard.load);
      const timing = { dnsMs, connectMs: null, tlsMs: null };
      if ('fault' in echo)
        return attemptOf(run, 'icmp', {
          answered: false,
          timing: { ...timing, firstByteMs: null, totalMs: null },
          fault: echo.fault,
          failure: null,
          lostMs: deadline.lostMs,
        });
      const { roundTripMs } = echo;
      return attemptOf(run, 'icmp', {
        answered: true,
        timing: { ...timing, firstByteMs: roundTripMs, totalMs: (dnsMs ?? 0) + roundTripMs },
        fault: null,
        failure: null,
        // Ping measures the round trip by itself, whatever delays this process has.
        lostMs,
      });
    };
  },
});

function isBusy(echo: Extract<Echo, { readonly fault: object }>): boolean {
  return echo.fault.failure.cause.code === 'address_busy';
}
