/** Subscribers and what they are told, for tests. */
import type { CurrentStatus } from '../../src/domain/status/current.ts';
import type { Verdict } from '../../src/domain/status.ts';
import type { SubscriptionTopic } from '../../src/domain/subscription.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import type { DueLetter } from '../../src/store/ports/subscriptions.ts';
import type { StatusUpdate } from '../../src/store/ports/updates.ts';
import { firstTurn, NOON, turn } from './registry-fixtures.ts';

export const ALL = 1_000;

export const delivered = ({ id }: DueLetter) => ({ id, outcome: 'delivered', dueAt: null }) as const;

/** Subscribes an address; returns the secret of its links. */
export async function subscribe(registry: Registry, topic: SubscriptionTopic, address: string, now = NOON) {
  await registry.requestSubscription({ topic, address, language: 'en', now });
  const letters = await registry.dueLetters(now, ALL);
  const letter = letters.find(({ to, kind }) => to === address && kind === 'subscribe');
  if (letter === undefined) throw new Error(`no letter asks ${address}`);
  await registry.noteLetters(letters.map(delivered));
  await registry.confirmSubscription(letter.secret, now);
  return letter.secret;
}

/** Gives the service 1 these statuses, one after the other. */
export async function commitTurns(
  registry: Registry,
  turns: readonly (readonly [Verdict, number])[],
): Promise<void> {
  let current: CurrentStatus | null = null;
  for (const [to, at] of turns) {
    const update: StatusUpdate = current === null ? firstTurn(1, to, at, 'a') : turn(current, to, at, 'a');
    await registry.commitUpdates([update]);
    current = update.current;
  }
}
