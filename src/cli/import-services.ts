/** `upbeat services import`: registers what a file lists, once, however often it is run. */

import { readFileSync } from 'node:fs';
import { systemClock } from '../clock.ts';
import { describeRefusal, type Refusal } from '../domain/refusal.ts';
import { destinationsByTrust } from '../outbound/owner-destinations.ts';
import { type RegistrationContext, registerServices } from '../resources/services/register-services.ts';
import type { Registry } from '../store/ports/registry.ts';
import { type AccountChoice, changeAccount, readAccountChoice } from './accounts.ts';
import type { CommonOptions } from './command.ts';
import type { ListedService } from './import/listed-service.ts';
import { differences, matchServices } from './import/match-services.ts';
import { type NotCarried, readImport, type SkippedEntry } from './import/read-import.ts';
import { withRegistry } from './open-stores.ts';
import { printJson, printNote, printText } from './output.ts';
import { startProgress } from './progress.ts';
import { documentOf, listCatalogueDomains } from './service-commands.ts';

/** Number of entries in one transaction; the running program waits at most for one transaction. */
const BATCH = 200;

/** The outcomes for the services of a list. */
interface ImportOutcome {
  /** Slugs of the added services. */
  readonly added: string[];
  /** Slugs of the services that already existed with the same properties. */
  readonly unchanged: string[];
  readonly skipped: SkippedEntry[];
}

/**
 * Registers the services of a file. Existing services stay as they are. Entries that cannot be imported, and fields
 * that have no equivalent here, are reported on standard error. The status is 1 if an entry was not imported.
 */
export async function importServices(file: string, options: CommonOptions & AccountChoice): Promise<void> {
  const { config, json = false } = options;
  const choice = readAccountChoice(options, 'imported');
  const { format, services, skipped, notCarried } = readImport(readFileSync(file, 'utf8'), file);
  const outcome = await withRegistry(config, async (registry, { catalogue, checks }) => {
    const taken = new Set(await listCatalogueDomains(registry, catalogue.file));
    const context = {
      registry,
      catalogueDomains: taken,
      destinations: destinationsByTrust(checks, registry),
      usual: checks,
    };
    return await changeAccount(registry, choice, ({ id }) => registerAll(registry, services, id, context));
  });
  const { added, unchanged } = outcome;
  const leftOut = [...skipped, ...outcome.skipped];
  if (json) printJson({ format, added, unchanged, skipped: leftOut, not_carried: notCarried });
  else {
    const already = unchanged.length === 0 ? '' : `, ${unchanged.length} there already`;
    printText(`${file} (${format}): ${added.length} added${already}, ${leftOut.length} left out`);
  }
  for (const line of [...describeLost(notCarried), ...describeSkipped(leftOut)]) printNote(line);
  if (leftOut.length > 0) process.exitCode = 1;
}

async function registerAll(
  registry: Registry,
  services: readonly ListedService[],
  accountId: number,
  context: RegistrationContext,
): Promise<ImportOutcome> {
  const outcome: ImportOutcome = { added: [], unchanged: [], skipped: [] };
  const owned = (await registry.loadServices()).flatMap(({ service }) =>
    service.origin === 'owner' ? [service] : [],
  );
  const foreign = new Set(owned.filter((one) => one.accountId !== accountId).map(({ domain }) => domain));
  const entries = [...new Map(services.map((one) => [JSON.stringify(one), one])).values()];
  const own = owned.filter((one) => one.accountId === accountId);
  const there = matchServices(entries, own);
  const fresh: ListedService[] = [];
  for (const listed of entries) {
    const { domain, name } = listed;
    const skip = (reason: string) => outcome.skipped.push({ entry: name, reason });
    const known = there.get(listed);
    if (foreign.has(domain)) skip(`domain "${domain}" is registered by another account`);
    else if (known === undefined) fresh.push(listed);
    else {
      const other = differences(known, listed);
      if (other.length === 0) outcome.unchanged.push(known.slug);
      else skip(`it is registered already, with another ${other.join(', ')}; it stays as it is`);
    }
  }
  // What others depend on comes first, wherever it stands in the file.
  const behind = new Set(fresh.flatMap(({ domain, dependsOn }) => (dependsOn.length > 0 ? [domain] : [])));
  fresh.sort((a, b) => Number(behind.has(a.domain)) - Number(behind.has(b.domain)));
  const progress = startProgress(fresh.length, 'services', systemClock);
  for (let at = 0; at < fresh.length; at += BATCH) {
    const batch = fresh.slice(at, at + BATCH);
    const principal = { role: 'operator', accountId } as const;
    const outcomes = await registerServices(context, principal, batch.map(documentOf), 'always');
    for (const [index, registered] of outcomes.entries()) {
      if (registered.ok) outcome.added.push(registered.value);
      else
        for (const { refusal } of registered.refusals.slice(0, 1))
          outcome.skipped.push({ entry: batch[index]?.name ?? '', reason: explainRefusal(refusal) });
    }
    progress.note(Math.min(at + BATCH, fresh.length));
  }
  progress.end();
  return outcome;
}

/** Fields that were not carried over, a line for each with the number of entries and one of them. */
export function describeLost(lost: readonly NotCarried[]): string[] {
  const groups = groupBy(lost, ({ field, reason }) => `${field}: ${withoutValues(reason)}`);
  return groups.map(
    ([{ entry, field, reason }, count]) =>
      `not carried over: ${field} of ${namesOf(entry, count)}: ${reason}`,
  );
}

/** Entries that were left out, a line for each reason with their number and one of them. */
export function describeSkipped(skipped: readonly SkippedEntry[]): string[] {
  const groups = groupBy(skipped, ({ reason }) => withoutValues(reason));
  return groups.map(([{ entry, reason }, count]) => `left out: ${namesOf(entry, count)}: ${reason}`);
}

function namesOf(entry: string, count: number): string {
  return count === 1 ? entry : `${count.toLocaleString('en')} entries, such as ${entry}`;
}

/** The first entry and the size of each group. */
function groupBy<T>(list: readonly T[], keyOf: (one: T) => string): (readonly [T, number])[] {
  const groups = new Map<string, { first: T; count: number }>();
  for (const one of list) {
    const key = keyOf(one);
    const group = groups.get(key) ?? { first: one, count: 0 };
    group.count++;
    groups.set(key, group);
  }
  return [...groups.values()].map(({ first, count }) => [first, count]);
}

/** A reason without quoted text, so that reasons of one kind are equal. */
function withoutValues(reason: string): string {
  return reason.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
}

/** Why a service of a list was refused: a sentence in which the values of this service are quoted. */
function explainRefusal(refusal: Refusal): string {
  if (refusal.code === 'domain_taken') return `domain "${refusal.domain}" is registered already`;
  if (refusal.code === 'catalogue_owns')
    return `domain "${refusal.domain}" belongs to "${refusal.parent}" of the public catalogue`;
  return describeRefusal(refusal);
}
