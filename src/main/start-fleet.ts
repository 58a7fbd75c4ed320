/** The fleet of this process as configured: its threads, its settings, and the control targets of its connection. */
import { availableParallelism } from 'node:os';
import type { Config } from '../config/resolve-config.ts';
import type { Service } from '../domain/service.ts';
import { Fleet, type FleetOptions } from '../engine/fleet/fleet.ts';
import { addressLoadOfProcess } from '../outbound/address-load.ts';
import { queryControlTargets } from '../outbound/control-targets.ts';
import {
  createBrokenAttemptLog,
  createBusyAddressLog,
  createForbiddenAddressLog,
  createUnreadableCredentialsLog,
} from '../outbound/forbidden-address-log.ts';
import { userAgentOf } from '../outbound/send-request.ts';
import type { ProberSettings } from '../probe/prober.ts';
import { findChecksKey } from '../store/secrets/secret-box.ts';
import { VERSION } from '../version.ts';
import type { StoreParts } from './open-stores.ts';

/** Timeout of a connection to a control target, milliseconds. The record itself waits 3 s of event loop time for a response. */
const CONTROL_TIMEOUT_MS = 8_000;

export function countThreads({ checks }: Config): number {
  return checks.threads === 'auto' ? Math.max(1, availableParallelism() - 1) : checks.threads;
}

/** Up to so many checks a second, the threads of a fleet are started with small young generations. */
const QUIET_CHECKS_PER_SECOND = 100;

/** Returns true if these services make few checks, the usual interval given in milliseconds; without services it is not known. */
export function isQuiet(services: readonly Service[], intervalMs: number): boolean {
  let perSecond = 0;
  for (const { check, paused } of services)
    if (!paused && check.kind !== 'heartbeat') perSecond += 1_000 / (check.intervalMs ?? intervalMs);
  return services.length > 0 && perSecond <= QUIET_CHECKS_PER_SECOND;
}

/** Creates a fleet; nothing runs before its start. */
export function createConfiguredFleet(
  { config, directory, clock, log, fail }: StoreParts,
  parts: Pick<FleetOptions, 'onResults' | 'onDoubt' | 'onDelay' | 'startPermit'>,
): Fleet {
  const { checks, http, limits, secrets, storage } = config;
  const { intervalMs, timeoutMs, slowOverMs, confirmAfterMs, firstSpreadMs, concurrency } = checks;
  const { allowPrivate, trustedPrivate, ports, nameservers, ownersMayProbePrivate } = checks;
  const prober: ProberSettings = {
    ...{ version: VERSION, siteUrl: http.siteUrl, allowPrivate, ports, nameservers },
    ...{ ownersMayProbePrivate, trustedPrivate, concurrency },
    ...{ connectionsPerAddress: limits.connectionsPerAddress, addressLoad: addressLoadOfProcess() },
    checksKey: findChecksKey(storage.dataDir, secrets),
  };
  const noteBroken = createBrokenAttemptLog(log, clock);
  const unreadable = createUnreadableCredentialsLog(log, clock);
  return new Fleet({
    settings: { intervalMs, timeoutMs, slowOverMs, confirmAfterMs, firstSpreadMs, concurrency },
    threads: countThreads(config),
    isQuiet: isQuiet(directory.all(), intervalMs),
    entry: new URL('../../workers/probe.ts', import.meta.url),
    prober,
    clock,
    log,
    ...parts,
    onForbidden: createForbiddenAddressLog(log, clock),
    onUnreadable: unreadable.note,
    countUnreadable: unreadable.count,
    onBusy: createBusyAddressLog(log, clock),
    onBroken: (found) => noteBroken({ ...found, slug: directory.byId(found.serviceId)?.slug ?? null }),
    onFatal: fail('probe threads end again and again'),
  });
}

/** Creates the query that shows whether this process is online: true if at least one control target responds. */
export function createControlQuery({ checks, http }: Config): () => Promise<boolean> {
  const { controlTargets, nameservers, timeoutMs } = checks;
  const userAgent = userAgentOf(VERSION, http.siteUrl);
  return () =>
    queryControlTargets(controlTargets, CONTROL_TIMEOUT_MS, {
      nameservers,
      nameTimeoutMs: timeoutMs,
      userAgent,
    });
}
