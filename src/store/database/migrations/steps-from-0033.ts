/** Steps of both databases. PostgreSQL takes them with its own types. */

/** Statements by the name of their step, in order. */
export const steps: Record<string, readonly string[]> = {};

// An index of the maintenance that vendors and owners announced, for the page of all maintenance. Incidents of owners have the
// source `vendor`, too.
steps['0033-maintenance-list-compatible'] = [
  `CREATE INDEX incidents_maintenance ON incidents (started_at DESC, id)
     WHERE listed = 1 AND verified = 1 AND severity = 'maintenance' AND source = 'vendor'`,
];

// Favicons of status pages.
steps['0034-favicons-compatible'] = [
  `ALTER TABLE status_pages ADD COLUMN favicon TEXT`,
  `CREATE TABLE status_page_favicons (
    page_id INTEGER PRIMARY KEY REFERENCES status_pages (id),
    bytes BLOB NOT NULL
  ) STRICT`,
];

// Passwords of status pages.
steps['0035-passwords-of-pages-compatible'] = [`ALTER TABLE status_pages ADD COLUMN password_hash TEXT`];

// When messages to channels were tried last.
steps['0036-tries-of-messages-compatible'] = [`ALTER TABLE alert_messages ADD COLUMN tried_at INTEGER`];

// Maintenance of other parts of a vendor's page than those of the service.
steps['0037-maintenance-elsewhere-compatible'] = [
  `ALTER TABLE maintenances ADD COLUMN elsewhere INTEGER NOT NULL DEFAULT 0`,
];

// Indexes for what the program looks for by itself, so that it never reads a whole table. What is due is found by the index of its
// webhook alone: a planner may take one of times for the better one.
steps['0038-ages-compatible'] = [
  `CREATE INDEX deliveries_age ON deliveries (created_at) WHERE due_at IS NULL`,
  `DROP INDEX deliveries_due`,
  `CREATE INDEX owner_incidents_resolved ON owner_incidents (resolved_at) WHERE status = 'resolved'`,
  `CREATE INDEX alert_acknowledgements_age ON alert_acknowledgements (at) WHERE decided = 1`,
  `CREATE INDEX subscription_changes_age ON subscription_changes (recorded_at)`,
  `CREATE INDEX letter_counts_day ON letter_counts (day)`,
  `CREATE INDEX alert_messages_failed ON alert_messages (channel_id) WHERE due_at IS NULL AND delivered_at IS NULL`,
  `CREATE INDEX maintenances_owned_ahead ON maintenances (service_id) WHERE owner_id IS NOT NULL AND phase <> 'ended'`,
];

// Which invitation a link to make a way to sign in belongs to.
steps['0039-links-of-invitations-compatible'] = [`ALTER TABLE setup_links ADD COLUMN invitation BLOB`];

// Indexes of the maintenance of pages that may begin or end, so that what is over is not read again.
steps['0040-page-maintenance-compatible'] = [
  `CREATE INDEX owner_maintenances_once ON owner_maintenances (starts_at)
     WHERE recurrence IS NULL AND cancelled_at IS NULL AND pages <> '[]'`,
  `CREATE INDEX owner_maintenances_recurring ON owner_maintenances (starts_at)
     WHERE recurrence IS NOT NULL AND cancelled_at IS NULL AND pages <> '[]'`,
];

/** Moves the updates that the row `of` has as JSON. */
const move = (of: string) =>
  `INSERT INTO owner_updates (incident_id, place, at, status, markdown, plain)
   SELECT ${of}.id, (SELECT coalesce(max(place), 0) FROM owner_updates WHERE incident_id = ${of}.id) + u.key + 1,
     u.value ->> 'at', u.value ->> 'status', u.value ->> 'markdown', u.value ->> 'plain'`;
const beginning = (text: string) =>
  `CASE WHEN length(${text}) > 1000 THEN substr(${text}, 1, 1000) || '…' ELSE ${text} END`;

// An earlier version that still runs writes updates as JSON, which the triggers move.
const keep = (name: string, when: string) =>
  `CREATE TRIGGER ${name} AFTER ${when} ON owner_incidents WHEN NEW.updates <> '[]' BEGIN
     ${move('NEW')} FROM json_each(NEW.updates) AS u;
     UPDATE owner_incidents SET updates = '[]' WHERE id = NEW.id;
   END`;

// Updates of owners' incidents become rows, and the lists of services keep the newest ones alone.
steps['0041-owner-updates-compatible'] = [
  `CREATE TABLE owner_updates (
    incident_id INTEGER NOT NULL REFERENCES owner_incidents (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    at INTEGER NOT NULL,
    status TEXT NOT NULL,
    markdown TEXT NOT NULL,
    plain TEXT NOT NULL,
    PRIMARY KEY (incident_id, place)
  ) STRICT`,
  `INSERT INTO owner_updates (incident_id, place, at, status, markdown, plain)
   SELECT i.id, u.key + 1, u.value ->> 'at', u.value ->> 'status', u.value ->> 'markdown', u.value ->> 'plain'
   FROM owner_incidents AS i, json_each(i.updates) AS u`,
  `UPDATE owner_incidents SET updates = '[]'`,
  keep('keep_new_owner_updates', 'INSERT'),
  keep('keep_owner_updates', 'UPDATE OF updates'),
  `ALTER TABLE incidents ADD COLUMN earlier INTEGER NOT NULL DEFAULT 0`,
  `UPDATE incidents SET description = ${beginning('description')}, earlier = max(0, json_array_length(updates) - 3),
     updates = (SELECT json_group_array(json_object('at', u.value ->> 'at', 'status', u.value ->> 'status',
         'text', ${beginning("u.value ->> 'text'")}))
       FROM json_each(incidents.updates) AS u WHERE u.key >= json_array_length(incidents.updates) - 3)
   WHERE by_owner = 1 AND id NOT LIKE 'owner-m%'`,
];

// Channels whose receiver has stopped their e-mail.
steps['0042-stopped-channels-compatible'] = ['ALTER TABLE channels ADD COLUMN stopped_at INTEGER'];

// When letters were written and last tried.
steps['0043-tries-of-letters-compatible'] = [
  'ALTER TABLE letters ADD COLUMN created_at INTEGER',
  'ALTER TABLE letters ADD COLUMN tried_at INTEGER',
];

const bytes = (text: string) => `length(CAST(${text} AS BLOB))`;

// Bytes that the texts of owners' incidents and maintenances take. An earlier version that still runs does not count them.
steps['0044-post-bytes-compatible'] = [
  'ALTER TABLE owner_incidents ADD COLUMN text_bytes INTEGER NOT NULL DEFAULT 0',
  'ALTER TABLE owner_maintenances ADD COLUMN text_bytes INTEGER NOT NULL DEFAULT 0',
  `UPDATE owner_incidents SET text_bytes = ${bytes("title || coalesce(post_mortem, '')")} + coalesce(
     (SELECT sum(${bytes('markdown || plain')}) FROM owner_updates WHERE incident_id = owner_incidents.id), 0)`,
  `UPDATE owner_maintenances SET text_bytes = ${bytes('title || markdown || plain')}`,
];

// Notes of services, which only members of their accounts see.
steps['0045-notes-of-services-compatible'] = ['ALTER TABLE services ADD COLUMN note TEXT'];

// Notes of status pages, which only members of their accounts see.
steps['0046-notes-of-pages-compatible'] = [
  "ALTER TABLE status_pages ADD COLUMN note TEXT NOT NULL DEFAULT ''",
];

// Services beside the first one of their host, to which heartbeats and badges by domain do not go.
steps['0047-further-services-compatible'] = [
  'ALTER TABLE services ADD COLUMN further INTEGER NOT NULL DEFAULT 0',
];

// Who sees a service; null: everyone. Earlier versions must not run beside this one, since they would show every service.
steps['0048-visibility-of-services'] = ['ALTER TABLE services ADD COLUMN visibility TEXT'];

// Accounts that the operator trusts, and services whose domains nobody has proved.
steps['0049-trusted-accounts-compatible'] = [
  'ALTER TABLE accounts ADD COLUMN trusted_at INTEGER',
  'ALTER TABLE accounts ADD COLUMN trusted_by TEXT',
  'ALTER TABLE services ADD COLUMN unproven INTEGER NOT NULL DEFAULT 0',
];

// What services depend on. The index finds what depends on a service that goes.
steps['0050-parents-of-services-compatible'] = [
  'ALTER TABLE services ADD COLUMN depends_on TEXT',
  'CREATE INDEX services_with_parents ON services (account_id) WHERE depends_on IS NOT NULL',
];

// Times in which the status pages of vendors could not be read.
steps['0051-unread-pages-compatible'] = [
  `CREATE TABLE unread_pages (
    feed TEXT NOT NULL,
    from_at INTEGER NOT NULL,
    to_at INTEGER,
    PRIMARY KEY (feed, from_at)
  ) STRICT, WITHOUT ROWID`,
];

// Renewals of the signed addresses of badges.
steps['0052-badge-renewals-compatible'] = [
  'ALTER TABLE services ADD COLUMN badge_renewals INTEGER NOT NULL DEFAULT 0',
];

// The form of what a webhook gets; null: JSON.
steps['0053-formats-of-webhooks-compatible'] = ['ALTER TABLE webhooks ADD COLUMN format TEXT'];
