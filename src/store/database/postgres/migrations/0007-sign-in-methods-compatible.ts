/** Step 0020 of SQLite: what people sign in with besides identities at providers. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE passwords (
    person_id bigint PRIMARY KEY REFERENCES people (id),
    name text COLLATE "C" NOT NULL,
    name_key text COLLATE "C" NOT NULL UNIQUE,
    hash text COLLATE "C" NOT NULL,
    totp_secret text COLLATE "C" NOT NULL,
    totp_step bigint NOT NULL,
    changed_at bigint NOT NULL
  )`,
  `CREATE TABLE recovery_codes (
    person_id bigint NOT NULL REFERENCES people (id),
    sha256 bytea NOT NULL,
    PRIMARY KEY (person_id, sha256)
  )`,
  `CREATE TABLE passkeys (
    id text COLLATE "C" PRIMARY KEY,
    person_id bigint NOT NULL REFERENCES people (id),
    name text COLLATE "C" NOT NULL,
    public_key bytea NOT NULL,
    counter bigint NOT NULL,
    transports text COLLATE "C" NOT NULL,
    user_handle text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint
  )`,
  `CREATE INDEX passkeys_person ON passkeys (person_id)`,
  `CREATE TABLE setup_links (
    sha256 bytea PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    account_id bigint REFERENCES accounts (id),
    person_id bigint REFERENCES people (id),
    expires_at bigint NOT NULL
  )`,
  `CREATE TABLE sign_in_attempts (
    key text COLLATE "C" PRIMARY KEY,
    failures bigint NOT NULL,
    last_at bigint NOT NULL
  )`,
  `CREATE INDEX sign_in_attempts_last ON sign_in_attempts (last_at)`,
  `CREATE TABLE used_once (
    sha256 bytea PRIMARY KEY,
    expires_at bigint NOT NULL
  )`,
  `CREATE INDEX used_once_expiry ON used_once (expires_at)`,
  `CREATE INDEX sessions_person ON sessions (person_id)`,
];
