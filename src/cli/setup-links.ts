/** `upbeat accounts setup-link` and `upbeat accounts reset`: one-time links by which people sign in. */

import { nameKeyOf } from '../auth/password-sign-in.ts';
import { makeSetupLink, type SetupLinkTarget } from '../auth/setup-links.ts';
import { systemClock } from '../clock.ts';
import { formatTime } from '../domain/durations.ts';
import { printable } from '../domain/printable-text.ts';
import type { FoundPerson } from '../store/ports/sign-in.ts';
import { type AccountChoice, findAccount, readAccountChoice } from './accounts.ts';
import { CommandError, type CommonOptions } from './command.ts';
import { withRegistry } from './open-stores.ts';
import { printJson, printNote } from './output.ts';

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
