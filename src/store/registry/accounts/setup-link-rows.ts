/** Links that make a way in. */
import { type Calls, type OpenRegistry, read, write } from '../../database/registry-calls.ts';
import { fromRow, type RegistryStore } from '../../database/registry-store.ts';
import type { Enrolment, FoundSetupLink, SetupLink, SetupLinkStore } from '../../ports/sign-in.ts';
import { cleanName, readAccount, trustAccount } from './account-rows.ts';
import { acceptInvitation, findOpenInvitation } from './invitation-rows.ts';
import { membershipsOf } from './member-rows.ts';
import { addOwner, addPerson, insertPerson } from './people-rows.ts';
import { addPasskey, deletePassword, setPassword } from './sign-in-rows.ts';

export const SETUP_LINK_CALLS: Calls<SetupLinkStore> = {
  addSetupLink: write(async ({ kysely, queries }, link, now) => {
    const { sha256, kind, accountId, personId, invitation, expiresAt } = link;
    await queries.run(kysely.deleteFrom('setup_links').where('expires_at', '<=', now));
    await queries.run(
      kysely.insertInto('setup_links').values({
        sha256,
        kind,
        account_id: accountId,
        person_id: personId,
        invitation,
        expires_at: expiresAt,
      }),
    );
  }),
  findSetupLink: read(findSetupLink),
  useSetupLink: write(async (registry, sha256, enrolment, now) => {
    const link = await findSetupLink(registry, sha256, now);
    if (link === null) return null;
    const personId = await preparePerson(registry, link, enrolment, now);
    // Only the operator has the link for the first account: it is printed at the start.
    if (link.kind === 'first') await trustAccountsOf(registry, personId, now);
    const { credential } = enrolment;
    if (credential.kind === 'passkey') await addPasskey(registry, personId, credential.passkey, now);
    else await setPassword(registry, personId, credential.password, now);
    await forgetLink(registry, link);
    return personId;
  }),
};

async function findSetupLink(
  store: RegistryStore,
  sha256: Uint8Array,
  now: number,
): Promise<FoundSetupLink | null> {
  const { kysely, queries } = store;
  const row = await queries.first(
    kysely
      .selectFrom('setup_links')
      .leftJoin('people', 'people.id', 'setup_links.person_id')
      .selectAll('setup_links')
      .select('people.name as person_name')
      .where('sha256', '=', sha256)
      .where('expires_at', '>', now),
  );
  if (row === undefined) return null;
  // The first person who uses an invitation is the only one.
  if (row.invitation !== null && (await findOpenInvitation(store, row.invitation, now)) === null) return null;
  if (row.kind !== 'first') return fromRow(row);
  // Once there is an account, nobody takes the installation over by a link that stands in an old log.
  const account = await queries.first(kysely.selectFrom('accounts').select('id').limit(1));
  return account === undefined ? fromRow(row) : null;
}

/** The person of a link: a new one, or the one of a reset without anything that they signed in with. */
async function preparePerson(
  registry: OpenRegistry,
  { kind, accountId, personId, invitation }: SetupLink,
  { name }: Enrolment,
  now: number,
): Promise<number> {
  const { kysely, queries } = registry;
  if (kind === 'reset' && personId !== null) {
    await deletePassword(registry, personId);
    for (const table of ['passkeys', 'sessions'] as const)
      await queries.run(kysely.deleteFrom(table).where('person_id', '=', personId));
    return personId;
  }
  if (invitation !== null) {
    const { id } = await insertPerson(registry, cleanName(name), now);
    await acceptInvitation(registry, invitation, id, now);
    return id;
  }
  if (accountId === null) return (await addPerson(registry, name, now, kind === 'first')).person.id;
  await readAccount(registry, accountId);
  return (await addOwner(registry, accountId, name, now)).id;
}

async function trustAccountsOf(store: RegistryStore, personId: number, now: number): Promise<void> {
  for (const { accountId } of await membershipsOf(store, personId))
    await trustAccount(store, accountId, 'setup-link', now);
}

/** Deletes a used link, and all others for the same person or for the first account. */
async function forgetLink({ kysely, queries }: RegistryStore, link: SetupLink): Promise<void> {
  await queries.run(
    kysely
      .deleteFrom('setup_links')
      .where((eb) =>
        eb.or([
          eb('sha256', '=', link.sha256),
          eb('kind', '=', 'first'),
          ...(link.personId === null ? [] : [eb('person_id', '=', link.personId)]),
        ]),
      ),
  );
}
