/** Maintenance of other parts of a vendor's page than those of the service. */

/** Statements of the step, in order. */
export const statements = [`ALTER TABLE maintenances ADD COLUMN elsewhere INTEGER NOT NULL DEFAULT 0`];
