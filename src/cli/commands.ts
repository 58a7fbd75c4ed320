/** All commands and their options. Errors go to standard error, with status 1, or 2 for wrong usage. */
import { Argument, Command, type CommanderError, Option } from 'commander';
import { CHANNEL_KINDS, MESSAGE_LANGUAGES } from '../domain/alert/channel.ts';
import { INCIDENT_STATUSES } from '../domain/incident/incident.ts';
import { OWNER_SEVERITIES } from '../domain/incident/owner-incident.ts';
import { printableLines } from '../domain/printable-text.ts';
import { CATEGORIES, MONITORING_KINDS, PROBED_KINDS } from '../domain/service.ts';
import { SERVICE_STATUSES } from '../domain/status.ts';
import { PAGE_ACCESS } from '../domain/status-page.ts';
import { VERSION } from '../version.ts';
import { EXIT_USAGE } from './command.ts';
import {
  act,
  add,
  addCheckOptions,
  addContent,
  addForAccount,
  addJson,
  addSearch,
  addSubjects,
  collect,
  filterOption,
  kindOption,
  OWNER,
  orDefault,
  readId,
} from './command-options.ts';

const KNOWN_OWNER = 'name of the owning account; the first one of all is created';

const KEY_STATES = ['valid', 'expired', 'revoked'];
/** Kinds that `probe` can make of a name alone; `tcp` needs a port. */
const KINDS_OF_PROBE = PROBED_KINDS.filter((kind) => kind !== 'tcp');

/** First words for which `completion.ts` adds its commands: these commands, and help, which lists them. */
export const COMPLETION_WORDS: ReadonlySet<string> = new Set([
  'completion',
  'complete',
  'help',
  '--help',
  '-h',
  '',
]);

export function buildCommands(): Command {
  const program = new Command('upbeat')
    .description('Tells the world whether a service is up.')
    .version(VERSION)
    .showHelpAfterError('(add --help for more)')
    .option('--no-color', 'print no colours, also on a terminal; every command takes it')
    .hook('preAction', () => {
      if (program.getOptionValue('color') === false) switchColoursOff(process.env);
    });

  add(program, 'start', 'run the monitor: probe, record, serve')
    .option('--check-config', 'print every problem of the configuration and end')
    .action(act(async () => (await import('./start.ts')).start));

  for (const addGroup of GROUPS) addGroup(program);
  exitByStatus(program);
  return program;
}

function addKeys(program: Command): void {
  const keys = program.command('keys').description('API keys');
  addForAccount(keys, 'create', 'create a key and print it once', OWNER)
    .requiredOption('--name <name>', 'what the key is for')
    .option('--expires <duration>', 'lifetime such as 90d; default: it does not expire')
    .option(
      '--scope <scope>',
      'what it may do: read, heartbeat or write; may be repeated; default: read and heartbeat',
      collect,
    )
    .action(act(async () => (await import('./keys.ts')).createKey));
  addSearch(addJson(keys, 'list', 'list keys, without their secrets'), 'account or name')
    .addOption(filterOption('state', KEY_STATES))
    .action(act(async () => (await import('./keys.ts')).printKeys));
  add(keys, 'revoke', 'revoke a key; requests with it are refused within a second')
    .argument('<id>', 'number of the key, from "upbeat keys list"', readId)
    .action(act(async () => (await import('./keys.ts')).endKey));
}

function addAccounts(program: Command): void {
  const accounts = program.command('accounts').description('accounts that own keys, services and pages');
  addSearch(
    addJson(accounts, 'list', 'list accounts with their numbers and members'),
    'their name or the name of a member',
  ).action(act(async () => (await import('./accounts.ts')).listAccounts));
  add(accounts, 'link', 'make a person an owner of an account')
    .argument('<account>', 'name or number of the account')
    .argument('[provider]', 'id of the provider in the configuration')
    .argument('[subject]', "the provider's identifier of the person, who need not have signed in yet")
    .option('--person <id>', 'number of a person, from "upbeat accounts list --json"', readId)
    .action(act(async () => (await import('./link-accounts.ts')).linkPerson));
  addJson(accounts, 'merge', 'move everything from one account to another, then remove the first')
    .argument('<from>', 'name or number of the account that is removed')
    .argument('<into>', 'name or number of the account that is kept')
    .option('--dry-run', 'print what would be done')
    .action(act(async () => (await import('./link-accounts.ts')).merge));
  addJson(
    accounts,
    'trust',
    'trust an account: it needs no proof of domains and reaches private addresses (docs/accounts.md)',
  )
    .argument('<account>', 'name or number of the account')
    .option('--off', 'end the trust')
    .action(act(async () => (await import('./link-accounts.ts')).trust));
  addJson(accounts, 'setup-link', 'print a one-time link with which a new person sets up their sign-in')
    .option('--account <name>', 'the account that the person owns; default: a new one')
    .option(
      '--account-id <id>',
      'number of the account, from "upbeat accounts list", instead of its name',
      readId,
    )
    .action(act(async () => (await import('./link-accounts.ts')).printSetupLink));
  addJson(accounts, 'reset', 'print a one-time link for a person who can no longer sign in')
    .argument('<name>', 'display name of the person, or the name they sign in with')
    .option('--person <id>', 'number of the person, if several have this name', readId)
    .action(act(async () => (await import('./link-accounts.ts')).printResetLink));
}

function addServices(program: Command): void {
  const services = program.command('services').description('services');
  addSearch(addJson(services, 'list', 'list services with their last known status'), 'slug, name or domain')
    .addOption(filterOption('status', SERVICE_STATUSES))
    .addOption(filterOption('category', CATEGORIES))
    .addOption(filterOption('kind', MONITORING_KINDS))
    .addOption(filterOption('origin', ['catalogue', 'owner']))
    .action(act(async () => (await import('./service-commands.ts')).listServices));
  const adding = addForAccount(services, 'add', 'register a service for an account', OWNER).argument(
    '<domain>',
  );
  adding
    .option('--slug <slug>', 'its name in addresses, for another check of a domain that is registered')
    .option('--name <name>', 'display name');
  addCheckOptions(adding.addOption(kindOption())).action(
    act(async () => (await import('./service-commands.ts')).addService),
  );
  const setting = add(services, 'set', "change an account's service")
    .argument('<slug>')
    .option('--name <name>', 'display name')
    .option('--category <category>', 'one of the categories of the API');
  addCheckOptions(setting.addOption(kindOption()))
    .option('--period <duration>', 'time between two heartbeats, or "default"', orDefault)
    .option('--grace <duration>', 'how late a heartbeat may be, or "default"', orDefault)
    .option('--schedule <cron>', 'when heartbeats are due, such as "30 3 * * 1-5", or "default"', orDefault)
    .option('--timezone <zone>', 'time zone of the schedule; default: UTC')
    .option('--paused', 'keep it listed, but do not check it')
    .option('--no-paused', 'check it again')
    .option('--public-dependencies', 'show visitors the dependencies that it reports')
    .option('--no-public-dependencies', 'hide them from visitors')
    .action(act(async () => (await import('./service-commands.ts')).setService));
  addJson(services, 'address', 'create a new heartbeat address for a service and print it once')
    .argument('<slug>')
    .option('--remove', 'revoke its address instead')
    .action(act(async () => (await import('./service-commands.ts')).changeAddress));
  addJson(services, 'badge', 'print the signed address of the badge of a private service')
    .argument('<slug>')
    .option('--renew', 'end the former address and print the new one')
    .action(act(async () => (await import('./service-commands.ts')).printBadge));
  add(services, 'remove', "remove an account's service")
    .argument('<slug>')
    .action(act(async () => (await import('./service-commands.ts')).endService));
  addForAccount(
    services,
    'import',
    "register the services of a CSV, YAML or JSON file, of Uptime Kuma's database or backup, or Gatus' configuration",
    'account that owns them; default: imported',
  )
    .argument('<file>')
    .option('--dry-run', 'print what would be created, and change nothing')
    .action(act(async () => (await import('./import-services.ts')).importServices));
  addJson(services, 'export', "print the accounts' services as a file that import reads")
    .addOption(
      new Option('--format <format>', 'form of the file').choices(['csv', 'yaml', 'json']).default('csv'),
    )
    .action(act(async () => (await import('./service-commands.ts')).exportAll));
  addJson(services, 'verify', 'check the services and status pages of the catalogue once').action(
    act(async () => (await import('./verify.ts')).verifyCatalogue),
  );
  const feeds = program.command('feeds').description("vendors' status pages");
  const probe = addJson(feeds, 'probe', 'show what a status page is made with, and what it says');
  probe.argument('<url>').action(act(async () => (await import('./feeds.ts')).probeFeed));
}

function addPages(program: Command): void {
  const pages = program.command('pages').description('status pages of accounts');
  addSearch(
    addJson(pages, 'list', 'list status pages with their addresses'),
    'slug, title or account',
  ).action(act(async () => (await import('./pages.ts')).listPages));
  addForAccount(pages, 'add', 'create a status page for an account', KNOWN_OWNER)
    .argument('<slug>', 'its address behind /p/')
    .requiredOption('--title <title>', 'at most 120 characters')
    .option('--text <text>', 'shown below the title')
    .option('--note <text>', 'text for members of the account only')
    .option('--logo <file>', 'PNG, JPEG, WebP or GIF, up to 256 KiB')
    .option('--favicon <file>', 'icon in tabs: PNG, ICO, WebP or GIF, up to 64 KiB')
    .option(
      '--group <group>',
      'services shown together: "NAME: slug, slug=NAME ON THE PAGE"; may be repeated',
      collect,
    )
    .addOption(new Option('--access <who>', 'who sees the page').choices(PAGE_ACCESS).default('public'))
    .option('--password-file <file>', 'for --access password: file of the password; - is standard input')
    .action(act(async () => (await import('./pages.ts')).addPage));
  add(pages, 'access', 'set who sees a status page')
    .argument('<slug>')
    .addArgument(new Argument('<who>').choices(PAGE_ACCESS))
    .option('--password-file <file>', 'file of a new password; - is standard input')
    .action(act(async () => (await import('./pages.ts')).changeAccess));
  addJson(pages, 'domain', "show a status page at its owner's domain: set it, then verify it")
    .argument('<slug>')
    .argument('[domain]', 'host name, or none for no domain; absent: verify the one that is set')
    .action(act(async () => (await import('./pages.ts')).changeDomain));
  add(pages, 'remove', 'remove a status page')
    .argument('<slug>')
    .action(act(async () => (await import('./pages.ts')).endPage));
}

function addChannels(program: Command): void {
  const channels = program.command('channels').description('channels through which accounts are notified');
  addSearch(
    addForAccount(channels, 'list', 'list channels, without their secrets', 'account that owns them'),
    'name or destination',
  )
    .addOption(filterOption('kind', CHANNEL_KINDS))
    .action(act(async () => (await import('./channels.ts')).listChannels));
  addForAccount(channels, 'add', 'add a channel to an account and print its number', KNOWN_OWNER)
    .requiredOption('--name <name>', 'its name, which rules refer to')
    .requiredOption('--kind <kind>', 'where it sends messages, such as ntfy or slack (docs/alerts.md)')
    .option('--setting <name=value>', 'setting of the kind (docs/alerts.md); may be repeated', collect)
    .option('--setting-file <name=file>', 'the same, with the content of a file, such as a secret', collect)
    .addOption(
      new Option('--language <code>', 'language of its messages').choices(MESSAGE_LANGUAGES).default('en'),
    )
    .action(act(async () => (await import('./channels.ts')).addChannel));
  addForAccount(
    channels,
    'test',
    'send a test message through the running program and wait for the outcome',
    'account that owns it',
  )
    .argument('<id>', 'number of the channel, from "upbeat channels list"', readId)
    .action(act(async () => (await import('./channels.ts')).testChannel));
  addForAccount(channels, 'remove', 'remove a channel, also from rules', 'account that owns it')
    .argument('<id>', 'number of the channel, from "upbeat channels list"', readId)
    .action(act(async () => (await import('./channels.ts')).endChannel));
  const rules = program
    .command('rules')
    .description('rules that select the changes accounts are notified of');
  addSearch(addForAccount(rules, 'list', 'list rules', 'account that owns them'), 'their name').action(
    act(async () => (await import('./channels.ts')).listRules),
  );
}

function addMaintenances(program: Command): void {
  const maintenances = program.command('maintenances').description('maintenance that accounts announce');
  addSearch(addForAccount(maintenances, 'list', 'list maintenance', 'account that announced it'), 'its title')
    .addOption(filterOption('state', ['planned', 'running', 'over']))
    .action(act(async () => (await import('./posts.ts')).listMaintenances));
  const announcing = addForAccount(
    maintenances,
    'add',
    'announce maintenance and print its ID',
    'its account',
  );
  addSubjects(announcing.requiredOption('--title <title>', 'at most 200 characters'))
    .option('--text <markdown>', 'what will be done')
    .option('--starts-at <time>', '2028-11-14T22:00Z, or 2028-11-14T22:00 in the time zone; default: now')
    .requiredOption('--duration <duration>', 'such as 90m; of recurring maintenance at most 1d')
    .option('--timezone <zone>', 'time zone in which it recurs, such as Europe/Berlin; default: UTC')
    .option('--recurrence <rule>', 'rule of iCalendar, such as "FREQ=WEEKLY;BYDAY=TU"; default: once')
    .action(act(async () => (await import('./posts.ts')).addMaintenance));
  addForAccount(maintenances, 'end', 'end maintenance in progress; later occurrences stay', 'its account')
    .argument('<id>', 'from "upbeat maintenances list"')
    .action(act(async () => (await import('./posts.ts')).endMaintenance));
  addForAccount(maintenances, 'remove', 'withdraw maintenance with all its occurrences', 'its account')
    .argument('<id>', 'from "upbeat maintenances list"')
    .action(act(async () => (await import('./posts.ts')).removeMaintenance));
}

function addIncidents(program: Command): void {
  const incidents = program.command('incidents').description('incidents that accounts write');
  addSearch(
    addForAccount(incidents, 'list', 'list incidents of an account', 'account that wrote them'),
    'their title',
  )
    .addOption(filterOption('status', INCIDENT_STATUSES))
    .action(act(async () => (await import('./posts.ts')).listOwnerIncidents));
  const opening = addForAccount(incidents, 'open', 'open an incident and print its ID', 'its account');
  addSubjects(opening.requiredOption('--title <title>', 'at most 200 characters'))
    .requiredOption('--text <markdown>', 'the first update')
    .addOption(new Option('--severity <severity>', 'default: minor').choices(OWNER_SEVERITIES))
    .addOption(new Option('--status <status>', 'default: investigating').choices(INCIDENT_STATUSES))
    .option('--started-at <time>', 'when it began, such as 2026-11-24T22:00:00Z; default: now')
    .action(act(async () => (await import('./posts.ts')).openIncident));
  addForAccount(incidents, 'update', 'add an update to an incident', 'its account')
    .argument('<id>', 'from "upbeat incidents list"')
    .requiredOption('--text <markdown>', 'what is new')
    .addOption(new Option('--status <status>', 'default: it stays').choices(INCIDENT_STATUSES))
    .action(act(async () => (await import('./posts.ts')).updateIncident));
  addForAccount(incidents, 'resolve', 'resolve an incident with an update', 'its account')
    .argument('<id>', 'from "upbeat incidents list"')
    .requiredOption('--text <markdown>', 'how it ended')
    .action(act(async () => (await import('./posts.ts')).resolveIncident));
}

function addStores(program: Command): void {
  addJson(program, 'nodes', 'list the live nodes of the cluster and what they do').action(
    act(async () => (await import('./nodes.ts')).listNodes),
  );

  const registry = program
    .command('registry')
    .description('the registry of services, accounts and incidents');
  addJson(
    registry,
    'copy',
    'copy the whole registry between the data directory and an empty PostgreSQL database',
  )
    .option('--to <url>', 'from the data directory to postgres://user:password@host:5432/database')
    .option('--from <url>', 'from that database to an empty data directory')
    .action(act(async () => (await import('./backup.ts')).copy));

  addJson(program, 'backup', 'copy the stores to a folder while the program runs, and verify the copy')
    .argument('<folder>', 'an empty folder, or one that does not exist')
    .option('--with-key', 'copy secret.key too, which reads the secrets in the copy')
    .action(act(async () => (await import('./backup.ts')).makeBackup));
  addJson(program, 'restore', 'verify a backup, and put it in place of the stores')
    .argument('<folder>', 'a folder that "upbeat backup" made')
    .option('--replace', 'move the installation that is in the data directory to a folder beside it')
    .action(act(async () => (await import('./backup.ts')).restoreBackup));
}

function addSecrets(program: Command): void {
  const secrets = program.command('secrets').description('secrets of webhooks and credentials of checks');
  add(
    secrets,
    'reset',
    'remove all webhooks and credentials of checks because their key is lost, and notify their owners',
  ).action(act(async () => (await import('./keys.ts')).resetSecrets));
  addJson(secrets, 'rotate', 'encrypt all secrets with a new key, while no process of Upbeat runs')
    .option('--key-file <file>', 'the new key, where the present one is the setting secrets.key')
    .action(act(async () => (await import('./rotate-secrets.ts')).rotateSecrets));
  addJson(
    secrets,
    'checks-key',
    'print the key of the credentials of checks, for nodes that only make checks',
  ).action(act(async () => (await import('./keys.ts')).printChecksKey));
}

/** Checks that an operator makes by hand. */
function addProbing(program: Command): void {
  addJson(program, 'probe', 'check a service once, now, and print the timing of each phase')
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
      'create what PostgreSQL (database, tables) and InfluxDB (database and retention, or bucket and mapping) lack; what exists stays unchanged',
    )
    .action(act(async () => (await import('./doctor.ts')).examine));
}

/** In the order of the list that `--help` prints. */
const GROUPS = [
  addKeys,
  addAccounts,
  addContent,
  addServices,
  addPages,
  addChannels,
  addMaintenances,
  addIncidents,
  addStores,
  addSecrets,
  addProbing,
];

/** Help and version end with status 0, wrong usage with 2. */
function exitByStatus(command: Command): void {
  command.configureOutput({ outputError: (text, write) => write(printableLines(text)) });
  command.exitOverride((error: CommanderError) => process.exit(error.exitCode === 0 ? 0 : EXIT_USAGE));
  for (const below of command.commands) exitByStatus(below);
}

/** Makes Node.js and the tables print no colours; see https://no-color.org. FORCE_COLOR, which would win, is removed. */
function switchColoursOff(environment: NodeJS.ProcessEnv): void {
  delete environment.FORCE_COLOR;
  environment.NO_COLOR = '1';
}
