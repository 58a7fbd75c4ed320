/** Tables of sign-in, services, posts of owners and alerts. Times are epoch milliseconds, flags 0 or 1. */
import type { Generated } from 'kysely';
import type { ChannelKind, MessageLanguage } from '../../domain/alert/channel.ts';
import type { AlertMessage } from '../../domain/alert/message.ts';
import type { IncidentStatus } from '../../domain/incident/incident.ts';
import type { OwnerSeverity } from '../../domain/incident/owner-incident.ts';
import type { Category, ServiceOrigin, Visibility } from '../../domain/service.ts';
import type { SetupLink } from '../ports/sign-in.ts';

/** A part of the registry's tables. */
export interface AlertSchema {
  /** Channels of accounts. */
  channels: {
    id: Generated<number>;
    account_id: number;
    name: string;
    kind: ChannelKind;
    /** Encrypted JSON of ChannelSettings. */
    settings: string;
    language: MessageLanguage;
    confirmed_at: number | null;
    /** Null: its receiver has not stopped it. */
    stopped_at: Generated<number | null>;
    created_at: number;
    revision: number;
  };
  /** Rules of accounts. */
  alert_rules: {
    id: Generated<number>;
    account_id: number;
    name: string;
    /** JSON of what the rule says. */
    definition: string;
    enabled: number;
    created_at: number;
    revision: number;
  };
  /** The feed of events. Rows are deleted once they are decided. */
  alert_events: {
    position: Generated<number>;
    service_id: number;
    at: number;
    recorded_at: number;
    /** JSON of AlertChange. */
    change: string;
  };
  /** The engine's memory of each account. */
  alert_states: {
    account_id: number;
    /** JSON. */
    state: string;
    due_at: number | null;
  };
  /** Messages to channels, waiting and settled. */
  alert_messages: {
    id: Generated<number>;
    /** The identifier that receivers see. */
    key: string;
    channel_id: number;
    /** The place in the queue of the channel; a replayed message gets a new one. */
    turn: number;
    thread: string;
    type: AlertMessage['type'];
    /** JSON of AlertMessage. */
    message: string;
    /** Start of the first failed attempt, if the time from it to the delivery is measured; null: it is not. */
    failed_at: number | null;
    created_at: number;
    /** Null: settled. */
    due_at: number | null;
    attempts: Generated<number>;
    /** Start of the newest attempt; null: there was none. */
    tried_at: number | null;
    /** Number of messages before this one that were dropped, because too many waited. */
    dropped: Generated<number>;
    delivered_at: number | null;
    /** JSON of ChannelProblem. */
    problem: string | null;
  };
  /** The references with which channels continue threads. */
  alert_threads: {
    channel_id: number;
    thread: string;
    reference: string;
    updated_at: number;
  };
  /** Channels to which nothing could be delivered since a time. */
  channel_failures: {
    channel_id: number;
    since: number;
    /** JSON of ChannelProblem: of the newest attempt. */
    problem: string | null;
    /** The time at which the account was told of it; null: it was not. */
    told_at: number | null;
  };
  /** Acknowledgements, one for each thread. `decided` 1: a decision has taken it into account. */
  alert_acknowledgements: {
    id: Generated<number>;
    account_id: number;
    thread: string;
    /** Empty: by the link in a message. */
    by_name: string;
    at: number;
    decided: Generated<number>;
  };
}

/** A part of the registry's tables. */
export interface SubscriptionSchema {
  /** Subscriptions of visitors. */
  subscriptions: {
    id: Generated<number>;
    /** A SubscriptionTopic. */
    topic: string;
    /** Digest of the address with the key of secrets. */
    mailbox: string;
    /** Encrypted. */
    address: string;
    language: MessageLanguage;
    /** Digest of the secret. */
    sha256: string;
    /** The secret in its links, encrypted. */
    secret: string;
    /** Refusals of the mail server, one after the other. */
    refusals: Generated<number>;
    created_at: number;
    /** Null: not confirmed. */
    confirmed_at: number | null;
  };
  /** Changes that subscribers are told of. */
  subscription_changes: {
    id: Generated<number>;
    /** Negative: the ID of a status page. */
    service_id: number;
    at: number;
    recorded_at: number;
    /** JSON of AlertChange. */
    change: string;
    /** The last subscription for which a letter was written. */
    after_id: Generated<number>;
    /** 1: all letters are written; 2: it waits for the end of an owner's maintenance. */
    written: Generated<number>;
  };
  /** Letters that wait: about a change, or requests for confirmations. They are deleted once they are settled. */
  letters: {
    id: Generated<number>;
    /** Null: it is for a channel. */
    subscription_id: number | null;
    /** Null: it is not about a change. */
    change_id: number | null;
    /** Null: it is for a subscription. */
    channel_id: number | null;
    /** Of a channel: the secret in its link, encrypted. */
    secret: string | null;
    attempts: Generated<number>;
    due_at: number;
    /** Null: an earlier version has written it. */
    created_at: Generated<number | null>;
    /** Null: it was not tried. */
    tried_at: Generated<number | null>;
  };
  /** Requests for confirmations by UTC day, by a digest of the address, or by account. */
  letter_counts: {
    name: string;
    /** Days since the epoch. */
    day: number;
    count: number;
  };
  /** The receivers of channels that were asked. */
  channel_confirmations: {
    /** Digest of the secret. */
    sha256: string;
    channel_id: number;
    /** Digest of the address with the key of secrets. */
    mailbox: string;
    created_at: number;
  };
}

/** The tables. */
export interface ServiceSchema {
  /** Every service. A removed service keeps its row, so that its id is never reused, nor its slug if the service was ever verified. */
  services: {
    id: Generated<number>;
    slug: string;
    /** The domain with dots replaced by dashes. */
    dashed: string;
    name: string;
    domain: string;
    category: Category;
    origin: ServiceOrigin;
    account_id: number | null;
    verified: number;
    paused: number;
    /** JSON of CheckDefinition. */
    check_definition: string;
    /** JSON of StatusPage. */
    status_page: string | null;
    revision: number;
    removed: number;
    public_dependencies: number;
    /** 1: it was verified once; only such a service keeps its slug reserved when it is removed. */
    ever_verified: number;
    /**
     * 1: added by an account that was trusted, without a proof of the domain. Such a service does not own its domain: others may
     * register and prove it. It is verified while its account is trusted.
     */
    unproven: number;
    /** JSON of the former slugs, which still lead to the service; null: none. */
    former_slugs: string | null;
    note: string | null;
    /** 1: the host has a service of its account that came first. */
    further: Generated<number>;
    /** Null: `public`. */
    visibility: Exclude<Visibility, 'public'> | null;
    /** JSON of the slugs of the services that it depends on; null: none. */
    depends_on: string | null;
    /** The number of times that the signed address of its badge was renewed. */
    badge_renewals: Generated<number>;
  };
  /** The feed of changes; `service` is the JSON of the service after the change, null for a removal. */
  changes: {
    seq: Generated<number>;
    service_id: number;
    slug: string;
    service: string | null;
  };
}

/** A part of the registry's tables. */
export interface SignInSchema {
  /** Passwords. The secret of the one-time codes is stored encrypted, because codes are computed from it. */
  passwords: {
    person_id: number;
    name: string;
    /** The form by which names are compared. */
    name_key: string;
    /** In the PHC string format. */
    hash: string;
    totp_secret: string;
    /** The period of the last accepted code. */
    totp_step: number;
    changed_at: number;
  };
  /** Unused recovery codes; only digests are stored. */
  recovery_codes: {
    person_id: number;
    sha256: Uint8Array;
  };
  passkeys: {
    id: string;
    person_id: number;
    name: string;
    /** In COSE form. */
    public_key: Uint8Array;
    counter: number;
    /** JSON of the list. */
    transports: string;
    user_handle: string;
    created_at: number;
    last_used_at: number | null;
  };
  /** Links that make a way in; only digests of their secrets are stored. */
  setup_links: {
    sha256: Uint8Array;
    kind: SetupLink['kind'];
    account_id: number | null;
    person_id: number | null;
    expires_at: number;
    invitation: Uint8Array | null;
  };
  /** Attempts to sign in that count together and have not succeeded. */
  sign_in_attempts: {
    key: string;
    failures: number;
    last_at: number;
  };
}

/** A part of the registry's tables. */
export interface PostSchema {
  /** Incidents. Each has a row in `incidents` for each of its services. */
  owner_incidents: {
    id: Generated<number>;
    account_id: number;
    title: string;
    severity: OwnerSeverity;
    status: IncidentStatus;
    started_at: number;
    resolved_at: number | null;
    /** JSON of IDs. */
    services: string;
    /** JSON of IDs. */
    pages: string;
    /** Empty JSON list, except of incidents that an earlier version wrote; the updates are in `owner_updates`. */
    updates: string;
    /** JSON of the post-mortem. */
    post_mortem: string | null;
    /** Bytes of its texts, copies in the lists of its services included. */
    text_bytes: Generated<number>;
    /** The address of the site when it was written. */
    site_url: string;
    revision: number;
    created_at: number;
    updated_at: number;
  };
  /** The updates of an incident. */
  owner_updates: {
    incident_id: number;
    /** From 1, in the order of the timeline. */
    place: number;
    at: number;
    status: IncidentStatus;
    markdown: string;
    plain: string;
  };
  /** Maintenances. The occurrences that were, run or come next have rows in `maintenances`, one for each service. */
  owner_maintenances: {
    id: Generated<number>;
    account_id: number;
    title: string;
    markdown: string;
    plain: string;
    starts_at: number;
    duration_ms: number;
    time_zone: string;
    recurrence: string | null;
    /** JSON of IDs. */
    services: string;
    /** JSON of IDs. */
    pages: string;
    /** JSON of OccurrenceChange[]. */
    changes: string;
    /** Bytes of its texts, copies in the lists of its services included. */
    text_bytes: Generated<number>;
    site_url: string;
    cancelled_at: number | null;
    revision: number;
    created_at: number;
    updated_at: number;
  };
}
