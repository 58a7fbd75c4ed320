/** `upbeat export`: prints what an account has as a file that `apply` reads. */
import {
  type ExportedAccount,
  exportAccount,
  type MissingCredential,
  nameOfService,
} from '../../apply/export-document.ts';
import { CHANNEL_KINDS_TABLE } from '../../notify/channels/kinds-table.ts';
import { type AccountChoice, findAccount, readAccountChoice } from '../accounts.ts';
import type { CommonOptions } from '../command.ts';
import { withRegistry } from '../open-stores.ts';
import { formatJson, formatYaml, printNote } from '../output.ts';
import { loadPublicServices } from '../service-commands.ts';
import { escapeVariables } from './read-files.ts';

/** Prints the document of an account. What it does not contain is noted on standard error. */
export async function exportContent(options: CommonOptions & AccountChoice): Promise<void> {
  const { config, json = false } = options;
  const choice = readAccountChoice(options);
  const exported = await withRegistry(config, async (registry, { catalogue }) => {
    const account = await findAccount(registry, choice);
    return await exportAccount(
      registry,
      account.id,
      () => loadPublicServices(registry, catalogue.file),
      CHANNEL_KINDS_TABLE,
    );
  });
  const { document, variables } = withVariables(exported);
  process.stdout.write(json ? `${formatJson(document)}\n` : await formatYaml(document));
  for (const { variable, of, setting } of variables)
    printNote(`not exported: ${setting} of ${of}; apply takes it from the variable ${variable}`);
  for (const domain of exported.addresses)
    printNote(`not exported: the heartbeat address of ${domain}; "upbeat services address" makes a new one`);
}

/** The document with a variable of the environment in place of each credential. */
function withVariables({ document, credentials }: ExportedAccount) {
  const taken = new Set<string>();
  const variables = credentials.map((one) => ({ ...one, variable: nameVariable(one, taken) }));
  const services = document.services?.map((service) => {
    const own = variables.filter(({ type, of }) => type === 'service' && of === nameOfService(service));
    const escaped = escapeVariables(service);
    if (own.length === 0) return escaped;
    const { check } = service;
    const secrets = own.map(({ setting, variable, isList }) => {
      const text = `\${${variable}}`;
      return [setting, isList ? [text] : text];
    });
    const settings = { ...Object(escapeVariables(check?.settings ?? {})), ...Object.fromEntries(secrets) };
    return { ...Object(escaped), check: { ...Object(escapeVariables(check ?? {})), settings } };
  });
  const channels = document.channels?.map((channel) => {
    const own = variables.filter(({ type, of }) => type === 'channel' && of === channel.name);
    const secrets = own.map(({ setting, variable }) => [setting, `\${${variable}}`]);
    const escaped: { readonly settings?: object } = Object(escapeVariables(channel));
    return own.length === 0
      ? escaped
      : { ...escaped, settings: { ...escaped.settings, ...Object.fromEntries(secrets) } };
  });
  const pages = document.pages?.map((page) => {
    const own = variables.filter(({ type, of }) => type === 'page' && of === page.slug);
    const secrets = own.map(({ setting, variable }) => [setting, `\${${variable}}`]);
    return { ...Object(escapeVariables(page)), ...Object.fromEntries(secrets) };
  });
  const { rules, maintenances } = document;
  const more = {
    ...(channels === undefined ? {} : { channels }),
    ...(rules === undefined ? {} : { rules: escapeVariables(rules) }),
    ...(maintenances === undefined ? {} : { maintenances: escapeVariables(maintenances) }),
  };
  return { document: { services, pages, ...more }, variables };
}

/** A name for the variable of a secret, which no other has. */
function nameVariable({ of, setting }: MissingCredential, taken: Set<string>): string {
  const name = `${of}_${setting}`
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '_')
    .replace(/^(?=\d)/, '_');
  for (let number = 1; ; number++) {
    const variable = number === 1 ? name : `${name}_${number}`;
    if (taken.has(variable)) continue;
    taken.add(variable);
    return variable;
  }
}
