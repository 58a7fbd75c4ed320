/** Whether a certificate is for a host, by the rules of Node.js, which are applied once for each certificate and host. */
import type { X509Certificate } from 'node:crypto';
import { checkServerIdentity } from 'node:tls';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';

/** What a certificate says to a host. */
export interface Identity {
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** Code of the reason why the certificate is not for the host, such as `ERR_TLS_CERT_ALTNAME_INVALID`; null: it is. */
  readonly problem: string | null;
}

/** Returns what a certificate says to a host, a name or an address. */
export type IdentityReader = (host: string, certificate: X509Certificate) => Identity;

/** Maximum number of remembered identities; the oldest is forgotten. */
const MAX_IDENTITIES = 8192;

/**
 * Creates a reader that remembers what it read. Reading a certificate takes ten times as long as its SHA-256, which tells
 * whether it has changed since the last check.
 */
export function createIdentityReader(): IdentityReader {
  const known = new BoundedMap<string, Identity>(MAX_IDENTITIES);
  return (host, certificate) =>
    getOrInsert(known, `${certificate.fingerprint256} ${host}`, () => readIdentity(host, certificate));
}

function readIdentity(host: string, certificate: X509Certificate): Identity {
  const error: NodeJS.ErrnoException | undefined = checkServerIdentity(host, certificate.toLegacyObject());
  const problem = error === undefined ? null : (error.code ?? error.message);
  return { expiresAt: certificate.validToDate.getTime(), problem };
}
