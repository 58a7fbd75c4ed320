/** Step 0019 of SQLite: API keys have scopes. */

/** Statements of the step, in order. */
export const statements = [
  `ALTER TABLE api_keys ADD COLUMN scopes text COLLATE "C" NOT NULL DEFAULT 'read heartbeat'`,
];
