/** Invitations to accounts. */
import { countToday } from '../../database/fact-rows.ts';
import { addNotice } from '../../database/notice-rows.ts';
import { type Calls, read, write } from '../../database/registry-calls.ts';
import { RegistryError } from '../../database/registry-error.ts';
import { fromRow, type RegistryStore } from '../../database/registry-store.ts';
import type { Account } from '../../ports/accounts.ts';
import {
  type InvitationStore,
  MAX_INVITATIONS,
  MAX_INVITATIONS_PER_DAY,
  MAX_MEMBERS,
  MAX_SETUPS,
  type OpenedInvitation,
} from '../../ports/people.ts';
import { cleanName, readAccount } from './account-rows.ts';
import { putMember, readMembers } from './member-rows.ts';
import { chooseAccount, insertPerson, putIdentity, readPerson } from './people-rows.ts';

export const INVITATION_CALLS: Calls<InvitationStore> = {
  addInvitation: write(async (store, invitation) => {
    const { kysely, queries } = store;
    const { sha256, accountId, inviterId, role, createdAt, expiresAt } = invitation;
    await queries.run(kysely.deleteFrom('invitations').where('expires_at', '<=', createdAt));
    const open = await queries.all(
      kysely.selectFrom('invitations').select('id').where('account_id', '=', accountId),
    );
    if (open.length >= MAX_INVITATIONS)
      throw new RegistryError('account_limit', { code: 'too_many_invitations', max: MAX_INVITATIONS });
    const max = MAX_INVITATIONS_PER_DAY;
    // Also by who invites: a person may own many accounts.
    for (const name of [`invitations of account ${accountId}`, `invitations of person ${inviterId}`])
      if (!(await countToday(store, name, createdAt, max)))
        throw new RegistryError('account_limit', { code: 'too_many_invitations_today', max });
    await queries.run(
      kysely.insertInto('invitations').values({
        sha256,
        account_id: accountId,
        inviter_id: inviterId,
        role,
        created_at: createdAt,
        expires_at: expiresAt,
      }),
    );
  }),
  invitationsOf: read(async ({ kysely, queries }, accountId, now) => {
    const rows = await queries.all(
      kysely
        .selectFrom('invitations')
        .innerJoin('people as inviter', 'inviter.id', 'inviter_id')
        .leftJoin('people as invited', 'invited.id', 'person_id')
        .select([
          'invitations.id',
          'role',
          'inviter.name as inviter_name',
          'invitations.created_at',
          'expires_at',
          'invited.name as person_name',
        ])
        .where('invitations.account_id', '=', accountId)
        .where('expires_at', '>', now)
        .orderBy('invitations.id', 'desc'),
    );
    return rows.map(fromRow);
  }),
  removeInvitation: write(async ({ kysely, queries }, accountId, id) => {
    const removal = kysely.deleteFrom('invitations').where('account_id', '=', accountId).where('id', '=', id);
    return (await queries.run(removal)) > 0;
  }),
  findInvitation: read(findOpenInvitation),
  countSetup: write(async ({ kysely, queries }, sha256, now) => {
    const counted = kysely
      .updateTable('invitations')
      .set((eb) => ({ setups: eb('setups', '+', 1) }))
      .where('sha256', '=', sha256)
      .where('expires_at', '>', now)
      .where('person_id', 'is', null)
      .where('setups', '<', MAX_SETUPS);
    return (await queries.run(counted)) > 0;
  }),
  openInvitation: write(openInvitation),
  acceptInvitation: write(acceptInvitation),
  joinByIdentity: write(async (store, sha256, identity, now) => {
    if ((await findOpenInvitation(store, sha256, now)) === null) return null;
    const person = await insertPerson(store, cleanName(identity.name), now);
    const { id } = await acceptInvitation(store, sha256, person.id, now);
    await putIdentity(store, identity, { personId: person.id, accountId: id }, now);
    return person;
  }),
};

/** As `InvitationStore.acceptInvitation` describes it, inside the caller's transaction. */
export async function acceptInvitation(
  store: RegistryStore,
  sha256: Uint8Array,
  personId: number,
  now: number,
): Promise<Account> {
  const { kysely, queries } = store;
  const invitation = await openInvitation(store, sha256, personId, now);
  if (invitation === null) throw new RegistryError('not_found', { code: 'no_invitation' });
  const { accountId, role } = invitation;
  const members = (await readMembers(store, accountId)).get(accountId) ?? [];
  if (members.some((member) => member.personId === personId))
    throw new RegistryError('account_limit', { code: 'member_already' });
  if (members.length >= MAX_MEMBERS)
    throw new RegistryError('account_limit', { code: 'too_many_members', max: MAX_MEMBERS });
  await queries.run(kysely.deleteFrom('invitations').where('sha256', '=', sha256));
  await putMember(store, accountId, { personId, role }, now);
  await chooseAccount(store, personId, accountId);
  const { name } = await readPerson(store, personId);
  await addNotice(store, accountId, now, { code: 'member_joined', name, role });
  return await readAccount(store, accountId);
}

/** As `InvitationStore.findInvitation` describes it. */
export async function findOpenInvitation(
  store: RegistryStore,
  sha256: Uint8Array,
  now: number,
): Promise<OpenedInvitation | null> {
  const found = await findInvitation(store, sha256, now);
  return found === undefined || found.personId !== null ? null : withoutPerson(found);
}

async function openInvitation(
  store: RegistryStore,
  sha256: Uint8Array,
  personId: number,
  now: number,
): Promise<OpenedInvitation | null> {
  const { kysely, queries } = store;
  const found = await findInvitation(store, sha256, now);
  if (found === undefined || (found.personId ?? personId) !== personId) return null;
  if (found.personId === null)
    await queries.run(
      kysely.updateTable('invitations').set({ person_id: personId }).where('sha256', '=', sha256),
    );
  return withoutPerson(found);
}

async function findInvitation({ kysely, queries }: RegistryStore, sha256: Uint8Array, now: number) {
  const row = await queries.first(
    kysely
      .selectFrom('invitations')
      .innerJoin('accounts', 'accounts.id', 'invitations.account_id')
      .innerJoin('people', 'people.id', 'inviter_id')
      .select([
        'invitations.account_id',
        'accounts.name as account_name',
        'people.name as inviter_name',
        'role',
        'expires_at',
        'person_id',
      ])
      .where('sha256', '=', sha256)
      .where('expires_at', '>', now),
  );
  return row === undefined ? undefined : fromRow(row);
}

function withoutPerson({
  personId: _,
  ...invitation
}: OpenedInvitation & { readonly personId: number | null }): OpenedInvitation {
  return invitation;
}
