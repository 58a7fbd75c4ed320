/** The methods of the registry's thread that are the same for all databases. */

import { isKeyOf } from '../../domain/credential-seal.ts';
import { IDEMPOTENT_NAMES, type IdempotentName, type IdempotentRequest } from '../ports/idempotency.ts';
import type { LeaseRequest } from '../ports/lease.ts';
import type { Registry } from '../ports/registry.ts';
import { CONTENT_CALLS } from './account-content.ts';
import { ACCOUNT_CALLS } from './account-rows.ts';
import { ALERT_CALLS } from './alert-rows.ts';
import { CHANNEL_FAILURE_CALLS } from './channel-failure-rows.ts';
import { CHANNEL_CALLS, removeAllChannels } from './channel-rows.ts';
import { removeLostCredentials } from './credential-rows.ts';
import { ensureInstallation, getFact, INSTALLATION_FACT } from './fact-rows.ts';
import type { JointOutcome, JointWrite, JointWrites } from './group-commit.ts';
import { HEARTBEAT_CALLS } from './heartbeat-rows.ts';
import { type HeldLease, releaseLease, renewLease, takeLease, touchLease } from './held-lease.ts';
import {
  callIdempotent,
  callIdempotentTogether,
  findIdempotent,
  forgetIdempotent,
} from './idempotency-rows.ts';
import { INBOX_CALLS } from './inbox-rows.ts';
import { INCIDENT_CALLS } from './incident-rows.ts';
import { INVITATION_CALLS } from './invitation-rows.ts';
import { KEY_CALLS } from './key-rows.ts';
import { LETTER_CALLS } from './letter-rows.ts';
import { MEMBER_CALLS } from './member-rows.ts';
import { mergeAccounts, planMerge, removeEmptyAccount } from './merge-accounts.ts';
import { MESSAGE_CALLS } from './message-rows.ts';
import { OWNER_INCIDENT_CALLS } from './owner-incident-rows.ts';
import { OWNER_MAINTENANCE_CALLS } from './owner-maintenance-rows.ts';
import { addService, addServices, removeService } from './owner-services.ts';
import { changeService, changeServices, findService, OWNERSHIP_CALLS, servicesOf } from './ownership.ts';
import type { StateMethods } from './packed-states.ts';
import { PEOPLE_CALLS } from './people-rows.ts';
import { endCatalogue, hasCatalogue, putCatalogue, putCataloguePage } from './put-catalogue.ts';
import { registerTogether } from './register-together.ts';
import { type Calls, type DomainLimits, type OpenRegistry, read, write } from './registry-calls.ts';
import type { RegistryStore } from './registry-store.ts';
import { RETENTION_CALLS } from './retention-rows.ts';
import { type ResealedCheck, type RotatedSecrets, rotateSecrets } from './rotate-secrets.ts';
import type { RoutineMethods } from './routine-rows.ts';
import { RULE_CALLS } from './rule-rows.ts';
import type { Secrets } from './secret-box.ts';
import { CHANGE_CALLS } from './service-rows.ts';
import { SERVICE_STATE_CALLS } from './service-state-rows.ts';
import { SETUP_LINK_CALLS } from './setup-link-rows.ts';
import { SIGN_IN_GUARD_CALLS } from './sign-in-guard-rows.ts';
import { removeAllPasswords, SIGN_IN_CALLS } from './sign-in-rows.ts';
import { PAGE_CALLS } from './status-page-rows.ts';
import { removeAllSubscriptions, SUBSCRIPTION_CALLS } from './subscription-rows.ts';
import { UPDATE_CALLS } from './update-rows.ts';
import { VENDOR_CALLS } from './vendor-rows.ts';
import { removeAllWebhooks, WEBHOOK_CALLS } from './webhook-rows.ts';

/** Methods of the port that the client implements by others, or that need more than a transaction. */
type OtherMethods =
  | 'servicesBetween'
  | 'watchChanges'
  | 'watchOtherProcesses'
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
};

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
  /** What work inside a transaction gets. */
  readonly writable: RegistryStore;
}

/** A call that is made once for the key of its client. */
interface IdempotentCall {
  readonly request: IdempotentRequest;
  readonly args: readonly unknown[];
}

/** Creates the methods. */
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
  const renewInThread = (fence: number, now: number) => parts.write((store) => renewLease(store, fence, now));
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
      const fence = await parts.write((store) => takeLease(store, request));
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

/** Whether the value of a method says that its change was made: `putContent` resolves with refusals, others with an outcome. */
function isMadeBy(name: IdempotentName): (value: unknown) => boolean {
  if (name === 'putContent') return (value) => !Array.isArray(value) || value.length === 0;
  return (value) => value !== 'stale' && value !== 'missing';
}
