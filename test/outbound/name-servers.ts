/** Name servers, and a client of theirs. */
import type { Test } from 'tap';
import { createNameClient, type NameResult } from '../../src/outbound/name-client.ts';
import { createServerList } from '../../src/outbound/name-socket.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { type AnswerName, startNameServer } from '../support/name-server.ts';

export const TIMEOUT_MS = 10_000;

export const STEP_MS = 50;

/** A client of these servers under a clock of its own. */
export async function start(t: Test, ...answers: readonly AnswerName[]) {
  const clock = createFakeClock();
  const servers = await Promise.all(answers.map((answer) => startNameServer(answer)));
  const list = servers.map(({ address }) => address);
  const client = createNameClient(createServerList(list, clock), clock);
  t.teardown(async () => {
    client.close();
    await Promise.all(servers.map((server) => server.close()));
  });
  /** Asks, lets time pass until there is an answer, and says when it came. */
  const ask = async (name: string, timeoutMs = TIMEOUT_MS) => {
    const askedAt = clock.monotonic();
    const { result: answer } = client.query({ name, type: 'A' }, askedAt + timeoutMs);
    let answered: { answer: NameResult; tookMs: number } | null = null;
    void answer.then((value) => {
      answered = { answer: value, tookMs: clock.monotonic() - askedAt };
    });
    await deliver();
    while (answered === null) await pass(clock);
    return answered as { answer: NameResult; tookMs: number };
  };
  return { clock, servers, client, ask };
}

export async function pass(clock: FakeClock) {
  await clock.advance(STEP_MS);
  await deliver();
}

/** Lets datagrams on the way arrive: loopback delivers within the call that sends. */
export async function deliver() {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
