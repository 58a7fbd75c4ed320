/** The queries of decisions about alerts to the rest of the program. */
import type { Scope } from '../status/current.ts';
import type { Ancestor } from '../status/reach.ts';
import type { ServiceStatus } from '../status.ts';
import type { MatchedService } from './match.ts';
import type { AlertRule } from './rule.ts';

/** A service as decisions see it now. */
export interface AlertService extends MatchedService, Ancestor {
  readonly slug: string;
  readonly name: string;
  readonly domain: string;
  /** Page of the service. */
  readonly url: string;
  /** Null: it fails nowhere, or at most one region checks it. */
  readonly scope: Scope | null;
  /** The open incident of its vendor; null: none. */
  readonly vendor: { readonly title: string; readonly url: string } | null;
  /** End of its certificate, epoch milliseconds; null: not known. */
  readonly certificateEndsAt: number | null;
  /** IDs of the services that it cannot be reached without, the nearest first. */
  readonly ancestors: readonly number[];
  /** The time at which its status began, epoch milliseconds; null: not known. */
  readonly since: number | null;
  /** A maintenance of its owner runs: alerts are held. Needed for maintenances that began before a rule was made. */
  readonly isInMaintenance: boolean;
}

/** Facts that may explain why several services fail. Absent members are not known. */
export interface CauseFacts {
  readonly serviceId: number;
  /** Now. Services that are `unknown` are no evidence. */
  readonly status: ServiceStatus;
  /**
   * The time at which its newest check began, epoch milliseconds. A service is known to be well if it was checked since the
   * others fail.
   */
  readonly checkedAt: number;
  /** IP addresses of its domain. */
  readonly addresses?: readonly string[];
  /** Dependencies that it reports, and whether they fail. */
  readonly dependencies?: readonly { readonly name: string; readonly fails: boolean }[];
  /** Vendors that run it, by the hosts of their status pages, and whether they report an incident of it. */
  readonly vendors?: readonly { readonly name: string; readonly hasIncident: boolean }[];
  /** The regions that check it, and whether it fails there. */
  readonly regions?: readonly { readonly name: string; readonly fails: boolean }[];
  /** Its certificate by the end of it, as text, which services with the same one share; and whether the check failed for it. */
  readonly certificate?: { readonly validUntil: string; readonly fails: boolean };
}

/** The world of one account at the time of a decision. */
export interface AlertContext {
  readonly accountId: number;
  /** Null: there is no such service any more. */
  service(id: number): AlertService | null;
  /** The account's enabled rules for a service, by `rulesOf` of `match.ts`; empty if there is no such service. */
  rulesOf(serviceId: number): readonly AlertRule[];
  /** An enabled rule of the account; null: there is none. */
  rule(id: number): AlertRule | null;
  /** Number of services that cannot be reached without one. */
  countBehind(serviceId: number): number;
  /** Returns true if the account has the channel. */
  hasChannel(id: number): boolean;
  /** Returns true if the channel shows the end of an alert where it showed the alert. */
  hasThreads(channel: number): boolean;
  /** The services to look for a common cause among: those of the account's rules. Asked for only where two or more fail. */
  causeFacts(): Iterable<CauseFacts>;
  /** Absolute URL of a page that shows all open alerts of the account. */
  readonly overviewUrl: string;
  /** Absolute URL of the page to acknowledge a thread without signing in. */
  acknowledgeUrl(thread: string): string;
}
