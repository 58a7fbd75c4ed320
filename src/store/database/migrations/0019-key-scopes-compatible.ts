/** API keys have scopes; earlier keys have those of their time. */

/** Statements of the step, in order. */
export const statements = [`ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT 'read heartbeat'`];
