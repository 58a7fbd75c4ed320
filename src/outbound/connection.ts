/** One connection: the authorities that it trusts, its socket, its certificate, and the timings of its phases. */
import { readFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import {
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { getOrInsert } from '../async/bounded-map.ts';
import type { AddressGuard } from './address-guard.ts';
import type { Destination } from './destination.ts';
import { type Fault, tlsFault } from './fault.ts';

/** How the certificate of a server is judged. */
export interface Trust {
  readonly context: SecureContext;
  /** False: any certificate is accepted, to find out whether anything responds. */
  readonly verify: boolean;
}

/** One key share is sent, and every server still agrees; sending fewer saves 11 to 19 % of a handshake. */
const GROUPS = 'X25519:P-256:P-384';

/** Makes the store of a thread. */
export function createTrustStore() {
  const known = new Map<string | null, Trust>();
  let unverified: Trust | null = null;
  return {
    /**
     * The machine's authorities, Node's own, and those of the PEM bundle `caFile` where one is given.
     * Throws where the file cannot be read; it is read once.
     */
    trust(caFile: string | null): Trust {
      const make = () => createSecureContext({ ...authoritiesOf(caFile), ecdhCurve: GROUPS });
      return getOrInsert(known, caFile, () => ({ context: make(), verify: true }));
    },
    /** Accepts every certificate. */
    unverified() {
      unverified ??= { context: createSecureContext({ ecdhCurve: GROUPS }), verify: false };
      return unverified;
    },
  };
}

/**
 * The option `ca` of a context. With `--use-system-ca`, with which `upbeat start` starts the program, Node's default has
 * the machine's authorities too, and all threads share it: 4 MB for each that would have its own.
 */
function authoritiesOf(caFile: string | null): { readonly ca?: string[] } {
  if (caFile === null && process.execArgv.includes('--use-system-ca')) return {};
  const authorities = [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];
  return { ca: caFile === null ? authorities : [...authorities, readFileSync(caFile, 'utf8')] };
}

/** Milliseconds with a fraction. Null: the phase did not happen. */
export interface PhaseTimings {
  /** Also null if no query was sent, because of a literal address, the hosts file or the cache. */
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
  /** End of validity of the certificate that ends first, epoch milliseconds; null: no TLS. */
  certificateExpiresAt: number | null;
}

/** Timings of a request that has not begun. */
export function newPhaseTimings(): PhaseTimings {
  return { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, certificateExpiresAt: null };
}

/** Records the end of a certificate's validity; the earliest one is kept. */
function noteCertificate(timings: PhaseTimings, expiresAt: number): void {
  if (Number.isNaN(expiresAt)) return;
  timings.certificateExpiresAt = Math.min(expiresAt, timings.certificateExpiresAt ?? expiresAt);
}

/** One connection to be made. */
export interface DialOrder {
  readonly destination: Destination;
  readonly guard: AddressGuard;
  readonly trust: Trust | null;
  /** Bypasses the cache of names. */
  readonly fresh: boolean;
}

/** Connects to one address that was judged. A name cannot be connected to: the look-up refuses it. */
export function openSocket(
  address: string,
  { destination, trust }: DialOrder,
  timings: PhaseTimings,
): Socket {
  const target = { host: address, port: destination.port, autoSelectFamily: false, lookup: refuseLookup };
  if (!destination.secure || trust === null) return createConnection(target);
  return connectTls({
    ...target,
    secureContext: trust.context,
    // An address must not be sent as server name (RFC 6066, 3).
    servername: destination.literal ? '' : destination.host,
    ALPNProtocols: ['http/1.1'],
    // The verdict is read after the handshake, so that the end of a refused certificate is known too.
    rejectUnauthorized: false,
    checkServerIdentity(name, certificate) {
      noteCertificate(timings, Date.parse(certificate.valid_to));
      return checkServerIdentity(name, certificate);
    },
  });
}

function refuseLookup(
  hostname: string,
  _options: object,
  done: (error: Error, address: string) => void,
): void {
  done(new Error(`only addresses are dialled, not ${hostname}`), '');
}

/** Why the certificate is not accepted; null: it is. */
export function certificateProblem(
  socket: TLSSocket,
  { trust }: DialOrder,
  timings: PhaseTimings,
): Fault | null {
  if (socket.authorized) return null;
  const certificate = socket.getPeerX509Certificate();
  if (certificate !== undefined) noteCertificate(timings, certificate.validToDate.getTime());
  if (trust?.verify === false) return null;
  return tlsFault(Object.assign(new Error('certificate'), { code: String(socket.authorizationError) }));
}
