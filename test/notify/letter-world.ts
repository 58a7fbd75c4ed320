/** A registry with subscribers of one service, and a sender of letters with a mailer that a test answers for. */
import type { Test } from 'tap';
import type { CurrentStatus } from '../../src/domain/status/current.ts';
import { silentLog } from '../../src/log.ts';
import { startLetterSender } from '../../src/notify/letter-sender.ts';
import type { Letter, Mailer, MailResult } from '../../src/notify/mail/smtp-mailer.ts';
import { createDeliveryCounter } from '../../src/notify/outbox.ts';
import type { LetterStore } from '../../src/store/ports/subscriptions.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { entry, firstTurn, NOON, turn } from '../store/registry-fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { registryHere } from '../support/registry-here.ts';

const ALL = 1_000;

/** Opens the registry with `count` confirmed subscribers of the service 1, `s0@example.com` and so on. */
export async function openLetterWorld(t: Test, count: number) {
  const clock = createFakeClock(NOON);
  const methods = await openRegistryMethods({ dataDir: t.testdir(), domainsPerAccount: 100 });
  const registry = registryHere(methods, clock);
  t.teardown(() => registry.close());
  await registry.putCatalogue([entry('shop')]);
  for (let from = 0; from < count; from += 500) {
    const addresses = Array.from(
      { length: Math.min(500, count - from) },
      (_, n) => `s${from + n}@example.com`,
    );
    await Promise.all(
      addresses.map((address) =>
        registry.requestSubscription({ topic: 'service:1', address, language: 'en', now: NOON }),
      ),
    );
    const letters = await registry.dueLetters(NOON, ALL);
    await Promise.all(letters.map(({ secret }) => registry.confirmSubscription(secret, NOON)));
  }

  let current: CurrentStatus | null = null;
  let answer: (letter: Letter) => MailResult | Promise<MailResult> = () => ({ outcome: 'delivered' });
  const sent: { readonly to: string; readonly subject: string; readonly id: string; readonly at: number }[] =
    [];
  const waiting = new Set<() => void>();
  const mailer: Mailer = {
    problem: () => null,
    async send({ to, subject, messageId: id }: Letter): Promise<MailResult> {
      sent.push({ to, subject, id, at: clock.now() });
      for (const wake of waiting) wake();
      return await answer({ to, subject, text: '', html: '', messageId: id, references: [] });
    },
    close() {},
  };
  const readSlowly =
    (ms: number): LetterStore['dueLetters'] =>
    async (now, limit, isAway) => {
      await new Promise<void>((resolve) => clock.after(ms, resolve));
      return await registry.dueLetters(now, limit, isAway);
    };
  const logged: string[] = [];
  const note = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  return {
    clock,
    registry,
    /** The letters that were handed to the mailer, in order. */
    sent,
    logged,
    setAnswer(next: typeof answer): void {
      answer = next;
    },
    /** Gives the service another status, a second later each time if no time is given. */
    async turn(to: 'up' | 'down', at = NOON + 1_000 * ((current?.seq ?? 0) + 1)): Promise<void> {
      const update = current === null ? firstTurn(1, to, at, 'shop') : turn(current, to, at, 'shop');
      await registry.commitUpdates([update]);
      current = update.current;
    },
    /** Starts a sender. `isOurs`: whether its process is the monitor. `readMs`: how long it takes to read what is due. */
    start: (isOurs: () => boolean = () => true, readMs = 0) =>
      startLetterSender({
        registry: readMs === 0 ? registry : { ...registry, dueLetters: readSlowly(readMs) },
        mailer,
        siteUrl: 'https://status.example.org',
        retentionNow: async () => clock.now(),
        counter: createDeliveryCounter('letters', clock, silentLog),
        clock,
        random: () => 0,
        isDown: () => current?.status === 'down',
        log: { debug() {}, info: note, warn: note, error: note },
        isOurs,
      }),
    /** Resolves when the mailer has got so many letters. */
    async reached(number: number): Promise<void> {
      while (sent.length < number)
        await new Promise<void>((resolve) => {
          const wake = () => {
            waiting.delete(wake);
            resolve();
          };
          waiting.add(wake);
        });
    },
  };
}
