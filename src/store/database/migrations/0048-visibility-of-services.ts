/** Who sees a service; null: everyone. Earlier versions must not run beside this one, since they would show every service. */

/** Statements of the step, in order. */
export const statements = ['ALTER TABLE services ADD COLUMN visibility TEXT'];
