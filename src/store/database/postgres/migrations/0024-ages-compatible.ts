/** Indexes for what the program looks for by itself, so that it never reads a whole table. */

// What is due is found by the index of its webhook alone: a planner may take one of times for the better one.
/** Statements of the step, in order. */
export const statements = [
  `CREATE INDEX deliveries_age ON deliveries (created_at) WHERE due_at IS NULL`,
  `DROP INDEX deliveries_due`,
  `CREATE INDEX owner_incidents_resolved ON owner_incidents (resolved_at) WHERE status = 'resolved'`,
  `CREATE INDEX alert_acknowledgements_age ON alert_acknowledgements (at) WHERE decided = 1`,
  `CREATE INDEX subscription_changes_age ON subscription_changes (recorded_at)`,
  `CREATE INDEX letter_counts_day ON letter_counts (day)`,
  `CREATE INDEX alert_messages_failed ON alert_messages (channel_id) WHERE due_at IS NULL AND delivered_at IS NULL`,
  `CREATE INDEX maintenances_owned_ahead ON maintenances (service_id) WHERE owner_id IS NOT NULL AND phase <> 'ended'`,
];
