/** Step 0040 of SQLite: indexes of the maintenance of pages that may begin or end, so that what is over is not read again. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE INDEX owner_maintenances_once ON owner_maintenances (starts_at)
     WHERE recurrence IS NULL AND cancelled_at IS NULL AND pages <> '[]'`,
  `CREATE INDEX owner_maintenances_recurring ON owner_maintenances (starts_at)
     WHERE recurrence IS NOT NULL AND cancelled_at IS NULL AND pages <> '[]'`,
];
