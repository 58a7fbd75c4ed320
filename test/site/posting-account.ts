/** A site with a service and a page of one account, and keys of two. */
import type { Test } from 'tap';
import { sendWith } from './send-with.ts';
import { NOW, service, startApi } from './site-world.ts';

/** The API with a service and a page of account 1, and keys of accounts 1 and 2. */
export async function start(t: Test) {
  const shop = service(1, 'shop', { origin: 'owner', accountId: 1, name: 'Shop' });
  const world = await startApi({ services: [shop, service(2, 'public')] });
  t.teardown(world.close);
  await world.registry.ensureAccount('grace', 1);
  const groups = [{ name: '', services: [1, 2] }];
  await world.registry.addPage({ accountId: 1, slug: 'acme', title: 'Acme', text: '', groups, now: NOW });
  const keyOf = (accountId: number) => world.makeKey({ accountId, scopes: ['read', 'write'] });
  const [ada, grace] = [keyOf(1), keyOf(2)];
  const send = sendWith(world);
  return { world, ada, grace, send };
}
