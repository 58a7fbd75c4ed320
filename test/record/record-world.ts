/** A record over the embedded registry and other stores in memory, a clock that stands still, and results made by hand. */

import type { Failure } from '../../src/domain/failure.ts';
import type { CheckResult } from '../../src/domain/result.ts';
import type { Sample } from '../../src/domain/sample.ts';
import { DEFAULT_CHECK, type Service } from '../../src/domain/service.ts';
import { ancestorsOf } from '../../src/domain/service-parents.ts';
import type { CurrentStatus, Transition } from '../../src/domain/status/current.ts';
import { createSharedStatuses } from '../../src/domain/status/shared-statuses.ts';
import { type Log, silentLog } from '../../src/log.ts';
import { ResultRecord } from '../../src/record/record.ts';
import type { RegionOptions, SampleRegions } from '../../src/record/regions.ts';
import type { ServiceSource } from '../../src/record/service-loader.ts';
import type { Observations } from '../../src/store/ports/samples.ts';
import type { StorageHealth } from '../../src/store/ports/storage-health.ts';
import { createMemoryStatusStore } from '../../src/store/status/memory-status-store.ts';
import { goodResult, USUAL } from '../support/attempts.ts';
import { double } from '../support/double.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createRecordedRegistry, type RecordedRegistry } from '../support/recorded-registry.ts';

/** The wall time at which a new world's clock stands. */
export const START = Date.UTC(2026, 0, 1);

const REFUSED: Failure = {
  class: 'refused',
  phase: 'connect',
  cause: { code: 'text', text: 'connection refused' },
};
/** The failure of an attempt that was answered with 503. */
export const ERROR_503: Failure = {
  class: 'status',
  phase: 'first_byte',
  cause: { code: 'text', text: 'HTTP 503' },
};

/** A service of the public list. */
export function makeService(id: number, changes: Partial<Service> = {}): Service {
  return {
    id,
    slug: `service-${id}`,
    name: `Service ${id}`,
    domain: `service-${id}.example`,
    category: 'developer',
    origin: 'catalogue',
    accountId: null,
    verified: true,
    paused: false,
    check: DEFAULT_CHECK,
    statusPage: null,
    revision: 1,
    ...changes,
  };
}

/** Services 1 to `count`. */
export function makeServices(count: number): Service[] {
  return Array.from({ length: count }, (_, index) => makeService(index + 1));
}

/** A good answer in 120 ms, begun and ended at `at`. */
export function good(serviceId: number, at: number, changes: Partial<CheckResult> = {}): CheckResult {
  return goodResult(serviceId, at, { responseTimeMs: 120, ...changes });
}

/** A check that failed three times, 6 s in all, and ended at `at` with status 503. */
export function failed503(serviceId: number, at: number, changes: Partial<CheckResult> = {}): CheckResult {
  return good(serviceId, at, {
    attempts: 3,
    firstFailedAt: at - 6_000,
    statusCode: 503,
    failure: ERROR_503,
    ...changes,
  });
}

/** A check that found no HTTP response in three attempts, 6 s in all, and ended at `at`. */
export function unanswered(serviceId: number, at: number, changes: Partial<CheckResult> = {}): CheckResult {
  return failed503(serviceId, at, { statusCode: 0, responseTimeMs: null, failure: REFUSED, ...changes });
}

/** The record and everything around it. */
export interface World {
  readonly clock: FakeClock;
  readonly registry: RecordedRegistry;
  readonly record: ResultRecord;
  readonly samples: Sample[];
  /** The status store's copy. */
  readonly published: Map<number, CurrentStatus>;
  readonly told: Transition[];
  readonly rechecks: { readonly serviceIds: readonly number[]; readonly spreadMs: number }[];
  /** Services that were asked for because of others that depend on them, and those themselves. */
  readonly asked: number[];
  /** Sentences of the log, with their level. */
  readonly lines: string[];
  /** The members of each line of the log. */
  readonly fields: object[];
  /** Whether the control targets answer; a promise that never ends: they keep silent. */
  control: () => Promise<boolean>;
  /** When the control targets were asked, epoch milliseconds. */
  readonly questions: number[];
  /** Lets promises settle without time passing. */
  settle(): Promise<void>;
}

/** What a test may choose. */
export interface WorldOptions {
  readonly services?: readonly Service[];
  readonly controlTargets?: number;
  readonly silenceMs?: number;
  readonly isCatalogueDomain?: (domain: string) => boolean;
  readonly clock?: FakeClock;
  readonly registry?: RecordedRegistry;
  /** True: the status store refuses records. */
  readonly refusePut?: () => boolean;
  /** True: the sample store refuses samples. */
  readonly refuseAppend?: () => boolean;
  readonly observations?: Pick<Observations, 'incident' | 'heartbeat'>;
  readonly storage?: StorageHealth;
  readonly regions?: RegionOptions;
  readonly sampleRegions?: Pick<SampleRegions, 'nameOf'>;
  /** The record takes observations while it loads its services; changes where from. Absent: it loads them first. */
  readonly loadBehind?: (source: ServiceSource) => ServiceSource;
}

/** Builds a record and loads it. */
export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const clock = options.clock ?? createFakeClock(START);
  const registry = options.registry ?? (await createRecordedRegistry(options.services ?? [makeService(1)]));
  const lines: string[] = [];
  const fields: object[] = [];
  const line = (level: string) => (members: object, message: string) => {
    lines.push(`${level}: ${message}`);
    fields.push(members);
  };
  const log: Log = { ...silentLog, info: line('info'), warn: line('warn'), error: line('error') };
  const samples: Sample[] = [];
  const statuses = createSharedStatuses();
  const status = createMemoryStatusStore({ log: silentLog, rows: statuses.published });
  const published = new Map<number, CurrentStatus>();
  status.watch(({ serviceId }) => {
    const next = status.get(serviceId);
    if (next !== null) published.set(serviceId, next);
  });
  const rechecks: World['rechecks'][number][] = [];
  const asked: number[] = [];
  const known = new Map((options.services ?? []).map((service) => [service.slug, service]));
  const questions: number[] = [];
  const told: Transition[] = [];
  let control = async (): Promise<boolean> => true;
  const record = new ResultRecord({
    registry,
    statuses: statuses.recorded,
    status: {
      async put(records) {
        if (options.refusePut?.() === true) throw new Error('the status store is away');
        return await status.put(records);
      },
      async remove(serviceId) {
        await status.remove(serviceId);
        published.delete(serviceId);
      },
    },
    samples: {
      async append(batch) {
        if (options.refuseAppend?.() === true) throw new Error('the disk is full');
        samples.push(...batch);
      },
    },
    observations: options.observations ?? null,
    ...(options.storage === undefined ? {} : { storage: options.storage }),
    ...(options.regions === undefined ? {} : { regions: options.regions }),
    ...(options.sampleRegions === undefined ? {} : { sampleRegions: options.sampleRegions }),
    clock,
    log,
    settings: { usual: USUAL, firstSpreadMs: 60_000, controlTargets: options.controlTargets ?? 2 },
    heartbeats: {
      registry: double({
        async claimDomain(domain, accountId) {
          const service = await registry.claimDomain(domain, accountId);
          record.applyChange({ seq: 1, serviceId: service.id, slug: service.slug, service });
          return service;
        },
      }),
      isCatalogueDomain: options.isCatalogueDomain ?? (() => false),
      silenceMs: options.silenceMs ?? 600_000,
    },
    queryControlTargets() {
      questions.push(clock.now());
      return control();
    },
    dependencies: {
      ancestorsOf: (service) => ancestorsOf(service, (slug) => known.get(slug) ?? null).map(({ id }) => id),
      recheck: (serviceIds) => void asked.push(...serviceIds),
    },
    onRecheck: (serviceIds, spreadMs) => void rechecks.push({ serviceIds, spreadMs }),
    sourceUrl: ({ slug }) => `http://localhost/status/${slug}`,
    isInMaintenance: () => false,
  });
  record.watchTransitions((transition) => void told.push(transition));
  if (options.loadBehind === undefined) await record.load(await registry.loadServices());
  else {
    const { servicesBetween, lastServiceId, statesOf } = registry.client(clock);
    const learn = (currents: readonly CurrentStatus[]) => void status.put(currents);
    await record.loadBehind(
      options.loadBehind({ servicesBetween, lastServiceId, statesOf, learn, complete() {} }),
    );
  }
  return {
    clock,
    registry,
    record,
    samples,
    published,
    told,
    rechecks,
    asked,
    lines,
    fields,
    questions,
    get control() {
      return control;
    },
    set control(next) {
      control = next;
    },
    settle: () => clock.advance(0),
  };
}
