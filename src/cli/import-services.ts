/** `upbeat services import`: registers what a file lists, once, however often it is run. */

import type { ApplyContext } from '../apply/apply.ts';
import type { Plan } from '../apply/apply-plan.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/resolve-config.ts';
import { hashAddressSecret } from '../domain/heartbeat/heartbeat-rules.ts';
import { describeHostNameProblem } from '../domain/input-problem.ts';
import { describeRefusal, type Refusal } from '../domain/refusal.ts';
import { DEFAULT_CHECK, furtherSlug, type Service } from '../domain/service.ts';
import { destinationsByTrust } from '../outbound/address-guard.ts';
import { serviceDocumentOf } from '../resources/services/service-document.ts';
import { type RegistrationContext, registerServices } from '../resources/services/services.ts';
import type { RegistryClient } from '../store/registry/registry-client.ts';
import { type AccountChoice, changeAccount, readAccountChoice } from './accounts.ts';
import { applyContextOf, findKnown, printPlan } from './apply/apply-command.ts';
import type { CommonOptions } from './command.ts';
import { applyContent } from './import/apply-content.ts';
import type { ImportReading, NotCarried } from './import/listed-content.ts';
import { type ListedService, quote, type SkippedEntry } from './import/listed-service.ts';
import { listingOf } from './import/own-form.ts';
import { readImportFile } from './import/read-import.ts';
import { withRegistry } from './open-stores.ts';
import { printJson, printNote, printText, startProgress } from './output.ts';
import { documentOf, giveAddress, listCatalogueDomains } from './service-commands.ts';

/** Number of entries in one transaction; the running program waits at most for one transaction. */
const BATCH = 200;
/** Shorter tokens of push addresses could be guessed. */
const MIN_TOKEN_LENGTH = 8;

interface ImportOutcome {
  /** Slugs of the added services. */
  readonly added: readonly string[];
  /** Slugs of the services that already existed with the same properties. */
  readonly unchanged: readonly string[];
  /** The changes that were made, or in a dry run all that would be. */
  readonly plan: Plan;
  readonly skipped: readonly SkippedEntry[];
  readonly notCarried: readonly NotCarried[];
}

/**
 * Registers what a file lists. What exists stays as it is. Entries that cannot be imported, and fields that have no equivalent here,
 * are reported on standard error. The status is 1 if an entry was not imported, and otherwise that of `apply`.
 */
export async function importServices(
  file: string,
  options: CommonOptions & AccountChoice & { readonly dryRun?: boolean },
): Promise<void> {
  const { config, dryRun = false, json = false } = options;
  const choice = readAccountChoice(options, 'imported');
  const reading = await readImportFile(file, systemClock.now());
  const outcome = await withRegistry(config, async (registry, settings) => {
    const importing = new Import(registry, settings, reading);
    if (dryRun) return await importing.plan(await findKnown(registry, choice));
    return await changeAccount(registry, choice, ({ id }) => importing.run(id));
  });
  const { added, unchanged, plan } = outcome;
  const { format } = reading;
  const leftOut = [...reading.skipped, ...outcome.skipped];
  const notCarried = [...reading.notCarried, ...outcome.notCarried];
  const created = plan.changes.map(({ type, key }) => ({ type, key }));
  if (json)
    printJson({
      format,
      dry_run: dryRun,
      added,
      unchanged,
      created,
      skipped: leftOut,
      not_carried: notCarried,
    });
  else {
    if (reading.items.length > 0) printText(`${file} (${format}) lists ${describeReading(reading)}`);
    if (plan.changes.length > 0) printPlan(plan, { dryRun, json });
    const already = unchanged.length === 0 ? '' : `, ${unchanged.length} there already`;
    const count = dryRun ? plan.changes.filter(({ type }) => type === 'service').length : added.length;
    printText(
      `${file} (${format}): ${count} ${dryRun ? 'to add' : 'added'}${already}, ${leftOut.length} left out`,
    );
  }
  for (const line of [...describeLost(notCarried), ...describeSkipped(leftOut)]) printNote(line);
  if (leftOut.length > 0) process.exitCode = 1;
}

/** The number of recognised members of each list. */
function describeReading({ services, items, skipped }: ImportReading): string {
  const counts = Map.groupBy(items, ({ list }) => list);
  return [
    `${services.length} services`,
    ...[...counts].map(([list, { length }]) => `${length} ${length === 1 ? list.slice(0, -1) : list}`),
    ...(skipped.length === 0 ? [] : [`${skipped.length} without an equal`]),
  ].join(', ');
}

class Import {
  readonly #registry: RegistryClient;
  readonly #settings: Config;
  readonly #reading: ImportReading;
  readonly #context: ApplyContext;
  readonly #slugs = new Map<ListedService, string>();
  readonly #sameAs = new Map<ListedService, ListedService>();
  /** Hosts of which the account has services. */
  readonly #hosts = new Set<string>();
  readonly #skipped: SkippedEntry[] = [];
  readonly #notCarried: NotCarried[] = [];

  constructor(registry: RegistryClient, settings: Config, reading: ImportReading) {
    this.#registry = registry;
    this.#settings = settings;
    this.#reading = reading;
    this.#context = applyContextOf(registry, settings);
  }

  /** The outcome that {@link run} would have. */
  async plan(accountId: number): Promise<ImportOutcome> {
    const fresh = await this.#sort(accountId);
    const unchanged = [...this.#slugs.values()];
    const names = this.#nameFresh(fresh);
    const services = fresh.map((service) => {
      const name = names.get(service);
      const slug = name === undefined || name === service.domain ? {} : { slug: name };
      return { service, document: { ...documentOf(service), ...slug } };
    });
    const nameOf = (one: ListedService) =>
      this.#slugs.get(this.#first(one)) ?? names.get(this.#first(one)) ?? null;
    return await this.#finish(accountId, [], unchanged, { services, nameOf, dryRun: true });
  }

  async run(accountId: number): Promise<ImportOutcome> {
    const fresh = await this.#sort(accountId);
    const unchanged = [...this.#slugs.values()];
    const added = await this.#register(accountId, fresh);
    await this.#giveTokens();
    const nameOf = (one: ListedService) => this.#slugs.get(this.#first(one)) ?? null;
    return await this.#finish(accountId, added, unchanged, { services: [], nameOf, dryRun: false });
  }

  /** The first of equal entries. */
  #first(listed: ListedService): ListedService {
    return this.#sameAs.get(listed) ?? listed;
  }

  async #finish(
    accountId: number,
    added: readonly string[],
    unchanged: readonly string[],
    options: Parameters<typeof applyContent>[3],
  ): Promise<ImportOutcome> {
    const { plan, skipped, notCarried } = await applyContent(
      this.#context,
      accountId,
      this.#reading.items,
      options,
    );
    return {
      added,
      unchanged,
      plan,
      skipped: [...this.#skipped, ...skipped],
      notCarried: [...this.#notCarried, ...notCarried],
    };
  }

  /** The services to register; existing ones get their slugs. */
  async #sort(accountId: number): Promise<ListedService[]> {
    const owned = (await this.#registry.loadServices()).flatMap(({ service }) =>
      service.origin === 'owner' ? [service] : [],
    );
    const foreign = new Set(owned.filter((one) => one.accountId !== accountId).map(({ domain }) => domain));
    const own = owned.filter((one) => one.accountId === accountId);
    for (const { domain } of own) this.#hosts.add(domain);
    const alike = Map.groupBy(this.#reading.services, (one) => JSON.stringify(one));
    const entries = [...alike.values()].flatMap(([first, ...others]) => {
      if (first === undefined) return [];
      for (const other of others) this.#sameAs.set(other, first);
      return [first];
    });
    const there = matchServices(entries, own);
    const fresh: ListedService[] = [];
    for (const listed of entries) {
      const { domain, name } = listed;
      const skip = (reason: string) => this.#skipped.push({ entry: name, reason });
      const known = there.get(listed);
      if (foreign.has(domain)) skip(`domain ${quote(domain)} is registered by another account`);
      else if (known === undefined) fresh.push(listed);
      else {
        const other = differences(known, listed);
        if (other.length === 0) this.#slugs.set(listed, known.slug);
        else skip(`it is registered already, with another ${other.join(', ')}; it stays as it is`);
      }
    }
    // What others depend on comes first, wherever it stands in the file.
    const behind = new Set(fresh.flatMap(({ domain, dependsOn }) => (dependsOn.length > 0 ? [domain] : [])));
    return fresh.toSorted((a, b) => Number(behind.has(a.domain)) - Number(behind.has(b.domain)));
  }

  /** The name of a service in a plan: its domain, or of another one of its host the slug that it chooses. */
  #nameFresh(fresh: readonly ListedService[]): ReadonlyMap<ListedService, string> {
    const taken = new Set(this.#slugs.values());
    return new Map(
      fresh.map((listed) => {
        const { domain, kind, slug = null } = listed;
        const isFirst = !this.#hosts.has(domain);
        this.#hosts.add(domain);
        if (slug !== null || isFirst) return [listed, slug ?? domain];
        const wanted = furtherSlug({ ...listed, check: { ...DEFAULT_CHECK, kind } });
        let own = wanted;
        for (let number = 2; taken.has(own); number++) own = `${wanted}-${number}`;
        taken.add(own);
        return [listed, own];
      }),
    );
  }

  async #register(accountId: number, fresh: readonly ListedService[]): Promise<string[]> {
    const { catalogue, checks } = this.#settings;
    const context: RegistrationContext = {
      registry: this.#registry,
      catalogueDomains: new Set(
        await listCatalogueDomains(await this.#registry.loadServices(), catalogue.file),
      ),
      destinations: destinationsByTrust(checks, this.#registry),
      usual: checks,
    };
    const added: string[] = [];
    const progress = startProgress(fresh.length, 'services', systemClock);
    for (let at = 0; at < fresh.length; at += BATCH) {
      const batch = fresh.slice(at, at + BATCH);
      const outcomes = await registerServices(
        context,
        { role: 'operator', accountId },
        batch.map(documentOf),
        'always',
      );
      for (const [index, listed] of batch.entries()) {
        const registered = outcomes[index];
        if (registered?.ok === true) {
          added.push(registered.value);
          this.#slugs.set(listed, registered.value);
        } else
          for (const { refusal } of registered?.refusals.slice(0, 1) ?? [])
            this.#skipped.push({ entry: listed.name, reason: explainRefusal(refusal, listed) });
      }
      progress.note(Math.min(at + BATCH, fresh.length));
    }
    progress.end();
    return added;
  }

  /** Gives services the addresses that their senders have. A service that has one already keeps it. */
  async #giveTokens(): Promise<void> {
    const withTokens = [...this.#slugs].filter(([{ pushToken }]) => pushToken !== null);
    if (withTokens.length === 0) return;
    const owned = (await this.#registry.loadServices()).map(({ service }) => service);
    const hashes = new Map(
      owned.flatMap(({ slug, check }) => (check.addressHash ? [[check.addressHash, slug] as const] : [])),
    );
    const bySlug = new Map(owned.map((service) => [service.slug, service]));
    for (const [{ name, pushToken }, slug] of withTokens) {
      const token = pushToken ?? '';
      const hash = hashAddressSecret(token);
      const lose = (reason: string) => this.#notCarried.push({ entry: name, field: 'pushToken', reason });
      const owner = hashes.get(hash);
      if (owner === slug) continue;
      if (token.length < MIN_TOKEN_LENGTH) lose('it is so short that it could be guessed');
      else if (owner !== undefined) lose('another service has it');
      else if (bySlug.get(slug)?.check.addressHash !== undefined)
        lose('the service has another address already');
      else {
        await giveAddress(this.#registry, this.#settings, slug, token);
        hashes.set(hash, slug);
      }
    }
  }
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
function explainRefusal(refusal: Refusal, { domain }: ListedService): string {
  if (refusal.code === 'domain_invalid')
    return `domain ${quote(domain)} ${describeHostNameProblem(refusal.problem)}`;
  if (refusal.code === 'domain_taken') return `domain "${refusal.domain}" is registered already`;
  if (refusal.code === 'catalogue_owns')
    return `domain "${refusal.domain}" belongs to "${refusal.parent}" of the public catalogue`;
  return describeRefusal(refusal);
}

type Likeness = (service: Service, listed: ListedService) => boolean;

/** From the surest on. An entry with a slug stands for no service but that with the slug. */
const LIKENESSES: readonly Likeness[] = [
  ({ slug }, listed) => slug === listed.slug,
  (service, listed) => listed.slug === undefined && differences(service, listed).length === 0,
  (service, listed) => listed.slug === undefined && !differences(service, listed).some(isOfCheck),
  ({ name, check }, listed) =>
    listed.slug === undefined && name === listed.name && check.kind === listed.kind,
];

/** The services of an account for which entries stand, by entry; a service stands for one entry. */
function matchServices(
  entries: readonly ListedService[],
  services: readonly Service[],
): ReadonlyMap<ListedService, Service> {
  const ofDomain = Map.groupBy(services, ({ domain }) => domain);
  const matched = new Map<ListedService, Service>();
  const taken = new Set<Service>();
  for (const isAlike of LIKENESSES)
    for (const listed of entries) {
      if (matched.has(listed)) continue;
      const found = ofDomain.get(listed.domain)?.find((one) => !taken.has(one) && isAlike(one, listed));
      if (found === undefined) continue;
      matched.set(listed, found);
      taken.add(found);
    }
  return matched;
}

/** The columns in which an existing service differs from the list, by their names in an export. */
function differences(service: Service, listed: ListedService): string[] {
  const shown = documentOf({ ...listed, secrets: null });
  const [there, wanted] = [listingOf(serviceDocumentOf(service)), listingOf(shown)];
  return [...new Set([...Object.keys(there), ...Object.keys(wanted)])].filter(
    (member) => member !== 'slug' && JSON.stringify(there[member]) !== JSON.stringify(wanted[member]),
  );
}

function isOfCheck(column: string): boolean {
  return ['kind', 'url', 'method', 'accept', 'settings'].includes(column);
}
