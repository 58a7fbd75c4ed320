/** Kind `icmp`: echo requests, by the ping of the system. */
import { createConcurrencyLimiter } from '../async/concurrency-limiter.ts';
import { Type } from '../json-schema.ts';
import type { Deadline } from '../outbound/deadline.ts';
import { timeoutFault } from '../outbound/fault.ts';
import { type Echo, examinePing, ping } from '../outbound/ping.ts';
import { resolveAddress } from '../outbound/resolve-address.ts';
import { attemptOf, defineKind, invalidAddress } from './check-kind.ts';

/** Maximum number of pings of a thread at a time; further ones wait. */
const MAX_PINGS = 32;

/** The check of a host by ICMP. */
export const icmpCheck = defineKind({
  settings: Type.Object({}),
  obstacle: examinePing,
  prepare({ parts, guardOf, destinationOf }) {
    const limit = createConcurrencyLimiter(MAX_PINGS);
    /** Waits for a place. A deadline that ends before is a fault of ours. */
    const pingInTurn = (address: string, deadline: Deadline) =>
      new Promise<Echo>((resolve) => {
        const interrupt = () => resolve({ fault: timeoutFault('first_byte', deadline.timeoutMs, true) });
        deadline.interrupt = interrupt;
        void limit(async () => {
          if (deadline.over === null) resolve(await ping(address, deadline));
        });
      });

    return async (run) => {
      const { target, options, deadline } = run;
      const destination = destinationOf(`http://${target.domain}/`);
      if ('problem' in destination) return invalidAddress(run, 'icmp', destination);
      const order = { destination, guard: guardOf(target, null), fresh: options.number > 0 };
      const resolved = await resolveAddress(parts, order, deadline);
      const { lostMs } = deadline;
      const { dnsMs } = resolved;
      const echo = 'fault' in resolved ? resolved : await pingInTurn(resolved.address, deadline);
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
