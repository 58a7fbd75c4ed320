/** The names of the catalogue by an index; each name that an owner gives is compared with them. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE INDEX services_catalogue_names ON services (name) WHERE origin = 'catalogue' AND removed = 0`,
];
