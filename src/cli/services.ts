/** The commands on services: what an operator may do to the list without a browser. */

import type { Registration } from '../app/services.ts';
import { formatDuration } from '../domain/durations.ts';
import { readGivenName } from '../domain/given-name.ts';
import { printableJson } from '../domain/printable-text.ts';
import type { Refusal } from '../domain/refusal.ts';
import { describeGivenTextProblem, describeRefusal } from '../domain/refusal-text.ts';
import { type AcceptRule, DEFAULT_CHECK, type Service } from '../domain/service.ts';
import type { ServiceState, ServiceStore } from '../store/ports/services.ts';
import { UsageError } from './command.ts';
import type { ListedService } from './import/listed-service.ts';
import { writeCell } from './import/own-form.ts';
import { formatJson, type OutputRow } from './output.ts';

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

/** A service of a list as an account registers it. */
export function registrationOf(listed: ListedService): Registration {
  const { domain, name, category, kind, url, method, accept, paused, periodMs, graceMs } = listed;
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
      ...(periodMs === null ? {} : { periodMs }),
      ...(graceMs === null ? {} : { graceMs }),
    },
    publicDependencies: listed.publicDependencies,
  };
}

/**
 * Domains of the public list: owners may register neither them nor their subdomains (decisions, Ownership). The file counts
 * beside the registry, which knows nothing of it before the first start. A file that cannot be read adds nothing:
 * `start` tells of it.
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

/** A name given on the command line, without blanks around it. Throws {@link UsageError} for one that may not be. */
export function readName(option: string, text: string): string {
  const reading = readGivenName(text);
  if (!reading.ok) throw new UsageError(`${option} ${describeGivenTextProblem(reading.problem)}`);
  return reading.name;
}

/** The owners' services as a file that `services import` reads again. */
export async function exportServices(
  states: readonly ServiceState[],
  format: 'csv' | 'yaml' | 'json',
): Promise<string> {
  const services = states
    .filter(({ service }) => service.origin === 'owner')
    .map(({ service }) => listingOf(service));
  if (format === 'json') return `${formatJson({ services })}\n`;
  if (format === 'yaml') return formatYaml({ services });
  const columns = EXPORT_COLUMNS.map((key) => ({ key }));
  const rows = services.map((service) =>
    Object.fromEntries(
      Object.entries(service).map(([member, value]) => [member, writeCell([value].flat().join(' '))]),
    ),
  );
  const { stringify } = await import('csv-stringify/sync');
  return stringify(rows, { header: true, columns });
}

/** YAML; texts that need it stand in quotation marks, within which it takes the escapes of JSON. */
async function formatYaml(value: object): Promise<string> {
  const { stringify } = await import('yaml');
  const plain = stringify(value);
  if (printableJson(plain) === plain) return plain;
  return printableJson(
    stringify(value, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', lineWidth: 0 }),
  );
}

const EXPORT_COLUMNS = [
  ...['domain', 'name', 'category', 'kind', 'url', 'method', 'accept'],
  ...['paused', 'period', 'grace', 'public_dependencies'],
];

/** A service as an export lists it: what is as usual is left out. */
export function listingOf(
  service: Service | ListedService,
): Readonly<Record<string, string | boolean | readonly AcceptRule[]>> {
  const { domain, name, category, paused, publicDependencies = false } = service;
  const { kind, url, method, accept, periodMs, graceMs } = 'check' in service ? service.check : service;
  return {
    domain,
    name,
    category,
    kind,
    ...(url === null ? {} : { url }),
    ...(method === null ? {} : { method }),
    ...(accept === null ? {} : { accept }),
    ...(paused ? { paused } : {}),
    ...(typeof periodMs === 'number' ? { period: formatDuration(periodMs) } : {}),
    ...(typeof graceMs === 'number' ? { grace: formatDuration(graceMs) } : {}),
    ...(publicDependencies ? { public_dependencies: true } : {}),
  };
}

/** Why a service of a list was refused, in a sentence that quotes what belongs to this one alone. */
export function explainRefusal(refusal: Refusal): string {
  if (refusal.code === 'domain_taken') return `domain "${refusal.domain}" is registered already`;
  if (refusal.code === 'catalogue_owns')
    return `domain "${refusal.domain}" belongs to "${refusal.parent}" of the public catalogue`;
  return describeRefusal(refusal);
}
