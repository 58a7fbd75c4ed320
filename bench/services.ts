/** Services and settings that several benchmarks use. */
import { systemClock } from '../src/clock.ts';
import { CATEGORIES, DEFAULT_CHECK, type Service } from '../src/domain/service.ts';
import type { EngineSettings } from '../src/engine/protocol.ts';
import { silentLog } from '../src/log.ts';
import type { OwnershipStore } from '../src/store/ports/services.ts';
import { double } from '../test/support/double.ts';

/** `count` services of the public list, spread over all categories, with ids from `firstId`. */
export function makeServices(count: number, firstId = 1): Service[] {
  return Array.from({ length: count }, (_, at) => firstId - 1 + at).map((index) => ({
    id: index + 1,
    slug: `service-${index}`,
    name: `Service ${index}`,
    domain: `service-${index}.example`,
    category: CATEGORIES[index % CATEGORIES.length] ?? 'developer',
    origin: 'catalogue',
    accountId: null,
    verified: true,
    paused: false,
    check: DEFAULT_CHECK,
    statusPage: null,
    revision: 1,
  }));
}

/** Settings of an engine. */
export function engineSettings(changes: Pick<EngineSettings, 'intervalMs'> & Partial<EngineSettings>) {
  return {
    timeoutMs: 10_000,
    slowOverMs: 3_000,
    confirmAfterMs: [2_000, 4_000],
    firstSpreadMs: changes.intervalMs,
    concurrency: 256,
    ...changes,
  };
}

/** The heartbeats of a record that gets none. */
export const NO_HEARTBEATS = {
  registry: double<OwnershipStore>({ claimDomain: () => Promise.reject(new Error('no heartbeats here')) }),
  isCatalogueDomain: () => false,
  silenceMs: 600_000,
};

/** What a record needs in a benchmark beside its registry and stores. */
export const RECORD_OPTIONS = {
  clock: systemClock,
  log: silentLog,
  settings: { usual: engineSettings({ intervalMs: 300_000 }), firstSpreadMs: 0, controlTargets: 1 },
  queryControlTargets: async () => true,
  onRecheck() {},
  sourceUrl: () => '',
  isInMaintenance: () => false,
};
