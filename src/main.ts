/**
 * The program: builds every part and joins them, in the order in which data flows. `cli/program.ts` is its process.
 */

import { makeSetupLink } from './auth/sign-in-secret.ts';
import { endByFault, type ProgramHandles } from './cli/run-program.ts';
import { type Clock, systemClock } from './clock.ts';
import { type Config, changedSettings, findWarnings } from './config/resolve-config.ts';
import { formatTime } from './domain/durations.ts';
import { hostInUrl } from './domain/host-name.ts';
import { messageOf } from './error.ts';
import type { CountedLog, Log } from './log.ts';
import { type ActiveRole, createActiveRole } from './main/active-role.ts';
import { joinNodes, NO_WORK } from './main/join-nodes.ts';
import { joinOwners, type Owners } from './main/join-owners.ts';
import { joinSite } from './main/join-site.ts';
import { openSharedStores } from './main/open-stores.ts';
import { RoleChanges } from './main/start-role.ts';
import { type CheckWatches, watchChecks } from './main/watch-checks.ts';
import type { ChangedLimits } from './site/app.ts';
import type { Account, AccountStore } from './store/ports/accounts.ts';
import type { SetupLinkStore, SignInStore } from './store/ports/sign-in.ts';
import { collectStart } from './thread/v8-options.ts';
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
      address: `http://${hostInUrl(http.host)}:${port}`,
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

/**
 * Logs a one-time link for the first account while there is none. The log is where operators of a service look, and the link
 * in it is worth nothing once it was used, an account exists, or a day has passed. Null: none is needed, or it could not be made.
 */
async function offerFirstAccount(parts: {
  readonly registry: SignInStore & SetupLinkStore;
  readonly siteUrl: string;
  readonly clock: Clock;
  readonly log: Log;
}): Promise<string | null> {
  const { registry, siteUrl, clock, log } = parts;
  try {
    if ((await registry.signInWays()).hasAccounts) return null;
    const target = { kind: 'first', accountId: null, personId: null } as const;
    const { url, expiresAt } = await makeSetupLink(registry, siteUrl, target, clock.now());
    log.info(
      { link: url, expires: formatTime(expiresAt) },
      'there is no account yet: open the link to make the first one',
    );
    return url;
  } catch (error) {
    log.warn({ problem: messageOf(error) }, 'the link for the first account could not be made');
    return null;
  }
}

interface TrustParts {
  readonly registry: AccountStore;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Trusts the accounts that the setting names, and no longer those that it alone made trusted before. Never rejects: a registry that takes
 * no writes leaves them as they are.
 */
async function applyTrustedNames({ registry, clock, log }: TrustParts, { accounts }: Config): Promise<void> {
  try {
    const { begun, ended, unknown } = await registry.trustNamed(accounts.trusted, clock.now());
    for (const one of begun) log.info(named(one), 'an account is trusted, by accounts.trusted');
    for (const one of ended) log.info(named(one), 'an account is no longer trusted, by accounts.trusted');
    if (unknown.length > 0)
      log.warn({ accounts: unknown }, 'accounts.trusted names accounts that do not exist');
  } catch (error) {
    log.warn({ problem: messageOf(error) }, 'accounts.trusted could not be applied');
  }
}

function named({ id, name }: Account) {
  return { account: name, accountId: id };
}

/** The parts that a reload changes. */
interface ReloadedParts {
  /** The configuration of the start. */
  readonly config: Config;
  readonly reread: () => Config;
  readonly role: ActiveRole;
  readonly owners: Pick<Owners, 'reload'> | null;
  readonly setLimits: (limits: ChangedLimits) => void;
  /** Applies `accounts.trusted`. */
  readonly applyTrusted: (config: Config) => Promise<void>;
  readonly log: Log;
}

/** Creates the reload, which never rejects because of a configuration: an invalid one changes nothing. */
function createReload({ config, reread, role, owners, setLimits, applyTrusted, log }: ReloadedParts) {
  let current = config;
  return async (): Promise<void> => {
    await role.current.reload();
    try {
      const next = reread();
      const changed = changedSettings(current, next);
      owners?.reload(next);
      const { anonymousPerMinute, authenticatedPerMinute, changesPerAccount } = next.limits;
      const limits = { anonymousPerMinute, authenticatedPerMinute, changesPerAccount };
      setLimits(limits);
      await applyTrusted(next);
      current = {
        ...current,
        limits: { ...current.limits, ...limits },
        alerts: { ...current.alerts, operator: next.alerts.operator },
        accounts: { ...current.accounts, trusted: next.accounts.trusted },
      };
      const waiting = changed.filter(({ reloadable }) => !reloadable).map(({ path }) => path);
      if (waiting.length > 0) log.warn({ settings: waiting }, 'changed settings need a restart');
      log.info({}, 'the configuration was reloaded');
    } catch (error) {
      log.error(
        { problem: messageOf(error) },
        'the new configuration is invalid; the previous one stays in use',
      );
    }
  };
}
