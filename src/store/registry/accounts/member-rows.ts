/** The members of accounts. */
import type { Role } from '../../../domain/role.ts';
import { addNotice } from '../../database/notice-rows.ts';
import { type Calls, read, write } from '../../database/registry-calls.ts';
import { RegistryError } from '../../database/registry-error.ts';
import { fromRow, type RegistryStore, statement } from '../../database/registry-store.ts';
import type { Member, MemberStore, Membership } from '../../ports/accounts.ts';

export const MEMBER_CALLS: Calls<MemberStore> = {
  membershipsOf: read(membershipsOf),
  membersOf: read(async (store, accountId) => (await readMembers(store, accountId)).get(accountId) ?? []),
  // biome-ignore lint/complexity/useMaxParams: the store, then the arguments of the port's method
  setRole: write(async (store, accountId, personId, role, { seen, now } = {}) => {
    const before = await requireMember(store, accountId, personId);
    if (seen !== undefined && seen !== before && role !== before)
      throw new RegistryError('stale', { code: 'member_stale' });
    if (role !== 'owner') {
      await requireOtherOwner(store, accountId, personId);
      await noticeKeys(store, accountId, personId, now);
    }
    await putMember(store, accountId, { personId, role }, 0);
    if (role !== 'owner') await endInvitations(store, accountId, personId);
  }),
  removeMember: write(async (store, accountId, personId, now) => {
    const { kysely, queries } = store;
    await requireMember(store, accountId, personId);
    await requireOtherOwner(store, accountId, personId);
    await noticeKeys(store, accountId, personId, now);
    await endInvitations(store, accountId, personId);
    for (const table of ['members', 'sessions'] as const)
      await queries.run(
        kysely.deleteFrom(table).where('account_id', '=', accountId).where('person_id', '=', personId),
      );
  }),
};

/** The members of one account, or of all accounts, by the number of the account; the first one first. */
export async function readMembers(
  { kysely, queries }: RegistryStore,
  accountId: number | null,
): Promise<ReadonlyMap<number, Member[]>> {
  const members = kysely
    .selectFrom('members')
    .innerJoin('people', 'people.id', 'members.person_id')
    .select(['members.account_id', 'person_id', 'name', 'role', 'since'])
    .orderBy('since')
    .orderBy('person_id');
  const identities = kysely
    .selectFrom('identities')
    .innerJoin('members', 'members.person_id', 'identities.person_id')
    .select(['identities.person_id', 'provider'])
    .distinct()
    .orderBy('provider');
  const [memberRows, identityRows, wayRows] =
    accountId === null
      ? [await queries.all(members), await queries.all(identities), await queries.all(ALL_WAYS())]
      : [
          await queries.all(members.where('members.account_id', '=', accountId)),
          await queries.all(identities.where('members.account_id', '=', accountId)),
          await queries.all(WAYS_OF_ACCOUNT(accountId, accountId)),
        ];
  const providers = Map.groupBy(identityRows, (row) => row.person_id);
  const ways = Map.groupBy(wayRows, (row) => row.person_id);
  const found = new Map<number, Member[]>();
  for (const { account_id, ...row } of memberRows) {
    const member = {
      ...fromRow(row),
      providers: (providers.get(row.person_id) ?? []).map(({ provider }) => provider),
      ways: (ways.get(row.person_id) ?? []).map(({ way }) => way),
    };
    found.set(account_id, [...(found.get(account_id) ?? []), member]);
  }
  return found;
}

type WayRow = { readonly person_id: number; readonly way: Member['ways'][number] };

const ALL_WAYS = statement<WayRow>(
  `SELECT DISTINCT person_id, 'passkey' AS way FROM passkeys
   UNION ALL SELECT person_id, 'password' AS way FROM passwords ORDER BY person_id, way`,
);
const WAYS_OF_ACCOUNT = statement<WayRow>(
  `SELECT DISTINCT person_id, 'passkey' AS way FROM passkeys
   WHERE person_id IN (SELECT person_id FROM members WHERE account_id = ?)
   UNION ALL SELECT person_id, 'password' AS way FROM passwords
   WHERE person_id IN (SELECT person_id FROM members WHERE account_id = ?) ORDER BY person_id, way`,
);

/** Adds a member, or gives a member another role. */
export async function putMember(
  { kysely, queries }: RegistryStore,
  accountId: number,
  { personId, role }: { readonly personId: number; readonly role: Role },
  since: number,
): Promise<void> {
  await queries.run(
    kysely
      .insertInto('members')
      .values({ account_id: accountId, person_id: personId, role, since })
      .onConflict((conflict) => conflict.columns(['account_id', 'person_id']).doUpdateSet({ role })),
  );
}

/** The accounts of a person, the first one first. */
export async function membershipsOf(
  { kysely, queries }: RegistryStore,
  personId: number,
): Promise<Membership[]> {
  const rows = await queries.all(
    kysely
      .selectFrom('members')
      .innerJoin('accounts', 'accounts.id', 'members.account_id')
      .select(['members.account_id', 'accounts.name as account_name', 'role', 'since'])
      .where('person_id', '=', personId)
      .orderBy('since')
      .orderBy('members.account_id'),
  );
  return rows.map(fromRow);
}

/** The role of a member. Throws `not_found` if the person is not a member of the account. */
async function requireMember(store: RegistryStore, accountId: number, personId: number): Promise<Role> {
  const memberships = await membershipsOf(store, personId);
  const found = memberships.find((one) => one.accountId === accountId);
  if (found === undefined) throw new RegistryError('not_found', { code: 'no_member', id: personId });
  return found.role;
}

/** Ends the invitations of a former owner, who could return by one of them. */
async function endInvitations(
  { kysely, queries }: RegistryStore,
  accountId: number,
  inviterId: number,
): Promise<void> {
  await queries.run(
    kysely.deleteFrom('invitations').where('account_id', '=', accountId).where('inviter_id', '=', inviterId),
  );
}

/** Tells the account which keys stay valid when an owner, who may know them, ceases to be one. */
async function noticeKeys(
  store: RegistryStore,
  accountId: number,
  personId: number,
  now: number | undefined,
): Promise<void> {
  if (now === undefined) return;
  const owner = await store.queries.first(OWNER_NAME(accountId, personId));
  const { keys = 0 } = (await store.queries.first(VALID_KEYS(accountId, now))) ?? {};
  if (owner === undefined || Number(keys) === 0) return;
  await addNotice(store, accountId, now, { code: 'keys_stay', name: owner.name, keys: Number(keys) });
}

const OWNER_NAME = statement<{ readonly name: string }>(
  `SELECT people.name FROM members JOIN people ON people.id = members.person_id
   WHERE members.account_id = ? AND members.person_id = ? AND role = 'owner'`,
);
const VALID_KEYS = statement<{ readonly keys: number }>(
  `SELECT COUNT(*) AS keys FROM api_keys
   WHERE account_id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
);

/** Throws `last_owner` if the account has no other owner than the person, who is one. */
async function requireOtherOwner(store: RegistryStore, accountId: number, personId: number): Promise<void> {
  const owners = (await readMembers(store, accountId)).get(accountId)?.filter(({ role }) => role === 'owner');
  if (owners?.length === 1 && owners[0]?.personId === personId)
    throw new RegistryError('last_owner', { code: 'last_owner' });
}
