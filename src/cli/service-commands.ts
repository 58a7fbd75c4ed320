/** `upbeat services`: the list of services without a browser. */
import { type AccountChoice, chooseAccount, readAccountChoice } from './accounts.ts';
import { CommandError, type CommonOptions } from './command.ts';
import { withRegistry } from './open-stores.ts';
import { printJson, printNote, printRows } from './output.ts';
import {
  addListed,
  describeService,
  exportServices,
  listCatalogueDomains,
  listRows,
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
  options: CommonOptions & AccountChoice & { kind: 'root' | 'health' | 'heartbeat' },
): Promise<void> {
  const { config, kind, json = false } = options;
  const listed = describeService(domain, kind);
  const choice = readAccountChoice(options);
  const { slug, owner } = await withRegistry(config, async (registry, { catalogue }) => {
    const taken = new Set(await listCatalogueDomains(registry, catalogue.file));
    const owner = await chooseAccount(registry, choice);
    return { owner, slug: await addListed(registry, listed, owner.id, taken) };
  });
  if (json) printJson({ slug, domain: listed.domain, kind, account: owner.name });
  else console.log(slug);
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
  printNote(`${slug} is removed`);
}

/** Prints the accounts' services. */
export async function exportAll(options: CommonOptions & { format: 'csv' | 'yaml' | 'json' }): Promise<void> {
  const states = await withRegistry(options.config, (registry) => registry.loadServices());
  process.stdout.write(await exportServices(states, options.json === true ? 'json' : options.format));
}
