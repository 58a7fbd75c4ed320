/** A registry with a webhook, whose secret no file may show. */
import { randomBytes } from 'node:crypto';
import type { RegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { NOON } from './registry-fixtures.ts';

export const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

export const URL = 'https://hooks.example/1';

/** A registry with a webhook; the id of its account. */
export async function withWebhook(opening: Promise<RegistryMethods>) {
  const registry = await opening;
  await registry.checkSecrets();
  await registry.sealSecrets();
  const { id: accountId } = await registry.ensureAccount('ada', NOON);
  await registry.addWebhook({ accountId, url: URL, secret: SECRET, createdAt: NOON });
  return { registry, accountId };
}
