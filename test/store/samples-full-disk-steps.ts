/** Fills a store and makes its file one of another version by statements, or reads it (`read`); prints cells of a heat map. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { packSamples } from '../../src/store/samples/encoding.ts';
import { SampleEngine } from '../../src/store/samples/sample-engine.ts';
import { openSamplesDatabase } from '../../src/store/samples/samples-database.ts';
import { sampleAt } from './samples-contract.ts';

const [dataDir = '', step = ''] = process.argv.slice(2);
const DAY = 86_400_000;
const DAYS = 100;
const START = Date.UTC(2026, 0, 1);
const engine = new SampleEngine({
  database: openSamplesDatabase(dataDir),
  rawRetentionMs: 40 * DAY,
  rollupRetentionMs: 400 * DAY,
  now: () => START + DAYS * DAY,
});
if (step !== 'read') {
  engine.append(packSamples(Array.from({ length: DAYS }, (_, day) => sampleAt(START + day * DAY))));
  await engine.compact();
}
const [cells] = await engine.cells([{ serviceId: 1, from: START, to: START + DAYS * DAY, stepMs: DAY }]);
console.log(`cells ${cells}`);
engine.close();
if (step !== 'read') new DatabaseSync(join(dataDir, 'samples.sqlite')).exec(step);
