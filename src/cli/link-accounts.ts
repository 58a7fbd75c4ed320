/** `upbeat accounts link` and `upbeat accounts merge`, which join what commands made with who signs in, and `upbeat accounts trust`. */
import { userInfo } from 'node:os';
import { nameKeyOf } from '../auth/password-sign-in.ts';
import { makeSetupLink, type SetupLinkTarget } from '../auth/sign-in-secret.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/resolve-config.ts';
import { formatTime } from '../domain/durations.ts';
import { printable } from '../domain/printable-text.ts';
import { PAGE_BOUNDS } from '../domain/status-page.ts';
import { MAX_KEYS } from '../resources/keys/keys.ts';
import { attempt, type Outcome, type Principal, refuse } from '../resources/kit/change.ts';
import type {
  Account,
  AccountListing,
  AccountStore,
  MergePlan,
  MergeStore,
  TrustGiver,
} from '../store/ports/accounts.ts';
import { MAX_RULES } from '../store/ports/alerts.ts';
import { MAX_CHANNELS } from '../store/ports/channels.ts';
import { type Identity, MAX_MEMBERS, type PeopleStore, type Person } from '../store/ports/people.ts';
import type { Registry } from '../store/ports/registry.ts';
import type { FoundPerson } from '../store/ports/sign-in.ts';
import { MAX_WEBHOOKS } from '../store/ports/webhooks.ts';
import { type AccountChoice, chooseAccount, findAccount, readAccountChoice, trustOf } from './accounts.ts';
import { CommandError, type CommonOptions, UsageError } from './command.ts';
import { withRegistry } from './open-stores.ts';
import { OPERATOR, resultOf } from './outcome.ts';
import { printJson, printNote, printText } from './output.ts';

/** Makes a person an owner of an account: the one with that identity, or with that number. */
export async function linkPerson(
  account: string,
  provider: string | undefined,
  subject: string | undefined,
  options: CommonOptions & { readonly person?: number },
): Promise<void> {
  const { config: file, person: personId } = options;
  if ((personId === undefined) === (provider === undefined || subject === undefined))
    throw new UsageError('name the person: PROVIDER SUBJECT, or --person ID');
  const { person, chosen, isUnknown } = await withRegistry(file, async (registry, config) => {
    const chosen = find(await registry.listAccounts(), account);
    const who =
      personId === undefined
        ? { provider: provider ?? '', subject: subject ?? '', name: subject ?? '' }
        : { personId };
    const person = resultOf(await linkAccount(contextOf(registry, config), OPERATOR, chosen.id, who));
    const isUnknown = provider !== undefined && !config.auth.providers.some(({ id }) => id === provider);
    return { person, chosen, isUnknown };
  });
  if (isUnknown) printNote(`warning: the configuration has no provider "${provider}"`);
  printNote(`${person.name} (person ${person.id}) is an owner of "${chosen.name}" (number ${chosen.id})`);
}

/** Trusts an account, or stops to. */
export async function trust(
  account: string,
  { config: file, off = false, json = false }: CommonOptions & { readonly off?: boolean },
): Promise<void> {
  const { before, after } = await withRegistry(file, async (registry, { accounts }) => {
    const before = findOnly(await registry.listAccounts(), account);
    if (off && accounts.trusted.includes(before.name))
      throw new CommandError(`The setting accounts.trusted names "${before.name}": take it out there.`);
    const context = { registry, now: systemClock.now };
    const by = off ? null : (`command:${userName()}` as const);
    return { before, after: resultOf(await trustAccount(context, OPERATOR, before.id, by)) };
  });
  const { id, name } = after;
  if (json) {
    printJson({ id, account: name, trusted: trustOf(after) });
    return;
  }
  const members = before.members.map((member) => `${member.name} (${member.role})`).join(', ');
  printNote(
    after.trustedAt === null
      ? `"${name}" (number ${id}) is not trusted; its services at private addresses are no longer checked`
      : `"${name}" (number ${id}) is trusted: it needs no proof of domains and reaches private addresses${members === '' ? '' : `; its members: ${members}`}`,
  );
}

/** The operating system's user who runs the command. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may have a user without a name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** As {@link find}, but not if the text is the number of one account and the name of another. */
function findOnly(accounts: readonly AccountListing[], text: string): AccountListing {
  const found = find(accounts, text);
  const named = accounts.find(({ name }) => name === text);
  if (named === undefined || named.id === found.id) return found;
  throw new CommandError(
    `"${text}" is the number of "${found.name}" and the name of number ${named.id}: give the number ${named.id}, or the name "${found.name}".`,
  );
}

/** Merges an account into another one, or prints what a merge would do. */
export async function merge(
  from: string,
  into: string,
  { config: file, dryRun = false, json = false }: CommonOptions & { readonly dryRun?: boolean },
): Promise<void> {
  const { plan, exceeded } = await withRegistry(file, async (registry, config) => {
    const accounts = await registry.listAccounts();
    const [fromId, intoId] = [find(accounts, from).id, find(accounts, into).id];
    const request = { fromId, intoId, isDryRun: dryRun };
    return resultOf(await mergeAccounts(contextOf(registry, config), OPERATOR, request));
  });
  const { moved, members, claims, droppedClaims, droppedInvitations } = plan;
  if (json) {
    printJson({
      merged: !dryRun,
      from: { id: plan.from.id, account: plan.from.name },
      into: { id: plan.into.id, account: plan.into.name },
      moved: { ...moved, claims: claims.length },
      members: members.map(({ personId, name, before, role }) => ({ person: personId, name, before, role })),
      dropped: { claims: droppedClaims, invitations: droppedInvitations },
      exceeded,
    });
    return;
  }
  const lines = [
    `${dryRun ? 'would merge' : 'merged'} "${plan.from.name}" (number ${plan.from.id}) into "${plan.into.name}" (number ${plan.into.id})`,
    `  services ${moved.services}, keys ${moved.keys}, webhooks ${moved.webhooks}, status pages ${moved.pages}, channels ${moved.channels}, rules ${moved.rules}, incidents ${moved.incidents}, maintenances ${moved.maintenances}, subscriptions ${moved.subscriptions}`,
    ...members.map(({ name, personId, before, role }) => {
      const change =
        before === null
          ? `joins as ${role}`
          : before === role
            ? `stays ${role}`
            : `${before}, becomes ${role}`;
      return `  member ${name} (person ${personId}): ${change}`;
    }),
    ...claims.map(
      (domain) => `  ${domain} awaits verification: its proof has another word in the new account`,
    ),
    ...droppedClaims.map((domain) => `  ${domain} awaits verification in both accounts: one claim stays`),
    ...(droppedInvitations > 0 ? [`  invitations to the old account end: ${droppedInvitations}`] : []),
    ...exceeded.map(
      ({ kind, count, max }) =>
        `  ${kind}: ${count}, over the limit of ${max}; nothing can be added until there are fewer`,
    ),
  ];
  printText(lines.join('\n'));
}

function contextOf(registry: Registry, { limits }: Config) {
  return { registry, domainsPerAccount: limits.domainsPerAccount, now: systemClock.now };
}

/** The account with that number, else with that name. Throws {@link CommandError} if there is none. */
function find(accounts: readonly AccountListing[], text: string): AccountListing {
  const byNumber = /^\d+$/.test(text) ? accounts.find(({ id }) => id === Number(text)) : undefined;
  return byNumber ?? chooseAccount(accounts, { account: text });
}

interface AccountContext {
  readonly registry: MergeStore & PeopleStore;
  /** Maximum number of domains of an account. */
  readonly domainsPerAccount: number;
  readonly now: () => number;
}

/** A limit that an account exceeds after a merge. It keeps what it has, and can add nothing of the kind. */
interface ExceededLimit {
  readonly kind: 'services' | 'keys' | 'webhooks' | 'pages' | 'channels' | 'rules' | 'members';
  readonly count: number;
  readonly max: number;
}

type Operator = Principal & { readonly role: 'operator' };

/** Makes a person, by number or identity, an owner of an account. Refused with `no_account` or `no_person`. */
async function linkAccount(
  { registry, now }: AccountContext,
  _principal: Operator,
  accountId: number,
  who: Identity | { readonly personId: number },
): Promise<Outcome<Person>> {
  return await attempt(() =>
    'personId' in who
      ? registry.linkPerson(accountId, who.personId, now())
      : registry.linkIdentity(accountId, who, now()),
  );
}

/** Trusts an account, or stops to (`by` null). Refused with `no_account`. */
async function trustAccount(
  { registry, now }: { readonly registry: AccountStore; readonly now: () => number },
  _principal: Operator,
  accountId: number,
  by: TrustGiver | null,
): Promise<Outcome<Account>> {
  return await attempt(() => registry.trustAccount(accountId, by, now()));
}

/**
 * Merges an account into another one, or only plans it. Refused with `no_account`, `same_account` or `merge_untrusted`. A limit that the
 * result exceeds is no reason to refuse, since the operator has none.
 */
async function mergeAccounts(
  { registry, domainsPerAccount, now }: AccountContext,
  _principal: Operator,
  {
    fromId,
    intoId,
    isDryRun,
  }: { readonly fromId: number; readonly intoId: number; readonly isDryRun: boolean },
): Promise<Outcome<{ readonly plan: MergePlan; readonly exceeded: readonly ExceededLimit[] }>> {
  if (fromId === intoId) return refuse({ code: 'same_account' });
  return await attempt(async () => {
    const plan = isDryRun
      ? await registry.planMerge(fromId, intoId)
      : await registry.mergeAccounts(fromId, intoId, now());
    return { plan, exceeded: exceededBy(plan, domainsPerAccount) };
  });
}

function exceededBy(plan: MergePlan, domainsPerAccount: number): ExceededLimit[] {
  const { moved, before, members, membersBefore } = plan;
  const joined = members.filter((member) => member.before === null).length;
  const limits: readonly ExceededLimit[] = [
    { kind: 'services', count: before.services + moved.services, max: domainsPerAccount },
    { kind: 'keys', count: before.keys + moved.keys, max: MAX_KEYS },
    { kind: 'webhooks', count: before.webhooks + moved.webhooks, max: MAX_WEBHOOKS },
    { kind: 'pages', count: before.pages + moved.pages, max: PAGE_BOUNDS.pagesPerAccount },
    { kind: 'channels', count: before.channels + moved.channels, max: MAX_CHANNELS },
    { kind: 'rules', count: before.rules + moved.rules, max: MAX_RULES },
    { kind: 'members', count: membersBefore + joined, max: MAX_MEMBERS },
  ];
  return limits.filter(({ count, max }) => count > max);
}

/** Prints a link for a new person, who owns the given account or a new one. */
export async function printSetupLink(options: CommonOptions & AccountChoice): Promise<void> {
  const { config: file, json = false } = options;
  const isNamed = options.account !== undefined || options.accountId !== undefined;
  const choice = isNamed ? readAccountChoice(options) : null;
  const link = await withRegistry(file, async (registry, { http }) => {
    const accountId = choice === null ? null : (await findAccount(registry, choice)).id;
    const target: SetupLinkTarget = { kind: 'person', accountId, personId: null };
    return await makeSetupLink(registry, http.siteUrl, target, systemClock.now());
  });
  print(link, json, 'it creates a person who signs in');
}

/** Prints a link for a person who has lost everything. What they signed in with ends when it is used. */
export async function printResetLink(
  name: string,
  { config: file, json = false, person: id }: CommonOptions & { readonly person?: number },
): Promise<void> {
  const link = await withRegistry(file, async (registry, { http }) => {
    const found = await registry.findPeople(name, nameKeyOf(name));
    const { id: personId } = choosePerson(
      name,
      id === undefined ? found : found.filter((one) => one.id === id),
    );
    const target: SetupLinkTarget = { kind: 'reset', accountId: null, personId };
    return await makeSetupLink(registry, http.siteUrl, target, systemClock.now());
  });
  print(link, json, `it ends what ${name} signed in with before`);
}

function choosePerson(name: string, found: readonly FoundPerson[]): FoundPerson {
  const [first, ...others] = found;
  if (first === undefined)
    throw new CommandError(`There is no person ${name}. "upbeat accounts list" shows them.`);
  if (others.length === 0) return first;
  const people = found.map(({ id, accounts }) => `${id} (of ${accounts.join(', ')})`);
  throw new CommandError(
    `Several people have the name ${name}: choose one by --person: ${people.join('; ')}.`,
  );
}

/** The link stands alone on standard output. */
function print(
  { url, expiresAt }: { readonly url: string; readonly expiresAt: number },
  json: boolean,
  what: string,
): void {
  if (json) {
    printJson({ url, expires: formatTime(expiresAt) });
    return;
  }
  console.log(printable(url));
  printNote(`valid once, until ${formatTime(expiresAt)}; ${what}`);
}
