/**
 * Verifies that an account controls a domain, by a TXT record or a file of the site (decisions, Ownership). The token is
 * derived from account and domain with a secret of this installation, so that it is not stored and differs by account.
 */

import { createHmac, randomBytes } from 'node:crypto';
import { createCoalescingLoop } from '../async/coalescing-loop.ts';
import type { Clock } from '../clock.ts';
import { DAY_MS, HOUR_MS } from '../domain/durations.ts';
import { hostInUrl } from '../domain/host-name.ts';
import type { ProofFile, Refusal } from '../domain/refusal.ts';
import type { Log } from '../log.ts';
import type { AddressPolicy } from '../outbound/address-guard.ts';
import { readAddresses, readTxtRecords } from '../outbound/name-client.ts';
import type { OutboundResponse, Requests } from '../outbound/outbound.ts';
import type { SharedFactStore } from '../store/ports/registry.ts';
import type { PageDomainStore } from '../store/ports/status-pages.ts';

/** The interval at which a proof is checked, milliseconds. One that is missing is checked every hour. */
const CHECK_AFTER_MS = DAY_MS;

/** The time for which a proof may be missing, milliseconds: longer than outages of name servers last. */
const LAPSES_AFTER_MS = 3 * DAY_MS;

interface RecheckOptions {
  readonly registry: PageDomainStore;
  readonly proofs: ProofCheck;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns true if this process makes the checks now: it is the monitor, and its own connection works. */
  readonly isAble: () => boolean;
}

export type DomainProofs = Awaited<ReturnType<typeof openDomainProofs>>;

export type ProofCheck = Pick<DomainProofs, 'check'>;

const SECRET_FACT = 'domain-proof-secret';
const TIMEOUT_MS = 5_000;
const MAX_FILE_BYTES = 4_096;
const MAX_REDIRECTS = 2;

/** Opens the proofs of this installation; the first start creates the secret. */
export async function openDomainProofs(options: {
  readonly registry: SharedFactStore;
  readonly outbound: Requests;
  /** Addresses that owners' domains may have. */
  readonly policy: AddressPolicy;
  readonly nameservers: readonly string[];
}) {
  const { registry, outbound, policy, nameservers } = options;
  const key =
    (await registry.getFact(SECRET_FACT)) ??
    (await registry.ensureFact(SECRET_FACT, randomBytes(32).toString('hex')));
  /** The token and its places. */
  const instructions = (accountId: number, domain: string) => {
    const digest = createHmac('sha256', key).update(`${accountId}\n${domain}`).digest('hex');
    return {
      recordName: `_upbeat.${domain}`,
      /** Its value, and the content of the file. */
      word: `upbeat-verify=${digest.slice(0, 40)}`,
      fileUrl: `https://${hostInUrl(domain)}/.well-known/upbeat-verify`,
    };
  };
  return {
    instructions,
    /** 32 bytes that this installation alone can make of a text, which are the same at each start and with each key of secrets. */
    derive: (text: string): Buffer => createHmac('sha256', key).update(`derived\n${text}`).digest(),
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

function findingOf({ fault, status }: OutboundResponse): ProofFile {
  if (fault !== null) return { code: 'failed', failure: fault.failure };
  return status === 200 ? { code: 'other_word' } : { code: 'status', statusCode: status };
}

/** Starts the checks of proved domains of status pages; returns a function that stops them and resolves when none is in progress. */
export function startDomainRechecks(options: RecheckOptions): () => Promise<void> {
  const { clock, log } = options;
  const loop = createCoalescingLoop(async () => {
    try {
      await recheckDomains(options);
    } catch (error) {
      log.warn({ error }, 'the proofs of domains of status pages could not be checked');
    }
  });
  const stop = clock.every(HOUR_MS, () => void loop.run());
  return async () => {
    stop();
    await loop.idle();
  };
}

/** Checks the proofs that are due, one after the other. */
export async function recheckDomains({
  registry,
  proofs,
  clock,
  isAble,
}: Pick<RecheckOptions, 'registry' | 'proofs' | 'isAble'> & {
  readonly clock: Clock;
}): Promise<void> {
  for (const { accountId, domain, checkedAt, missingSince } of await registry.provedPageDomains()) {
    if (checkedAt === null) continue;
    const now = clock.now();
    if (missingSince === null && now - checkedAt < CHECK_AFTER_MS) continue;
    const isFound = (await proofs.check(accountId, domain)) === null;
    // Without a connection, every proof would seem to be missing.
    if (!isAble()) return;
    const isLate = missingSince !== null && now - missingSince >= LAPSES_AFTER_MS;
    await registry.notePageProof(accountId, domain, isFound ? 'found' : isLate ? 'lapses' : 'missing', now);
  }
}
