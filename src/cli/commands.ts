/** All commands and their options. Errors go to standard error, with status 1, or 2 for wrong usage. */
import { Command, type CommanderError, InvalidArgumentError, Option } from 'commander';
import { MESSAGE_LANGUAGES } from '../domain/alert/channel.ts';
import { printableLines } from '../domain/printable-text.ts';
import { MONITORING_KINDS, PROBED_KINDS } from '../domain/service.ts';
import { VERSION } from '../version.ts';
import { EXIT_USAGE, endByError } from './command.ts';

const DEFAULT_CONFIG = 'config/upbeat.yaml';
const OWNER = 'name of the owning account, which is created if it does not exist';

/** Kinds that `probe` can make of a name alone; `tcp` needs a port. */
const KINDS_OF_PROBE = PROBED_KINDS.filter((kind) => kind !== 'tcp');

/** Builds the command with its subcommands. */
export function buildCommands(): Command {
  const program = new Command('upbeat')
    .description('Tells the world whether a service is up.')
    .version(VERSION)
    .showHelpAfterError('(add --help for more)');

  add(program, 'start', 'run the monitor: probe, record, serve')
    .option('--check-config', 'print every problem of the configuration and end')
    .action(act(async () => (await import('./start.ts')).start));

  const keys = program.command('keys').description('API keys');
  addForAccount(keys, 'create', 'make a key and print it, once', OWNER)
    .requiredOption('--name <name>', 'what the key is for')
    .option('--expires <duration>', 'lifetime such as 90d; default: it does not expire')
    .option(
      '--scope <scope>',
      'what it may do: read, heartbeat or write; may be given again; default: read and heartbeat',
      collect,
    )
    .action(act(async () => (await import('./keys.ts')).createKey));
  addJson(keys, 'list', 'list keys, without their secrets').action(
    act(async () => (await import('./keys.ts')).printKeys),
  );
  add(keys, 'revoke', 'revoke a key; it is refused within a second')
    .argument('<id>', 'number of the key, from "upbeat keys list"', readId)
    .action(act(async () => (await import('./keys.ts')).endKey));

  const accounts = program.command('accounts').description('accounts that own keys, services and pages');
  addJson(accounts, 'list', 'list accounts with their numbers, and who signs in to them').action(
    act(async () => (await import('./accounts.ts')).listAccounts),
  );
  add(accounts, 'link', 'make a person an owner of an account')
    .argument('<account>', 'name or number of the account')
    .argument('[provider]', 'id of the provider in the configuration')
    .argument('[subject]', "the provider's identifier of the person, who need not have signed in yet")
    .option('--person <id>', 'number of a person, from "upbeat accounts list --json"', readId)
    .action(act(async () => (await import('./link-accounts.ts')).linkPerson));
  addJson(accounts, 'merge', 'move all that an account has to another account, and remove it')
    .argument('<from>', 'name or number of the account that ends')
    .argument('<into>', 'name or number of the account that stays')
    .option('--dry-run', 'print what would be done')
    .action(act(async () => (await import('./link-accounts.ts')).merge));
  addJson(accounts, 'setup-link', 'print a one-time link by which a new person makes a way to sign in')
    .option('--account <name>', 'the account that the person owns; default: a new one')
    .option('--account-id <id>', 'its number, from "upbeat accounts list", in place of its name', readId)
    .action(act(async () => (await import('./setup-links.ts')).printSetupLink));
  addJson(accounts, 'reset', 'print a one-time link for a person who cannot sign in any more')
    .argument('<name>', 'the name of the person, or the one to sign in with')
    .option('--person <id>', 'number of the person, where several have the name', readId)
    .action(act(async () => (await import('./setup-links.ts')).printResetLink));

  addForAccount(
    program,
    'apply',
    'give an account the services, status pages, channels and rules that files list (docs/apply.md)',
    OWNER,
  )
    .addOption(fileOption())
    .option('--dry-run', 'change nothing; the exit status is 3 if something would change')
    .option('--prune', 'remove what the account has and the files do not list')
    .option('--server <url>', 'apply by the API of that server, to the account of the key in UPBEAT_KEY')
    .action(act(async () => (await import('./apply/apply-command.ts')).apply));

  addForAccount(
    program,
    'export',
    'print what an account has as a file that apply reads',
    'name of the account',
  ).action(act(async () => (await import('./apply/export-command.ts')).exportContent));

  const services = program.command('services').description('services');
  addJson(services, 'list', 'list services with their last known status').action(
    act(async () => (await import('./service-commands.ts')).listServices),
  );
  const adding = addForAccount(services, 'add', 'register a service for an account', OWNER).argument(
    '<domain>',
  );
  addCheckOptions(adding.addOption(kindOption().default('root'))).action(
    act(async () => (await import('./service-commands.ts')).addService),
  );
  const setting = add(services, 'set', "change an account's service")
    .argument('<slug>')
    .option('--name <name>', 'display name')
    .option('--category <category>', 'one of the categories of the API');
  addCheckOptions(setting.addOption(kindOption()))
    .option('--period <duration>', 'time from one heartbeat to the next, or "default"')
    .option('--grace <duration>', 'how much later it may come, or "default"')
    .option('--schedule <cron>', 'when heartbeats are due, such as "30 3 * * 1-5", or "default"')
    .option('--timezone <zone>', 'time zone of the schedule; default: UTC')
    .option('--paused', 'list it without checking it')
    .option('--no-paused', 'check it again')
    .option('--public-dependencies', 'show visitors the dependencies that it reports')
    .option('--no-public-dependencies', 'hide them from visitors')
    .action(act(async () => (await import('./service-commands.ts')).setService));
  addJson(services, 'address', 'give a service a new heartbeat address, and print it once')
    .argument('<slug>')
    .option('--remove', 'end its address instead')
    .action(act(async () => (await import('./service-commands.ts')).changeAddress));
  add(services, 'remove', "remove an account's service")
    .argument('<slug>')
    .action(act(async () => (await import('./service-commands.ts')).endService));
  addForAccount(
    services,
    'import',
    "register the services of a CSV, YAML or JSON file, of Uptime Kuma's backup or Gatus' configuration",
    'account that owns them; default: imported',
  )
    .argument('<file>')
    .action(act(async () => (await import('./import-services.ts')).importServices));
  addJson(services, 'export', "print the accounts' services as a file that import reads")
    .addOption(
      new Option('--format <format>', 'form of the file').choices(['csv', 'yaml', 'json']).default('csv'),
    )
    .action(act(async () => (await import('./service-commands.ts')).exportAll));
  addJson(services, 'verify', 'check every catalogue service once and list those that need attention').action(
    act(async () => (await import('./verify.ts')).verifyCatalogue),
  );

  const pages = program.command('pages').description('status pages of accounts');
  addJson(pages, 'list', 'list status pages with their addresses').action(
    act(async () => (await import('./pages.ts')).listPages),
  );
  addForAccount(pages, 'add', 'make a status page for an account', OWNER)
    .argument('<slug>', 'its address behind /p/')
    .requiredOption('--title <title>', 'at most 120 characters')
    .option('--text <text>', 'shown below the title')
    .option('--logo <file>', 'PNG, JPEG, WebP or GIF, up to 256 KiB')
    .option(
      '--group <group>',
      'services that stand together: "NAME: slug, slug"; may be given again',
      collect,
    )
    .action(act(async () => (await import('./pages.ts')).addPage));
  add(pages, 'remove', 'remove a status page')
    .argument('<slug>')
    .action(act(async () => (await import('./pages.ts')).endPage));

  const channels = program.command('channels').description('channels, where accounts are told');
  addForAccount(channels, 'list', 'list channels, without their secrets', 'account that owns them').action(
    act(async () => (await import('./channels.ts')).listChannels),
  );
  addForAccount(channels, 'add', 'add a channel to an account, and print its number', OWNER)
    .requiredOption('--name <name>', 'its name, by which rules name it')
    .requiredOption('--kind <kind>', 'what it leads to, such as ntfy or slack (docs/alerts.md)')
    .option('--setting <name=value>', 'setting of the kind (docs/alerts.md); may be given again', collect)
    .option('--setting-file <name=file>', 'the same, with the content of a file, such as a secret', collect)
    .addOption(
      new Option('--language <code>', 'language of its messages').choices(MESSAGE_LANGUAGES).default('en'),
    )
    .action(act(async () => (await import('./channels.ts')).addChannel));
  addForAccount(
    channels,
    'test',
    'send a test through the running program, and wait for its outcome',
    'account that owns it',
  )
    .argument('<id>', 'number of the channel, from "upbeat channels list"', readId)
    .action(act(async () => (await import('./channels.ts')).testChannel));
  addForAccount(channels, 'remove', 'remove a channel, also from rules', 'account that owns it')
    .argument('<id>', 'number of the channel, from "upbeat channels list"', readId)
    .action(act(async () => (await import('./channels.ts')).endChannel));
  const rules = program.command('rules').description('rules, of which changes accounts are told');
  addForAccount(rules, 'list', 'list rules', 'account that owns them').action(
    act(async () => (await import('./channels.ts')).listRules),
  );

  addJson(program, 'nodes', 'list the live nodes of the cluster, and what they do').action(
    act(async () => (await import('./nodes.ts')).listNodes),
  );

  const registry = program
    .command('registry')
    .description('the registry of services, accounts and incidents');
  add(registry, 'copy', 'copy the whole registry between the data directory and an empty PostgreSQL database')
    .option('--to <url>', 'from the data directory to postgres://user:password@host:5432/database')
    .option('--from <url>', 'from that database to an empty data directory')
    .action(act(async () => (await import('./registry.ts')).copy));

  const secrets = program.command('secrets').description('secrets of webhooks and credentials of checks');
  add(
    secrets,
    'reset',
    'remove all webhooks and credentials of checks, where their key is lost, and tell their owners',
  ).action(act(async () => (await import('./keys.ts')).resetSecrets));
  add(
    secrets,
    'checks-key',
    'print the key of the credentials of checks, for nodes that only make checks',
  ).action(act(async () => (await import('./keys.ts')).printChecksKey));

  addJson(program, 'probe', 'one check now, with the timing of each phase')
    .argument('<domain>')
    .addOption(
      new Option('--kind <kind>', 'what is asked; default: as the catalogue says, else root').choices(
        KINDS_OF_PROBE,
      ),
    )
    .action(act(async () => (await import('./probe.ts')).probeDomain));
  addJson(program, 'doctor', 'check configuration, stores, DNS, clock, certificates and outgoing connections')
    .option(
      '--setup',
      'make what PostgreSQL (database, tables) and InfluxDB (database and retention, or bucket and mapping) lack, changing nothing that is there',
    )
    .action(act(async () => (await import('./doctor.ts')).examine));

  exitByStatus(program);
  return program;
}

function kindOption(): Option {
  return new Option('--kind <kind>', 'how it is monitored').choices(MONITORING_KINDS);
}

/** Options of what a service chooses about its checks beside their kind. */
function addCheckOptions(command: Command): Command {
  return command
    .option(
      '--setting <name=value>',
      'setting of the kind (docs/checks.md), empty to remove it; may be given again',
      collect,
    )
    .option('--setting-file <name=file>', 'the same, with the content of a file', collect)
    .option('--accept <statuses>', 'HTTP statuses that count as good, such as "2xx 401"')
    .option('--url <url>', 'address of the check in place of https://DOMAIN/, or "default"')
    .option('--method <method>', 'method of a root check: HEAD, GET or "default"')
    .option('--interval <duration>', 'time between two checks, or "default"')
    .option('--timeout <duration>', 'timeout of an attempt, or "default"')
    .option('--slow-over <duration>', 'slower responses make it slow, or "default"')
    .option('--confirm-after <durations>', 'delays of the re-checks, such as "2s 4s", "none" or "default"')
    .option('--region <region>', 'checked from this region only, or "default"; may be given again', collect);
}

function fileOption(): Option {
  const option = new Option(
    '-f, --file <file>',
    'YAML or JSON, a folder of such files, or - for standard input; may be given again',
  );
  return option.argParser(collect).makeOptionMandatory();
}

/** The values of an option that may be given again. */
function collect(value: string, values: readonly string[] = []): readonly string[] {
  return [...values, value];
}

/** The number of a key or an account in decimal digits, as the lists show it. Other notations are refused. */
function readId(text: string): number {
  const id = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) throw new InvalidArgumentError('It takes a number in decimal digits.');
  return id;
}

function add(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--config <file>', 'configuration file', DEFAULT_CONFIG);
}

function addJson(parent: Command, name: string, description: string): Command {
  return add(parent, name, description).option('--json', 'print JSON');
}

/** A command that acts for an account. `account`: what its name means. */
function addForAccount(parent: Command, name: string, description: string, account: string): Command {
  return addJson(parent, name, description)
    .option('--account <name>', account)
    .option('--account-id <id>', 'its number, from "upbeat accounts list", in place of its name', readId);
}

/** An action that loads the function of a command and calls it. An error ends the process (`endByError`). */
function act<A extends unknown[]>(
  load: () => Promise<(...args: A) => Promise<void>>,
): (...args: A) => Promise<void> {
  return (...args) =>
    load()
      .then((run) => run(...args))
      .catch(endByError);
}

/** Help and version end with status 0, wrong usage with 2. */
function exitByStatus(command: Command): void {
  command.configureOutput({ outputError: (text, write) => write(printableLines(text)) });
  command.exitOverride((error: CommanderError) => process.exit(error.exitCode === 0 ? 0 : EXIT_USAGE));
  for (const below of command.commands) exitByStatus(below);
}
