/** Step 0037 of SQLite: maintenance of other parts of a vendor's page. */

/** Statements of the step, in order. */
export const statements = ['ALTER TABLE maintenances ADD COLUMN elsewhere integer NOT NULL DEFAULT 0'];
