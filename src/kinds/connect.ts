/** Connects to a port of a service, for kinds that are not requests by HTTP/1.1, and the client certificate that some servers require. */
import type { Socket } from 'node:net';
import { systemClock } from '../clock.ts';
import type { Attempt, Timing } from '../domain/result.ts';
import { Type } from '../json-schema.ts';
import {
  type ClientCertificate,
  newPhaseTimings,
  type PhaseTimings,
  type Trust,
} from '../outbound/connection.ts';
import { dial } from '../outbound/dial.ts';
import { type Fault, targetFault } from '../outbound/fault.ts';
import { attemptOf, invalidAddress, type ProbeTools, type Run, type WrongSetting } from './check-kind.ts';
import { readCertificate, readPrivateKey } from './setting-formats.ts';

interface Endpoint {
  /** `https://` for TLS, `http://` for none: host and port count. */
  readonly url: string;
  /** Protocols to offer by ALPN; empty: none. */
  readonly protocols: readonly string[];
  /** The client certificate; absent or null: none. */
  readonly client?: ClientCertificate | null;
}

/** An open connection of an attempt, or the attempt that failed without one. */
type Connected =
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

/** Maximum length of a certificate with its intermediates, characters. */
const MAX_CERTIFICATE_LENGTH = 16_384;
const MAX_KEY_LENGTH = 8_192;

/** The settings, PEM: the certificate, followed by its intermediates, and its key without a passphrase. */
export const CLIENT_CERTIFICATE_SETTINGS = {
  clientCertificate: Type.Optional(
    Type.String({ format: 'certificate', maxLength: MAX_CERTIFICATE_LENGTH, writeOnly: true }),
  ),
  clientKey: Type.Optional(
    Type.String({ format: 'private-key', maxLength: MAX_KEY_LENGTH, writeOnly: true }),
  ),
};

/** The settings with the values that are known; those that are stored encrypted are not. */
interface GivenSettings {
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly plain?: boolean;
}

/** The problem of the settings. `names`: the settings, and the credentials that are stored and stay. */
export function refuseClientCertificate(
  { clientCertificate, clientKey, plain = false }: GivenSettings,
  names: ReadonlySet<string>,
): WrongSetting[] {
  if (!names.has('clientCertificate') && !names.has('clientKey')) return [];
  if (plain) return [{ setting: 'plain', problem: { code: 'not_with', other: 'clientCertificate' } }];
  // One of them fits the other that is stored only by chance.
  if (
    (clientCertificate === undefined) !== (clientKey === undefined) ||
    names.has('clientCertificate') !== names.has('clientKey')
  )
    return clientKey === undefined
      ? [{ setting: 'clientKey', problem: { code: 'together', other: 'clientCertificate' } }]
      : [{ setting: 'clientCertificate', problem: { code: 'together', other: 'clientKey' } }];
  if (clientCertificate === undefined || clientKey === undefined) return [];
  const certificate = readCertificate(clientCertificate);
  const key = readPrivateKey(clientKey);
  // The formats have been validated.
  if (certificate === null || key === null) return [];
  if (!certificate.checkPrivateKey(key))
    return [{ setting: 'clientKey', problem: { code: 'key_of_another', other: 'clientCertificate' } }];
  const endedAt = certificate.validToDate.getTime();
  return endedAt > systemClock.now()
    ? []
    : [{ setting: 'clientCertificate', problem: { code: 'expired', endedAt } }];
}

/** The client certificate of a check; null: it has none. */
export function clientCertificateOf({
  clientCertificate,
  clientKey,
}: GivenSettings): ClientCertificate | null {
  if (clientCertificate === undefined || clientKey === undefined) return null;
  return { cert: clientCertificate, key: clientKey };
}
