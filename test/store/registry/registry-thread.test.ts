/** The registry in its thread, several of them beside each other as processes would be. */
import { mkdirSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { systemClock } from '../../../src/clock.ts';
import { type CurrentStatus, unknownStatus } from '../../../src/domain/status/current.ts';
import { silentLog } from '../../../src/log.ts';
import { openRegistryDatabase } from '../../../src/store/database/registry-database.ts';
import { acquireLease } from '../../../src/store/lease/writer-lease.ts';
import { openRegistry } from '../../../src/store/registry/open-registry.ts';
import { registryFile } from '../../../src/store/sqlite/private-files.ts';
import { entry, firstTurn, NOON, turn, until } from '../registry-fixtures.ts';

const open = (dataDir: string) => openRegistry({ dataDir, log: silentLog, clock: systemClock });

t.test(
  'it opens a new directory from several threads together, and lets one of them make each step',
  async (t) => {
    const dataDir = t.testdir();
    const registries = await Promise.all([1, 2, 3].map(() => open(dataDir)));
    await registries[0]?.putCatalogue([entry('a')]);
    const STEPS = 50;
    let wins = 0;
    await Promise.all(
      registries.map(async (registry) => {
        let current: CurrentStatus = unknownStatus(1);
        while (current.seq < STEPS) {
          const update = turn(current, current.seq % 2 === 0 ? 'up' : 'down', NOON + current.seq, 'a');
          const [outcome] = await registry.commitUpdates([update]);
          if (outcome?.kind === 'committed') wins++;
          current = outcome?.kind === 'stale' ? outcome.current : update.current;
        }
      }),
    );
    t.equal(wins, STEPS);
    for (const registry of registries) {
      t.equal((await registry.transitionsAfter(0, 100)).length, STEPS);
      await registry.close();
    }
  },
);

t.test('it reports changes made here and by others, and ends with the words of its file', async (t) => {
  const dataDir = t.testdir();
  const [here, there] = await Promise.all([open(dataDir), open(dataDir)]);
  const heard: string[] = [];
  const stop = here.watchChanges(0, ({ seq, slug }) => heard.push(`${seq} ${slug}`));
  await here.putCatalogue([entry('a')]);
  await there.putCatalogue([entry('a'), entry('b')]);
  await until(() => heard.length === 2);
  t.same(heard, ['1 a', '2 b']);
  stop();
  await here.commitUpdates([firstTurn(1, 'up', NOON)]);
  t.match(await there.loadServices(), [{ current: { status: 'up' } }, { current: { status: 'unknown' } }]);
  await here.close();
  await there.close();
});

t.test('it counts its own writes but for routine ones, and those of others', async (t) => {
  const dataDir = t.testdir();
  const [here, there] = await Promise.all([open(dataDir), open(dataDir)]);
  await here.putCatalogue([entry('a')]);
  await here.commitUpdates([firstTurn(1, 'up', NOON)]);
  const [state] = await here.loadServices();
  // The first look at the commits of others counts once.
  const first = here.writes();
  await until(() => here.writes() > first);
  const before = here.writes();
  const current = { ...(state?.current ?? unknownStatus(1)), observedAt: NOON + 1_000 };
  await here.commitUpdates([
    {
      ...{ serviceId: 1, expectedSeq: 1, current, recordedAt: NOON },
      ...{ transition: null, incident: null, memory: null },
    },
  ]);
  await here.getFact('word');
  t.equal(here.writes(), before);
  await here.setFact('word', 'here');
  t.equal(here.writes(), before + 1);
  await there.setFact('word', 'there');
  await until(() => here.writes() > before + 1);
  await Promise.all([here.close(), there.close()]);
});

t.test('it says through the thread why a file cannot be opened', async (t) => {
  const dataDir = t.testdir();
  mkdirSync(registryFile(dataDir));
  await t.rejects(open(dataDir), { code: 'registry_unusable', message: /read and write access/ });
});

t.test('it gives the lease through the thread', async (t) => {
  const dataDir = t.testdir();
  const [one, two] = await Promise.all([open(dataDir), open(dataDir)]);
  const onLost = (error: Error) => t.fail(error.message);
  const lease = await acquireLease({ store: one, place: dataDir, clock: systemClock, onLost });
  const self = { pid: process.pid + 1, host: hostname(), isAlive: () => true };
  await t.rejects(acquireLease({ store: two, place: dataDir, clock: systemClock, onLost, self }), {
    code: 'lease_held',
    message: new RegExp(`Process ${process.pid} on `),
  });
  await lease.release();
  const next = await acquireLease({ store: two, place: dataDir, clock: systemClock, onLost, self });
  t.equal(next.fence, lease.fence + 1);
  await next.release();
  await Promise.all([one.close(), two.close()]);
});

t.test('it shares commits among calls that arrive together', async (t) => {
  const dataDir = t.testdir();
  const registry = await open(dataDir);
  const CALLS = 500;
  await Promise.all(Array.from({ length: CALLS }, (_, n) => registry.setFact(`fact ${n}`, 'x')));
  // Each commit of a fact appends at least one page to the log: without sharing there were 500 of them.
  const watcher = new DatabaseSync(registryFile(dataDir));
  t.equal(Number(watcher.prepare('SELECT count(*) AS n FROM facts').get()?.n), CALLS);
  const { log } = watcher.prepare('PRAGMA wal_checkpoint').get() ?? {};
  t.ok(Number(log) < CALLS / 2, `${log} pages in the log`);
  watcher.close();
  await registry.close();
});

t.test('it rejects calls after it was closed', async (t) => {
  const dataDir = t.testdir();
  const registry = await open(dataDir);
  const stop = registry.watchChanges(0, () => t.fail('there was no change'));
  const written = registry.setFact('last', 'words');
  await registry.close();
  await written;
  await t.rejects(registry.getFact('last'), { message: /ended/ });
  stop();
  const { database } = await openRegistryDatabase(dataDir);
  t.same(
    database
      .prepare('SELECT value FROM facts')
      .all()
      .map(({ value }) => value),
    ['words'],
  );
  database.close();
});

t.test('it copies its log as often as before when a page of a catalogue was refused', async (t) => {
  const dataDir = t.testdir();
  const registry = await open(dataDir);
  t.teardown(() => registry.close());
  await t.rejects(registry.putCataloguePage(JSON.stringify([entry('a'), entry('a')])), {
    code: 'slug_taken',
  });
  for (let part = 0; part < 12; part++) {
    const pages = [JSON.stringify(Array.from({ length: 2_000 }, (_, index) => entry(`s${part}-${index}`)))];
    await registry.putCatalogue({ pages, isPart: true, digest: '' });
  }
  const { size } = statSync(`${registryFile(dataDir)}-wal`);
  t.ok(size < 10_000_000, `the log has ${size} bytes; with pages to come it would have more`);
});
