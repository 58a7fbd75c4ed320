/** One connection: its trusted certificate authorities, its socket, its certificate, and the timings of its phases. */
import { constants, hash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import {
  type ConnectionOptions,
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
  DEFAULT_CIPHERS,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import { oneLine } from '../domain/failure.ts';
import type { AddressGuard, Destination } from './address-guard.ts';
import { type Fault, type TlsState, targetFault, tlsFault } from './fault.ts';
import type { Inlet } from './inlet.ts';

/** The verification of a server's certificate. */
export interface Trust {
  readonly context: SecureContext;
  /** False: any certificate is accepted, because the caller only needs to know whether the server responds. */
  readonly verify: boolean;
  readonly identify: IdentityReader;
  readonly isIssuedByRoot: RootCheck;
  /** True if the server gets a client certificate if it asks for one. */
  readonly offersCertificate: boolean;
}

/** A certificate by which a check signs in, followed by its intermediates, and its key; PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/**
 * The authorities by which a check verifies its server's certificate: by the authorities, not at all, or by this authority
 * alone, in PEM.
 */
export type CertificateRule = string;

/** The suite of TLS 1.3 that costs least, and that every server should have (RFC 8446, 9.1). */
const CHEAPEST_SUITE = 'TLS_AES_128_GCM_SHA256';
const isCheapest = (cipher: string) => Number(cipher === CHEAPEST_SUITE);

/**
 * As lenient as browsers and Go, and like them with the cheapest suite first: where the server leaves the choice to the client, a
 * check takes a tenth less CPU time. OpenSSL sends one key share, for the first group, which saves 11 to 19 % of a handshake; a server that
 * has another group alone asks for that. Keys of 1024 bits are accepted, and servers that cannot renegotiate securely (RFC 5746), since
 * nothing is renegotiated.
 */
const CONTEXT_OPTIONS = {
  ecdhCurve: 'X25519:P-256:P-384:P-521',
  ciphers: [
    ...DEFAULT_CIPHERS.split(':').sort((one, other) => isCheapest(other) - isCheapest(one)),
    '@SECLEVEL=1',
  ].join(':'),
  secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
};

/** Maximum number of contexts of single checks in a thread; the oldest is dropped. */
const MAX_CLIENT_CONTEXTS = 64;

export function createTrustStore() {
  const known = new Map<string | null, Trust>();
  const ofClients = new BoundedMap<string, Trust>(MAX_CLIENT_CONTEXTS);
  let unverified: Trust | null = null;
  const trust = (caFile: string | null): Trust =>
    getOrInsert(known, caFile, () => {
      const ca = authoritiesOf(caFile);
      const isIssuedByRoot = createRootCheck(() => ca ?? getCACertificates('default'));
      return {
        context: createSecureContext({ ca, ...CONTEXT_OPTIONS }),
        verify: true,
        identify: createIdentityReader(isIssuedByRoot),
        isIssuedByRoot,
        offersCertificate: false,
      };
    });
  return {
    /**
     * Trusts the system's authorities, those of Node.js, and those of the PEM bundle `caFile`, unless it is null.
     * The file is read once. `client`: the certificate of the check. `rule`: whom a check trusts instead. Throws if the file cannot be read.
     */
    trust(
      caFile: string | null,
      client: ClientCertificate | null = null,
      rule: CertificateRule = 'verify',
    ): Trust {
      if (client === null && rule === 'verify') return trust(caFile);
      const name = hash('sha256', JSON.stringify([caFile, client?.cert, client?.key, rule]));
      return getOrInsert(ofClients, name, () => ({
        ...trust(caFile),
        context: createSecureContext({
          ca: rule === 'verify' || rule === 'ignore' ? authoritiesOf(caFile) : rule,
          ...CONTEXT_OPTIONS,
          ...client,
        }),
        verify: rule !== 'ignore',
        offersCertificate: client !== null,
      }));
    },
    /** Accepts every certificate. */
    unverified() {
      unverified ??= {
        context: createSecureContext(CONTEXT_OPTIONS),
        verify: false,
        identify: createIdentityReader(never),
        isIssuedByRoot: never,
        offersCertificate: false,
      };
      return unverified;
    },
  };
}

const never = () => false;

/**
 * The option `ca` of a secure context. `upbeat start` starts the program with `--use-system-ca`, so the default of
 * Node.js includes the system's authorities. All threads share that default; a list of its own takes 4 MB per thread.
 */
function authoritiesOf(caFile: string | null): string[] | undefined {
  if (caFile === null && process.execArgv.includes('--use-system-ca')) return undefined;
  const authorities = [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];
  if (caFile === null) return authorities;
  return [...authorities, readFileSync(caFile, 'utf8')];
}

/** Milliseconds with a fraction. Null: the phase did not happen. */
export interface PhaseTimings {
  /**
   * The time at which the first connection began, if no name had to be resolved before it, monotonic milliseconds; null: a name was
   * resolved first, or no connection began. Our own work before it, such as starting other checks, is not the target's time.
   */
  beganAt: number | null;
  /** Also null if no query was sent, because of a literal address, the hosts file or the cache. */
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
  /** Expiry of the certificate that expires first, of all hops and their chains, epoch milliseconds; null: no TLS. */
  certificateExpiresAt: number | null;
  /** Common name of that certificate if it is an intermediate; null: it is that of a server. */
  intermediate: string | null;
}

/** Creates the timings of a request that has not started. */
export function newPhaseTimings(): PhaseTimings {
  return {
    beganAt: null,
    dnsMs: null,
    connectMs: null,
    tlsMs: null,
    firstByteMs: null,
    certificateExpiresAt: null,
    intermediate: null,
  };
}

/** Records the end of a chain if it is the earliest one. */
function noteCertificate(timings: PhaseTimings, { expiresAt, intermediate }: ChainEnd): void {
  if (Number.isNaN(expiresAt) || expiresAt >= (timings.certificateExpiresAt ?? Number.POSITIVE_INFINITY))
    return;
  timings.certificateExpiresAt = expiresAt;
  timings.intermediate = intermediate;
}

/** The parameters of a connection. */
export interface DialOrder {
  readonly destination: Destination;
  readonly guard: AddressGuard;
  readonly trust: Trust | null;
  /** Bypasses the DNS cache. */
  readonly fresh: boolean;
  /** Protocols to offer by ALPN; absent: HTTP/1.1, empty: none. */
  readonly protocols?: readonly string[];
  /** Takes what the connection receives; absent: it is read from the socket. */
  readonly inlet?: Inlet | undefined;
}

const HTTP_1_1 = ['http/1.1'];

/** Connects to an address that the guard has allowed. It never connects to a name, because its `lookup` fails. */
export function openSocket(
  address: string,
  { destination, trust, protocols = HTTP_1_1, inlet }: DialOrder,
  timings: PhaseTimings,
): Socket {
  const { port } = destination;
  // An exchange ends with what it reads. To answer the server's end first would take a tenth of the system calls of a check over TLS.
  const reading = inlet === undefined ? {} : { onread: inlet.onread, allowHalfOpen: true };
  const target = { host: address, port, autoSelectFamily: false, lookup: refuseLookup, ...reading };
  if (!destination.secure || trust === null) return createConnection(target);
  return connectSecure(target, { destination, trust, protocols }, timings);
}

/** Begins the handshake of TLS over an open connection. Events and certificate are as those of a connection by {@link openSocket}. */
export function startTls(socket: Socket, order: DialOrder, timings: PhaseTimings): TLSSocket {
  const { destination, trust, protocols = [] } = order;
  if (trust === null) throw new TypeError('TLS needs authorities');
  return connectSecure({ socket, host: destination.host }, { destination, trust, protocols }, timings);
}

function connectSecure(
  target: ConnectionOptions,
  {
    destination,
    trust,
    protocols,
  }: { readonly destination: Destination; readonly trust: Trust; readonly protocols: readonly string[] },
  timings: PhaseTimings,
): TLSSocket {
  const socket = connectTls({
    ...target,
    secureContext: trust.context,
    // An IP address must not be sent as server name, nor the dot at the end of a name (RFC 6066, 3).
    servername: destination.literal ? '' : destination.host.replace(/\.$/, ''),
    ...(protocols.length > 0 ? { ALPNProtocols: [...protocols] } : {}),
    // The certificate is verified after the handshake, so that the expiry of a refused one is known too.
    rejectUnauthorized: false,
    checkServerIdentity(host) {
      const certificate = socket.getPeerX509Certificate();
      if (certificate === undefined) return new Error('there is no certificate');
      const identity = trust.identify(host, certificate);
      const { problem } = identity;
      noteCertificate(timings, identity);
      return problem === null ? undefined : Object.assign(new Error('certificate'), { code: problem });
    },
  });
  // What Node.js would pass to `checkServerIdentity` is a copy of the whole chain, a tenth of the cost of a handshake.
  socket.getPeerCertificate = noCopy;
  return socket;
}

const NO_CERTIFICATE = Object.freeze(Object.create(null));
const noCopy = () => NO_CERTIFICATE;

function refuseLookup(
  hostname: string,
  _options: object,
  done: (error: Error, address: string) => void,
): void {
  done(new Error(`only addresses are dialled, not ${hostname}`), '');
}

export function tlsStateOf(socket: TLSSocket, { protocols = HTTP_1_1, trust }: DialOrder): TlsState {
  return {
    certificateSeen: socket.getPeerX509Certificate() !== undefined,
    offersCertificate: trust?.offersCertificate === true,
    protocol: protocols[0],
  };
}

/** Why the certificate is not accepted; null: it is accepted. */
export function certificateProblem(socket: TLSSocket, order: DialOrder, timings: PhaseTimings): Fault | null {
  if (socket.authorized) return null;
  const { trust } = order;
  const certificate = socket.getPeerX509Certificate();
  const code = String(socket.authorizationError);
  let intermediate: string | null = null;
  if (certificate !== undefined && trust !== null) {
    const end = endOfChain(certificate, trust.isIssuedByRoot);
    noteCertificate(timings, end);
    ({ intermediate } = end);
  }
  if (trust?.verify === false) return null;
  if (code === 'CERT_HAS_EXPIRED' && intermediate !== null)
    return targetFault('tls', 'tls', { code: 'intermediate_expired', name: oneLine(intermediate) });
  if (certificate !== undefined && WITHOUT_ISSUER.has(code))
    return targetFault('tls', 'tls', {
      code: 'certificate_issuer_missing',
      name: oneLine(missingIssuer(certificate)),
    });
  return tlsFault(Object.assign(new Error('certificate'), { code }), tlsStateOf(socket, order));
}

/** Codes of OpenSSL for a chain that leads to no authority: of one certificate, or of several. */
const WITHOUT_ISSUER = new Set(['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY']);

// The hosts of certificates by the rules of Node.js, and the ends of their chains: read once for each certificate and host.

interface ChainEnd {
  /** Expiry of the certificate that expires first, epoch milliseconds. */
  readonly expiresAt: number;
  /** Common name of that certificate if it is an intermediate; null: it is the server's own. */
  readonly intermediate: string | null;
}

interface Identity extends ChainEnd {
  /** Code of the reason why the certificate is not for the host, such as `ERR_TLS_CERT_ALTNAME_INVALID`; null: it is. */
  readonly problem: string | null;
}

/** Returns what a certificate says to a host, a name or an address. */
type IdentityReader = (host: string, certificate: X509Certificate) => Identity;

/** Returns true if a trusted root has issued a certificate. */
type RootCheck = (certificate: X509Certificate) => boolean;

/** Maximum number of remembered identities; the oldest is forgotten. */
const MAX_IDENTITIES = 8192;
/** Maximum number of certificates of a chain that are looked at. */
const MAX_CHAIN_LENGTH = 10;

/**
 * Creates a reader that remembers what it read. Reading a certificate takes ten times as long as its SHA-256, which tells
 * whether it has changed since the last check. A chain whose intermediates alone change is not read again; they live for years.
 */
export function createIdentityReader(isIssuedByRoot: RootCheck): IdentityReader {
  const known = new BoundedMap<string, Identity>(MAX_IDENTITIES);
  return (host, certificate) =>
    getOrInsert(known, `${certificate.fingerprint256} ${host}`, () =>
      readIdentity(host, certificate, isIssuedByRoot),
    );
}

function readIdentity(host: string, certificate: X509Certificate, isIssuedByRoot: RootCheck): Identity {
  const error: NodeJS.ErrnoException | undefined = checkServerIdentity(host, certificate.toLegacyObject());
  const problem = error === undefined ? null : (error.code ?? error.message);
  return { ...endOfChain(certificate, isIssuedByRoot), problem };
}

/**
 * The end of the chain that the server sent. Certificates behind a root do not count: OpenSSL and browsers end the chain at
 * the first root that they trust, so that an old cross-signed certificate behind it may have expired.
 */
function endOfChain(certificate: X509Certificate, isIssuedByRoot: RootCheck): ChainEnd {
  const chain = chainOf(certificate);
  let first = certificate;
  for (const [index, each] of chain.entries()) {
    if (each.validToDate >= first.validToDate) continue;
    if (chain.slice(0, index).some(isIssuedByRoot)) break;
    first = each;
  }
  const intermediate = first === certificate ? null : commonName(first.subject);
  return { expiresAt: first.validToDate.getTime(), intermediate };
}

/** Common name of the issuer of the last certificate that the server sent, which it should have sent too unless it is trusted. */
function missingIssuer(certificate: X509Certificate): string {
  return commonName((chainOf(certificate).at(-1) ?? certificate).issuer);
}

/** The certificates that the server sent, without a root at their end. */
function chainOf(certificate: X509Certificate): readonly X509Certificate[] {
  const chain = [certificate];
  let issuer = certificate.issuerCertificate;
  while (issuer !== undefined && chain.length < MAX_CHAIN_LENGTH && !issuer.checkIssued(issuer)) {
    chain.push(issuer);
    issuer = issuer.issuerCertificate;
  }
  return chain;
}

function commonName(subject: string): string {
  return /^CN=(.*)$/m.exec(subject)?.[1] ?? subject;
}

/** Creates the check of a list of roots in PEM, which is read when the first certificate has to be checked. */
function createRootCheck(readRoots: () => readonly string[]): RootCheck {
  let bySubject: ReadonlyMap<string, readonly string[]> | null = null;
  return (certificate) => {
    bySubject ??= groupBySubject(readRoots());
    return (bySubject.get(certificate.issuer) ?? []).some((pem) => {
      const root = new X509Certificate(pem);
      return certificate.checkIssued(root) && certificate.verify(root.publicKey);
    });
  };
}

/** The roots by subject, in PEM, which takes less memory than parsed ones. What cannot be parsed is left out. */
function groupBySubject(bundles: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const bySubject = new Map<string, string[]>();
  for (const [pem] of bundles.join('\n').matchAll(PEM_CERTIFICATE)) {
    try {
      const { subject } = new X509Certificate(pem);
      bySubject.set(subject, [...(bySubject.get(subject) ?? []), pem]);
    } catch {
      // OpenSSL does not trust it either.
    }
  }
  return bySubject;
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
