/**
 * People, and the accounts that they are members of. A person who signed in before becomes the owner of the account of
 * the sign-in. Earlier versions ignore people: they read the account of an identity or a session.
 */

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE people (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    account_id INTEGER REFERENCES accounts (id)
  ) STRICT`,
  `CREATE TABLE members (
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    person_id INTEGER NOT NULL REFERENCES people (id),
    role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    since INTEGER NOT NULL,
    PRIMARY KEY (account_id, person_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX members_person ON members (person_id)`,
  `ALTER TABLE identities ADD COLUMN person_id INTEGER REFERENCES people (id)`,
  `ALTER TABLE sessions ADD COLUMN person_id INTEGER REFERENCES people (id)`,
  `CREATE INDEX identities_person ON identities (person_id)`,
  `INSERT INTO people (id, name, created_at, account_id)
   SELECT id, name, created_at, id FROM accounts WHERE id IN (SELECT account_id FROM identities)`,
  `INSERT INTO members (account_id, person_id, role, since) SELECT id, id, 'owner', created_at FROM people`,
  `UPDATE identities SET person_id = account_id`,
  `UPDATE sessions SET person_id = account_id WHERE account_id IN (SELECT id FROM people)`,
];
