/**
 * Determines whether this machine is online: it is if any control target sends any HTTP response
 * (decisions, "When the prober itself is offline").
 */
import { type Cancel, type Clock, systemClock } from '../clock.ts';
import { openGuard, readDestination } from './address-guard.ts';
import { createTrustStore } from './connection.ts';
import { startDeadline } from './deadline.ts';
import { createResolver, type Resolver } from './resolver.ts';
import { sendRequest } from './send-request.ts';

/**
 * Queries all control targets at once. Resolves with true at the first response of any status. Resolves with false if
 * all targets have failed, or if none has responded within `timeoutMs` after its name was resolved. Name resolution has
 * a deadline of its own, so that a slow name server does not look like a lost connection. The operator configures the
 * list, so any address and port is allowed. Certificates are not verified and redirects are not followed. An invalid
 * address counts as no response. Never rejects because of the targets.
 */
export async function queryControlTargets(
  urls: readonly string[],
  timeoutMs = 3000,
  options: {
    /** `ip` or `ip:port`; default: the system's. */
    readonly nameservers?: readonly string[];
    readonly userAgent?: string;
    /** Additional time for name resolution, milliseconds; default: `timeoutMs`. */
    readonly nameTimeoutMs?: number;
    readonly clock?: Clock;
  } = {},
): Promise<boolean> {
  const { nameservers = [], userAgent = 'Upbeat', clock = systemClock } = options;
  const { nameTimeoutMs = timeoutMs } = options;
  const resolver = createResolver({ nameservers, clock });
  const trusts = createTrustStore();
  const deadlines = urls.map(() => startDeadline(clock, nameTimeoutMs + timeoutMs));
  const requests = urls.map(async (url, index) => {
    const destination = readDestination(url);
    const deadline = deadlines[index];
    if ('problem' in destination || deadline === undefined) throw new Error('not asked');
    const limit = limitAfterName(resolver, () =>
      // `setImmediate` lets sockets be read before the deadline ends, as in `Deadline`.
      clock.after(timeoutMs, () => setImmediate(() => deadline.abort())),
    );
    const request = {
      destination,
      method: 'GET',
      headers: ['user-agent', userAgent, 'accept', '*/*'],
      body: null,
      wantsBody: () => false,
      maxBodyBytes: 0,
      redirects: 0,
      guard: openGuard,
      trust: trusts.unverified,
      // A cached name says nothing about the connection.
      fresh: true,
    };
    if (destination.literal) limit.start();
    const { statusCode } = await sendRequest({ clock, resolver: limit.resolver }, request, deadline);
    limit.stop();
    if (statusCode === 0) throw new Error('no answer');
    return true;
  });
  const online = await Promise.any(requests).catch(() => false);
  for (const deadline of deadlines) {
    deadline.abort();
    deadline.close();
  }
  resolver.close();
  return online;
}

/** Wraps a resolver so that a timer starts at its first result. */
function limitAfterName(resolver: Resolver, startTimer: () => Cancel) {
  let cancel: Cancel | null = null;
  const start = () => {
    cancel ??= startTimer();
  };
  const noted: Resolver = {
    ...resolver,
    lookup(...request) {
      const lookup = resolver.lookup(...request);
      if (!(lookup instanceof Promise)) start();
      else void lookup.then((answer) => answer.kind === 'addresses' && start());
      return lookup;
    },
  };
  return { resolver: noted, start, stop: () => cancel?.() };
}
