/** The commands for what an account owns as files, and for what is found as such a file. */
import type { Command } from 'commander';
import { act, addForAccount, addJson, fileOption, OWNER, readId } from './command-options.ts';
import type { DiscoverOptions, DiscoverySource } from './discover/discover-command.ts';

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
