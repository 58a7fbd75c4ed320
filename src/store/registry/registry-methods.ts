/** The methods of the registry's thread that are the same for all databases. */
import { isKeyOf } from '../../domain/credential-seal.ts';
import { CHANNEL_CALLS, removeAllChannels } from '../../resources/channels/channel-rows.ts';
import { RULE_CALLS } from '../../resources/rules/rule-rows.ts';
import { ensureInstallation, getFact, INSTALLATION_FACT } from '../database/fact-rows.ts';
import type { JointOutcome, JointWrite, JointWrites } from '../database/group-commit.ts';
import {
  type Calls,
  type DomainLimits,
  type OpenRegistry,
  read,
  type Secrets,
  write,
} from '../database/registry-calls.ts';
import type { RegistryStore } from '../database/registry-store.ts';
import { type HeldLease, releaseLease, renewLease, takeLease, touchLease } from '../lease/held-lease.ts';
import { IDEMPOTENT_NAMES, type IdempotentName, type IdempotentRequest } from '../ports/idempotency.ts';
import type { LeaseRequest } from '../ports/lease.ts';
import type { Registry } from '../ports/registry.ts';
import { CONTENT_CALLS } from './account-content.ts';
import { ACCOUNT_CALLS } from './accounts/account-rows.ts';
import { INVITATION_CALLS } from './accounts/invitation-rows.ts';
import { KEY_CALLS } from './accounts/key-rows.ts';
import { MEMBER_CALLS } from './accounts/member-rows.ts';
import { PEOPLE_CALLS } from './accounts/people-rows.ts';
import { SETUP_LINK_CALLS } from './accounts/setup-link-rows.ts';
import { removeAllPasswords, SIGN_IN_CALLS, SIGN_IN_GUARD_CALLS } from './accounts/sign-in-rows.ts';
import { ALERT_CALLS } from './alerts/alert-rows.ts';
import { CHANNEL_FAILURE_CALLS } from './alerts/channel-failure-rows.ts';
import { MESSAGE_CALLS } from './alerts/message-rows.ts';
import {
  callIdempotent,
  callIdempotentTogether,
  findIdempotent,
  forgetIdempotent,
} from './idempotency-rows.ts';
import { INCIDENT_CALLS } from './incidents/incident-rows.ts';
import { removeAllWebhooks, WEBHOOK_CALLS } from './incidents/webhook-rows.ts';
import { LETTER_CALLS } from './letters/letter-rows.ts';
import { removeAllSubscriptions, SUBSCRIPTION_CALLS } from './letters/subscription-rows.ts';
import { mergeAccounts, planMerge, removeEmptyAccount } from './merge-accounts.ts';
import { changeService, changeServices, findService, OWNERSHIP_CALLS, servicesOf } from './ownership.ts';
import { OWNER_INCIDENT_CALLS } from './pages/owner-incident-rows.ts';
import { OWNER_MAINTENANCE_CALLS } from './pages/owner-maintenance-rows.ts';
import { PAGE_CALLS } from './pages/status-page-rows.ts';
import {
  type ResealedCheck,
  type RotatedSecrets,
  removeLostCredentials,
  rotateSecrets,
} from './rotate-secrets.ts';
import { HEARTBEAT_CALLS } from './services/heartbeat-rows.ts';
import { addService, addServices, removeService } from './services/owner-services.ts';
import { endCatalogue, hasCatalogue, putCatalogue, putCataloguePage } from './services/put-catalogue.ts';
import { registerTogether } from './services/register-together.ts';
import { CHANGE_CALLS } from './services/service-rows.ts';
import { INBOX_CALLS } from './states/inbox-rows.ts';
import type { RoutineMethods, StateMethods } from './states/packed-states.ts';
import { SERVICE_STATE_CALLS } from './states/service-state-rows.ts';
import { RETENTION_CALLS, UPDATE_CALLS } from './states/update-rows.ts';
import { VENDOR_CALLS } from './states/vendor-rows.ts';

/** Methods of the port that the client implements by others, or that need more than a transaction. */
type OtherMethods =
  | 'servicesBetween'
  | 'watchChanges'
  | 'watchOtherProcesses'
  | 'writes'
  | 'readLease'
  | 'takeLease'
  | 'renewLease'
  | 'claimLease'
  | 'markLease'
  | 'releaseLease'
  | 'callIdempotent'
  | 'close';

/** Methods of this adapter only. */
export interface SecretMethods {
  /** Verifies the key of stored secrets. Rejects with `secrets_key` if the key is missing or did not encrypt them. */
  checkSecrets(): Promise<void>;
  /**
   * Removes all webhooks and channels, and the credentials of checks that cannot be decrypted with the present key, with a
   * notice to their owners, all passwords of people, and all subscriptions. Resolves with their numbers.
   */
  resetSecrets(now: number): Promise<{
    readonly webhooks: number;
    readonly channels: number;
    readonly subscriptions: number;
    readonly checks: number;
    readonly passwords: number;
  }>;
  /**
   * Encrypts all secrets with another key, and gives checks the credentials that the caller has encrypted anew, in one transaction.
   * `newKey`: hexadecimal digits. No other process may use the registry meanwhile, since it would go on with the key before.
   * Rejects with `secrets_key` if a secret cannot be decrypted.
   */
  rotateSecrets(newKey: string, checks: readonly ResealedCheck[]): Promise<RotatedSecrets>;
}

type ServedByCalls = Omit<Registry, OtherMethods> & SecretMethods & RoutineMethods & StateMethods;

const CALLS: Calls<ServedByCalls> = {
  ...SERVICE_STATE_CALLS,
  ...CHANGE_CALLS,
  servicesOf: read(servicesOf),
  putCatalogue: write(putCatalogue),
  putCataloguePage: write(putCataloguePage),
  endCatalogue: write(endCatalogue),
  hasCatalogue: read(hasCatalogue),
  addService: write((registry, service) => addService(registry, service, registry.limits)),
  addServices: write((registry, services) => addServices(registry, services, registry.limits)),
  removeService: write(removeService),
  changeService: write(changeService),
  findService: read(findService),
  ...UPDATE_CALLS,
  ...INCIDENT_CALLS,
  ...RETENTION_CALLS,
  ...VENDOR_CALLS,
  ...OWNER_INCIDENT_CALLS,
  ...OWNER_MAINTENANCE_CALLS,
  ...HEARTBEAT_CALLS,
  ...INBOX_CALLS,
  ...ACCOUNT_CALLS,
  planMerge: read(planMerge),
  mergeAccounts: write(mergeAccounts),
  removeEmptyAccount: write(removeEmptyAccount),
  ...PEOPLE_CALLS,
  ...MEMBER_CALLS,
  ...INVITATION_CALLS,
  ...OWNERSHIP_CALLS,
  ...KEY_CALLS,
  findIdempotent: read(findIdempotent),
  ...SIGN_IN_CALLS,
  ...SETUP_LINK_CALLS,
  ...SIGN_IN_GUARD_CALLS,
  ...WEBHOOK_CALLS,
  ...CHANNEL_CALLS,
  ...MESSAGE_CALLS,
  ...CHANNEL_FAILURE_CALLS,
  ...RULE_CALLS,
  ...ALERT_CALLS,
  ...SUBSCRIPTION_CALLS,
  ...LETTER_CALLS,
  checkSecrets: read(({ secrets }) => secrets.check()),
  resetSecrets: write(async (registry, now) => {
    const webhooks = await removeAllWebhooks(registry, now);
    const channels = await removeAllChannels(registry, now);
    const subscriptions = await removeAllSubscriptions(registry);
    await registry.secrets.forgetKey(registry);
    await forgetIdempotent(registry);
    return {
      webhooks,
      channels,
      subscriptions,
      checks: await removeLostCredentials(registry, now),
      passwords: await removeAllPasswords(registry),
    };
  }),
  rotateSecrets: write(rotateSecrets),
  sealCredentials: read(({ secrets }, credentials) => secrets.sealCredentials(credentials)),
  matchCredentials: read(async ({ secrets }, credentials) => secrets.matchCredentials(credentials)),
  foreignCredentials: read(async ({ secrets }, sealed) => {
    const key = secrets.checksKey();
    return sealed.map((text) => key !== null && !isKeyOf(key, text));
  }),
  ...PAGE_CALLS,
  ...CONTENT_CALLS,
  getFact: read(async (registry, name) => await registry.secrets.readFact(registry, name)),
  setFact: write(async (registry, name, value) => await registry.secrets.writeFact(registry, name, value)),
  ensureFact: write(async (registry, name, value) => {
    const known = await registry.secrets.readFact(registry, name);
    if (known === null) await registry.secrets.writeFact(registry, name, value);
    return known ?? value;
  }),
};

/** The methods after which there may be work for others. Routine updates, which are most writes, only repeat a status. */
export const WRITING_METHODS: ReadonlySet<string> = new Set([
  'callIdempotent',
  ...Object.entries(CALLS)
    .filter(([name, { kind }]) => kind === 'write' && name !== 'commitRows')
    .map(([name]) => name),
]);

/** Several calls of a method that writes, made by the same statements. */
interface JointCalls {
  make(registry: OpenRegistry, lists: readonly unknown[]): Promise<readonly JointOutcome<unknown>[]>;
}

/** The methods that clients of the API call most. */
const JOINT_CALLS: ReadonlyMap<string, JointCalls> = new Map<string, JointCalls>([
  ['changeService', { make: changeServices }],
  ['registerService', { make: registerTogether }],
]);

/** An open database, with the functions that run work on it. */
export interface RegistryParts {
  readonly limits: DomainLimits;
  readonly secrets: Secrets;
  readonly lease: HeldLease;
  /** Runs work that only reads; it sees committed data only. */
  readonly read: <T>(work: (store: RegistryStore) => Promise<T>) => Promise<T>;
  /** Runs work inside a transaction, and resolves after the commit. `joint`: how it is made together with others. */
  readonly write: <T>(
    work: (store: RegistryStore) => Promise<T>,
    joint?: JointWrite | undefined,
  ) => Promise<T>;
  /** Runs work of one statement, which commits by itself where that spares a transaction. */
  readonly unordered: <T>(work: (store: RegistryStore) => Promise<T>) => Promise<T>;
  /** The same, where no other work of this process may delay it. */
  readonly urgent: <T>(work: (store: RegistryStore) => Promise<T>) => Promise<T>;
  /** Takes the lease in fewer round trips than a transaction; null: not so. Absent: always in a transaction. */
  readonly takeLease?: (request: LeaseRequest) => Promise<number | null>;
  /** The store for work inside a transaction. */
  readonly writable: RegistryStore;
}

/** A call that is made once for the key of its client. */
interface IdempotentCall {
  readonly request: IdempotentRequest;
  readonly args: readonly unknown[];
}

export function createRegistryMethods(parts: RegistryParts) {
  const { limits, secrets, lease } = parts;
  /** The registry as work inside a transaction sees it. SQLite's file may have been opened again since the last one. */
  const writing = (): OpenRegistry => ({ ...parts.writable, limits, secrets });
  const entries = Object.entries(CALLS).map(([name, { kind, run }]) => {
    const serve: (registry: OpenRegistry, ...args: never[]) => Promise<unknown> = run;
    const joint = JOINT_CALLS.get(name);
    const jointWrites: JointWrites = { make: async (lists) => (await joint?.make(writing(), lists)) ?? [] };
    return [
      name,
      (...args: never[]) => {
        const work = (store: RegistryStore) => serve({ ...store, limits, secrets }, ...args);
        return joint === undefined ? parts[kind](work) : parts.write(work, { kind: jointWrites, item: args });
      },
    ];
  });
  const onceTogether = new Map(
    IDEMPOTENT_NAMES.flatMap((name) => {
      const joint = JOINT_CALLS.get(name);
      if (joint === undefined) return [];
      const jointWrites: JointWrites<IdempotentCall> = {
        make: (calls) => {
          const registry = writing();
          const change = (indices: readonly number[]) =>
            joint.make(
              registry,
              indices.map((index) => calls[index]?.args),
            );
          const requests = calls.map(({ request }) => request);
          return callIdempotentTogether(registry, requests, change, isMadeBy(name));
        },
      };
      return [[name, jointWrites]] as const;
    }),
  );
  const methods: ServedByCalls = Object.fromEntries(entries);
  // Its one statement compares the fence. A lease that waits for the disk is written by the next transaction.
  const renewInThread = (fence: number, now: number) =>
    (lease.isWritten ? parts.urgent : parts.write)((store) => renewLease(store, fence, now));
  return {
    ...methods,
    async renewLease(fence: number, now: number) {
      lease.heard(fence, renewInThread);
      await renewInThread(fence, now);
    },
    callIdempotent: (request: IdempotentRequest, name: IdempotentName, args: readonly unknown[]) => {
      const run: (registry: OpenRegistry, ...args: never[]) => Promise<unknown> = CALLS[name].run;
      const given = args as never[];
      const work = (store: RegistryStore) => {
        const registry = { ...store, limits, secrets };
        return callIdempotent(registry, request, () => run(registry, ...given), isMadeBy(name));
      };
      const kind = onceTogether.get(name);
      return parts.write(work, kind === undefined ? undefined : { kind, item: { request, args } });
    },
    sealSecrets: () => parts.write((store) => secrets.sealClear(store)),
    installation: async () =>
      (await parts.read((store) => getFact(store, INSTALLATION_FACT))) ??
      (await parts.write(ensureInstallation)),
    readLease: () => parts.read(() => lease.read()),
    takeLease: async (request: LeaseRequest) => {
      const atOnce = await parts.takeLease?.(request);
      const fence = atOnce ?? (await parts.write((store) => takeLease(store, request)));
      if (fence !== null) lease.hold(request, fence);
      return fence;
    },
    claimLease: (request: LeaseRequest) => parts.read(() => lease.claim(request)),
    markLease: (fence: number, now: number) => parts.read(() => lease.mark(fence, now)),
    releaseLease: async (fence: number) => {
      await parts.write((store) => releaseLease(store, fence));
      lease.drop();
    },
    /** Resolves when the database accepts a write. */
    tryWriting: () => parts.write(touchLease),
  };
}

/**
 * Returns true if the value of a method says that its change was made: `putContent` resolves with refusals, `provePageDomain` with
 * `missing`.
 */
function isMadeBy(name: IdempotentName): (value: unknown) => boolean {
  if (name === 'putContent') return (value) => !Array.isArray(value) || value.length === 0;
  return (value) => value !== 'missing';
}
