/** Makes attempts against loopback servers, as a host thread would. */
import type { Test } from 'tap';
import type { Clock } from '../../src/clock.ts';
import type { AttemptOptions, CheckTarget } from '../../src/domain/check-target.ts';
import { type StoredFailure, toStoredFailure } from '../../src/domain/failure.ts';
import { type Attempt, NO_MEMORY } from '../../src/domain/result.ts';
import { type CheckDefinition, DEFAULT_CHECK } from '../../src/domain/service.ts';
import { createProber, type ProberSettings } from '../../src/probe/prober.ts';
import { TEST_CA_FILE } from '../support/certificates.ts';

/** What of an attempt a test may choose. */
export interface Trial extends Partial<Omit<CheckTarget, 'check'>>, Partial<AttemptOptions> {
  readonly check?: Partial<CheckDefinition>;
}

/** An attempt whose failure has its cause in English too, as the API shows it. */
export type DescribedAttempt = Omit<Attempt, 'failure'> & { readonly failure: StoredFailure | null };

/** Makes one attempt; by default a catalogue service with a generous deadline. */
export type TryProbe = (url: string | null, trial?: Trial) => Promise<DescribedAttempt>;

/** Settings that let a prober reach loopback, and nothing else that is private. */
export const LOOPBACK_SETTINGS: ProberSettings = {
  version: '1.2.3',
  siteUrl: 'https://status.example',
  allowPrivate: ['127.0.0.0/8', '::1/128'],
  ports: [80, 443],
  nameservers: [],
  ownersMayProbePrivate: false,
  concurrency: 4,
};

/** Opens a prober that is closed with the test. */
export function openProbe(t: Test, settings: Partial<ProberSettings> = {}, clock?: Clock): TryProbe {
  const prober = createProber({ ...LOOPBACK_SETTINGS, ...settings }, clock);
  t.teardown(() => prober.close());
  const free = Array.from(
    { length: settings.concurrency ?? LOOPBACK_SETTINGS.concurrency },
    (_, slot) => slot,
  );
  return async (url, trial = {}) => {
    const { check, number = 0, timeoutMs = 20_000, signal = new AbortController().signal, ...rest } = trial;
    const slot = trial.slot ?? free.pop();
    if (slot === undefined) throw new Error('more attempts at once than slots');
    const target: CheckTarget = {
      serviceId: 1,
      revision: 1,
      domain: rest.domain ?? '127.0.0.1',
      origin: rest.origin ?? 'catalogue',
      memory: rest.memory ?? NO_MEMORY,
      accountId: rest.accountId ?? null,
      lastCheckedAt: null,
      check: { ...DEFAULT_CHECK, url, caFile: TEST_CA_FILE, ...check },
    };
    try {
      const attempt = await prober.runAttempt(target, { timeoutMs, number, slot, signal });
      return { ...attempt, failure: attempt.failure === null ? null : toStoredFailure(attempt.failure) };
    } finally {
      if (trial.slot === undefined) free.push(slot);
    }
  };
}
