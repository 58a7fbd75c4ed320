/** The embedded sample store on a disk that has changed its file: only what was damaged is lost, and that is counted. */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { packSamples } from '../../../src/store/samples/encoding.ts';
import { SampleEngine } from '../../../src/store/samples/sample-engine.ts';
import { openSamplesDatabase } from '../../../src/store/samples/samples-database.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { createRandom } from '../../support/random.ts';
import { sampleAt } from '../samples-contract.ts';

const DAY = 86_400_000;
const NOON = Date.UTC(2026, 10, 3, 12);
const TODAY = Math.floor(NOON / DAY);
const [SERVICES, DAYS, A_DAY] = [10, 6, 48];
const FILE = 'samples.sqlite';

function makeFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-damage-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function open(dataDir: string) {
  const database = openSamplesDatabase(dataDir, { now: () => NOON });
  const retention = { rawRetentionMs: 90 * DAY, rollupRetentionMs: 730 * DAY };
  const engine = new SampleEngine({ database, ...retention, now: () => NOON });
  const countOf = (serviceId: number) => {
    const window = { serviceId, from: NOON - DAYS * DAY, to: NOON + DAY, stepMs: (DAYS + 1) * DAY };
    return engine.query(window)[0]?.count ?? 0;
  };
  return { engine, setAside: database.setAside, countOf };
}

/** A folder with a store: blocks and summaries of some days, and half a day in the journal, as a kill leaves it. */
async function fillStore(t: Test): Promise<string> {
  const folder = makeFolder(t);
  const { engine } = open(folder);
  const times = (from: number, count: number) =>
    Array.from({ length: SERVICES * count }, (_, index) =>
      sampleAt(from + Math.floor(index / SERVICES) * 1_800_000, { serviceId: (index % SERVICES) + 1 }),
    );
  engine.append(packSamples(times(NOON - DAYS * DAY, DAYS * A_DAY)));
  await engine.compact();
  engine.append(packSamples(times(NOON + 1, A_DAY / 2)));
  engine.flush();
  const copy = makeFolder(t);
  for (const name of readdirSync(folder).filter((name) => !name.endsWith('-shm')))
    copyFileSync(join(folder, name), join(copy, name));
  engine.close();
  return copy;
}

/** Changes the file by SQL. */
function change(dataDir: string, sql: string, ...values: (number | Uint8Array)[]): void {
  const database = new DatabaseSync(join(dataDir, FILE));
  const { changes } = database.prepare(sql).run(...values);
  database.close();
  if (changes === 0) throw new Error('nothing was changed');
}

function readBytes(dataDir: string, sql: string): Uint8Array {
  const database = new DatabaseSync(join(dataDir, FILE));
  const row = database.prepare(sql).get();
  database.close();
  if (!(row?.bytes instanceof Uint8Array)) throw new Error('there is no such row');
  return row.bytes;
}

const WHOLE = (DAYS + 0.5) * A_DAY;
const JUNK = new Uint8Array(200).fill(0xab);

t.test('a damaged block costs its day alone, and that is answered from its summary', async (t) => {
  const folder = await fillStore(t);
  change(folder, 'UPDATE blocks SET bytes = ? WHERE key = ?', JUNK, 2 * 65_536 + TODAY - 2);
  const { engine, countOf } = open(folder);
  t.teardown(() => engine.close());
  t.equal(engine.state().damaged, 0);
  t.same([1, 2, 3].map(countOf), [WHOLE, WHOLE, WHOLE]);
  t.same([1, 2].map(countOf), [WHOLE, WHOLE]);
  t.equal(engine.state().damaged, 1, 'it is counted once');
  t.equal(engine.newest(2, 1_000).length, WHOLE - A_DAY, 'single samples of that day are lost');
});

t.test('a damaged block of today does not hold up the writing of others', async (t) => {
  const folder = await fillStore(t);
  change(folder, 'UPDATE blocks SET bytes = ? WHERE key = ?', JUNK, 2 * 65_536 + TODAY);
  const { engine, countOf } = open(folder);
  t.teardown(() => engine.close());
  await engine.compact();
  t.same([1, 2, 3].map(countOf), [WHOLE, WHOLE - A_DAY / 2, WHOLE]);
  t.equal(engine.state().damaged, 1);
  t.same([engine.state().problem, engine.state().pending], [null, 0]);
});

t.test('a block with times of another day is damaged, too', async (t) => {
  const folder = await fillStore(t);
  const other = readBytes(folder, `SELECT bytes FROM blocks WHERE key = ${65_536 + TODAY - 3}`);
  change(folder, 'UPDATE blocks SET bytes = ? WHERE key = ?', other, 65_536 + TODAY - 2);
  const { engine, countOf } = open(folder);
  t.teardown(() => engine.close());
  t.equal(countOf(1), WHOLE, 'its summary answers');
  t.equal(engine.state().damaged, 1);
});

t.test('a damaged summary is made good by its block', async (t) => {
  const folder = await fillStore(t);
  for (const table of ['days', 'summaries'])
    change(folder, `UPDATE ${table} SET bytes = ? WHERE key = ?`, JUNK, 65_536 + TODAY - 2);
  const { engine } = open(folder);
  t.teardown(() => engine.close());
  const year = { serviceId: 1, from: (TODAY - 300) * DAY, to: (TODAY + 1) * DAY, stepMs: 301 * DAY };
  t.equal(engine.query(year)[0]?.count, WHOLE);
});

t.test('a damaged entry of the journal costs its damaged samples alone', async (t) => {
  const folder = await fillStore(t);
  const bytes = readBytes(folder, 'SELECT bytes FROM journal').slice();
  // The number of the series of the first sample, and half of the last sample.
  bytes.fill(0xff, 0, 8);
  change(folder, 'UPDATE journal SET bytes = ?', bytes.subarray(0, bytes.length - 12));
  const { engine, countOf } = open(folder);
  t.teardown(() => engine.close());
  await engine.compact();
  const counts = Array.from({ length: SERVICES }, (_, index) => countOf(index + 1));
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    SERVICES * WHOLE - 2,
  );
  t.equal(engine.state().damaged, 1);
});

t.test('whatever bytes are changed or cut off, it starts, answers and writes', async (t) => {
  const folder = await fillStore(t);
  const random = createRandom(Math.floor(Math.random() * 2 ** 31));
  for (let run = 0; run < propertyRuns(25); run++) {
    const dataDir = makeFolder(t);
    for (const name of readdirSync(folder)) copyFileSync(join(folder, name), join(dataDir, name));
    const name = random() < 0.7 ? FILE : `${FILE}-wal`;
    const whole = readFileSync(join(dataDir, name));
    const at = Math.floor(random() * whole.length);
    const isCut = random() < 0.3;
    const junk = Uint8Array.from({ length: 64 }, () => Math.floor(random() * 256));
    const broken = isCut ? whole.subarray(0, at) : Buffer.from(whole);
    if (!isCut) broken.set(junk.subarray(0, Math.min(64, whole.length - at)), at);
    writeFileSync(join(dataDir, name), broken);
    const what = `${name} ${isCut ? 'cut off' : 'changed'} at ${at}`;
    t.doesNotThrow(() => {
      const { engine, countOf } = open(dataDir);
      for (let id = 1; id <= SERVICES; id++) {
        countOf(id);
        engine.newest(id, 10);
      }
      engine.append(packSamples([sampleAt(NOON + 2 * DAY)]));
      engine.flush();
      t.equal(engine.newest(1, 1)[0]?.at, NOON + 2 * DAY, what);
      engine.close();
    }, what);
  }
});
