/** The hosts of certificates by the rules of Node.js, and the ends of their chains: read once for each certificate and host. */
import { X509Certificate } from 'node:crypto';
import { checkServerIdentity } from 'node:tls';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';

/** The end of a chain of certificates. */
export interface ChainEnd {
  /** Expiry of the certificate that expires first, epoch milliseconds. */
  readonly expiresAt: number;
  /** Common name of that certificate if it is an intermediate; null: it is the server's own. */
  readonly intermediate: string | null;
}

/** The identity of a certificate for a host. */
interface Identity extends ChainEnd {
  /** Code of the reason why the certificate is not for the host, such as `ERR_TLS_CERT_ALTNAME_INVALID`; null: it is. */
  readonly problem: string | null;
}

/** Returns what a certificate says to a host, a name or an address. */
export type IdentityReader = (host: string, certificate: X509Certificate) => Identity;

/** Returns true if a trusted root has issued a certificate. */
export type RootCheck = (certificate: X509Certificate) => boolean;

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
export function endOfChain(certificate: X509Certificate, isIssuedByRoot: RootCheck): ChainEnd {
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
export function missingIssuer(certificate: X509Certificate): string {
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
export function createRootCheck(readRoots: () => readonly string[]): RootCheck {
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
