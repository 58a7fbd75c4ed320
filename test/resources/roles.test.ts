/** Changes that a role does not permit: the functions of `src/resources/` refuse them first. */

import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { ANY_DESTINATION } from '../../src/domain/allowed-destinations.ts';
import { channelChanges } from '../../src/resources/channels/channels.ts';
import { addKey, revokeKey } from '../../src/resources/keys/keys.ts';
import {
  inviteMember,
  removeMember,
  setMemberRole,
  withdrawInvitation,
} from '../../src/resources/members/members.ts';
import { arrangeStatusPage, pageChanges } from '../../src/resources/pages/pages.ts';
import { ruleChanges } from '../../src/resources/rules/rules.ts';
import { dropClaim, verifyDomain } from '../../src/resources/services/domains.ts';
import { addOrClaim, tryService } from '../../src/resources/services/new-service.ts';
import {
  makeHeartbeatAddress,
  removeHeartbeatAddress,
  serviceChanges,
} from '../../src/resources/services/services.ts';
import {
  addWebhook,
  removeWebhook,
  replayDelivery,
  testWebhook,
} from '../../src/resources/webhooks/webhooks.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { USUAL } from '../support/attempts.ts';
import { registryHere } from '../support/registry-here.ts';

const dataDir = t.testdir();
const registry = registryHere(await openRegistryMethods({ dataDir, domainsPerAccount: 9 }), systemClock);
t.teardown(() => registry.close());
const untouched = async (): Promise<never> => {
  throw new Error('a change that is refused asks nothing');
};
const context = {
  registry,
  proofs: { check: untouched },
  resolve: untouched,
  charge: untouched,
  tryCheck: untouched,
  destinations: async () => ANY_DESTINATION,
  bounds: { usual: USUAL, minIntervalMs: 30_000, regions: () => [] },
  now: () => 0,
  findService: () => null,
  findServiceById: () => null,
  siteUrl: 'https://upbeat.test',
  kinds: {},
};
const page = { slug: 'acme', title: 'Acme' };
// A page that is there: nothing but the role is judged of its changes.
const owner = { role: 'owner', accountId: (await registry.ensureAccount('ada', 0)).id } as const;
await pageChanges.add(context, owner, page);

/** Each change, with the role that it needs. */
const CHANGES = {
  addKey: ['owner', (as) => addKey(context, as, { name: 'laptop', expires: 'never' })],
  revokeKey: ['owner', (as) => revokeKey(context, as, 1)],
  inviteMember: ['owner', (as) => inviteMember(context, as, { inviterId: 1, role: 'viewer' })],
  withdrawInvitation: ['owner', (as) => withdrawInvitation(context, as, 1)],
  setMemberRole: ['owner', (as) => setMemberRole(context, as, 1, { role: 'owner' })],
  removeMember: ['owner', (as) => removeMember(context, as, 1, 2)],
  addOrClaim: ['editor', (as) => addOrClaim(context, as, { domain: 'a.example' })],
  tryService: ['editor', (as) => tryService(context, as, { domain: 'a.example' })],
  dropClaim: ['editor', (as) => dropClaim(context, as, 'a.example')],
  verifyDomain: ['editor', (as) => verifyDomain(context, as, 'a.example', { kind: 'root', url: null })],
  patchService: [
    'editor',
    (as) => serviceChanges.patch(context, as, { key: 'a', revisions: null }, { paused: true }),
  ],
  removeService: ['editor', (as) => serviceChanges.remove(context, as, { key: 'a', revisions: null })],
  makeHeartbeatAddress: ['editor', (as) => makeHeartbeatAddress(context, as, { key: 'a', revisions: null })],
  removeHeartbeatAddress: [
    'editor',
    (as) => removeHeartbeatAddress(context, as, { key: 'a', revisions: null }),
  ],
  addPage: ['editor', (as) => pageChanges.add(context, as, page)],
  patchPage: ['editor', (as) => pageChanges.patch(context, as, { key: 'acme', revisions: [1] }, page)],
  arrangeStatusPage: [
    'editor',
    (as) =>
      arrangeStatusPage(
        context,
        as,
        { key: 'acme', revisions: [1] },
        {
          ...{ kind: 'add_services', services: [['none', '']], group: 0 },
        },
      ),
  ],
  removePage: ['editor', (as) => pageChanges.remove(context, as, { key: 'acme', revisions: null })],
  addRule: ['editor', (as) => ruleChanges.add(context, as, {})],
  replaceRule: ['editor', (as) => ruleChanges.replace(context, as, { key: 1, revisions: null }, {})],
  removeRule: ['editor', (as) => ruleChanges.remove(context, as, { key: 1, revisions: null })],
  addChannel: ['editor', (as) => channelChanges.add(context, as, {})],
  patchChannel: ['editor', (as) => channelChanges.patch(context, as, { key: 1, revisions: null }, {})],
  removeChannel: ['editor', (as) => channelChanges.remove(context, as, { key: 1, revisions: null })],
  addWebhook: ['editor', (as) => addWebhook(context, as, { url: 'https://hooks.example' })],
  removeWebhook: ['editor', (as) => removeWebhook(context, as, 1)],
  testWebhook: ['editor', (as) => testWebhook(context, as, 1)],
  replayDelivery: ['editor', (as) => replayDelivery(context, as, 1)],
} as const satisfies Record<string, Change>;

type Change = readonly [
  needed: 'owner' | 'editor',
  make: (as: { readonly role: 'editor' | 'viewer'; readonly accountId: number }) => Promise<unknown>,
];

t.test('it refuses members without the role', async (t) => {
  for (const [name, [role, make]] of Object.entries<Change>(CHANGES)) {
    const refused = { ok: false, refusals: [{ field: null, refusal: { code: 'role_required', role } }] };
    t.strictSame(await make({ role: 'viewer', accountId: 1 }), refused, `${name} by a viewer`);
    if (role === 'owner')
      t.strictSame(await make({ role: 'editor', accountId: 1 }), refused, `${name} by an editor`);
  }
});
