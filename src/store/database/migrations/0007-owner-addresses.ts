/** The addresses of owners' domains when probing them was allowed. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE owner_addresses (
    address TEXT NOT NULL,
    service_id INTEGER NOT NULL REFERENCES services (id),
    PRIMARY KEY (address, service_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX owner_addresses_service ON owner_addresses (service_id)`,
];
