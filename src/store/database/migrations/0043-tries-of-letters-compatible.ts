/** When letters were written and last tried. */

/** Statements of the step, in order. */
export const statements = [
  'ALTER TABLE letters ADD COLUMN created_at INTEGER',
  'ALTER TABLE letters ADD COLUMN tried_at INTEGER',
];
