/** `upbeat secrets`: what to do where the key of stored secrets is lost. */
import { systemClock } from '../clock.ts';
import type { CommonOptions } from './command.ts';
import { withRegistry } from './open-stores.ts';

/** Removes all webhooks, whose secrets can no longer be decrypted; the next start creates a new key if there is none. */
export async function resetSecrets({ config }: CommonOptions): Promise<void> {
  const removed = await withRegistry(config, (registry) => registry.resetSecrets(systemClock.now()));
  console.error(
    removed === 1
      ? '1 webhook is removed, and its owner is told'
      : `${removed} webhooks are removed, and their owners are told`,
  );
}
