/** What every registry must do, whatever it is built on. */
import type { Test } from 'tap';
import t from 'tap';
import type { Registry } from '../../src/store/ports/registry.ts';
import { alertContract } from './registry-contract-alerts.ts';
import { contentContract } from './registry-contract-content.ts';
import { displacementContract } from './registry-contract-displacement.ts';
import { heartbeatContract } from './registry-contract-heartbeats.ts';
import { hostsContract } from './registry-contract-hosts.ts';
import { idempotencyContract } from './registry-contract-idempotency.ts';
import { inboxContract } from './registry-contract-inbox.ts';
import { incidentContract } from './registry-contract-incidents.ts';
import { invitationContract } from './registry-contract-invitations.ts';
import { keyContract } from './registry-contract-keys.ts';
import { longCatalogueContract } from './registry-contract-long-catalogue.ts';
import { mergeContract } from './registry-contract-merge.ts';
import { ownershipContract } from './registry-contract-ownership.ts';
import { pageContract } from './registry-contract-pages.ts';
import { postContract } from './registry-contract-posts.ts';
import { retentionContract } from './registry-contract-retention.ts';
import { serviceContract } from './registry-contract-services.ts';
import { sessionContract } from './registry-contract-sessions.ts';
import { signInContract } from './registry-contract-sign-in.ts';
import { subscriptionContract } from './registry-contract-subscriptions.ts';
import { trustContract } from './registry-contract-trust.ts';
import { updateContract } from './registry-contract-updates.ts';
import { vendorContract } from './registry-contract-vendor.ts';
import { webhookContract } from './registry-contract-webhooks.ts';

/** How the suite opens registries: two over the same directory must share what they hold. */
export interface RegistryAdapter {
  open(dataDir: string, options?: { readonly domainsPerAccount?: number }): Promise<Registry>;
  /** Runs a statement that every SQL takes on the tables of the open registries of `dataDir`. */
  execute(dataDir: string, sql: string): Promise<void>;
}

/** Opens a registry that is closed after the test. */
export type OpenForTest = (
  t: Test,
  dataDir?: string,
  options?: { readonly domainsPerAccount?: number },
) => Promise<Registry>;

/** Runs the suite against an adapter. */
export function runRegistryContract(adapter: RegistryAdapter): void {
  const open: OpenForTest = async (t, dataDir = t.testdir(), options = {}) => {
    const registry = await adapter.open(dataDir, options);
    t.teardown(() => registry.close());
    return registry;
  };
  // Over a hundred registries are opened; on a busy machine that takes its time.
  t.setTimeout(600_000);
  t.test('services', (t) => serviceContract(t, open));
  t.test('the catalogue and owners’ services', (t) => displacementContract(t, open));
  t.test('a long catalogue', (t) => longCatalogueContract(t, open));
  t.test('updates', (t) => updateContract(t, open));
  t.test('incidents', (t) => incidentContract(t, open));
  t.test('retention', (t) => retentionContract(t, open));
  t.test('ownership', (t) => ownershipContract(t, open));
  t.test('hosts', (t) => hostsContract(t, open));
  t.test('webhooks', (t) => webhookContract(t, open, adapter.execute));
  t.test('alerts', (t) => alertContract(t, open, adapter.execute));
  t.test('status pages', (t) => pageContract(t, open));
  t.test('what an account has', (t) => contentContract(t, open));
  t.test('sessions', (t) => sessionContract(t, open));
  t.test('sign-in', (t) => signInContract(t, open));
  t.test('trusted accounts', (t) => trustContract(t, open));
  t.test('invitations', (t) => invitationContract(t, open));
  t.test('merged accounts', (t) => mergeContract(t, open));
  t.test('vendors', (t) => vendorContract(t, open));
  t.test('what owners say', (t) => postContract(t, open));
  t.test('heartbeats', (t) => heartbeatContract(t, open));
  t.test('the inbox of heartbeats', (t) => inboxContract(t, open));
  t.test('keys and facts', (t) => keyContract(t, open));
  t.test('subscriptions and letters', (t) => subscriptionContract(t, open, adapter.execute));
  t.test('changes with the keys of clients', (t) => idempotencyContract(t, open, adapter.execute));
}
