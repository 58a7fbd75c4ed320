/** The part of the registry's port that concerns services which report by themselves. */
import type { Category } from '../../domain/category.ts';
import type { DependencyReport, HeartbeatKind } from '../../domain/heartbeat-body.ts';
import type { CheckDefinition, Service } from '../../domain/service.ts';
import type { Verdict } from '../../domain/status.ts';

/** A received heartbeat, written in the transaction of the judgement that it led to. */
export interface HeartbeatWrite {
  /** The account whose key it came with; where the service is no longer this one's, nothing is written. */
  readonly accountId: number;
  readonly kind: HeartbeatKind;
  /** Epoch milliseconds. */
  readonly arrivedAt: number;
  /** As its sender says, epoch milliseconds; null: not said. */
  readonly timestamp: number | null;
  /** It is the newest word of the service. False: it is kept, and changes nothing that is said of the service. */
  readonly counted: boolean;
  /** Null for a start. */
  readonly verdict: Verdict | null;
  /** Largest latency reported, whole milliseconds; null: none. */
  readonly responseTimeMs: number | null;
  /** Null: nothing was said of dependencies, and what was known stays. */
  readonly dependencies: readonly DependencyReport[] | null;
  /** Pairs the start of a run with its end; null: none is named. */
  readonly run: string | null;
  /** As it was received. */
  readonly body: string;
  /** Its number in the inbox, where it came through another process: it is answered there in the same transaction. */
  readonly inboxId?: number;
}

/** A heartbeat as it is kept. */
export interface StoredHeartbeat extends Omit<HeartbeatWrite, 'accountId' | 'dependencies' | 'inboxId'> {
  /** From its start to this heartbeat, milliseconds; null: it ends no run whose start is known. */
  readonly runMs: number | null;
}

/** What a service says of a dependency now. */
export interface DependencyState extends DependencyReport {
  /** When it began to say so, epoch milliseconds. */
  readonly since: number;
}

/** A change of a dependency's status. */
export interface DependencyChange {
  readonly name: string;
  /** Null: from then on it was no longer reported. */
  readonly status: Verdict | null;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What is known of the dependencies of a service. */
export interface Dependencies {
  /** When the newest report arrived, epoch milliseconds; null: there never was one. */
  readonly reportedAt: number | null;
  /** Those of the newest report, in its order. */
  readonly dependencies: readonly DependencyState[];
  /** Newest first. */
  readonly changes: readonly DependencyChange[];
}

/** A dependency that services report as failing now. */
export interface FailingDependency {
  /** Lower-case: the same thing is written in many ways. */
  readonly name: string;
  /** How many services report it. */
  readonly services: number;
  /** When the first of them began to, epoch milliseconds. */
  readonly since: number;
}

/** What an owner may change of a service; what is absent stays. */
export interface ServiceEdit {
  readonly name?: string;
  readonly category?: Category;
  readonly paused?: boolean;
  readonly verified?: boolean;
  /** Another kind than `heartbeat` for a service that sends heartbeats is the owner's choice, which these then respect. */
  readonly check?: CheckDefinition;
  readonly publicDependencies?: boolean;
}

/** What the registry does for heartbeats. */
export interface HeartbeatBook {
  /**
   * The account's service with that domain, made heartbeat-monitored where its owner did not choose otherwise, or
   * registered where nobody has the domain: one transaction. Throws `foreign_domain` (another account has it),
   * `catalogue_domain` (it lies within one of the catalogue and is not verified) or `account_limit` (it has as many
   * domains as it may, or registered 200 within a day).
   */
  claimDomain(domain: string, accountId: number): Promise<Service>;
  /**
   * Changes an owner's service. Throws `not_found`, and `name_taken` for a name that equals or resembles that of a
   * service of the catalogue.
   */
  changeService(slug: string, edit: ServiceEdit): Promise<Service>;
  /** The last heartbeats of a service, at most 100, newest first. */
  recentHeartbeats(serviceId: number): Promise<StoredHeartbeat[]>;
  /** What a service says of its dependencies, with at most `limit` changes. */
  dependenciesOf(serviceId: number, limit: number): Promise<Dependencies>;
  /**
   * Dependencies reported as failing now, across verified services whose owners made them public and that are not
   * silent: the one that most services report first, then by name.
   */
  failingDependencies(page: {
    readonly limit: number;
    readonly offset: number;
  }): Promise<FailingDependency[]>;
  /** How many dependencies `failingDependencies` has over all its pages. */
  countFailingDependencies(): Promise<number>;
}
