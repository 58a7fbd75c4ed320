/** Options that several commands share, and how a command loads its function. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { MONITORING_KINDS, VISIBILITIES } from '../domain/service.ts';
import { endByError } from './command.ts';
import type { DiscoverOptions, DiscoverySource } from './discover/discover-command.ts';

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
function fileOption(): Option {
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

/** Adds the commands for the content of an account as files. */
export function addContent(program: Command): void {
  addDiscovery(program);
  addForAccount(
    program,
    'apply',
    'give an account the services, status pages, channels, rules and maintenance that files list (docs/apply.md)',
    OWNER,
  )
    .addOption(fileOption())
    .option('--dry-run', 'change nothing; the exit status is 3 if something would change')
    .option('--prune', 'remove what the account has but the files do not list')
    .option('--server <url>', 'apply through the API of that server, to the account of the key in UPBEAT_KEY')
    .action(act(async () => (await import('./apply/apply-command.ts')).apply));

  addForAccount(
    program,
    'export',
    'print the content of an account as a file that apply reads',
    'name of the account',
  ).action(act(async () => (await import('./apply/export-command.ts')).exportContent));
}

/** Adds the command that writes what runs on this machine or in a cluster as a file of `apply`. */
function addDiscovery(program: Command): void {
  const discovery = program
    .command('discover')
    .description(
      'print what Docker, Kubernetes or Traefik run as a file that apply reads (docs/discover.md)',
    );
  const addSource = (name: string, text: string) =>
    addJson(discovery, name, text)
      .option('--watch', 'apply it, and again with each change; what is gone is paused')
      .option('--every <duration>', 'how often it looks with --watch; default: 30s')
      .option('--account <name>', `with --watch: ${OWNER}`)
      .option('--account-id <id>', 'number of that account instead of its name', readId)
      .option(
        '--server <url>',
        'with --watch: apply through the API of that server, by the key in UPBEAT_KEY',
      )
      .action(
        act(async () => {
          const { discover } = await import('./discover/discover-command.ts');
          return (options: DiscoverOptions) => discover(name as DiscoverySource, options);
        }),
      );
  addSource('docker', 'containers of Docker or Podman')
    .option('--socket <path>', 'socket of the Engine API; default: /var/run/docker.sock')
    .option('--host <name>', 'host of containers that have no address; default: docker.internal')
    .option('--all', 'containers without labels, too');
  addSource('kubernetes', 'ingresses of a cluster')
    .option('--api <url>', 'API of the cluster, such as that of "kubectl proxy"; default: that of the pod')
    .option('--namespace <name>', 'only this namespace');
  addSource('traefik', 'routers of Traefik').option(
    '--api <url>',
    'API of Traefik; default: http://localhost:8080',
  );
}
