/** Checks that end with their prober. */
import t from 'tap';
import type { CheckDefinition } from '../../src/domain/service.ts';
import { openProbe } from '../probe/try-probe.ts';
import { listenRaw, until } from '../support/loopback.ts';

const tcp = (port: number, banner?: string): Partial<CheckDefinition> => ({
  kind: 'tcp',
  settings: { port, ...(banner === undefined ? {} : { banner }) },
});

t.test('a stopped prober ends a conversation', async (t) => {
  const probe = openProbe(t);
  const { port, open, close } = await listenRaw((socket) => void socket.resume());
  t.teardown(close);
  const stopping = new AbortController();
  const attempt = probe(null, { check: tcp(port, '220 '), signal: stopping.signal });
  await until(() => open() === 1);
  stopping.abort(new Error('stopped'));
  await t.rejects(attempt, { message: 'stopped' });
  await until(() => open() === 0);
});
