/** Reloads what can change while the program runs. */
import { type Config, changedSettings } from '../config/resolve-config.ts';
import { messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { ChangedLimits } from '../site/app-limits.ts';
import type { ActiveRole } from './active-role.ts';
import type { Owners } from './join-owners.ts';

/** The parts that a reload changes. */
export interface ReloadedParts {
  /** The configuration of the start. */
  readonly config: Config;
  readonly reread: () => Config;
  readonly role: Pick<ActiveRole, 'current'>;
  readonly owners: Pick<Owners, 'reload'> | null;
  readonly setLimits: (limits: ChangedLimits) => void;
  /** Applies `accounts.trusted`. */
  readonly applyTrusted: (config: Config) => Promise<void>;
  readonly log: Log;
}

/** Creates the reload, which never rejects because of a configuration: an invalid one changes nothing. */
export function createReload({ config, reread, role, owners, setLimits, applyTrusted, log }: ReloadedParts) {
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
