/** People who sign in, and their sessions. */
import { type Calls, read, write } from '../../database/registry-calls.ts';
import { RegistryError } from '../../database/registry-error.ts';
import { fromRow, type RegistryStore } from '../../database/registry-store.ts';
import type { Account } from '../../ports/accounts.ts';
import type { Identity, NewSession, PeopleStore, Person } from '../../ports/people.ts';
import { addAccount, cleanName, readAccount, reservedNames } from './account-rows.ts';
import { membershipsOf, putMember } from './member-rows.ts';

export const PEOPLE_CALLS: Calls<PeopleStore> = {
  addPerson: write(async (store, name, now) => (await addPerson(store, name, now)).person),
  findIdentity: write(findIdentity),
  ensureIdentity: write(async (store, identity, now) => {
    const known = await findIdentity(store, identity);
    if (known !== null) return known;
    const { person, accountId } = await addPerson(store, identity.name, now);
    await putIdentity(store, identity, { personId: person.id, accountId }, now);
    return person;
  }),
  linkIdentity: write(async (store, accountId, identity, now) => {
    await readAccount(store, accountId);
    let person = await findIdentity(store, identity);
    if (person === null) {
      person = await insertPerson(store, cleanName(identity.name), now);
      await putIdentity(store, identity, { personId: person.id, accountId }, now);
    }
    await makeOwner(store, accountId, person.id, now);
    return person;
  }),
  linkPerson: write(async (store, accountId, personId, now) => {
    await readAccount(store, accountId);
    const person = await readPerson(store, personId);
    await makeOwner(store, accountId, personId, now);
    return person;
  }),
  createSession: write(createSession),
  findSession: read(async ({ kysely, queries }, sha256, now) => {
    const row = await queries.first(
      kysely
        .selectFrom('sessions')
        .innerJoin('accounts', 'accounts.id', 'sessions.account_id')
        .innerJoin('people', 'people.id', 'sessions.person_id')
        .innerJoin('members', (join) =>
          join
            .onRef('members.account_id', '=', 'sessions.account_id')
            .onRef('members.person_id', '=', 'sessions.person_id'),
        )
        .select([
          'members.person_id',
          'people.name as person_name',
          'sessions.account_id',
          'accounts.name as account_name',
          'role',
          'sessions.created_at',
          'expires_at',
        ])
        .where('sha256', '=', sha256)
        .where('expires_at', '>', now),
    );
    return row === undefined ? null : fromRow(row);
  }),
  switchAccount: write(async (store, sha256, accountId) => {
    const { kysely, queries } = store;
    const session = await queries.first(
      kysely
        .selectFrom('sessions')
        .innerJoin('members', 'members.person_id', 'sessions.person_id')
        .select('members.person_id')
        .where('sha256', '=', sha256)
        .where('members.account_id', '=', accountId),
    );
    if (session === undefined) return false;
    await queries.run(
      kysely.updateTable('sessions').set({ account_id: accountId }).where('sha256', '=', sha256),
    );
    await chooseAccount(store, session.person_id, accountId);
    return true;
  }),
  endSession: write(async ({ kysely, queries }, sha256) => {
    await queries.run(kysely.deleteFrom('sessions').where('sha256', '=', sha256));
  }),
  endSessionsOf: write(async ({ kysely, queries }, personId) => {
    await queries.run(kysely.deleteFrom('sessions').where('person_id', '=', personId));
  }),
};

/**
 * Adds a person as the owner of a new account with that name, or one with a number appended. `isOperator`: nobody else can be the person,
 * so that no name is reserved.
 */
export async function addPerson(
  store: RegistryStore,
  name: string,
  now: number,
  isOperator = false,
): Promise<{ readonly person: Person; readonly accountId: number }> {
  const account = await addAccount(store, name, now, isOperator ? [] : await reservedNames(store));
  const person = await insertPerson(store, account.name, now);
  await putMember(store, account.id, { personId: person.id, role: 'owner' }, now);
  return { person, accountId: account.id };
}

/** Adds a person as an owner of an account, which is the account of their next session. */
export async function addOwner(
  store: RegistryStore,
  accountId: number,
  name: string,
  now: number,
): Promise<Person> {
  const person = await insertPerson(store, cleanName(name), now);
  await makeOwner(store, accountId, person.id, now);
  return person;
}

async function makeOwner(
  store: RegistryStore,
  accountId: number,
  personId: number,
  now: number,
): Promise<void> {
  await putMember(store, accountId, { personId, role: 'owner' }, now);
  await chooseAccount(store, personId, accountId);
}

/** Adds a person who is a member of no account. */
export async function insertPerson(
  { kysely, queries }: RegistryStore,
  name: string,
  now: number,
): Promise<Person> {
  const row = await queries.first(
    kysely.insertInto('people').values({ name, created_at: now }).returning(['id', 'name', 'created_at']),
  );
  if (row === undefined) throw new Error(`person ${name} was not written`);
  return fromRow(row);
}

/** The person with that identity; null: there is none. */
async function findIdentity(store: RegistryStore, { provider, subject }: Identity): Promise<Person | null> {
  const { kysely, queries } = store;
  const identity = await queries.first(
    kysely
      .selectFrom('identities')
      .select(['account_id', 'person_id', 'created_at'])
      .where('provider', '=', provider)
      .where('subject', '=', subject),
  );
  if (identity === undefined) return null;
  if (identity.person_id !== null) return await readPerson(store, identity.person_id);
  // A process of an earlier version has written the identity during an upgrade, with an account of its own.
  const { name } = await readAccount(store, identity.account_id);
  const person = await insertPerson(store, name, identity.created_at);
  const owner = { personId: person.id, role: 'owner' } as const;
  await putMember(store, identity.account_id, owner, identity.created_at);
  await queries.run(
    kysely
      .updateTable('identities')
      .set({ person_id: person.id })
      .where('provider', '=', provider)
      .where('subject', '=', subject),
  );
  return person;
}

export async function putIdentity(
  { kysely, queries }: RegistryStore,
  { provider, subject }: Identity,
  { personId, accountId }: { readonly personId: number; readonly accountId: number },
  now: number,
): Promise<void> {
  await queries.run(
    kysely
      .insertInto('identities')
      .values({ provider, subject, person_id: personId, account_id: accountId, created_at: now }),
  );
}

/** Throws `not_found` if there is no such person. */
export async function readPerson({ kysely, queries }: RegistryStore, id: number): Promise<Person> {
  const row = await queries.first(
    kysely.selectFrom('people').select(['id', 'name', 'created_at']).where('id', '=', id),
  );
  if (row === undefined) throw new RegistryError('not_found', { code: 'no_person', id });
  return fromRow(row);
}

/** Makes the account that of the person's next session. */
export async function chooseAccount(
  { kysely, queries }: RegistryStore,
  personId: number,
  accountId: number,
): Promise<void> {
  await queries.run(kysely.updateTable('people').set({ account_id: accountId }).where('id', '=', personId));
}

/** Returns true if a provider knows the person. Those who enrolled here did so for an account that exists. */
async function isOfProvider({ kysely, queries }: RegistryStore, personId: number): Promise<boolean> {
  const found = kysely
    .selectFrom('identities')
    .select('person_id')
    .where('person_id', '=', personId)
    .limit(1);
  return (await queries.first(found)) !== undefined;
}

async function createSession(
  store: RegistryStore,
  session: NewSession,
  mayAddAccount = true,
): Promise<Account> {
  const { kysely, queries } = store;
  const { sha256, personId, createdAt, expiresAt } = session;
  const person = await readPerson(store, personId);
  const chosen = await queries.first(
    kysely
      .selectFrom('people')
      .innerJoin('members', (join) =>
        join.onRef('members.account_id', '=', 'people.account_id').onRef('person_id', '=', 'people.id'),
      )
      .select('members.account_id')
      .where('people.id', '=', personId),
  );
  const [first] = await membershipsOf(store, personId);
  const known = chosen?.account_id ?? first?.accountId;
  if (known === undefined && !(mayAddAccount && (await isOfProvider(store, personId))))
    throw new RegistryError('not_found', { code: 'accounts_closed' });
  const account =
    known === undefined
      ? await addAccount(store, person.name, createdAt, await reservedNames(store))
      : await readAccount(store, known);
  if (known === undefined) await putMember(store, account.id, { personId, role: 'owner' }, createdAt);
  await queries.run(kysely.deleteFrom('sessions').where('expires_at', '<=', createdAt));
  await queries.run(
    kysely.insertInto('sessions').values({
      sha256,
      person_id: personId,
      account_id: account.id,
      created_at: createdAt,
      expires_at: expiresAt,
    }),
  );
  return account;
}
