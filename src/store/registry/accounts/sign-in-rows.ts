/** People's ways in: passwords with the secrets of their codes, recovery codes, passkeys; their sessions, and the limits of attempts. */
import { DAY_MS } from '../../../domain/durations.ts';
import { type Calls, type OpenRegistry, read, write } from '../../database/registry-calls.ts';
import { RegistryError } from '../../database/registry-error.ts';
import { fromRow, type RegistryStore } from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import type {
  FoundPerson,
  NewPasskey,
  NewPassword,
  Passkey,
  SignInGuardStore,
  SignInStore,
} from '../../ports/sign-in.ts';
import { membershipsOf } from './member-rows.ts';

/** Maximum number of passkeys of a person. */
const MAX_PASSKEYS = 20;

/** People's ways in, and their sessions. */
export const SIGN_IN_CALLS: Calls<SignInStore> = {
  signInWays: read(async ({ kysely, queries }) => {
    const exists = async (table: 'accounts' | 'passkeys' | 'passwords') =>
      (await queries.first(
        kysely
          .selectFrom(table)
          .select(({ lit }) => lit(1).as('found'))
          .limit(1),
      )) !== undefined;
    return {
      hasAccounts: await exists('accounts'),
      hasPasskeys: await exists('passkeys'),
      hasPasswords: await exists('passwords'),
    };
  }),
  findPeople: read(async (store, name, nameKey) => {
    const { kysely, queries } = store;
    const rows = await queries.all(
      kysely
        .selectFrom('people')
        .leftJoin('passwords', 'passwords.person_id', 'people.id')
        .select(['people.id', 'people.name', 'passwords.name as sign_in_name'])
        .where((eb) => eb.or([eb('people.name', '=', name), eb('name_key', '=', nameKey)]))
        .orderBy('people.id'),
    );
    const found: FoundPerson[] = [];
    for (const row of rows) {
      const accounts = (await membershipsOf(store, row.id)).map(({ accountName }) => accountName);
      found.push({ ...fromRow(row), accounts });
    }
    return found;
  }),
  waysOf: read(async (store, personId) => {
    const { kysely, queries } = store;
    const ofPerson = <Table extends 'passwords' | 'identities'>(table: Table) => kysely.selectFrom(table);
    const password = await queries.first(
      ofPerson('passwords').select(['name', 'changed_at']).where('person_id', '=', personId),
    );
    const providers = await queries.all(
      ofPerson('identities')
        .select('provider')
        .distinct()
        .where('person_id', '=', personId)
        .orderBy('provider'),
    );
    return {
      passkeys: await passkeysOf(store, personId),
      password: password === undefined ? null : fromRow(password),
      recoveryCodes: (await recoveryCodesOf(store, personId)).length,
      providers: providers.map(({ provider }) => provider),
    };
  }),

  findPassword: read(async (registry, nameKey) => {
    const { kysely, queries, secrets } = registry;
    const row = await queries.first(
      kysely.selectFrom('passwords').selectAll().where('name_key', '=', nameKey),
    );
    if (row === undefined) return null;
    const { name_key: _, totp_secret: sealed, ...rest } = row;
    const secret = (await secrets.box()).open(sealed);
    return {
      ...fromRow(rest),
      totpSecret: new Uint8Array(Buffer.from(secret, 'hex')),
      recoveryCodes: await recoveryCodesOf(registry, row.person_id),
    };
  }),
  setPassword: write(setPassword),
  removePassword: write(async (store, personId, providers) => {
    if (await isLastWay(store, personId, providers, 'password'))
      throw new RegistryError('last_way_in', { code: 'last_way_in' });
    return await deletePassword(store, personId);
  }),
  useTotpStep: write(async ({ kysely, queries }, personId, step) => {
    const use = kysely
      .updateTable('passwords')
      .set({ totp_step: step })
      .where('person_id', '=', personId)
      .where('totp_step', '<', step);
    return (await queries.run(use)) > 0;
  }),
  useRecoveryCode: write(async ({ kysely, queries }, personId, sha256) => {
    const use = kysely
      .deleteFrom('recovery_codes')
      .where('person_id', '=', personId)
      .where('sha256', '=', sha256);
    return (await queries.run(use)) > 0;
  }),
  setRecoveryCodes: write(setRecoveryCodes),

  findPasskey: read(async ({ kysely, queries }, id) => {
    const row = await queries.first(kysely.selectFrom('passkeys').selectAll().where('id', '=', id));
    return row === undefined ? null : toPasskey(row);
  }),
  addPasskey: write(addPasskey),
  usePasskey: write(async ({ kysely, queries }, id, counter, now) => {
    const use = kysely
      .updateTable('passkeys')
      .set({ counter, last_used_at: now })
      .where('id', '=', id)
      // WebAuthn, 7.2, step 22: a counter that does not grow belongs to a copy; 0 means that there is none.
      .where((eb) =>
        eb.or([eb('counter', '<', counter), eb.and([eb('counter', '=', 0), eb(eb.val(counter), '=', 0)])]),
      );
    return (await queries.run(use)) > 0;
  }),
  renamePasskey: write(async ({ kysely, queries }, personId, id, name) => {
    const rename = kysely
      .updateTable('passkeys')
      .set({ name })
      .where('id', '=', id)
      .where('person_id', '=', personId);
    return (await queries.run(rename)) > 0;
  }),
  removePasskey: write(async (store, personId, id, providers) => {
    const { kysely, queries } = store;
    const own = await passkeysOf(store, personId);
    if (!own.some((passkey) => passkey.id === id)) return false;
    if (own.length === 1 && (await isLastWay(store, personId, providers, 'passkeys')))
      throw new RegistryError('last_way_in', { code: 'last_way_in' });
    return (await queries.run(kysely.deleteFrom('passkeys').where('id', '=', id))) > 0;
  }),

  sessionsOf: read(async ({ kysely, queries }, personId, now) => {
    const rows = await queries.all(
      kysely
        .selectFrom('sessions')
        .innerJoin('accounts', 'accounts.id', 'sessions.account_id')
        .select(['sha256', 'accounts.name as account_name', 'sessions.created_at', 'expires_at'])
        .where('person_id', '=', personId)
        .where('expires_at', '>', now)
        .orderBy('sessions.created_at', 'desc'),
    );
    return rows.map(fromRow);
  }),
  endSessionOf: write(async ({ kysely, queries }, personId, sha256) => {
    const end = kysely.deleteFrom('sessions').where('sha256', '=', sha256).where('person_id', '=', personId);
    return (await queries.run(end)) > 0;
  }),
  endOtherSessions: write(async ({ kysely, queries }, personId, sha256) => {
    await queries.run(
      kysely.deleteFrom('sessions').where('person_id', '=', personId).where('sha256', '!=', sha256),
    );
  }),
};

/** Sets or replaces a password with its recovery codes. Throws `name_taken`. */
export async function setPassword(
  registry: OpenRegistry,
  personId: number,
  { name, nameKey, hash, totpSecret, totpStep, recoveryCodes }: NewPassword,
  now: number,
): Promise<void> {
  const { kysely, queries, secrets } = registry;
  const taken = kysely
    .selectFrom('passwords')
    .select('person_id')
    .where('name_key', '=', nameKey)
    .where('person_id', '!=', personId);
  if ((await queries.first(taken)) !== undefined)
    throw new RegistryError('name_taken', { code: 'sign_in_name_taken', name });
  await deletePassword(registry, personId);
  await queries.run(
    kysely.insertInto('passwords').values({
      person_id: personId,
      name,
      name_key: nameKey,
      hash,
      totp_secret: (await secrets.box()).seal(Buffer.from(totpSecret).toString('hex')),
      totp_step: totpStep,
      changed_at: now,
    }),
  );
  await setRecoveryCodes(registry, personId, recoveryCodes);
}

/** Deletes a password with its recovery codes; false: there is none. */
export async function deletePassword({ kysely, queries }: RegistryStore, personId: number): Promise<boolean> {
  await queries.run(kysely.deleteFrom('recovery_codes').where('person_id', '=', personId));
  return (await queries.run(kysely.deleteFrom('passwords').where('person_id', '=', personId))) > 0;
}

/** Adds a passkey. Throws `account_limit`, and `name_taken` if a passkey with this ID exists. */
export async function addPasskey(
  store: RegistryStore,
  personId: number,
  { id, name, publicKey, counter, transports, userHandle }: NewPasskey,
  now: number,
): Promise<void> {
  const { kysely, queries } = store;
  const known = kysely.selectFrom('passkeys').select('id').where('id', '=', id);
  if ((await queries.first(known)) !== undefined)
    throw new RegistryError('name_taken', { code: 'passkey_known' });
  if ((await passkeysOf(store, personId)).length >= MAX_PASSKEYS)
    throw new RegistryError('account_limit', { code: 'too_many_passkeys', max: MAX_PASSKEYS });
  await queries.run(
    kysely.insertInto('passkeys').values({
      id,
      person_id: personId,
      name,
      public_key: publicKey,
      counter,
      transports: JSON.stringify(transports),
      user_handle: userHandle,
      created_at: now,
    }),
  );
}

/**
 * Removes all passwords, because the secrets of their codes can no longer be decrypted. Returns their number. Who has no
 * other way in needs a link of `upbeat accounts reset`.
 */
export async function removeAllPasswords({ kysely, queries }: RegistryStore): Promise<number> {
  await queries.run(kysely.deleteFrom('recovery_codes'));
  return await queries.run(kysely.deleteFrom('passwords'));
}

async function setRecoveryCodes(
  { kysely, queries }: RegistryStore,
  personId: number,
  sha256s: readonly Uint8Array[],
): Promise<void> {
  await queries.run(kysely.deleteFrom('recovery_codes').where('person_id', '=', personId));
  for (const sha256 of sha256s)
    await queries.run(kysely.insertInto('recovery_codes').values({ person_id: personId, sha256 }));
}

async function recoveryCodesOf({ kysely, queries }: RegistryStore, personId: number): Promise<Uint8Array[]> {
  const codes = kysely.selectFrom('recovery_codes').select('sha256').where('person_id', '=', personId);
  return (await queries.all(codes)).map(({ sha256 }) => sha256);
}

/** The passkeys of a person, oldest first. */
async function passkeysOf({ kysely, queries }: RegistryStore, personId: number): Promise<Passkey[]> {
  const rows = await queries.all(
    kysely
      .selectFrom('passkeys')
      .selectAll()
      .where('person_id', '=', personId)
      .orderBy('created_at')
      .orderBy('id'),
  );
  return rows.map(toPasskey);
}

function toPasskey({ transports, ...row }: Row<'passkeys'>): Passkey {
  return { ...fromRow(row), transports: JSON.parse(transports) };
}

/** Returns true if a person has no way in but their password, or but their passkeys. `providers`: those that the site offers. */
async function isLastWay(
  store: RegistryStore,
  personId: number,
  providers: readonly string[],
  way: 'password' | 'passkeys',
): Promise<boolean> {
  const { kysely, queries } = store;
  const identities = kysely.selectFrom('identities').select('provider').where('person_id', '=', personId);
  if ((await queries.all(identities)).some(({ provider }) => providers.includes(provider))) return false;
  if (way === 'password') return (await passkeysOf(store, personId)).length === 0;
  const password = kysely.selectFrom('passwords').select('person_id').where('person_id', '=', personId);
  return (await queries.first(password)) === undefined;
}

/** Attempts and single uses. */
export const SIGN_IN_GUARD_CALLS: Calls<SignInGuardStore> = {
  takeAttempt: write(async ({ kysely, queries }, keys, now) => {
    const outdated = now - FAILURES_KEPT_MS;
    await queries.run(kysely.deleteFrom('sign_in_attempts').where('last_at', '<=', outdated));
    const counts = await queries.all(
      kysely
        .selectFrom('sign_in_attempts')
        .selectAll()
        .where(
          'key',
          'in',
          keys.map(({ key }) => key),
        ),
    );
    const delays = keys.map(({ key, free }) => {
      const count = counts.find((row) => row.key === key);
      return count === undefined
        ? 0
        : signInDelayMs({ failures: count.failures, lastAt: count.last_at }, free, now);
    });
    const waitMs = Math.max(0, ...delays);
    if (waitMs > 0) return waitMs;
    for (const { key } of keys) {
      await queries.run(
        kysely
          .insertInto('sign_in_attempts')
          .values({ key, failures: 1, last_at: now })
          .onConflict((conflict) =>
            conflict.column('key').doUpdateSet((eb) => ({
              failures: eb('sign_in_attempts.failures', '+', 1),
              last_at: now,
            })),
          ),
      );
    }
    return 0;
  }),
  returnAttempt: write(async ({ kysely, queries }, keys) => {
    for (const { key } of keys) {
      await queries.run(
        kysely
          .updateTable('sign_in_attempts')
          .set((eb) => ({ failures: eb('failures', '-', 1) }))
          .where('key', '=', key)
          .where('failures', '>', 0),
      );
    }
  }),
  useOnce: write(async ({ kysely, queries }, sha256, expiresAt, now) => {
    await queries.run(kysely.deleteFrom('used_once').where('expires_at', '<=', now));
    const use = kysely
      .insertInto('used_once')
      .values({ sha256, expires_at: expiresAt })
      .onConflict((conflict) => conflict.column('sha256').doNothing());
    return (await queries.run(use)) > 0;
  }),
};

/** Failures are forgotten this long after the last one, milliseconds. */
const FAILURES_KEPT_MS = DAY_MS;

const FIRST_DELAY_MS = 5_000;
const MAX_DELAY_MS = 900_000;
/** Beyond it the delay is the maximum. */
const MAX_DOUBLINGS = 10;

/** The attempts that count together: those for a name, of a client, or of a browser that has signed in before. */
interface AttemptCount {
  readonly failures: number;
  /** The time at which the last one was made, epoch milliseconds. */
  readonly lastAt: number;
}

/**
 * The delay of an attempt, milliseconds; 0: it may be made. The first `free` attempts need not wait; the delay then begins
 * with 5 s after the last attempt and doubles with each failure up to 15 minutes.
 */
function signInDelayMs({ failures, lastAt }: AttemptCount, free: number, now: number): number {
  if (failures < free || now - lastAt >= FAILURES_KEPT_MS) return 0;
  const delayMs = FIRST_DELAY_MS * 2 ** Math.min(failures - free, MAX_DOUBLINGS);
  // A clock that was set back must not lengthen the delay.
  return Math.max(0, Math.min(delayMs, MAX_DELAY_MS) - Math.max(0, now - lastAt));
}
