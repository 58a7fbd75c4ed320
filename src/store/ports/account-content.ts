/** Port of the registry: several changes of what an account has, in one transaction. */
import type { Channel } from '../../domain/alert/channel.ts';
import type { AlertRule } from '../../domain/alert/rule.ts';
import type { Refusal } from '../../domain/refusal.ts';
import type { PageAccess, PageGroup, PageTexts } from '../../domain/status-page.ts';
import type { NewOwnerMaintenance } from './incidents.ts';
import type { DefinedService } from './services.ts';
import type { NewPage, StoredPicture } from './status-pages.ts';

/** A status page as its account wants it. It is found by its slug. */
export type WantedPage = Pick<NewPage, 'slug'> &
  PageTexts & {
    readonly groups: readonly WantedGroup[];
    /** Null: none. */
    readonly logo: StoredPicture | null;
    /** Null or absent: none. */
    readonly favicon?: StoredPicture | null;
    readonly colour: string | null;
    readonly access: PageAccess;
    /** Hash of a new password; null or absent: that of before stays, unless the access is another one now. */
    readonly passwordHash?: string | null;
    /** A host name; null or absent: none. */
    readonly domain?: string | null;
  };

export interface WantedService extends DefinedService {
  /** The domain of the first service of a host, else the slug: by it the service is found. */
  readonly key: string;
}

interface WantedGroup extends Pick<PageGroup, 'name' | 'names'> {
  /** Ids of services, or keys of services of the account. */
  readonly services: readonly (number | string)[];
}

/** A channel as its account wants it. It is found by its name. */
export type WantedChannel = Pick<Channel, 'name' | 'kind' | 'settings' | 'language' | 'confirmedAt'>;

/** A rule as its account wants it. It is found by its name. */
export type WantedRule = Pick<AlertRule, 'name' | 'events' | 'afterMs' | 'repeatMs' | 'quiet' | 'enabled'> & {
  /** Services by id, or by key. */
  readonly of: Omit<AlertRule['of'], 'services'> & { readonly services: readonly (number | string)[] };
  /** By id, or by name. */
  readonly channels: readonly (number | string)[];
};

/** Changes of channels and rules. */
export interface AlertContent {
  /** Numbers of rules of the account. */
  readonly removedRules: readonly number[];
  /** Numbers of channels of the account. */
  readonly removedChannels: readonly number[];
  readonly channels: readonly WantedChannel[];
  readonly rules: readonly WantedRule[];
}

export interface WantedMaintenance
  extends Omit<NewOwnerMaintenance, 'accountId' | 'siteUrl' | 'now' | 'services' | 'pages'> {
  /** Its title, with a number where several have it. */
  readonly key: string;
  /** The maintenance of the account that it replaces; null: it is new. */
  readonly id: number | null;
  /** By id, or by key. */
  readonly services: readonly (number | string)[];
  /** Slugs. */
  readonly pages: readonly string[];
}

export interface MaintenanceContent {
  /** Numbers of maintenances of the account, which are withdrawn. */
  readonly removed: readonly number[];
  readonly wanted: readonly WantedMaintenance[];
  /** The address of this site, without a slash at its end. */
  readonly siteUrl: string;
}

/** The revision of something that the author of a change has seen. */
export interface SeenContent extends Pick<RefusedContent, 'type' | 'key'> {
  /** Null: the account had no such thing. */
  readonly revision: number | null;
  /** Of a maintenance, whose key is only its title. */
  readonly id?: number;
}

/** Changes, which are made in the order of these members after {@link SeenContent}. */
export interface ContentChanges {
  /** Everything that is changed, added or removed. What has another revision now is refused, with the code of its type. */
  readonly seen: readonly SeenContent[];
  /** Slugs of pages of the account; others are ignored. */
  readonly removedPages: readonly string[];
  /** Slugs of services of the account; others are ignored. */
  readonly removedServices: readonly string[];
  readonly services: readonly WantedService[];
  readonly pages: readonly WantedPage[];
  /** Removals are made first. Absent: none. */
  readonly alerts?: AlertContent;
  /** Absent: none. */
  readonly maintenances?: MaintenanceContent;
}

export interface ContentOptions {
  /** Epoch milliseconds. */
  readonly now: number;
  /**
   * New services are added on behalf of the operator: they are verified, and count against no limit of the day. Otherwise
   * they are registered as by `registerService`.
   */
  readonly verified: boolean;
  /** Everything is rolled back. Keys on pages may then be unknown. */
  readonly dryRun: boolean;
}

/** A change that was refused. */
export interface RefusedContent {
  readonly type: 'service' | 'page' | 'channel' | 'rule' | 'maintenance';
  /** The key of the service, the slug of the page, the name of the channel or rule, or the key of the maintenance. */
  readonly key: string;
  readonly refusal: Refusal;
}

/** Stands for an account that does not exist yet, in dry runs. */
export const NO_ACCOUNT = 0;

/** Changes of what an account has. */
export interface ContentStore {
  /**
   * Makes all changes, or none if one is refused. Services and pages that are as wanted already are not changed. A
   * service keeps its heartbeat address, and the kind that its owner chose. Resolves with the refusals: the codes of
   * `addServices` or `registerService`, of `changeService`, and of `addPage`, and `service_stale` and its like.
   */
  putContent(
    accountId: number,
    changes: ContentChanges,
    options: ContentOptions,
  ): Promise<readonly RefusedContent[]>;
}
