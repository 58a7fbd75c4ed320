/**
 * Verifies that an account controls a domain, by a TXT record or a file of the site (decisions, Ownership). The token is
 * derived from account and domain with a secret of this installation, so that it is not stored and differs by account.
 */

import { createHmac, randomBytes } from 'node:crypto';
import { hostInUrl } from '../domain/host-name.ts';
import type { ProofFile, Refusal } from '../domain/refusal.ts';
import type { AddressPolicy } from '../outbound/address-guard.ts';
import { readAddresses, readTxtRecords } from '../outbound/name-client.ts';
import type { Outbound, OutboundResponse } from '../outbound/outbound.ts';
import type { FactStore } from '../store/ports/registry.ts';

/** Options of the proofs. */
interface DomainProofOptions {
  readonly registry: Pick<FactStore, 'getFact' | 'setFact'>;
  readonly outbound: Pick<Outbound, 'request'>;
  /** Addresses that owners' domains may have. */
  readonly policy: AddressPolicy;
  readonly nameservers: readonly string[];
}

/** Proofs of domains. */
export type DomainProofs = Awaited<ReturnType<typeof openDomainProofs>>;

const SECRET_FACT = 'domain-proof-secret';
const TIMEOUT_MS = 5_000;
const MAX_FILE_BYTES = 4_096;
const MAX_REDIRECTS = 2;

/** Opens the proofs of this installation; the first start creates the secret. */
export async function openDomainProofs(options: DomainProofOptions) {
  const { registry, outbound, policy, nameservers } = options;
  let secret = await registry.getFact(SECRET_FACT);
  if (secret === null) {
    secret = randomBytes(32).toString('hex');
    await registry.setFact(SECRET_FACT, secret);
  }
  const key = secret;
  /** The token and its places. */
  const instructions = (accountId: number, domain: string) => {
    const digest = createHmac('sha256', key).update(`${accountId}\n${domain}`).digest('hex');
    return {
      /** Name of the TXT record. */
      recordName: `_upbeat.${domain}`,
      /** Its value, and the content of the file. */
      word: `upbeat-verify=${digest.slice(0, 40)}`,
      /** Address of the file. */
      fileUrl: `https://${hostInUrl(domain)}/.well-known/upbeat-verify`,
    };
  };
  return {
    instructions,
    /** The current addresses of the domain. */
    addresses: (domain: string): Promise<string[]> =>
      readAddresses(domain, { nameservers, timeoutMs: TIMEOUT_MS }),
    /** Checks both places. Null: the token is there; otherwise the refusal says what was found. */
    async check(accountId: number, domain: string): Promise<Refusal | null> {
      const { recordName, word, fileUrl } = instructions(accountId, domain);
      const [records, file] = await Promise.all([
        readTxtRecords(recordName, { nameservers, timeoutMs: TIMEOUT_MS }),
        outbound.request({
          url: fileUrl,
          timeoutMs: TIMEOUT_MS,
          maxBodyBytes: MAX_FILE_BYTES,
          policy,
          redirects: MAX_REDIRECTS,
        }),
      ]);
      if (records.some((record) => record.trim() === word)) return null;
      // A redirect to another host would prove control of that host.
      const sameHost = URL.canParse(file.url) && new URL(file.url).hostname === domain;
      const text = file.body?.toString('utf8').trim() ?? '';
      if (file.status === 200 && sameHost && text === word) return null;
      return {
        code: 'proof_missing',
        hasRecords: records.length > 0,
        recordName,
        fileUrl,
        file: sameHost ? findingOf(file) : { code: 'redirected' },
      };
    },
  };
}

/** What was found instead of the token. */
function findingOf({ fault, status }: OutboundResponse): ProofFile {
  if (fault !== null) return { code: 'failed', failure: fault.failure };
  return status === 200 ? { code: 'other_word' } : { code: 'status', statusCode: status };
}
