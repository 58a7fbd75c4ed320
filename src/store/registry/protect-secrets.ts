/** Sees to it at start that the key of secrets is the right one, and that no secret stands in the database in clear. */
import { getFact, setFact } from './fact-rows.ts';
import type { RegistryStore } from './registry-store.ts';
import { createSecretBox, findKey, isSealed, lostKey, makeKeyFile, type SecretBox } from './secret-box.ts';

/** The secrets of a registry, inside its thread. */
export interface Secrets {
  /** The box; the key is found, or made, at the first call. Throws `secrets_key`. */
  box(): Promise<SecretBox>;
  /** Checks the key against what is stored, and makes it at the first start. Throws `secrets_key`. */
  check(): Promise<void>;
  /** Encrypts what an earlier version stored in clear, inside the caller's transaction; how many there were. */
  sealClear(store: RegistryStore): Promise<number>;
  /** Forgets the key of before, whatever it was: from now on another one counts. Inside the caller's transaction. */
  forgetKey(store: RegistryStore): Promise<void>;
}

/** Holds a sealed word by which a wrong key is found before it is used. */
const CHECK_FACT = 'secrets-check';
const CHECK_WORD = 'upbeat';

/**
 * Makes the secrets of a registry. `store` reads facts; `setting` is `secrets.key`; null: the key is in the data
 * directory.
 */
export function createSecrets(store: RegistryStore, dataDir: string, setting: string | null): Secrets {
  let known: SecretBox | null = null;

  const box = async (): Promise<SecretBox> => {
    if (known !== null) return known;
    const word = await getFact(store, CHECK_FACT);
    const found = findKey(dataDir, setting);
    // A new key beside sealed secrets would only hide that the old one is missing.
    if (found.kind === 'none' && word !== null) throw lostKey('is missing');
    const made = createSecretBox(found.kind === 'none' ? makeKeyFile(dataDir) : found.key);
    if (word !== null) made.open(word);
    known = made;
    return made;
  };

  return {
    box,
    async check() {
      await box();
    },
    async sealClear(writable) {
      const { seal } = await box();
      if ((await getFact(writable, CHECK_FACT)) === null)
        await setFact(writable, CHECK_FACT, seal(CHECK_WORD));
      const { kysely, queries } = writable;
      const webhooks = await queries.all(kysely.selectFrom('webhooks').select(['id', 'secret']));
      const clear = webhooks.filter(({ secret }) => !isSealed(secret));
      for (const { id, secret } of clear)
        await queries.run(
          kysely
            .updateTable('webhooks')
            .set({ secret: seal(secret) })
            .where('id', '=', id),
        );
      return clear.length;
    },
    async forgetKey({ kysely, queries }) {
      known = null;
      await queries.run(kysely.deleteFrom('facts').where('name', '=', CHECK_FACT));
    },
  };
}
