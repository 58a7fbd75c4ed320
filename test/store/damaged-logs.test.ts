/** What each store says and does when the write-ahead log of its file, or the file of the spool, is damaged. */
import { execSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import { type Log, silentLog } from '../../src/log.ts';
import { eventOf } from '../../src/log-events.ts';
import { backUp } from '../../src/store/backup/back-up.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { openInfluxSamples } from '../../src/store/samples/influx/influx-samples.ts';
import { openSpool } from '../../src/store/samples/influx/spool.ts';
import { examineSamplesFile } from '../../src/store/samples/samples-file.ts';
import { openSamples } from '../../src/store/samples/sqlite-samples.ts';
import { labelsOf, settingsOf } from './influx-world.ts';
import { sampleAt } from './samples-contract.ts';

const DAY = 86_400_000;
const FRAME_BYTES = 24 + 4096;

/** Folders of a test: of an open store, and of copies of its files, as kills leave them. */
function makeFolders(t: Test) {
  const live = join(t.testdir(), 'live');
  mkdirSync(live);
  let copies = 0;
  const copy = () => {
    copies += 1;
    const folder = join(live, '..', `copy-${copies}`);
    cpSync(live, folder, { recursive: true });
    return folder;
  };
  return { live, copy };
}

/** Changes a byte of a file. Negative: from its end. */
function damage(file: string, at: number): void {
  const bytes = readFileSync(file);
  const place = at < 0 ? bytes.length + at : at;
  bytes[place] = (bytes[place] ?? 0) ^ 0x10;
  writeFileSync(file, bytes);
}

/** A log that notes the errors, as events. */
function noteErrors(): { readonly log: Log; readonly events: (string | null)[] } {
  const events: (string | null)[] = [];
  return { log: { ...silentLog, error: (_, message) => void events.push(eventOf(message)) }, events };
}

const openRegistry = (dataDir: string) => openRegistryMethods({ dataDir, domainsPerAccount: 1 });

/** The contents of a folder's files. */
const contents = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'base64')]));

t.test('the registry is not opened, nothing is changed, and the remedy that is named works', async (t) => {
  const { live, copy } = makeFolders(t);
  const registry = await openRegistry(live);
  for (let n = 1; n <= 9; n++) await registry.setFact(`fact-${n}`, 'stored');
  const killed = copy();
  const withoutIndex = copy();
  const last = copy();
  await registry.close();
  const log = join(killed, 'registry.sqlite-wal');

  damage(log, -6 * FRAME_BYTES);
  const before = contents(killed);
  const refusal: Error = await openRegistry(killed).then(
    () => t.fail('it was opened'),
    (error) => error,
  );
  t.match(refusal, {
    code: 'registry_damaged',
    message: /registry\.sqlite-wal is damaged after \d+ bytes: .* at least \d transactions.*restore a backup/,
  });
  t.same(contents(killed), before);
  execSync(/"(truncate [^"]+)"/.exec(refusal.message)?.[1] ?? 'false');
  const opened = await openRegistry(killed);
  const found = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => opened.getFact(`fact-${n}`)));
  const kept = found.filter((value) => value !== null).length;
  t.ok(kept > 0 && kept < 9, `${kept} are left`);
  t.ok(
    found.slice(0, kept).every((value) => value === 'stored'),
    'those before the damage',
  );
  await opened.close();

  rmSync(join(withoutIndex, 'registry.sqlite-shm'));
  damage(join(withoutIndex, 'registry.sqlite-wal'), -6 * FRAME_BYTES);
  await t.rejects(openRegistry(withoutIndex), { code: 'registry_damaged' }, 'in a copy without the index');
  damage(join(last, 'registry.sqlite-wal'), -1);
  await t.rejects(openRegistry(last), { message: /at least 1 transaction,/ }, 'the last commit');
});

t.test('a backup of a damaged log is refused, as it would lack what is behind the damage', async (t) => {
  const { live, copy } = makeFolders(t);
  const registry = await openRegistry(live);
  for (let n = 1; n <= 9; n++) await registry.setFact(`fact-${n}`, 'stored');
  const [whole, damaged] = [copy(), copy()];
  await registry.close();
  damage(join(damaged, 'registry.sqlite-wal'), -6 * FRAME_BYTES);
  const backUpFrom = (dataDir: string) =>
    backUp({
      ...{ dataDir, folder: `${dataDir}-backup`, postgresUrl: null, withKey: false, version: '1.0.0' },
      ...{ clock: systemClock, note: () => {} },
    });
  const before = contents(damaged);
  await t.rejects(backUpFrom(damaged), { message: /registry\.sqlite-wal is damaged\. "upbeat doctor"/ });
  t.same(contents(damaged), before, 'nothing is changed');
  t.same(readdirSync(`${damaged}-backup`), [], 'and nothing is left that could be taken for a backup');
  t.match(await backUpFrom(whole), { files: [{ name: 'registry.sqlite' }] });
});

const openStore = (dataDir: string, log: Log = silentLog) =>
  openSamples({ dataDir, rawRetentionMs: 90 * DAY, rollupRetentionMs: 730 * DAY, log });

t.test(
  'samples behind the damage are lost, which is said until the copy of the log is removed',
  async (t) => {
    const { live, copy } = makeFolders(t);
    const store = await openStore(live);
    const start = Date.now() - 60_000;
    for (let n = 0; n < 10; n++) {
      await store.append([sampleAt(start + n)]);
      await store.flush();
    }
    const killed = copy();
    await store.close();
    damage(join(killed, 'samples.sqlite-wal'), -4 * FRAME_BYTES);
    t.match(examineSamplesFile(killed), /its log after \d+ bytes/, 'doctor says so');

    const { log, events } = noteErrors();
    const opened = await openStore(killed, log);
    t.same(events, ['samples_log_damaged']);
    const left = (await opened.newest(1, 100)).length;
    t.ok(left > 0 && left < 10, `${left} are left`);
    t.match(
      opened.missingHistory(),
      /samples\.sqlite-wal was damaged; .*samples\.sqlite-wal\.damaged-\d{4}-/,
    );
    await opened.append([sampleAt(Date.now())]);
    t.equal((await opened.newest(1, 100)).length, left + 1);
    for (const name of readdirSync(killed).filter((name) => name.includes('damaged-')))
      rmSync(join(killed, name));
    t.equal(opened.missingHistory(), null);
    await opened.close();
  },
);

t.test('a damaged spool is set aside, or a copy of its log is kept, which is said', async (t) => {
  const { live, copy } = makeFolders(t);
  const spool = openSpool(live, 1e9);
  for (let n = 0; n < 10; n++) spool.put([`line ${n} ${n}`]);
  const whole = copy();
  const behind = copy();
  const settings = settingsOf('http://127.0.0.1:1', 'upbeat');
  const open = async (dataDir: string) => {
    const { log, events } = noteErrors();
    const store = await openInfluxSamples({ settings, dataDir, labelsOf, log });
    const { pending } = store.stats();
    await store.close();
    const kept = readdirSync(dataDir).filter((name) => name.includes('damaged-'));
    return { events, pending, kept: kept.map((name) => name.replace(/-2.*/, '')) };
  };
  t.same(await open(whole), { events: [], pending: 10, kept: [] });

  damage(join(behind, 'influx-spool.sqlite-wal'), -4 * FRAME_BYTES);
  const found = await open(behind);
  t.match(found, { events: ['spool_damaged'], kept: ['influx-spool.sqlite-wal.damaged'] });
  t.ok(found.pending > 0 && found.pending < 10, `${found.pending} are left`);

  spool.close();
  const foreign = copy();
  writeFileSync(join(foreign, 'influx-spool.sqlite'), 'this is no database'.repeat(500));
  const torn = copy();
  damage(join(torn, 'influx-spool.sqlite'), 4_096);
  for (const folder of [foreign, torn])
    t.match(await open(folder), {
      events: ['spool_damaged'],
      pending: 0,
      kept: ['influx-spool.sqlite.damaged'],
    });
});
