/** Makes the attempts of a thread: slots, deadlines and guards; what an attempt requests is in `src/kinds/`. */
import { type Clock, systemClock } from '../clock.ts';
import type { CheckTarget, RunAttempt } from '../domain/check-target.ts';
import { openCredential } from '../domain/credential-seal.ts';
import type { Attempt } from '../domain/result.ts';
import { type CheckKind, isTrusted, PROBED_KINDS } from '../domain/service.ts';
import type { ProbeTools, Run } from '../kinds/check-kind.ts';
import { CHECK_KINDS } from '../kinds/kinds-table.ts';
import {
  type AddressGuard,
  type AddressLoad,
  createAddressGuard,
  createDestinationCache,
  type OwnerReach,
  ownerPolicy,
} from '../outbound/address-guard.ts';
import { createAddressLoads } from '../outbound/address-load.ts';
import { createTrustStore } from '../outbound/connection.ts';
import { type Deadline, startDeadline } from '../outbound/deadline.ts';
import type { DialParts } from '../outbound/dial.ts';
import { createResolver } from '../outbound/resolver.ts';
import { userAgentOf } from '../outbound/send-request.ts';

/** Settings of a prober. Plain data that can be sent to a thread. */
export interface ProberSettings {
  /** The product's version, for the User-Agent. */
  readonly version: string;
  /** `http.siteUrl`, for the User-Agent. */
  readonly siteUrl: string;
  /** `checks.allowPrivate`: CIDR blocks. */
  readonly allowPrivate: readonly string[];
  /** `checks.trustedPrivate`: ranges that checks of trusted accounts reach; absent: none. */
  readonly trustedPrivate?: readonly string[];
  /** `checks.ports`. */
  readonly ports: readonly number[];
  /** `checks.nameservers`: `ip` or `ip:port`; empty: the system's. */
  readonly nameservers: readonly string[];
  /** `checks.ownersMayProbePrivate`. */
  readonly ownersMayProbePrivate: boolean;
  /** `checks.concurrency`: slots of the host, 1 or more. */
  readonly concurrency: number;
  /** `limits.connectionsPerAddress`; absent: no bound. */
  readonly connectionsPerAddress?: number;
  /** The memory in which the threads of a process count them; absent: each counts alone. */
  readonly addressLoad?: SharedArrayBuffer;
  /** Key of the credentials of checks, 32 bytes; null or absent: those that have some are not made. */
  readonly checksKey?: Uint8Array | null;
  /** Instead of `/etc/hosts`, for tests. */
  readonly hostsFile?: string;
}

/** Called for what attempts find; absent: it is not reported. */
export interface ProberListeners {
  /** For each refused address. */
  readonly onForbidden?: DialParts['onForbidden'];
  readonly onUnreadable?: ProbeTools['onUnreadable'];
  /** For each connection that an address is too busy for. */
  readonly onBusy?: (address: string) => void;
}

export type Prober = ReturnType<typeof createProber>;

/** Maximum number of cached destinations. */
const MAX_CACHED_DESTINATIONS = 8192;

/** Creates a prober. Throws if a CIDR block or a name server of the settings is invalid. */
export function createProber(
  settings: ProberSettings,
  clock: Clock = systemClock,
  { onForbidden, onUnreadable, onBusy }: ProberListeners = {},
) {
  const { checksKey = null, connectionsPerAddress: perMinute, addressLoad: shared } = settings;
  const loadOf = perMinute === undefined ? undefined : createAddressLoads({ perMinute, shared, onBusy });
  const parts = { clock, resolver: createResolver({ ...settings, clock }), onForbidden };
  const trusts = createTrustStore();
  const tools: ProbeTools = {
    parts,
    clock,
    userAgent: userAgentOf(settings.version, settings.siteUrl),
    trust: (caFile, client, rule) => trusts.trust(caFile, client, rule),
    guardOf: createTargetGuards(settings, loadOf),
    openCredential: (place, sealed) => openCredential(checksKey, place, sealed),
    onUnreadable,
    destinationOf: createDestinationCache(MAX_CACHED_DESTINATIONS),
  };
  const attempts = new Map<CheckKind, (run: Run) => Promise<Attempt>>(
    PROBED_KINDS.map((kind) => [kind, CHECK_KINDS[kind].prepare(tools)]),
  );
  const abortSwitch = createAbortSwitch(settings.concurrency);
  const busy = new Uint8Array(settings.concurrency);

  const runAttempt: RunAttempt = async (target, options) => {
    const { slot, signal } = options;
    signal.throwIfAborted();
    if (busy[slot] !== 0) throw new RangeError(`slot ${slot} is taken or does not exist`);
    busy[slot] = 1;
    const deadline = startDeadline(clock, options.timeoutMs, options.lateness, options.totalDelay);
    abortSwitch.tie(signal, slot, deadline);
    try {
      const attemptBy = attempts.get(target.check.kind);
      if (attemptBy === undefined) throw new TypeError(`${target.check.kind} is no kind of check`);
      const attempt = await attemptBy({ target, options, deadline, startedAt: clock.now() });
      if (deadline.over === 'aborted') throw signal.reason;
      return attempt.answered ? attempt : { ...attempt, lostMs: deadline.lostMs };
    } finally {
      abortSwitch.untie(signal, slot);
      deadline.close();
      busy[slot] = 0;
    }
  };

  return {
    runAttempt,
    /** Closes the resolver. Running attempts are not awaited. */
    async close(): Promise<void> {
      parts.resolver.close();
    },
  };
}

/**
 * Creates the guards of services, by the port of the first request (operating, `checks.allowPrivate` and
 * `checks.ports`). Services of the catalogue may use the private blocks, and another port in `check.url` or the settings of the
 * check. Services of owners may use neither, but `ownersMayProbePrivate` allows the blocks, and a kind may have an open port; those of
 * trusted accounts may use the blocks of `checks.trustedPrivate`, and any port.
 * Their connections count for their account and address by `loadOf`; absent: they have no bound. Throws if a block is invalid.
 */
export function createTargetGuards(reach: OwnerReach, loadOf?: (accountId: number | null) => AddressLoad) {
  const { allowPrivate, ports } = reach;
  const policy = ownerPolicy(reach, false);
  const owners = createAddressGuard(policy);
  const trusted = createAddressGuard(ownerPolicy(reach, true));
  const catalogue = createAddressGuard({ allowPrivate, ports });
  const byPort = new Map<number, AddressGuard>();
  const openPorts = new Map(
    Object.values(CHECK_KINDS).flatMap(({ openPort }) =>
      openPort === undefined
        ? []
        : [[openPort, createAddressGuard({ ...policy, ports: [...ports, openPort] })]],
    ),
  );
  type Guarded = Pick<CheckTarget, 'origin' | 'accountId' | 'check'>;
  return (target: Guarded, port: number | null): AddressGuard => {
    const { origin, accountId, check } = target;
    if (origin === 'owner') {
      const isOpen = check.kind !== 'heartbeat' && CHECK_KINDS[check.kind].openPort === port;
      const usual = (isOpen && port !== null ? openPorts.get(port) : undefined) ?? owners;
      const guard = isTrusted(target) ? trusted : usual;
      return loadOf === undefined ? guard : { judge: guard.judge, load: loadOf(accountId) };
    }
    if (port === null || (check.url === null && check.settings === undefined) || ports.includes(port))
      return catalogue;
    let guard = byPort.get(port);
    if (guard === undefined) {
      guard = createAddressGuard({ allowPrivate, ports: [...ports, port] });
      byPort.set(port, guard);
    }
    return guard;
  };
}

/**
 * Creates a switch for `slots` concurrent attempts. A listener for each attempt would cost more than the rest of its
 * setup, and more than ten would cause a warning about a leak. The deadlines are in an array, because a Set with many
 * additions and deletions leaves old tables behind: each references the next one, and all that they contain stays in
 * memory until the next full garbage collection.
 */
function createAbortSwitch(slots: number) {
  const tied = new WeakMap<AbortSignal, (Deadline | null)[]>();
  const listen = (signal: AbortSignal) => {
    const deadlines = new Array<Deadline | null>(slots).fill(null);
    tied.set(signal, deadlines);
    signal.addEventListener(
      'abort',
      () => {
        for (const deadline of deadlines) deadline?.abort();
      },
      { once: true },
    );
    return deadlines;
  };
  return {
    tie(signal: AbortSignal, slot: number, deadline: Deadline): void {
      const deadlines = tied.get(signal) ?? listen(signal);
      deadlines[slot] = deadline;
    },
    untie(signal: AbortSignal, slot: number): void {
      const deadlines = tied.get(signal);
      if (deadlines !== undefined) deadlines[slot] = null;
    },
  };
}
