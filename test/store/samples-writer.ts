/** Writes samples at times 1, 2, 3, ... and prints the last that was flushed, until it is killed. */
import { silentLog } from '../../src/log.ts';
import { openSamples } from '../../src/store/samples/sqlite-samples.ts';
import { sampleAt } from './samples-contract.ts';

const [dataDir = '', start = '0'] = process.argv.slice(2);
const DAY = 86_400_000;
const store = await openSamples({
  dataDir,
  rawRetentionMs: 40_000 * DAY,
  rollupRetentionMs: 40_000 * DAY,

  log: silentLog,
});
for (let at = Number(start) + 1; ; at += 500) {
  void store.append(Array.from({ length: 500 }, (_, index) => sampleAt(at + index)));
  await store.flush();
  if (at % 3_000 < 500) await store.compact();
  process.stdout.write(`${at + 499}\n`);
}
