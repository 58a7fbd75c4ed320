/** Options that several commands share, and how a command loads its function. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { MONITORING_KINDS, VISIBILITIES } from '../domain/service.ts';
import { endByError } from './command.ts';

/** Of the option of an account that is created at need. */
export const OWNER = 'name of the owning account, which is created if it does not exist';
const DEFAULT_CONFIG = 'config/upbeat.yaml';

/** The option that says how a service is monitored. */
export function kindOption(): Option {
  return new Option('--kind <kind>', 'how it is monitored').choices(MONITORING_KINDS);
}

/** Options of a service and its checks beside their kind. */
export function addCheckOptions(command: Command): Command {
  return command
    .option(
      '--setting <name=value>',
      'setting of the kind (docs/checks.md), empty to remove it; may be repeated',
      collect,
    )
    .option('--setting-file <name=file>', 'the same, with the content of a file', collect)
    .option('--accept <statuses>', 'HTTP statuses that count as good, such as "2xx 401"')
    .option('--url <url>', 'address of the check in place of https://DOMAIN/, or "default"', orDefault)
    .option('--method <method>', 'method of a root check: HEAD, GET or "default"', orDefault)
    .option('--interval <duration>', 'time between two checks, or "default"', orDefault)
    .option('--timeout <duration>', 'timeout of an attempt, or "default"', orDefault)
    .option(
      '--slow-over <duration>',
      'response time above which the service counts as slow, or "default"',
      orDefault,
    )
    .option(
      '--confirm-after <durations>',
      'delays of the re-checks, such as "2s 4s", "none" or "default"',
      orDefault,
    )
    .option('--region <region>', 'checked from this region only, or "default"; may be repeated', collect)
    .option(
      '--depends-on <slug>',
      'service without which it cannot be reached, such as a router, or "default"; may be repeated',
      collect,
    )
    .option('--note <text>', 'text for members of the account only, empty to remove it')
    .addOption(
      new Option(
        '--visibility <who>',
        'who sees it; default: public, private if the host is not public',
      ).choices(VISIBILITIES),
    );
}

/** Options that name what an owner writes about. */
export function addSubjects(command: Command): Command {
  return command
    .option('--service <service>', 'slug or domain of a service of the account; may be repeated', collect)
    .option('--page <slug>', 'status page of the account; may be repeated', collect);
}

/** The option that names files of `apply`. */
export function fileOption(): Option {
  const option = new Option(
    '-f, --file <file>',
    'YAML or JSON, a folder of such files, or - for standard input; may be repeated',
  );
  return option.argParser(collect).makeOptionMandatory();
}

/** The values of an option that may be repeated. */
export function collect(value: string, values: readonly string[] = []): readonly string[] {
  return [...values, value];
}

/** The value of an option; null: `default`, which takes back what was set before. */
export function orDefault(value: string): string | null {
  return value === 'default' ? null : value;
}

/** The number of a key or an account in decimal digits, as the lists show it. Other notations are refused. */
export function readId(text: string): number {
  const id = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) throw new InvalidArgumentError('It takes a number in decimal digits.');
  return id;
}

/** Adds a command with the option of the configuration. */
export function add(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--config <file>', 'configuration file', DEFAULT_CONFIG);
}

/** Adds a command that prints JSON with `--json`. */
export function addJson(parent: Command, name: string, description: string): Command {
  return add(parent, name, description).option('--json', 'print JSON');
}

/** A command that acts for an account. `account`: what its name means. */
export function addForAccount(parent: Command, name: string, description: string, account: string): Command {
  return addJson(parent, name, description)
    .option('--account <name>', account)
    .option(
      '--account-id <id>',
      'number of the account, from "upbeat accounts list", instead of its name',
      readId,
    );
}

/** An action that loads the function of a command and calls it. An error ends the process (`endByError`). */
export function act<A extends unknown[]>(
  load: () => Promise<(...args: A) => Promise<void>>,
): (...args: A) => Promise<void> {
  return (...args) =>
    load()
      .then((run) => run(...args))
      .catch(endByError);
}

/** Adds the filter by text of a list. `searched`: the columns in which the text is looked for. */
export function addSearch(command: Command, searched: string): Command {
  return command.option('--q <text>', `only those with this text in ${searched}`);
}

/** A filter of a list by the words of a column; it may name several words. */
export function filterOption(name: string, words: readonly string[]): Option {
  return new Option(`--${name} <${name}...>`, `only those with this ${name}; may be repeated`).choices(words);
}
