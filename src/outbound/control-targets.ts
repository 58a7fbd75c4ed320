/**
 * Asks whether this machine is online at all: any HTTP answer of any control target says yes
 * (decisions, "When the prober itself is offline").
 */
import { type Cancel, type Clock, systemClock } from '../clock.ts';
import { openGuard } from './address-guard.ts';
import { createTrustStore } from './connection.ts';
import { startDeadline } from './deadline.ts';
import { readDestination } from './destination.ts';
import { createResolver, type Resolver } from './resolver.ts';
import { sendRequest } from './send-request.ts';

/** Options of a question to the control targets. */
export interface ControlQueryOptions {
  /** `ip` or `ip:port`; default: the system's. */
  readonly nameservers?: readonly string[];
  readonly userAgent?: string;
  /** How long the name of a target may take beside that, milliseconds; default: as long as the rest. */
  readonly nameTimeoutMs?: number;
  readonly clock?: Clock;
}

/**
 * Asks all of them at once and resolves with true at the first answer of any status, with false when none has
 * answered `timeoutMs` after its name was resolved or all have failed. Names have a time of their own, so that a slow
 * name server does not look like a lost connection. The list is the operator's word: any address and port is allowed, and
 * certificates are not judged, for an answer under a wrong certificate is an answer. Redirects are not followed.
 * An empty list, and an address that cannot be read, answer nothing. Never rejects for what the targets do.
 */
export async function queryControlTargets(
  urls: readonly string[],
  timeoutMs = 3000,
  options: ControlQueryOptions = {},
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
      // Sockets are read before time counts as over, as a deadline has it.
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
      // A name that an old answer still knows says nothing about the connection.
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

/** A resolver that starts a timer at its first answer. */
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
