/** API keys for tests. */
import { createHash } from 'node:crypto';
import type { Registry } from '../../src/store/ports/registry.ts';
import { NOON } from './registry-fixtures.ts';

export const digest = (text: string) => new Uint8Array(createHash('sha256').update(text).digest());

export async function makeKey(registry: Registry, name: string, expiresAt: number | null = null) {
  const { id } = await registry.ensureAccount('acme', NOON);
  return registry.createKey({
    accountId: id,
    name,
    prefix: `upb_${name}`,
    sha256: digest(name),
    createdAt: NOON,
    expiresAt,
  });
}
