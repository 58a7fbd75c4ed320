/**
 * What people sign in with besides identities at providers, links that make it, and the limits of attempts. Earlier
 * versions ignore it.
 */

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE passwords (
    person_id INTEGER PRIMARY KEY REFERENCES people (id),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL,
    totp_secret TEXT NOT NULL,
    totp_step INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE recovery_codes (
    person_id INTEGER NOT NULL REFERENCES people (id),
    sha256 BLOB NOT NULL,
    PRIMARY KEY (person_id, sha256)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE passkeys (
    id TEXT NOT NULL PRIMARY KEY,
    person_id INTEGER NOT NULL REFERENCES people (id),
    name TEXT NOT NULL,
    public_key BLOB NOT NULL,
    counter INTEGER NOT NULL,
    transports TEXT NOT NULL,
    user_handle TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX passkeys_person ON passkeys (person_id)`,
  `CREATE TABLE setup_links (
    sha256 BLOB NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    account_id INTEGER REFERENCES accounts (id),
    person_id INTEGER REFERENCES people (id),
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE sign_in_attempts (
    key TEXT NOT NULL PRIMARY KEY,
    failures INTEGER NOT NULL,
    last_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX sign_in_attempts_last ON sign_in_attempts (last_at)`,
  `CREATE TABLE used_once (
    sha256 BLOB NOT NULL PRIMARY KEY,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX used_once_expiry ON used_once (expires_at)`,
  `CREATE INDEX sessions_person ON sessions (person_id)`,
];
