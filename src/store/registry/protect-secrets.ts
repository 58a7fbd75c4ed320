/** Sees to it at start that the key of secrets is the right one, and that no secret stands in the database in clear. */
import type { DatabaseSync } from 'node:sqlite';
import { getFact, setFact } from './fact-rows.ts';
import type { RegistryStore } from './registry-store.ts';
import { createSecretBox, findKey, isSealed, lostKey, makeKeyFile, type SecretBox } from './secret-box.ts';

/** The secrets of a registry, inside its thread. */
export interface Secrets {
  /** The box; the key is found, or made, at the first call. Throws `secrets_key`. */
  box(): SecretBox;
  /** Checks the key against what is stored, and makes it at the first start. Throws `secrets_key`. */
  check(): void;
  /** Encrypts what an earlier version stored in clear, inside the caller's transaction; how many there were. */
  sealClear(): number;
  /** Forgets the key of before, whatever it was: from now on another one counts. Inside the caller's transaction. */
  forgetKey(): void;
}

/** Holds a sealed word by which a wrong key is found before it is used. */
const CHECK_FACT = 'secrets-check';
const CHECK_WORD = 'upbeat';

/** Makes the secrets of a registry. `setting` is `secrets.key`; null: the key is in the data directory. */
export function createSecrets(store: RegistryStore, dataDir: string, setting: string | null): Secrets {
  let known: SecretBox | null = null;

  const isUsed = (): boolean => getFact(store, CHECK_FACT) !== null;

  const box = (): SecretBox => {
    if (known !== null) return known;
    const found = findKey(dataDir, setting);
    // A new key beside sealed secrets would only hide that the old one is missing.
    if (found.kind === 'none' && isUsed()) throw lostKey('is missing');
    const made = createSecretBox(found.kind === 'none' ? makeKeyFile(dataDir) : found.key);
    const word = getFact(store, CHECK_FACT);
    if (word !== null) made.open(word);
    known = made;
    return made;
  };

  return {
    box,
    check: () => void box(),
    sealClear() {
      const { seal } = box();
      if (!isUsed()) setFact(store, CHECK_FACT, seal(CHECK_WORD));
      const { kysely, queries } = store;
      const clear = queries
        .all(kysely.selectFrom('webhooks').select(['id', 'secret']))
        .filter(({ secret }) => !isSealed(secret));
      for (const { id, secret } of clear)
        queries.run(
          kysely
            .updateTable('webhooks')
            .set({ secret: seal(secret) })
            .where('id', '=', id),
        );
      return clear.length;
    },
    forgetKey() {
      known = null;
      const { kysely, queries } = store;
      queries.run(kysely.deleteFrom('facts').where('name', '=', CHECK_FACT));
    },
  };
}

/** Writes the whole file anew, so that nothing of what was changed in it is left in free pages or in the log. */
export function rewriteFile(database: DatabaseSync): void {
  database.exec('VACUUM');
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}
