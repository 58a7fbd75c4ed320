/**
 * The program: builds every part and joins them, in the order in which data flows. `cli/program.ts` is its process.
 */
import { endByFault, type ProgramHandles } from './cli/run-program.ts';
import { systemClock } from './clock.ts';
import { type Config, findWarnings } from './config/resolve-config.ts';
import type { CountedLog } from './log.ts';
import { createActiveRole } from './main/active-role.ts';
import { offerFirstAccount } from './main/first-account-link.ts';
import { joinNodes, NO_WORK } from './main/join-nodes.ts';
import { joinOwners } from './main/join-owners.ts';
import { joinSite } from './main/join-site.ts';
import { openSharedStores } from './main/open-stores.ts';
import { createReload } from './main/reload.ts';
import { RoleChanges } from './main/start-role.ts';
import { applyTrustedNames } from './main/trusted-accounts.ts';
import { type CheckWatches, watchChecks } from './main/watch-checks.ts';
import { boundHeapGrowth, collectStart } from './thread/v8-options.ts';
import type { Readiness } from './view/monitor.ts';
import { createServiceDirectory } from './view/service-directory.ts';

/** Starts everything and resolves when the program serves. Rejects with an error whose message is one sentence. */
export async function startProgram(
  config: Config,
  reread: () => Config,
  log: CountedLog,
): Promise<ProgramHandles> {
  const clock = systemClock;
  const { http } = config;
  const { siteUrl } = http;
  const fail = (what: string) => (error: Error) => endByFault(log, error, what);

  // This process registers as a node first, so that a second process with the same name is refused before it opens any
  // store.
  let roles: RoleChanges | null = null;
  let watches: CheckWatches | null = null;
  const checksProblem = () => watches?.stopped.ownProblem() ?? null;
  const work = () => ({ ...NO_WORK, ...roles?.work(), checksProblem: checksProblem() });
  const node = await joinNodes({ config, work, clock, log, fail });
  const serves = node.roles.includes('serve');
  const sharedNow = () => clock.now() - node.clockOffsetMs();

  // Stores, and the role of this process.
  const directory = createServiceDirectory();
  const storeParts = { config, directory, clock, log, fail };
  const shared = await openSharedStores(storeParts);
  const { registry, redis } = shared;
  const { forRequests } = registry;
  const parts = { ...storeParts, shared, node };
  const role = createActiveRole({ mayServe: redis !== null, log });
  const { samples, status, watchTransitions } = role;
  const changes = await RoleChanges.start(parts, role);
  roles = changes;
  // A probing node reports its own connection and its own checks.
  const prober = () => changes.probing()?.prober() ?? role.prober();
  const fleet = { report: () => (changes.probing()?.fleet ?? role.fleet).report() };
  const isMonitor = () => role.current.name === 'monitor';
  const knownProblem = () => changes.shardProblem();
  const watching = watchChecks({ ...storeParts, node, report: fleet.report, isMonitor, knownProblem });
  watches = watching;

  // A node that only makes checks does not need the parts for owners, and reads no secrets.
  const owners =
    serves || node.roles.includes('judge')
      ? await joinOwners({
          ...{ config, registry: forRequests, samples, nodes: node.nodes, clock, sharedNow, log },
          shareOf: watching.shareOf,
          alerts: {
            services: directory,
            status,
            prober: role.prober,
            watchTransitions,
            recheck: role.recheck,
            lastOutageOf: role.lastOutageOf,
          },
        })
      : null;
  const phase = { now: 'starting' as Readiness['phase'] };
  const site = await joinSite({
    ...parts,
    role,
    changes,
    fleet,
    prober,
    watching,
    owners,
    sharedNow,
    phase: () => phase.now,
  });

  for (const { path, message } of findWarnings(config))
    log.warn({ event: 'setting_unusual', setting: path }, message);

  // Before anybody can sign in: nobody gets an account with one of the names.
  const applyTrusted = async (next: Config) => {
    if (node.roles.includes('judge')) await applyTrustedNames({ registry, clock, log }, next);
  };
  await applyTrusted(config);

  const port = await site.listen();
  collectStart();
  boundHeapGrowth(process.env.NODE_OPTIONS);
  await changes.begin(owners?.startDeliveries ?? NO_DELIVERIES);
  const isWithoutProviders = role.current.name === 'monitor' && config.auth.providers.length === 0;
  const firstLink =
    owners !== null && isWithoutProviders ? await offerFirstAccount({ registry, siteUrl, clock, log }) : null;
  phase.now = 'serving';
  node.begin();
  log.info(
    {
      role: role.current.name,
      services: directory.all().length,
      address: `http://${http.host}:${port}`,
      siteUrl,
    },
    `Upbeat is running at ${siteUrl}`,
  );
  // For people, beside the log.
  if (process.stdout.isTTY) process.stdout.write(`Open ${firstLink ?? siteUrl}\n`);

  return {
    reload: createReload({ config, reread, role, owners, setLimits: site.setLimits, applyTrusted, log }),
    async stop() {
      phase.now = 'stopping';
      watching.stop();
      const closed = site.stopListening();
      await changes.stop();
      await node.leave();
      await closed();
      owners?.stop();
      await shared.close();
    },
  };
}

/** A process without the role `judge` makes no deliveries. */
const NO_DELIVERIES = () => async () => {};
