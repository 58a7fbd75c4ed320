/** Connects to a port of a service, for kinds that are not requests by HTTP/1.1. */
import type { Socket } from 'node:net';
import type { Attempt, Timing } from '../domain/result.ts';
import {
  type ClientCertificate,
  newPhaseTimings,
  type PhaseTimings,
  type Trust,
} from '../outbound/connection.ts';
import { dial } from '../outbound/dial.ts';
import { type Fault, targetFault } from '../outbound/fault.ts';
import { attemptOf, invalidAddress, type ProbeTools, type Run } from './check-kind.ts';

export interface Endpoint {
  /** `https://` for TLS, `http://` for none: host and port count. */
  readonly url: string;
  /** Protocols to offer by ALPN; empty: none. */
  readonly protocols: readonly string[];
  /** The client certificate; absent or null: none. */
  readonly client?: ClientCertificate | null;
}

/** An open connection of an attempt, or the attempt that failed without one. */
export type Connected =
  | { readonly socket: Socket; readonly phases: PhaseTimings; readonly startedAt: number }
  | { readonly attempt: Attempt };

/**
 * Connects, with TLS if the URL has it. `startedAt` of the result: the start of name resolution, or of the connection if no name had to be
 * resolved, monotonic milliseconds.
 */
export async function connect(
  { parts, clock, trust, guardOf, destinationOf }: ProbeTools,
  run: Run,
  via: Attempt['via'],
  { url, protocols, client = null }: Endpoint,
): Promise<Connected> {
  const { target, options, deadline } = run;
  const destination = destinationOf(url);
  if ('problem' in destination) return { attempt: invalidAddress(run, via, destination) };
  const phases = newPhaseTimings();
  const startedAt = clock.monotonic();
  const failed = (fault: Fault) => ({
    attempt: attemptOf(run, via, {
      // A certificate that is refused was sent by the target.
      answered: fault.suspect === null && fault.failure.phase === 'tls' && fault.failure.class === 'tls',
      timing: timingOf(phases, null),
      certificateExpiresAt: phases.certificateExpiresAt,
      fault,
      failure: null,
      lostMs: deadline.lostMs,
    }),
  });
  let authorities: Trust | null = null;
  try {
    if (destination.secure) authorities = trust(target.check.caFile, client);
  } catch {
    return failed({ ...targetFault('tls', 'tls', { code: 'authorities_unreadable' }), suspect: 'own_fault' });
  }
  const guard = guardOf(target, destination.port);
  const order = { destination, guard, trust: authorities, fresh: options.number > 0, protocols };
  const dialled = await dial(parts, order, deadline, phases);
  if (dialled.fault !== null) return failed(dialled.fault);
  return { socket: dialled.socket, phases, startedAt: phases.beganAt ?? startedAt };
}

/** The timing of an attempt; `totalMs` null: the target did not respond. */
export function timingOf(
  { dnsMs, connectMs, tlsMs, firstByteMs }: PhaseTimings,
  totalMs: number | null,
): Timing {
  return { dnsMs, connectMs, tlsMs, firstByteMs, totalMs };
}
