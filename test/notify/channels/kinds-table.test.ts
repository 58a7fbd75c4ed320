/** The table of kinds of channels: each has a server in the tests, and threads where its service shows them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { CHANNEL_KINDS, hasThreads } from '../../../src/domain/alert/channel.ts';
import { RECEIVERS } from './receivers.ts';

t.test('it has a service for each kind but e-mail, which has tests of its own', async (t) => {
  t.same(
    new Set(RECEIVERS.map(({ kind }) => kind)),
    new Set(CHANNEL_KINDS.filter((kind) => kind !== 'email')),
  );
});

t.test('each kind has a test of its name, against that service', async (t) => {
  const files = CHANNEL_KINDS.map((kind) => `${kind}.test.ts`);
  t.same(
    files.filter((name) => !existsSync(join(import.meta.dirname, name))),
    [],
  );
});

t.test('kinds without threads are those whose services show none', async (t) => {
  for (const receiver of RECEIVERS)
    if (!hasThreads(receiver.kind)) t.equal(receiver.threads, 'none', receiver.kind);
  const always = CHANNEL_KINDS.filter((kind) => {
    const own = RECEIVERS.filter((receiver) => receiver.kind === kind);
    return own.length > 0 && own.every(({ threads }) => threads === 'none');
  });
  t.same(
    always,
    CHANNEL_KINDS.filter((kind) => !hasThreads(kind)),
  );
});
