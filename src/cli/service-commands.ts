/** `upbeat services`: the list of services without a browser. */
import { readFileSync } from 'node:fs';
import { systemClock } from '../clock.ts';
import type { CommonOptions } from './commands.ts';
import { readImport } from './import-formats.ts';
import { withRegistry } from './open-stores.ts';
import { printRows } from './output.ts';
import {
  addListed,
  CommandError,
  describeService,
  exportServices,
  listCatalogueDomains,
  listRows,
  readName,
  SERVICE_COLUMNS,
} from './services.ts';

/** Prints all services with their last known status. */
export async function listServices({ config, json = false }: CommonOptions): Promise<void> {
  const states = await withRegistry(config, (registry) => registry.loadServices());
  printRows(
    SERVICE_COLUMNS,
    listRows(states),
    json,
    'There are no services yet; "upbeat start" loads the catalogue.',
  );
}

/** Registers a service; prints its slug. */
export async function addService(
  domain: string,
  {
    config,
    account,
    kind,
    json = false,
  }: CommonOptions & { account: string; kind: 'root' | 'health' | 'heartbeat' },
): Promise<void> {
  const listed = describeService(domain, kind);
  const owner = readName('--account', account);
  const { slug } = await withRegistry(config, async (registry, { catalogue }) => {
    const taken = await listCatalogueDomains(registry, catalogue.file);
    const { id } = await registry.ensureAccount(owner, systemClock.now());
    return addListed(registry, listed, id, taken);
  });
  console.log(json ? JSON.stringify({ slug, domain: listed.domain, kind, account: owner }, null, 2) : slug);
}

/** Removes an account's service. */
export async function removeService(slug: string, { config }: CommonOptions): Promise<void> {
  try {
    await withRegistry(config, (registry) => registry.removeService(slug.toLowerCase()));
  } catch (error) {
    if ((error as { code?: string }).code !== 'not_found') throw error;
    throw new CommandError(
      `no account has a service "${slug}"; a catalogue service is removed in the catalogue's file`,
    );
  }
  console.error(`${slug} is removed`);
}

/** Registers what a file lists; entries that cannot be taken are told with their reason, and the status is then 1. */
export async function importServices(
  file: string,
  { config, account, json = false }: CommonOptions & { account: string },
): Promise<void> {
  const owner = readName('--account', account);
  const reading = readImport(readFileSync(file, 'utf8'), file);
  const skipped = [...reading.skipped];
  const added: string[] = [];
  await withRegistry(config, async (registry, { catalogue }) => {
    const { id } = await registry.ensureAccount(owner, systemClock.now());
    const taken = await listCatalogueDomains(registry, catalogue.file);
    for (const listed of reading.services) {
      try {
        added.push((await addListed(registry, listed, id, taken)).slug);
      } catch (error) {
        skipped.push({ entry: listed.name, reason: (error as Error).message });
      }
    }
  });
  if (json) console.log(JSON.stringify({ format: reading.format, added, skipped }, null, 2));
  else console.log(`${file} (${reading.format}): ${added.length} added, ${skipped.length} left out`);
  for (const { entry, reason } of skipped) console.error(`left out: ${entry}: ${reason}`);
  if (skipped.length > 0) process.exitCode = 1;
}

/** Prints the accounts' services. */
export async function exportAll(options: CommonOptions & { format: 'csv' | 'yaml' | 'json' }): Promise<void> {
  const states = await withRegistry(options.config, (registry) => registry.loadServices());
  process.stdout.write(exportServices(states, options.json === true ? 'json' : options.format));
}
