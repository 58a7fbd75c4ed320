/** Webhooks of owners, and deliveries that triggers make. Step 0014 replaces the triggers. */

const iso = (column: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`;

// The triggers write each delivery in the transaction of its change. Services without a webhook, such as those of the
// catalogue, cost one look into an index.
const matching = (service: string) =>
  `SELECT 1 FROM webhooks JOIN services ON services.account_id = webhooks.account_id WHERE services.id = ${service}`;

const deliver = (row: string, type: string, data: string) => `
  INSERT INTO deliveries (message, webhook_id, type, body, created_at, due_at)
  SELECT 'msg_' || lower(hex(randomblob(16))), webhooks.id, ${type},
    json_object('type', ${type}, 'timestamp', ${iso('now.at')}, 'data', json_object(
      'service', json_object('slug', services.slug, 'name', services.name, 'domain', services.domain), ${data})),
    now.at, now.at
  FROM webhooks JOIN services ON services.account_id = webhooks.account_id
  CROSS JOIN (SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS at) AS now
  WHERE services.id = ${row}.service_id`;

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE webhooks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX webhooks_account ON webhooks (account_id)`,
  `CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    message TEXT NOT NULL,
    webhook_id INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    due_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    delivered_at INTEGER,
    problem TEXT
  ) STRICT`,
  `CREATE INDEX deliveries_due ON deliveries (due_at) WHERE due_at IS NOT NULL`,
  `CREATE INDEX deliveries_webhook ON deliveries (webhook_id, id)`,
  `CREATE TRIGGER tell_transition AFTER INSERT ON transitions WHEN EXISTS (${matching('NEW.service_id')})
  BEGIN ${deliver(
    'NEW',
    `'service.status_changed'`,
    `'from', NEW.from_status, 'to', NEW.to_status, 'at', ${iso('NEW.at')}, 'reason', NEW.reason`,
  )}; END`,
  `CREATE TRIGGER tell_incident AFTER INSERT ON incidents WHEN EXISTS (${matching('NEW.service_id')})
  BEGIN ${deliver('NEW', `'incident.opened'`, incidentOf('NEW'))}; END`,
  `CREATE TRIGGER tell_incident_change AFTER UPDATE OF status ON incidents
  WHEN NEW.status <> OLD.status AND EXISTS (${matching('NEW.service_id')})
  BEGIN ${deliver(
    'NEW',
    `CASE NEW.status WHEN 'resolved' THEN 'incident.resolved' ELSE 'incident.updated' END`,
    incidentOf('NEW'),
  )}; END`,
];

function incidentOf(row: string): string {
  return `'incident', json_object('id', ${row}.id, 'title', ${row}.title, 'description', ${row}.description,
    'severity', ${row}.severity, 'status', ${row}.status, 'started_at', ${iso(`${row}.started_at`)},
    'resolved_at', ${iso(`${row}.resolved_at`)}, 'source_url', ${row}.source_url)`;
}
