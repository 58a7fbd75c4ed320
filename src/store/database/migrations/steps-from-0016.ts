/** Steps of SQLite. PostgreSQL takes those from 0017 on with its own types. */

/** Statements by the name of their step, in order. */
export const steps: Record<string, readonly string[]> = {};

/** The number at the beginning of what follows the first `characters` of the reason, in thousandths. */
const thousandths = (characters: number) =>
  `CAST(round(CAST(substr(reason, ${characters + 1}) AS REAL) * 1000) AS INTEGER)`;

// `no heartbeat arrived for 90s`: the number and the unit of a duration.
const SILENCE = `substr(reason, ${'no heartbeat arrived for '.length + 1})`;
const SILENCE_MS = `CAST(${SILENCE} AS INTEGER) * CASE ltrim(${SILENCE}, '0123456789') WHEN 'ms' THEN 1
  WHEN 's' THEN 1000 WHEN 'm' THEN 60000 WHEN 'h' THEN 3600000 WHEN 'd' THEN 86400000 WHEN 'w' THEN 604800000
  WHEN 'y' THEN 31536000000 END`;

// Reasons of transitions and problems of deliveries have a code with parameters beside their English text.
steps['0016-reason-codes'] = [
  `ALTER TABLE deliveries ADD COLUMN problem_code TEXT`,
  `UPDATE deliveries SET problem_code = json_object('code', 'status', 'statusCode', CAST(substr(problem, 6) AS INTEGER))
   WHERE problem GLOB 'HTTP [1-9][0-9][0-9]'`,
  `ALTER TABLE transitions ADD COLUMN reason_code TEXT`,
  // A text from which the code cannot be told stays alone.
  `UPDATE transitions SET reason_code = CASE
     WHEN reason = 'it reports that it is down' THEN json_object('code', 'reported_down')
     WHEN reason = 'it reports that it is slow' THEN json_object('code', 'reported_slow')
     WHEN reason = 'it reports that a run failed' THEN json_object('code', 'run_failed')
     WHEN reason GLOB 'it took [0-9]*.[0-9] s to answer'
       THEN json_object('code', 'slow_response', 'responseTimeMs', ${thousandths('it took '.length)})
     WHEN reason GLOB 'it reports a response time of [0-9]*.[0-9] s'
       THEN json_object('code', 'reported_response_time', 'responseTimeMs', ${thousandths('it reports a response time of '.length)})
     WHEN reason GLOB 'no heartbeat arrived for [0-9]*' AND ${SILENCE_MS} IS NOT NULL
       THEN json_object('code', 'no_heartbeat', 'silenceMs', ${SILENCE_MS})
     WHEN reason GLOB 'it answered with status [1-9][0-9][0-9]'
       THEN json_object('code', 'check_failed', 'failure', json_object('class', 'status', 'phase', 'first_byte',
         'cause', json_object('code', 'status', 'statusCode', CAST(substr(reason, -3) AS INTEGER))))
   END
   WHERE reason IS NOT NULL`,
];

// Statuses have regions and a scope, where several regions check a service; transitions have the scope that they leave.
steps['0017-regions'] = [
  `ALTER TABLE current ADD COLUMN regions TEXT`,
  `ALTER TABLE transitions ADD COLUMN scope TEXT`,
];

// Text that jobs send about their runs to the heartbeat address of their service.
steps['0018-heartbeat-logs'] = [
  `CREATE TABLE heartbeat_logs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    service_id INTEGER NOT NULL REFERENCES services (id),
    at INTEGER NOT NULL,
    run TEXT,
    text TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX heartbeat_logs_service ON heartbeat_logs (service_id, id)`,
];

// API keys have scopes; earlier keys have those of their time.
steps['0019-key-scopes-compatible'] = [
  `ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT 'read heartbeat'`,
];

// People, and the accounts that they are members of. A person who signed in before becomes the owner of the account of the sign-in.
// Earlier versions ignore people: they read the account of an identity or a session.
steps['0020-people-compatible'] = [
  `CREATE TABLE people (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    account_id INTEGER REFERENCES accounts (id)
  ) STRICT`,
  `CREATE TABLE members (
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    person_id INTEGER NOT NULL REFERENCES people (id),
    role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    since INTEGER NOT NULL,
    PRIMARY KEY (account_id, person_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX members_person ON members (person_id)`,
  `ALTER TABLE identities ADD COLUMN person_id INTEGER REFERENCES people (id)`,
  `ALTER TABLE sessions ADD COLUMN person_id INTEGER REFERENCES people (id)`,
  `CREATE INDEX identities_person ON identities (person_id)`,
  `INSERT INTO people (id, name, created_at, account_id)
   SELECT id, name, created_at, id FROM accounts WHERE id IN (SELECT account_id FROM identities)`,
  `INSERT INTO members (account_id, person_id, role, since) SELECT id, id, 'owner', created_at FROM people`,
  `UPDATE identities SET person_id = account_id`,
  `UPDATE sessions SET person_id = account_id WHERE account_id IN (SELECT id FROM people)`,
];

// What people sign in with besides identities at providers, links that make it, and the limits of attempts. Earlier versions ignore
// it.
steps['0021-sign-in-methods-compatible'] = [
  `CREATE TABLE passwords (
    person_id INTEGER PRIMARY KEY REFERENCES people (id),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL,
    totp_secret TEXT NOT NULL,
    totp_step INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE recovery_codes (
    person_id INTEGER NOT NULL REFERENCES people (id),
    sha256 BLOB NOT NULL,
    PRIMARY KEY (person_id, sha256)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE passkeys (
    id TEXT NOT NULL PRIMARY KEY,
    person_id INTEGER NOT NULL REFERENCES people (id),
    name TEXT NOT NULL,
    public_key BLOB NOT NULL,
    counter INTEGER NOT NULL,
    transports TEXT NOT NULL,
    user_handle TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX passkeys_person ON passkeys (person_id)`,
  `CREATE TABLE setup_links (
    sha256 BLOB NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    account_id INTEGER REFERENCES accounts (id),
    person_id INTEGER REFERENCES people (id),
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE sign_in_attempts (
    key TEXT NOT NULL PRIMARY KEY,
    failures INTEGER NOT NULL,
    last_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX sign_in_attempts_last ON sign_in_attempts (last_at)`,
  `CREATE TABLE used_once (
    sha256 BLOB NOT NULL PRIMARY KEY,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX used_once_expiry ON used_once (expires_at)`,
  `CREATE INDEX sessions_person ON sessions (person_id)`,
];

// Invitations to accounts.
steps['0022-invitations-compatible'] = [
  `CREATE TABLE invitations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    sha256 BLOB NOT NULL UNIQUE,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    inviter_id INTEGER NOT NULL REFERENCES people (id),
    role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    person_id INTEGER REFERENCES people (id)
  ) STRICT`,
  `CREATE INDEX invitations_account ON invitations (account_id)`,
];

// Changes that clients made with an idempotency key, for a day, so that a repeated request makes none.
steps['0023-idempotency-compatible'] = [
  `CREATE TABLE idempotent_changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    outcome TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE UNIQUE INDEX idempotent_changes_key ON idempotent_changes (account_id, key)`,
  `CREATE INDEX idempotent_changes_account ON idempotent_changes (account_id, id)`,
  `CREATE INDEX idempotent_changes_age ON idempotent_changes (created_at)`,
];

// Domains that accounts want may be monitored by every kind of check. SQLite cannot drop a constraint of a table.
steps['0024-claims-of-every-kind-compatible'] = [
  `CREATE TABLE domain_claims_of_every_kind (
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    domain TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, domain)
  ) STRICT, WITHOUT ROWID`,
  `INSERT INTO domain_claims_of_every_kind (account_id, domain, kind, created_at)
    SELECT account_id, domain, kind, created_at FROM domain_claims`,
  `DROP TABLE domain_claims`,
  `ALTER TABLE domain_claims_of_every_kind RENAME TO domain_claims`,
];

// How many ways to sign in were begun from an invitation.
steps['0025-invitation-setups-compatible'] = [
  `ALTER TABLE invitations ADD COLUMN setups INTEGER NOT NULL DEFAULT 0`,
];

// Channels and rules of accounts, the feed of events, what was decided about them, and the messages to channels.
steps['0026-alerts-compatible'] = [
  `CREATE TABLE channels (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    settings TEXT NOT NULL,
    language TEXT NOT NULL,
    confirmed_at INTEGER,
    created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL
  ) STRICT`,
  `CREATE UNIQUE INDEX channels_name ON channels (account_id, name)`,
  `CREATE TABLE alert_rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL
  ) STRICT`,
  `CREATE UNIQUE INDEX alert_rules_name ON alert_rules (account_id, name)`,
  `CREATE INDEX alert_rules_enabled ON alert_rules (id) WHERE enabled = 1`,
  `CREATE TABLE alert_events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    service_id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    change TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE alert_states (
    account_id INTEGER PRIMARY KEY REFERENCES accounts (id),
    state TEXT NOT NULL,
    due_at INTEGER
  ) STRICT`,
  `CREATE TABLE alert_messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    channel_id INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    turn INTEGER NOT NULL,
    thread TEXT NOT NULL,
    type TEXT NOT NULL,
    message TEXT NOT NULL,
    failed_at INTEGER,
    created_at INTEGER NOT NULL,
    due_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    dropped INTEGER NOT NULL DEFAULT 0,
    delivered_at INTEGER,
    problem TEXT
  ) STRICT`,
  `CREATE UNIQUE INDEX alert_messages_turn ON alert_messages (channel_id, turn)`,
  `CREATE INDEX alert_messages_waiting ON alert_messages (channel_id, turn) WHERE due_at IS NOT NULL`,
  `CREATE INDEX alert_messages_thread ON alert_messages (thread)`,
  `CREATE INDEX alert_messages_age ON alert_messages (created_at) WHERE due_at IS NULL`,
  `CREATE INDEX alert_messages_delay ON alert_messages (delivered_at) WHERE failed_at IS NOT NULL`,
  `CREATE TABLE alert_threads (
    channel_id INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    thread TEXT NOT NULL,
    reference TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (channel_id, thread)
  ) STRICT`,
  `CREATE INDEX alert_threads_age ON alert_threads (updated_at)`,
  `CREATE TABLE alert_acknowledgements (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    thread TEXT NOT NULL,
    by_name TEXT NOT NULL,
    at INTEGER NOT NULL,
    decided INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  `CREATE UNIQUE INDEX alert_acknowledgements_thread ON alert_acknowledgements (account_id, thread)`,
  `CREATE INDEX alert_acknowledgements_new ON alert_acknowledgements (id) WHERE decided = 0`,
];

// What owners say themselves: incidents and maintenance. An earlier version takes the incident or maintenance of an owner for one of
// a vendor.
steps['0027-owners-words-compatible'] = [
  `CREATE TABLE owner_incidents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    title TEXT NOT NULL,
    severity TEXT NOT NULL CHECK (severity IN ('minor', 'major', 'critical')),
    status TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    resolved_at INTEGER,
    services TEXT NOT NULL,
    pages TEXT NOT NULL,
    updates TEXT NOT NULL,
    post_mortem TEXT,
    site_url TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX owner_incidents_account ON owner_incidents (account_id, started_at DESC, id DESC)`,
  `CREATE TABLE owner_maintenances (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    title TEXT NOT NULL,
    markdown TEXT NOT NULL,
    plain TEXT NOT NULL,
    starts_at INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    time_zone TEXT NOT NULL,
    recurrence TEXT,
    services TEXT NOT NULL,
    pages TEXT NOT NULL,
    changes TEXT NOT NULL,
    site_url TEXT NOT NULL,
    cancelled_at INTEGER,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX owner_maintenances_account ON owner_maintenances (account_id, id)`,
  `ALTER TABLE incidents ADD COLUMN by_owner INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE maintenances ADD COLUMN owner_id INTEGER`,
  `ALTER TABLE maintenances ADD COLUMN announced_at INTEGER`,
  `CREATE INDEX maintenances_owner ON maintenances (owner_id, phase) WHERE owner_id IS NOT NULL`,
  `CREATE INDEX maintenances_owned ON maintenances (service_id, starts_at) WHERE owner_id IS NOT NULL`,
  `CREATE INDEX incidents_owner ON incidents (service_id) WHERE by_owner = 1`,
];

// Since when nothing can be delivered to a channel, and whether its account was told.
steps['0028-channel-failures-compatible'] = [
  `CREATE TABLE channel_failures (
    channel_id INTEGER PRIMARY KEY REFERENCES channels (id) ON DELETE CASCADE,
    since INTEGER NOT NULL,
    problem TEXT,
    told_at INTEGER
  ) STRICT`,
];

// Subscriptions of visitors, and the letters that are not messages of channels.
steps['0029-subscriptions-compatible'] = [
  `CREATE TABLE subscriptions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    topic TEXT NOT NULL,
    mailbox TEXT NOT NULL,
    address TEXT NOT NULL,
    language TEXT NOT NULL,
    sha256 TEXT NOT NULL UNIQUE,
    secret TEXT NOT NULL,
    refusals INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    confirmed_at INTEGER
  ) STRICT`,
  `CREATE UNIQUE INDEX subscriptions_mailbox ON subscriptions (mailbox, topic)`,
  `CREATE INDEX subscriptions_topic ON subscriptions (topic, id) WHERE confirmed_at IS NOT NULL`,
  `CREATE INDEX subscriptions_unconfirmed ON subscriptions (created_at) WHERE confirmed_at IS NULL`,
  `CREATE TABLE subscription_changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    service_id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    change TEXT NOT NULL,
    after_id INTEGER NOT NULL DEFAULT 0,
    written INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  `CREATE INDEX subscription_changes_unwritten ON subscription_changes (id) WHERE written = 0`,
  `CREATE TABLE letters (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    subscription_id INTEGER,
    change_id INTEGER,
    channel_id INTEGER,
    secret TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX letters_due ON letters (due_at)`,
  `CREATE INDEX letters_subscription ON letters (subscription_id, id)`,
  `CREATE INDEX letters_change ON letters (change_id) WHERE change_id IS NOT NULL`,
  `CREATE TABLE letter_counts (
    name TEXT NOT NULL,
    day INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (name, day)
  ) STRICT`,
  `CREATE TABLE channel_confirmations (
    sha256 TEXT PRIMARY KEY,
    channel_id INTEGER NOT NULL,
    mailbox TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX channel_confirmations_channel ON channel_confirmations (channel_id)`,
];

// The brand colours of status pages, and which of them only members see.
steps['0030-looks-of-pages-compatible'] = [
  `ALTER TABLE status_pages ADD COLUMN colour TEXT`,
  `ALTER TABLE status_pages ADD COLUMN members_only INTEGER NOT NULL DEFAULT 0`,
];

// Domains of owners for their status pages. A domain belongs to the page that proved it last.
steps['0031-page-domains-compatible'] = [
  `ALTER TABLE status_pages ADD COLUMN domain TEXT`,
  `ALTER TABLE status_pages ADD COLUMN domain_proved_at INTEGER`,
  `ALTER TABLE status_pages ADD COLUMN domain_checked_at INTEGER`,
  `ALTER TABLE status_pages ADD COLUMN domain_missing_since INTEGER`,
  `CREATE UNIQUE INDEX status_pages_domain ON status_pages (domain) WHERE domain_proved_at IS NOT NULL`,
];

// An index by which old incidents are found when they are out of retention.
steps['0032-resolved-incidents-compatible'] = [
  `CREATE INDEX incidents_resolved ON incidents (resolved_at) WHERE status = 'resolved'`,
];
