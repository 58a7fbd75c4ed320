/** The pending deliveries of one webhook by an index, so that no webhook delays another. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE INDEX deliveries_webhook_due ON deliveries (webhook_id, due_at, id) WHERE due_at IS NOT NULL`,
];
