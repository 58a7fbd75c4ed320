/** Members of an account and invitations to it: its owners invite, change and remove members; every member may leave. */
import { createHash, randomBytes } from 'node:crypto';
import { DAY_MS } from '../../domain/durations.ts';
import { isRole, type Role } from '../../domain/role.ts';
import type { Account, MemberStore } from '../../store/ports/accounts.ts';
import type {
  Identity,
  InvitationStore,
  OpenedInvitation,
  PeopleStore,
  Person,
} from '../../store/ports/people.ts';
import { type AccountPrincipal, accept, attempt, type Outcome, refuse, refuseRole } from '../kit/change.ts';

export interface MemberContext {
  readonly registry: InvitationStore & MemberStore;
  readonly now: () => number;
}

/** Lifetime of an invitation, milliseconds. */
const INVITATION_MS = 7 * DAY_MS;
const SECRET_BYTES = 32;
const SECRET_FORM = /^[A-Za-z0-9_-]{43}$/;

/**
 * Invites somebody to the account. Returns the secret of the invitation, of which only a hash is stored: show it once.
 * Refused with `role_required`, `role_invalid`, `too_many_invitations` or `too_many_invitations_today`.
 */
export async function inviteMember(
  { registry, now }: MemberContext,
  principal: AccountPrincipal,
  { inviterId, role: word }: { readonly inviterId: number; readonly role: string },
): Promise<Outcome<{ readonly secret: string; readonly role: Role; readonly expiresAt: number }>> {
  const denied = refuseRole(principal, 'owner');
  if (denied !== null) return denied;
  const role = readRole(word);
  if (!role.ok) return role;
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  const createdAt = now();
  const expiresAt = createdAt + INVITATION_MS;
  const invitation = { sha256: hashSecret(secret), inviterId, role: role.value, createdAt, expiresAt };
  return await attempt(async () => {
    await registry.addInvitation({ accountId: principal.accountId, ...invitation });
    return { secret, role: role.value, expiresAt };
  }, 'role');
}

/** Withdraws an invitation by its number. Refused with `role_required` or `no_invitation`. */
export async function withdrawInvitation(
  { registry }: MemberContext,
  principal: AccountPrincipal,
  id: number,
): Promise<Outcome<void>> {
  const denied = refuseRole(principal, 'owner');
  if (denied !== null) return denied;
  const isRemoved = await registry.removeInvitation(principal.accountId, id);
  return isRemoved ? accept(undefined) : refuse({ code: 'no_invitation' });
}

/**
 * Gives a member another role; `seen` is the one that the owner saw. Refused with `role_required`, `role_invalid`, `no_member`, `member_stale` or
 * `last_owner`.
 */
export async function setMemberRole(
  { registry, now }: MemberContext,
  principal: AccountPrincipal,
  personId: number,
  { role: word, seen }: { readonly role: string; readonly seen?: string | undefined },
): Promise<Outcome<void>> {
  const denied = refuseRole(principal, 'owner');
  if (denied !== null) return denied;
  const role = readRole(word);
  if (!role.ok) return role;
  const by = seen !== undefined && isRole(seen) ? { seen, now: now() } : { now: now() };
  return await attempt(() => registry.setRole(principal.accountId, personId, role.value, by));
}

/**
 * Removes a member, whose sessions in the account end. `selfId`: the person who makes the change, who may leave with any
 * role. Refused with `role_required`, `no_member` or `last_owner`.
 */
export async function removeMember(
  { registry, now }: MemberContext,
  principal: AccountPrincipal,
  personId: number,
  selfId: number,
): Promise<Outcome<void>> {
  const denied = personId === selfId ? null : refuseRole(principal, 'owner');
  return denied ?? (await attempt(() => registry.removeMember(principal.accountId, personId, now())));
}

/**
 * Opens an invitation, which becomes that of the first person who opens it. `personId` null: a visitor who is not signed
 * in. Refused with `no_invitation`, which does not tell why.
 */
export async function openInvitation(
  { registry, now }: MemberContext & { readonly registry: InvitationStore },
  secret: string,
  personId: number | null,
): Promise<Outcome<OpenedInvitation>> {
  if (!SECRET_FORM.test(secret)) return refuse({ code: 'no_invitation' });
  const sha256 = hashSecret(secret);
  const found =
    personId === null
      ? await registry.findInvitation(sha256, now())
      : await registry.openInvitation(sha256, personId, now());
  return found === null ? refuse({ code: 'no_invitation' }) : accept(found);
}

/**
 * Lets a visitor without a way to sign in make one from an invitation, a few times. The first who does is a member and has used it up.
 * Resolves with the SHA-256 that the link is made for. Refused with `no_invitation`.
 */
export async function admitByInvitation(
  { registry, now }: MemberContext & { readonly registry: InvitationStore },
  secret: string,
): Promise<Outcome<{ readonly invitation: Uint8Array }>> {
  const invitation = hashSecret(secret);
  const isAdmitted = SECRET_FORM.test(secret) && (await registry.countSetup(invitation, now()));
  return isAdmitted ? accept({ invitation }) : refuse({ code: 'no_invitation' });
}

/**
 * The person who signs in by a provider. A new one becomes a member of the account that invites them, or else gets an account, where
 * people may have one. Refused with `accounts_closed`, and as {@link acceptInvitation}.
 */
export async function admitIdentity(
  {
    registry,
    now,
  }: MemberContext & {
    readonly registry: InvitationStore & PeopleStore;
  },
  identity: Identity,
  /** Of the invitation that the visitor came from; empty: none. */
  secret: string,
  mayAddAccounts: boolean,
): Promise<Outcome<{ readonly person: Person; readonly hasJoined: boolean }>> {
  const known = await registry.findIdentity(identity);
  if (known !== null) return accept({ person: known, hasJoined: false });
  if (SECRET_FORM.test(secret)) {
    const joined = await attempt(() => registry.joinByIdentity(hashSecret(secret), identity, now()));
    if (!joined.ok) return joined;
    if (joined.value !== null) return accept({ person: joined.value, hasJoined: true });
  }
  return mayAddAccounts
    ? accept({ person: await registry.ensureIdentity(identity, now()), hasJoined: false })
    : refuse({ code: 'accounts_closed' });
}

/** Accepts an invitation. Refused with `no_invitation`, `member_already` or `too_many_members`. */
export async function acceptInvitation(
  { registry, now }: MemberContext & { readonly registry: InvitationStore },
  secret: string,
  personId: number,
): Promise<Outcome<Account>> {
  if (!SECRET_FORM.test(secret)) return refuse({ code: 'no_invitation' });
  return await attempt(() => registry.acceptInvitation(hashSecret(secret), personId, now()));
}

function readRole(word: string): Outcome<Role> {
  return isRole(word) ? accept(word) : refuse({ code: 'role_invalid' }, 'role');
}

function hashSecret(secret: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(secret).digest());
}
