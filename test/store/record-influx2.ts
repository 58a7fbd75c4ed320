/**
 * Records the answers of a real InfluxDB 2 that its double gives again: `UPBEAT_TEST_INFLUXD2=/path/to/influxd node
 * test/store/record-influx2.ts`. Writes `test/store/fixtures/influx2-answers.json`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  askScenario,
  makeScenarioWorld,
  type RecordedAnswer,
  SCENARIOS,
} from '../support/influx2-scenarios.ts';
import { startInflux2 } from '../support/influx2-server.ts';

const FILE = join(import.meta.dirname, 'fixtures/influx2-answers.json');
const folder = mkdtempSync(join(tmpdir(), 'upbeat-record-'));
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
const scope = { teardown: (end: () => unknown) => void ends.unshift(end) };
const answers: Record<string, RecordedAnswer> = {};
try {
  const world = await makeScenarioWorld(await startInflux2(scope, join(folder, 'influx')));
  for (const name of Object.keys(SCENARIOS)) answers[name] = await askScenario(name, world);
  // A server whose cache is full has a fault of its own.
  const small = ['--storage-cache-max-memory-size=1'];
  const full = await makeScenarioWorld(await startInflux2(scope, join(folder, 'full'), small));
  answers.storage_full = await askScenario('written', full);
} finally {
  for (const end of ends) await end();
}
writeFileSync(FILE, `${JSON.stringify(answers, null, 2)}\n`);
console.log(`${Object.keys(answers).length} answers in ${FILE}`);
