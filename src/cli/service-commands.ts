/** `upbeat services`: lists, registers, changes and removes services, and exports them. */

import { readFileSync } from 'node:fs';
import type { PublicServices } from '../apply/present-content.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/resolve-config.ts';
import { ANY_DESTINATION } from '../domain/allowed-destinations.ts';
import { type CheckKind, DEFAULT_CHECK, type Service } from '../domain/service.ts';
import { usualVisibility } from '../domain/special-address.ts';
import { messageOf } from '../error.ts';
import { operatorLimits } from '../kinds/check-members.ts';
import { destinationsByTrust } from '../outbound/address-guard.ts';
import { anyRevision } from '../resources/kit/create-changes.ts';
import { mergePatch } from '../resources/kit/read-document.ts';
import {
  type Registration,
  readServiceDocument,
  type ServiceDocument,
  serviceDocumentOf,
  TEXT_MEMBERS,
  type TextMember,
} from '../resources/services/service-document.ts';
import { atTexts, patchOfTexts, type SettingTexts } from '../resources/services/service-texts.ts';
import {
  makeHeartbeatAddress,
  registerServices,
  removeHeartbeatAddress,
  renewBadgeAddress,
  type ServiceContext,
  serviceChanges,
} from '../resources/services/services.ts';
import type { Registry } from '../store/ports/registry.ts';
import type { ServiceState, ServiceStateStore } from '../store/ports/services.ts';
import { findKey } from '../store/secrets/secret-box.ts';
import { createBadgeAddresses } from '../view/badge-url.ts';
import { type AccountChoice, changeAccount, readAccountChoice } from './accounts.ts';
import {
  CommandError,
  type CommonOptions,
  filterRows,
  type ListOptions,
  NOTHING_MATCHES,
  splitSetting,
  UsageError,
} from './command.ts';
import type { ListedService } from './import/listed-service.ts';
import { serviceFinders, withRegistry } from './open-stores.ts';
import { OPERATOR, resultOf } from './outcome.ts';
import { printJson, printNote, printRows, whileWaiting } from './output.ts';

/**
 * The options of `services add` and `services set`, by the names of members of a service's document. Null: the default. Those that are absent stay
 * unchanged.
 */
export interface ServiceOptions {
  readonly [member: string]: string | boolean | null | readonly string[] | undefined;
  readonly kind?: CheckKind;
  readonly setting?: readonly string[];
  readonly settingFile?: readonly string[];
  /** Names of regions. */
  readonly region?: readonly string[];
  /** Slugs of services. */
  readonly dependsOn?: readonly string[];
}

/** Prints all services with their last known status. */
export async function listServices({ config, json = false, ...filters }: ListOptions): Promise<void> {
  const states = await loadAll(config);
  const rows = states.map(({ service, current }) => ({
    slug: service.slug,
    name: service.name,
    domain: service.domain,
    category: service.category,
    kind: service.check.kind,
    origin: service.origin,
    status: current.status,
    paused: service.paused,
    ...(service.origin === 'owner'
      ? { visibility: service.visibility ?? 'public', ...textsOf(service) }
      : {}),
  }));
  rows.sort((a, b) => (a.slug < b.slug ? -1 : 1));
  const columns = ['slug', 'domain', 'category', 'kind', 'origin', 'status', 'paused'];
  const shown = filterRows(rows, filters, ['slug', 'name', 'domain']);
  const empty = 'There are no services yet; "upbeat start" loads the catalogue.';
  printRows(shown, json, rows.length === 0 ? empty : NOTHING_MATCHES, { columns });
}

/** The texts of an owner's service by their members; those that it does not have are left out. */
function textsOf(service: Service): Pick<ServiceDocument, TextMember> {
  const document = serviceDocumentOf(service);
  const texts = TEXT_MEMBERS.flatMap((name) => (name in document ? [[name, document[name]] as const] : []));
  return Object.fromEntries(texts);
}

async function loadAll(config: string) {
  return await whileWaiting('reading the services', () =>
    withRegistry(config, (registry) => registry.loadServices()),
  );
}

/** Registers a service; prints its slug. */
export async function addService(
  domainText: string,
  options: CommonOptions & AccountChoice & ServiceOptions,
): Promise<void> {
  const { config, kind = 'root', json = false } = options;
  const { patch, settings } = readServiceOptions(options, kind);
  const document = mergePatch({ domain: domainText }, patch);
  const { domain } = judge(document, settings);
  const choice = readAccountChoice(options);
  const { slug, owner } = await withRegistry(config, async (registry, { catalogue, checks }) => {
    const catalogueDomains = new Set(
      await listCatalogueDomains(await registry.loadServices(), catalogue.file),
    );
    const context = {
      registry,
      catalogueDomains,
      destinations: destinationsByTrust(checks, registry),
      usual: checks,
    };
    return await changeAccount(registry, choice, async (owner) => {
      const principal = { role: 'operator', accountId: owner.id } as const;
      const [outcome] = await registerServices(context, principal, [document]);
      if (outcome === undefined) throw new Error('a service has no outcome');
      return { owner, slug: resultOf(atTexts(outcome, settings)) };
    });
  });
  if (json) printJson({ slug, domain, kind, account: owner.name });
  else console.log(slug);
}

/** Changes an account's service. */
export async function setService(
  slug: string,
  { config, ...options }: CommonOptions & ServiceOptions,
): Promise<void> {
  if (Object.values(options).every((value) => value === undefined))
    throw new UsageError(
      'name what is to change: --name, --category, --kind, --setting, --accept, --interval, --period, --grace, --schedule, --paused …',
    );
  judgeAlone(options);
  const changed = await withRegistry(config, async (registry, values) => {
    const context = await contextOf(registry, values);
    const { check, revision } = resultOf(await serviceChanges.find(context, OPERATOR, slug));
    const { patch, settings } = readServiceOptions(options, options.kind ?? check.kind);
    const outcome = await serviceChanges.patch(
      context,
      OPERATOR,
      { key: slug, revisions: [revision] },
      patch,
    );
    return resultOf(atTexts(outcome, settings));
  });
  printNote(`${changed.slug} is changed`);
}

/** Refuses options that are not valid for any service as wrong usage, whether the service exists or not. */
function judgeAlone({
  setting: _,
  settingFile: __,
  method: ___,
  kind: ____,
  ...alone
}: ServiceOptions): void {
  const { timezone, ...patch } = readServiceOptions(alone, undefined).patch;
  const zone = patch.schedule === undefined ? {} : { timezone };
  judge(mergePatch({ domain: 'example.com' }, { ...patch, ...zone }), {});
}

/** Reads a document by what is known without the registry. */
function judge(document: unknown, settings: SettingTexts): Registration {
  // Which hosts the account may name is known later.
  const destinations = { ...ANY_DESTINATION, anyHost: true };
  return resultOf(atTexts(readServiceDocument(document, destinations, operatorLimits(null)), settings));
}

/** Gives an account's service a new heartbeat address and prints it, or ends its address. */
export async function changeAddress(
  slug: string,
  { config, remove = false, json = false }: CommonOptions & { readonly remove?: boolean },
): Promise<void> {
  const address = await withRegistry(config, async (registry, settings) => {
    const context = await contextOf(registry, settings);
    if (remove) return void resultOf(await removeHeartbeatAddress(context, OPERATOR, anyRevision(slug)));
    const { secret } = resultOf(await makeHeartbeatAddress(context, OPERATOR, anyRevision(slug)));
    return `${settings.http.siteUrl}/beat/${secret}`;
  });
  if (address === undefined) return printNote(`the heartbeat address of ${slug} is revoked`);
  if (json) return printJson({ slug, address });
  printNote('The address is shown only this once. The previous address of the service is revoked.');
  console.log(address);
}

/** Prints the signed address of the badge of an account's private service, which is another one with `renew`. */
export async function printBadge(
  slug: string,
  { config, renew = false, json = false }: CommonOptions & { readonly renew?: boolean },
): Promise<void> {
  const address = await withRegistry(config, async (registry, settings) => {
    const context = await contextOf(registry, settings);
    const found = resultOf(await serviceChanges.find(context, OPERATOR, slug));
    if (found.visibility !== 'private')
      throw new CommandError(`${slug} is not private: its badge needs no signed address`);
    const service = renew ? resultOf(await renewBadgeAddress(context, OPERATOR, anyRevision(slug))) : found;
    const { storage, secrets, http } = settings;
    const key = findKey(storage.dataDir, secrets.key);
    if (key.kind === 'none')
      throw new CommandError(
        'addresses are signed with the key of secrets, which the first start of Upbeat makes',
      );
    return createBadgeAddresses(key.key, http.siteUrl).urlOf(service);
  });
  if (json) return printJson({ slug, address });
  if (renew) printNote('The former address shows nothing any more.');
  console.log(address);
}

/** Gives a service the address with a secret that its senders have already. */
export async function giveAddress(
  registry: Registry,
  settings: Config,
  slug: string,
  secret: string,
): Promise<void> {
  const context = await contextOf(registry, settings);
  resultOf(await makeHeartbeatAddress(context, OPERATOR, anyRevision(slug), secret));
}

export async function endService(slug: string, { config }: CommonOptions): Promise<void> {
  await withRegistry(config, async (registry, settings) =>
    resultOf(await serviceChanges.remove(await contextOf(registry, settings), OPERATOR, anyRevision(slug))),
  );
  printNote(`${slug} is removed`);
}

/** Prints the accounts' services. */
export async function exportAll(options: CommonOptions & { format: 'csv' | 'yaml' | 'json' }): Promise<void> {
  const states = await loadAll(options.config);
  const { exportServices } = await import('./import/own-form.ts');
  const secret = states.filter(({ service }) => service.check.sealed !== undefined).length;
  if (secret > 0) printNote(`the file has no credentials: those of ${secret} services are left out`);
  process.stdout.write(await exportServices(states, options.json === true ? 'json' : options.format));
}

/** The patch that options ask for, and the settings among them. `kind`: of the check after the change. */
function readServiceOptions(options: ServiceOptions, kind: CheckKind | undefined) {
  const settings = readSettingOptions(options);
  const [regions, dependsOn] = [options.region, options.dependsOn].map((words) => words?.join(' '));
  const texts = Object.entries(options).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null ? [] : [[name, value] as const],
  );
  const given = {
    ...Object.fromEntries(texts),
    regions: regions === 'default' ? null : regions,
    dependsOn: dependsOn === 'default' ? null : dependsOn,
  };
  return { patch: patchOfTexts(given, settings, kind), settings };
}

/** Settings by their names, null for those to remove. Files keep secrets out of the list of processes. */
function readSettingOptions({ setting = [], settingFile = [] }: ServiceOptions): SettingTexts {
  const pairs = [
    ...setting.map(splitSetting),
    ...settingFile.map(splitSetting).map(([name, path]) => [name, readSettingFile(path)] as const),
  ];
  // A setting with several lines may be given again for each of them.
  const texts = new Map<string, string>();
  for (const [name, text] of pairs) {
    const before = texts.get(name);
    texts.set(name, before === undefined ? text : `${before}\n${text}`);
  }
  return Object.fromEntries([...texts].map(([name, text]) => [name, text === '' ? null : text]));
}

function readSettingFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${messageOf(error)}`);
  }
}

async function contextOf(registry: Registry, { checks, limits }: Config): Promise<ServiceContext> {
  const { findService } = await serviceFinders(registry);
  const bounds = { usual: checks, minIntervalMs: limits.minIntervalMs, regions: () => [] };
  // Neither proofs are needed nor addresses counted for domains that the operator registers.
  return {
    registry,
    findService,
    proofs: { check: async () => null },
    resolve: async () => [],
    now: systemClock.now,
    destinations: destinationsByTrust(checks, registry),
    bounds,
  };
}

/** The document of a listed service, with its credentials. */
export function documentOf(listed: ListedService): ServiceDocument {
  const {
    settings,
    secrets,
    choice,
    texts,
    dependsOn,
    periodMs,
    graceMs,
    schedule,
    kind,
    url,
    method,
    accept,
    visibility = usualVisibility(listed.domain),
    pushToken: _,
    ...plain
  } = listed;
  const check = {
    ...{ ...DEFAULT_CHECK, kind, url, method, accept, ...choice },
    ...(settings === null ? {} : { settings }),
    ...(periodMs === null ? {} : { periodMs }),
    ...(graceMs === null ? {} : { graceMs }),
    ...(schedule === null ? {} : { schedule }),
  };
  const slug = plain.slug === undefined ? {} : { slug: plain.slug };
  const document = { ...serviceDocumentOf({ ...plain, visibility, check, dependsOn }), ...slug, ...texts };
  if (secrets === null) return document;
  return { ...document, check: { ...document.check, settings: { ...settings, ...secrets } } };
}

/**
 * Domains of the catalogue, which owners may not register (decisions, Ownership): those in the registry and those in the
 * file, since the registry has none before the first start. A file that cannot be read adds none; `start` reports it.
 */
export async function listCatalogueDomains(
  states: readonly ServiceState[],
  catalogueFile: string,
): Promise<string[]> {
  const { loadCatalogue } = await import('../catalogue/watch-catalogue.ts');
  const listed = await loadCatalogue(catalogueFile).then(
    ({ services }) => services,
    () => [],
  );
  const known = states.flatMap(({ service }) => (service.origin === 'catalogue' ? [service.domain] : []));
  return [...new Set([...known, ...listed.map(({ domain }) => domain)])];
}

/** The public services for changes that concern them, with the domains that the catalogue's file will add. */
export async function loadPublicServices(
  registry: ServiceStateStore,
  catalogueFile: string,
): Promise<PublicServices> {
  const states = await registry.loadServices();
  const domains = await listCatalogueDomains(states, catalogueFile);
  const services = states.flatMap(({ service }) => (service.origin === 'catalogue' ? [service] : []));
  const byName = new Map(services.flatMap((one) => [[one.domain, one] as const, [one.slug, one] as const]));
  const byId = new Map(services.map((one) => [one.id, one]));
  return {
    find: (name) => byName.get(name) ?? null,
    findById: (id) => byId.get(id) ?? null,
    domains: new Set(domains),
  };
}
