/** The commands on services: what an operator may do to the list without a browser. */
import { stringify as stringifyCsv } from 'csv-stringify/sync';
import { stringify as stringifyYaml } from 'yaml';
import { loadCatalogue } from '../catalogue/watch-catalogue.ts';
import { readGivenName } from '../domain/given-name.ts';
import { isWithinDomain, readHostName } from '../domain/host-name.ts';
import { type CheckKind, DEFAULT_CHECK, dashDomain, type Service } from '../domain/service.ts';
import type { NewService, Registry, RegistryErrorCode, ServiceState } from '../store/ports/registry.ts';
import type { ListedService } from './import-formats.ts';
import type { OutputRow } from './output.ts';

/** An error that ends a command with status 1 and its message alone. */
export class CommandError extends Error {
  readonly code = 'command_failed';
}

/** Columns of `services list`. */
export const SERVICE_COLUMNS = ['slug', 'domain', 'category', 'kind', 'origin', 'status', 'paused'] as const;

/** Rows of `services list`, in the order of their slugs. */
export function listRows(states: readonly ServiceState[]): OutputRow[] {
  return states
    .map(({ service, current }) => ({
      slug: service.slug,
      name: service.name,
      domain: service.domain,
      category: service.category,
      kind: service.check.kind,
      origin: service.origin,
      status: current.status,
      paused: service.paused,
    }))
    .sort((a, b) => (a.slug < b.slug ? -1 : 1));
}

/**
 * Registers a service for an account. The slug is the dashed domain, with a number where that is taken
 * (decisions, Ownership). The operator's word stands for verification. Throws {@link CommandError}.
 */
export async function addListed(
  registry: Registry,
  listed: ListedService,
  accountId: number,
  catalogueDomains: readonly string[],
): Promise<Service> {
  const owner = catalogueDomains.find((domain) => isWithinDomain(listed.domain, domain));
  if (owner !== undefined)
    throw new CommandError(`${listed.domain} belongs to ${owner} of the public catalogue`);
  const name = readName('the name', listed.name);
  const base = dashDomain(listed.domain);
  for (let number = 1; ; number++) {
    const service: NewService = {
      slug: number === 1 ? base : `${base}-${number}`,
      name,
      domain: listed.domain,
      category: listed.category,
      origin: 'owner',
      accountId,
      verified: true,
      paused: false,
      check: {
        ...DEFAULT_CHECK,
        kind: listed.kind,
        url: listed.url,
        method: listed.method,
        accept: listed.accept,
      },
      statusPage: null,
    };
    try {
      return await registry.addService(service);
    } catch (error) {
      const code = (error as { code?: RegistryErrorCode }).code;
      if (code === 'slug_taken' && number < 1_000) continue;
      throw new CommandError(explain(code, listed.domain) ?? (error as Error).message);
    }
  }
}

/**
 * Domains of the public list: they, and all below them, are nobody's to register (decisions, Ownership). The file counts
 * beside the registry, which knows nothing of it before the first start. A file that cannot be read adds nothing:
 * `start` tells of it.
 */
export async function listCatalogueDomains(
  registry: Pick<Registry, 'loadServices'>,
  catalogueFile: string,
): Promise<string[]> {
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

/** A name given on the command line, without blanks around it. Throws {@link CommandError} for one that may not be. */
export function readName(option: string, text: string): string {
  const reading = readGivenName(text);
  if (!reading.ok) throw new CommandError(`${option} ${reading.problem}`);
  return reading.name;
}

/** A service as `services add` describes it. Throws {@link CommandError} for a name that is no host name. */
export function describeService(domainText: string, kind: CheckKind): ListedService {
  const reading = readHostName(domainText);
  if (!reading.ok) throw new CommandError(`domain "${domainText}" ${reading.problem}`);
  const { domain } = reading;
  return { domain, name: domain, category: 'developer', kind, url: null, method: null, accept: null };
}

/** The owners' services as a file that `services import` reads again. */
export function exportServices(states: readonly ServiceState[], format: 'csv' | 'yaml' | 'json'): string {
  const services = states
    .filter(({ service }) => service.origin === 'owner')
    .map(({ service: { domain, name, category, check } }) => ({
      domain,
      name,
      category,
      kind: check.kind,
      ...(check.url === null ? {} : { url: check.url }),
      ...(check.method === null ? {} : { method: check.method }),
      ...(check.accept === null ? {} : { accept: check.accept }),
    }));
  if (format === 'json') return `${JSON.stringify({ services }, null, 2)}\n`;
  if (format === 'yaml') return stringifyYaml({ services });
  const columns = ['domain', 'name', 'category', 'kind', 'url', 'method', 'accept'];
  return stringifyCsv(
    services.map((service) => ({ ...service, accept: service.accept?.join(' ') })),
    { header: true, columns },
  );
}

function explain(code: RegistryErrorCode | undefined, domain: string): string | null {
  if (code === 'domain_taken') return `${domain} is registered already`;
  if (code === 'catalogue_domain') return `${domain} belongs to the public catalogue`;
  if (code === 'account_limit') return 'the account has as many domains as limits.domainsPerAccount allows';
  return null;
}
