/** Resolves the account options of commands, by name or number, and lists accounts. */

import { systemClock } from '../clock.ts';
import { isClose } from '../config/closest-name.ts';
import { formatTime } from '../domain/durations.ts';
import { describeGivenTextProblem } from '../domain/input-problem.ts';
import { readGivenName } from '../domain/printable-text.ts';
import { refuse } from '../resources/kit/change.ts';
import type { AccountListing, AccountStore } from '../store/ports/accounts.ts';
import type { SignInStore } from '../store/ports/sign-in.ts';
import { hasText, type ListOptions, NOTHING_MATCHES, UsageError } from './command.ts';
import { withRegistry } from './open-stores.ts';
import { resultOf } from './outcome.ts';
import { printJson, printNote, printRows } from './output.ts';

/** The account options of a command; exactly one is given. */
export interface AccountChoice {
  /** Name of the account. */
  readonly account?: string;
  /** Number of the account, from `upbeat accounts list`. */
  readonly accountId?: number;
}

/**
 * Validates the account options before any store is opened. `byDefault`: the name if neither option is given. Throws
 * {@link UsageError} for both options, for neither without a default, and for an invalid name.
 */
export function readAccountChoice({ account, accountId }: AccountChoice, byDefault?: string): AccountChoice {
  if (account !== undefined && accountId !== undefined)
    throw new UsageError('give --account or --account-id, not both');
  if (accountId !== undefined) return { accountId };
  const name = account ?? byDefault;
  if (name === undefined) throw new UsageError('name the account: --account NAME or --account-id ID');
  return { account: readName('--account', name) };
}

/**
 * Makes a change for the account of a command that may begin one. A new name creates an account, which is removed again if the change gives it
 * nothing, such as a change that is refused. Warns on standard error if the account belongs to a person who signed in,
 * because people choose these names themselves, and if the name of an account that is created is close to a known one. Throws
 * {@link CommandError} for a number that no account has. `makes`: which accounts the command begins; with `first`, an unknown name is
 * refused as soon as there is an account.
 */
export async function changeAccount<T>(
  registry: AccountStore,
  { account, accountId }: AccountChoice,
  change: (account: NamedAccount) => Promise<T>,
  makes: 'any' | 'first' = 'any',
): Promise<T> {
  const known = await registry.listAccounts();
  const name = account ?? '';
  if (accountId !== undefined) return await change(chooseAccount(known, { accountId }));
  const found = known.find((one) => one.name === name);
  if (found !== undefined) {
    warn(warningForKnown(found));
    return await change(found);
  }
  if (makes === 'first' && known.length > 0) return await change(chooseAccount(known, { account: name }));
  const made = await registry.ensureAccount(name, systemClock.now());
  try {
    return await change(made);
  } finally {
    const isRemoved = await registry.removeEmptyAccount(made.id);
    if (!isRemoved) warn(warningForNew(made, known));
  }
}

/** Finds the account of a command, which must exist. Throws {@link CommandError} with `no_account` and the names that are close. */
export async function findAccount(registry: AccountStore, choice: AccountChoice): Promise<NamedAccount> {
  return chooseAccount(await registry.listAccounts(), choice);
}

/** The account of the options. Throws as {@link findAccount}. */
export function chooseAccount(
  known: readonly AccountListing[],
  { account, accountId }: AccountChoice,
): AccountListing {
  const found = known.find(({ id, name }) => (accountId === undefined ? name === account : id === accountId));
  if (found !== undefined) return found;
  const missing = refuse({ code: 'no_account', account: account ?? String(accountId) });
  const near = closeTo(account ?? '', known).map(({ id, name }) => `"${name}" (number ${id})`);
  return resultOf(missing, near.length === 0 ? null : `Did you mean ${near.join(' or ')}?`);
}

/** At most three accounts whose names differ from a name by case, spaces or a few letters. */
function closeTo<Known extends NamedAccount>(name: string, known: readonly Known[]): readonly Known[] {
  const folded = foldName(name);
  return known.filter((one) => isClose(folded, foldName(one.name))).slice(0, 3);
}

function warn(warning: string | null): void {
  if (warning !== null) printNote(`warning: ${warning}`);
}

function warningForKnown(account: AccountListing): string | null {
  const { id, name, members } = account;
  if (members.length === 0) return null;
  const providers = providersOf(account);
  const ways = providers.length === 0 ? '' : ` by ${providers.join(' and ')}`;
  return `account "${name}" (number ${id}) belongs to a person who signs in${ways}, and who sees and manages all that it has; --account-id ${id} says that you mean it, another name makes another account`;
}

function warningForNew({ id, name }: NamedAccount, known: readonly AccountListing[]): string | null {
  const [alike] = closeTo(name, known);
  if (alike === undefined) return null;
  return `account "${name}" (number ${id}) is new; there is "${alike.name}" (number ${alike.id}) too`;
}

/** Normalizes a name, so that names that look alike are equal. */
function foldName(name: string): string {
  return name.normalize('NFKC').replaceAll(/\s+/g, ' ').toLowerCase().toUpperCase();
}

/** The providers and other ways by which the members of an account sign in. */
function providersOf({ members }: AccountListing): string[] {
  return [...new Set(members.flatMap(({ providers, ways }) => [...providers, ...ways]))];
}

/** Prints all accounts, oldest first, with their members. */
export async function listAccounts({ config, json = false, q = '' }: ListOptions): Promise<void> {
  const all = await withRegistry(config, (registry) => registry.listAccounts());
  const accounts = all.filter(({ name, members }) => hasText([name, ...members.map(({ name }) => name)], q));
  const view = <Trust, Members>(account: AccountListing, trusted: Trust, members: Members) => ({
    id: account.id,
    account: account.name,
    signs_in_by: providersOf(account).join(' ') || null,
    members,
    keys: account.keys,
    services: account.services,
    created: formatTime(account.createdAt),
    trusted,
  });
  if (json) {
    const members = ({ members }: AccountListing) =>
      members.map(({ personId, name, role, providers, ways }) => ({
        person: personId,
        name,
        role,
        providers,
        ways,
      }));
    printJson(accounts.map((account) => view(account, trustOf(account), members(account))));
    return;
  }
  const rows = accounts.map((account) => {
    const members = account.members.map(({ name, role }) => `${name} (${role})`);
    return view(account, describeTrust(account), members.join(', ') || null);
  });
  const empty = 'There are no accounts. A key makes one: upbeat keys create --account NAME';
  printRows(rows, false, all.length === 0 ? empty : NOTHING_MATCHES);
}

/** Since when an account is trusted, and by what, for programs; null: it is not. */
export function trustOf({ trustedAt, trustedBy }: Pick<AccountListing, 'trustedAt' | 'trustedBy'>) {
  return trustedAt === null ? null : { since: formatTime(trustedAt), by: trustedBy };
}

/** The same for people. */
function describeTrust({ trustedAt, trustedBy }: AccountListing): string | null {
  if (trustedAt === null) return null;
  return `since ${formatTime(trustedAt).slice(0, 10)} by ${trustedBy?.replace('command:', 'command of ')}`;
}

export type NamedAccount = Pick<AccountListing, 'id' | 'name'>;

/** Accounts with members of whom no owner can sign in, such as after a provider was removed from the configuration. */
export async function findLockedAccounts(
  registry: AccountStore & SignInStore,
  providers: ReadonlySet<string>,
): Promise<readonly NamedAccount[]> {
  const locked: NamedAccount[] = [];
  for (const account of await registry.listAccounts()) {
    if (account.members.length === 0) continue;
    let isOpen = false;
    for (const { role, personId, providers: own } of account.members) {
      if (isOpen || role !== 'owner') continue;
      const { passkeys, password } = await registry.waysOf(personId);
      isOpen = own.some((id) => providers.has(id)) || passkeys.length > 0 || password !== null;
    }
    if (!isOpen) locked.push(account);
  }
  return locked;
}

/** A trimmed name of an option. Throws {@link UsageError} if it is not a valid name. */
export function readName(option: string, text: string): string {
  const reading = readGivenName(text);
  if (!reading.ok) throw new UsageError(`${option} ${describeGivenTextProblem(reading.problem)}`);
  return reading.name;
}
