/** Step 0013 of the registry's tables: the names of the catalogue, which are compared with each name that an owner gives. */

/** Statements of the step, in order. */
export const NAME_TABLES = [
  `CREATE INDEX services_catalogue_names ON services (name) WHERE origin = 'catalogue' AND removed = 0`,
] as const;
