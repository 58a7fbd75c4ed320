/** The services of a shard are found by an index, since a node reads only those of its shards. SQLite serves no nodes. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE INDEX services_shard ON services ((id % 64)) WHERE removed = 0 AND paused = 0 AND verified = 1`,
  // The services that a new entry of the catalogue may displace.
  `CREATE INDEX services_unverified ON services (id) WHERE origin = 'owner' AND verified = 0 AND removed = 0`,
];
