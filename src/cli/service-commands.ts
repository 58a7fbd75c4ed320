/** `upbeat services`: lists, registers, changes and removes services, and exports them. */

import { readFileSync } from 'node:fs';
import type { PublicServices } from '../apply/apply-document.ts';
import type { Config } from '../config/resolve-config.ts';
import { ANY_DESTINATION } from '../domain/allowed-destinations.ts';
import { type CheckKind, DEFAULT_CHECK } from '../domain/service.ts';
import { messageOf } from '../error.ts';
import { choiceOf, operatorLimits } from '../kinds/check-members.ts';
import { createOwnerDestinations } from '../outbound/owner-destinations.ts';
import { readDomain } from '../resources/kit/read-input.ts';
import { makeHeartbeatAddress, removeHeartbeatAddress } from '../resources/services/heartbeat-addresses.ts';
import { type Registration, registerServices } from '../resources/services/register-services.ts';
import {
  changeService,
  readServiceEdit,
  removeService,
  type ServiceChanges,
  type ServiceContext,
} from '../resources/services/services.ts';
import type { Registry } from '../store/ports/registry.ts';
import type { ServiceStore } from '../store/ports/services.ts';
import { type AccountChoice, changeAccount, readAccountChoice } from './accounts.ts';
import { CommandError, type CommonOptions, UsageError } from './command.ts';
import { type ListedService, PLAIN_SERVICE } from './import/listed-service.ts';
import { filterRows, type ListOptions, NOTHING_MATCHES } from './list-filters.ts';
import { serviceFinder, withRegistry } from './open-stores.ts';
import { OPERATOR, resultOf } from './outcome.ts';
import { printJson, printNote, printRows } from './output.ts';
import { whileWaiting } from './progress.ts';

/** The options of `services set`. Absent properties stay unchanged. */
export interface SetOptions extends CheckOptions {
  readonly name?: string;
  readonly category?: string;
  readonly kind?: CheckKind;
  /** A duration such as `1h`, or `default`. */
  readonly period?: string;
  readonly grace?: string;
  /** A cron expression, or `default`. */
  readonly schedule?: string;
  readonly timezone?: string;
  readonly paused?: boolean;
  readonly publicDependencies?: boolean;
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
  }));
  rows.sort((a, b) => (a.slug < b.slug ? -1 : 1));
  const columns = ['slug', 'domain', 'category', 'kind', 'origin', 'status', 'paused'];
  const shown = filterRows(rows, filters, ['slug', 'name', 'domain']);
  const empty = 'There are no services yet; "upbeat start" loads the catalogue.';
  printRows(shown, json, rows.length === 0 ? empty : NOTHING_MATCHES, columns);
}

async function loadAll(config: string) {
  return await whileWaiting('reading the services', () =>
    withRegistry(config, (registry) => registry.loadServices()),
  );
}

/** Registers a service; prints its slug. */
export async function addService(
  domainText: string,
  options: CommonOptions & AccountChoice & CheckOptions & { kind: CheckKind },
): Promise<void> {
  const { config, kind, json = false } = options;
  const domain = resultOf(readDomain(domainText));
  const { check = DEFAULT_CHECK, secrets = null } = resultOf(
    readServiceEdit(
      DEFAULT_CHECK,
      { kind, ...readCheckOptions(options) },
      ANY_DESTINATION,
      operatorLimits(null),
    ),
  );
  const { url, accept, method, settings = null } = check;
  const chosen = { kind, url, accept, method, settings, secrets, choice: choiceOf(check) };
  const service = registrationOf({ ...PLAIN_SERVICE, domain, name: domain, ...chosen });
  const choice = readAccountChoice(options);
  const { slug, owner } = await withRegistry(config, async (registry, { catalogue, checks }) => {
    const catalogueDomains = new Set(await listCatalogueDomains(registry, catalogue.file));
    const context = {
      registry,
      catalogueDomains,
      destinations: createOwnerDestinations(checks),
      usual: checks,
    };
    return await changeAccount(registry, choice, async (owner) => {
      const principal = { role: 'operator', accountId: owner.id } as const;
      const [outcome] = await registerServices(context, principal, [service]);
      if (outcome === undefined) throw new Error('a service has no outcome');
      return { owner, slug: resultOf(outcome) };
    });
  });
  if (json) printJson({ slug, domain, kind, account: owner.name });
  else console.log(slug);
}

/** Changes an account's service. */
export async function setService(
  slug: string,
  { config, ...options }: CommonOptions & SetOptions,
): Promise<void> {
  if (Object.values(options).every((value) => value === undefined))
    throw new UsageError(
      'name what is to change: --name, --category, --kind, --setting, --accept, --interval, --period, --grace, --schedule, --paused …',
    );
  const { name, category, kind, paused, publicDependencies } = options;
  const changes: ServiceChanges = {
    ...readCheckOptions(options),
    ...{ name, category, kind, paused, publicDependencies },
    period: unlessDefault(options.period),
    grace: unlessDefault(options.grace),
    schedule: unlessDefault(options.schedule),
    timezone: options.timezone,
  };
  // An option that is not valid for any service is wrong usage, whether the service exists or not.
  const { timezone, settings: _, method: __, ...others } = changes;
  const alone = {
    ...others,
    kind: undefined,
    timezone: changes.schedule === undefined ? undefined : timezone,
  };
  resultOf(readServiceEdit(DEFAULT_CHECK, alone, ANY_DESTINATION, operatorLimits(null)));
  const changed = await withRegistry(config, async (registry, settings) =>
    resultOf(await changeService(await contextOf(registry, settings), OPERATOR, slug, changes, null)),
  );
  printNote(`${changed.slug} is changed`);
}

/** Gives an account's service a new heartbeat address and prints it, or ends its address. */
export async function changeAddress(
  slug: string,
  { config, remove = false, json = false }: CommonOptions & { readonly remove?: boolean },
): Promise<void> {
  const address = await withRegistry(config, async (registry, settings) => {
    const context = await contextOf(registry, settings);
    if (remove) return void resultOf(await removeHeartbeatAddress(context, OPERATOR, slug));
    const { secret } = resultOf(await makeHeartbeatAddress(context, OPERATOR, slug));
    return `${settings.http.siteUrl}/beat/${secret}`;
  });
  if (address === undefined) return printNote(`the heartbeat address of ${slug} is revoked`);
  if (json) return printJson({ slug, address });
  printNote('The address is shown only this once. The previous address of the service is revoked.');
  console.log(address);
}

/** Removes an account's service. */
export async function endService(slug: string, { config }: CommonOptions): Promise<void> {
  await withRegistry(config, async (registry, settings) =>
    resultOf(await removeService(await contextOf(registry, settings), OPERATOR, slug, null)),
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

/** The options of what a service chooses about its checks. */
interface CheckOptions {
  readonly setting?: readonly string[];
  readonly settingFile?: readonly string[];
  /** An address, or `default`. */
  readonly url?: string;
  readonly accept?: string;
  /** `HEAD`, `GET` or `default`. */
  readonly method?: string;
  /** A duration such as `30s`, or `default`. */
  readonly interval?: string;
  readonly timeout?: string;
  readonly slowOver?: string;
  /** Durations such as `2s 4s`, `none` or `default`. */
  readonly confirmAfter?: string;
  /** Names of regions, or `default`. */
  readonly region?: readonly string[];
}

/** The changes by options; those that are not given are undefined. */
function readCheckOptions(options: CheckOptions): ServiceChanges {
  const { url, accept, method, interval, timeout, slowOver, confirmAfter, region } = options;
  return {
    settings: readSettingOptions(options),
    url: unlessDefault(url),
    accept,
    method: unlessDefault(method),
    interval: unlessDefault(interval),
    timeout: unlessDefault(timeout),
    slowOver: unlessDefault(slowOver),
    confirmAfter: unlessDefault(confirmAfter),
    regions: unlessDefault(region?.join(' ')),
  };
}

/** Settings by their names, null for those to remove; undefined: none are given. Files keep secrets out of the list of processes. */
function readSettingOptions({
  setting = [],
  settingFile = [],
}: CheckOptions): Record<string, string | null> | undefined {
  if (setting.length + settingFile.length === 0) return undefined;
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

function splitSetting(text: string): readonly [name: string, text: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`"${text}" is not a setting: expected NAME=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function readSettingFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${messageOf(error)}`);
  }
}

/** Converts an option for {@link changeService}. */
function unlessDefault(text: string | undefined): string | null | undefined {
  return text === 'default' ? null : text;
}

async function contextOf(registry: Registry, { checks, limits }: Config): Promise<ServiceContext> {
  const findService = await serviceFinder(registry);
  const bounds = { usual: checks, minIntervalMs: limits.minIntervalMs, regions: () => [] };
  // Addresses are not counted for domains that the operator registers.
  return {
    registry,
    findService,
    resolve: async () => [],
    destinations: createOwnerDestinations(checks),
    bounds,
  };
}

/** The registration of a service. */
export function registrationOf(listed: ListedService): Registration {
  const { domain, name, category, kind, url, method, accept, settings, secrets, paused } = listed;
  const { periodMs, graceMs, schedule } = listed;
  return {
    domain,
    name,
    category,
    paused,
    check: {
      ...DEFAULT_CHECK,
      kind,
      url,
      method,
      accept,
      ...(settings === null ? {} : { settings }),
      ...listed.choice,
      ...(periodMs === null ? {} : { periodMs }),
      ...(graceMs === null ? {} : { graceMs }),
      ...(schedule === null ? {} : { schedule }),
    },
    ...(secrets === null ? {} : { secrets }),
    publicDependencies: listed.publicDependencies,
  };
}

/**
 * Domains of the catalogue, which owners may not register (decisions, Ownership): those in the registry and those in the
 * file, since the registry has none before the first start. A file that cannot be read adds none; `start` reports it.
 */
export async function listCatalogueDomains(
  registry: Pick<ServiceStore, 'loadServices'>,
  catalogueFile: string,
): Promise<string[]> {
  const { loadCatalogue } = await import('../catalogue/watch-catalogue.ts');
  const [states, listed] = await Promise.all([
    registry.loadServices(),
    loadCatalogue(catalogueFile).then(
      ({ services }) => services,
      () => [],
    ),
  ]);
  const known = states.flatMap(({ service }) => (service.origin === 'catalogue' ? [service.domain] : []));
  return [...new Set([...known, ...listed.map(({ domain }) => domain)])];
}

/** The public services for changes that concern them, with the domains that the catalogue's file will add. */
export async function loadPublicServices(
  registry: Pick<ServiceStore, 'loadServices'>,
  catalogueFile: string,
): Promise<PublicServices> {
  const states = await registry.loadServices();
  const domains = await listCatalogueDomains({ loadServices: async () => states }, catalogueFile);
  const services = states.flatMap(({ service }) => (service.origin === 'catalogue' ? [service] : []));
  const byName = new Map(services.flatMap((one) => [[one.domain, one] as const, [one.slug, one] as const]));
  const byId = new Map(services.map((one) => [one.id, one]));
  return {
    find: (name) => byName.get(name) ?? null,
    findById: (id) => byId.get(id) ?? null,
    domains: new Set(domains),
  };
}
