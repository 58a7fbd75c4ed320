/** Statuses have regions and a scope, where several regions check a service; transitions have the scope that they leave. */

/** Statements of the step, in order. */
export const statements = [
  `ALTER TABLE current ADD COLUMN regions TEXT`,
  `ALTER TABLE transitions ADD COLUMN scope TEXT`,
];
