/** A site with services of the catalogue and of two accounts, whose keys may write. */
import type { Test } from 'tap';
import { sendWith } from './send-with.ts';
import { service, startApi } from './site-world.ts';

export async function start(t: Test) {
  const services = [
    service(1, 'known', { name: 'Known', domain: 'known.example' }),
    service(2, 'shop-example-com', { domain: 'shop.example.com', origin: 'owner', accountId: 1 }),
    service(3, 'hers-example-com', { domain: 'hers.example.com', origin: 'owner', accountId: 2 }),
  ];
  const world = await startApi({ services });
  t.teardown(world.close);
  const keyOf = (accountId: number) => world.makeKey({ accountId, scopes: ['read', 'heartbeat', 'write'] });
  const [ada, grace] = [keyOf(1), keyOf(2)];
  return { world, ada, grace, send: sendWith(world) };
}
