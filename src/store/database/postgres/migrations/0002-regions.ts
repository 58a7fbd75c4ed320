/** Step 0017 of SQLite: regions and scope of statuses, and the scope of transitions. */

/** Statements of the step, in order. */
export const statements = [
  `ALTER TABLE current ADD COLUMN regions text COLLATE "C"`,
  `ALTER TABLE transitions ADD COLUMN scope text COLLATE "C"`,
];
