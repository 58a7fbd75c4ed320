/** Where heartbeats come in: whose service it is, what a heartbeat changes, and when its sender may be answered. */
import type { Clock } from '../clock.ts';
import type { CurrentStatus } from '../domain/current.ts';
import type { HeartbeatReport } from '../domain/heartbeat-body.ts';
import {
  type Beat,
  checkedAtOf,
  describeHeartbeat,
  judgeHeartbeat,
  latestOfBeat,
  responseTimeOf,
  sampleOfLatest,
} from '../domain/heartbeat-rules.ts';
import type { Sample } from '../domain/sample.ts';
import type { Service } from '../domain/service.ts';
import { nextReported } from '../domain/transition.ts';
import type { HeartbeatWrite } from '../store/ports/heartbeats.ts';
import type { OwnershipStore } from '../store/ports/ownership.ts';
import type { Entry } from './entry.ts';
import {
  type HeartbeatEnd,
  type HeartbeatObservation,
  type HeartbeatReceipt,
  HeartbeatRefused,
  type ReceivedHeartbeat,
} from './observation.ts';

/** A sender is told after this that we could not take its heartbeat, though it may yet be written. */
const WRITE_TIMEOUT_MS = 10_000;

/** What heartbeats need beyond the record's own options. */
export interface HeartbeatSettings {
  readonly registry: Pick<OwnershipStore, 'claimDomain'>;
  /** Whether a domain is one of the public catalogue or lies below one, so that only its proved owner may report for it. */
  readonly isCatalogueDomain: (domain: string) => boolean;
  /** Silence of a service whose owner set no period of its own, milliseconds. */
  readonly silenceMs: number;
}

/** What the desk needs of the record. */
export interface HeartbeatDeskOptions extends HeartbeatSettings {
  readonly clock: Clock;
  readonly slowOverMs: number;
  /** The entry of the owner's service with that domain. */
  readonly findByDomain: (domain: string) => Entry | undefined;
  /**
   * The entry of a service as it is now: waits until the feed of changes has told of it, so that everybody knows it
   * before the answer, and in the feed's order. Undefined: it was removed meanwhile.
   */
  readonly awaitEntry: (service: Service) => Promise<Entry | undefined>;
  /** Puts a heartbeat in; it is judged in the order of arrival, among what else comes for the service. */
  readonly observe: (entry: Entry, observation: HeartbeatObservation) => void;
  /** Heartbeats were refused by a fault of ours. */
  readonly onRefused: () => void;
}

/** What a heartbeat changes. */
export interface JudgedHeartbeat {
  /** The record after it. */
  readonly current: CurrentStatus;
  /** Why it is not up; null: it is. */
  readonly reason: string | null;
  readonly heartbeat: HeartbeatWrite;
}

/** The desk. */
export interface HeartbeatDesk {
  /**
   * Takes a heartbeat; resolves when it is on disk and every read shows it. Rejects with {@link HeartbeatRefused}, or
   * with the registry's error where the domain is not the account's.
   */
  take(received: ReceivedHeartbeat): Promise<HeartbeatReceipt>;
  /** What the heartbeat changes of the entry as it is now. */
  judge(entry: Entry, observation: HeartbeatObservation): JudgedHeartbeat;
  /** It is written: answers its sender. The sample that it leaves; null: none. */
  finish(
    entry: Entry,
    observation: HeartbeatObservation,
    heartbeat: HeartbeatWrite,
    runMs: number | null,
  ): Sample | null;
}

/** Whether heartbeats say how a service is. */
export function isListening({ paused, check }: Service): boolean {
  return !paused && check.kind === 'heartbeat';
}

/** Makes the desk. */
export function createHeartbeatDesk(options: HeartbeatDeskOptions): HeartbeatDesk {
  const { registry, isCatalogueDomain, clock, slowOverMs, findByDomain, awaitEntry, observe, onRefused } =
    options;

  const refuse = (end: Exclude<HeartbeatEnd, HeartbeatReceipt>): never => {
    onRefused();
    throw new HeartbeatRefused(
      'The heartbeat could not be written; send it again.',
      end === 'gone' ? 'unavailable' : end,
    );
  };

  /** What `work` resolves with, or `unavailable` when it takes too long for anybody to wait for. */
  function within<T>(work: Promise<T>): Promise<T | 'unavailable'> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(WRITE_TIMEOUT_MS, () => resolve('unavailable'));
      work.then(resolve, reject).finally(cancel);
    });
  }

  function write(entry: Entry, received: ReceivedHeartbeat): Promise<HeartbeatEnd> {
    return new Promise((settle) => observe(entry, { via: 'heartbeat', received, settle }));
  }

  async function writeKnown(received: ReceivedHeartbeat): Promise<HeartbeatEnd> {
    const known = findByDomain(received.report.domain);
    if (known === undefined || !isAccepted(known.service, received.accountId)) return 'gone';
    // The registry says why, or that the list has changed meanwhile.
    if (!known.service.verified && isCatalogueDomain(known.service.domain)) return 'gone';
    return write(known, received);
  }

  async function claimAndWrite(received: ReceivedHeartbeat): Promise<HeartbeatEnd> {
    const entry = await awaitEntry(await registry.claimDomain(received.report.domain, received.accountId));
    return entry === undefined ? 'gone' : write(entry, received);
  }

  return {
    async take(received) {
      let end = await within(writeKnown(received));
      if (end === 'gone') end = await within(claimAndWrite(received));
      return typeof end === 'string' ? refuse(end) : end;
    },
    judge(entry, { received }) {
      const { report, accountId, arrivedAt, body, inboxId } = received;
      const beat = beatOf(report, arrivedAt, slowOverMs);
      const isLate = isOutdated(entry, report) || isOvertaken(entry, received, clock.now());
      const counted = isListening(entry.service) && !isLate;
      const { kind, timestamp, dependencies, run } = report;
      return {
        current:
          counted && beat !== null
            ? nextReported(entry.current, latestOfBeat(beat), arrivedAt)
            : entry.current,
        reason: beat === null ? null : describeHeartbeat(report, beat),
        heartbeat: {
          accountId,
          kind,
          arrivedAt,
          timestamp,
          counted,
          verdict: beat?.verdict ?? null,
          responseTimeMs: beat?.responseTimeMs ?? null,
          dependencies,
          run,
          body,
          ...(inboxId === undefined ? {} : { inboxId }),
        },
      };
    },
    finish(entry, { received, settle }, { counted, responseTimeMs }, runMs) {
      const { report, arrivedAt } = received;
      const { service, current } = entry;
      const checkedAt = checkedAtOf(report, arrivedAt);
      if (counted && report.timestamp !== null && report.kind !== 'start')
        entry.toldAt = Math.max(report.timestamp, entry.toldAt ?? report.timestamp);
      settle({ service, status: current.status, responseTimeMs, checkedAt, runMs });
      const beat = beatOf(report, arrivedAt, slowOverMs);
      // What its owner does not let count leaves no trace in the series of those who do the measuring.
      if (beat === null || !isListening(service)) return null;
      return sampleOfLatest(service.id, latestOfBeat(beat), beat.responseTimeMs);
    },
  };
}

/** Whether the service takes the account's heartbeats as it is, so that the registry need not be asked first. */
function isAccepted({ accountId, check }: Service, account: number): boolean {
  return accountId === account && (check.kind === 'heartbeat' || check.keepsKind === true);
}

/** A heartbeat by itself; null: a start, which says nothing of how the service is. */
function beatOf(report: HeartbeatReport, arrivedAt: number, slowOverMs: number): Beat | null {
  if (report.word === null) return null;
  const responseTimeMs = responseTimeOf(report.dependencies);
  return {
    verdict: judgeHeartbeat(report.word, responseTimeMs, slowOverMs),
    reported: report.reported,
    responseTimeMs,
    checkedAt: checkedAtOf(report, arrivedAt),
  };
}

/**
 * What another process received may come to us behind what arrived later (decisions: order goes by arrival). A time
 * that is still to come shows that our clock was set back, and is nothing to go by.
 */
function isOvertaken({ heardAt }: Entry, { inboxId, arrivedAt }: ReceivedHeartbeat, now: number): boolean {
  return inboxId !== undefined && heardAt !== null && heardAt <= now && arrivedAt < heardAt;
}

/** Only where two heartbeats both carry a timestamp, the older one is out of order (decisions). */
function isOutdated({ toldAt }: Entry, { timestamp, kind }: HeartbeatReport): boolean {
  return kind !== 'start' && timestamp !== null && toldAt !== null && timestamp < toldAt;
}
