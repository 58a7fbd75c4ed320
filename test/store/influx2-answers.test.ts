/** The double of InfluxDB 2, and a real one where there is one, give the answers that were recorded. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Influx2Server, RECORDED, startInfluxV2 } from '../support/influx-v2-server.ts';
import { askScenario, makeScenarioWorld, SCENARIOS } from '../support/influx2-scenarios.ts';
import { INFLUXD2, startInflux2 } from '../support/influx2-server.ts';

async function compare(t: Test, server: Influx2Server): Promise<void> {
  const world = await makeScenarioWorld(server);
  for (const name of Object.keys(SCENARIOS)) {
    const { body, headers, ...rest } = await askScenario(name, world);
    const { body: expected = '', headers: known = {}, ...others } = RECORDED[name] ?? {};
    // Another version may be tried against what 2.9.1 answered.
    const { 'x-influxdb-version': _, ...told } = headers;
    const { 'x-influxdb-version': __, ...knownHeaders } = known;
    t.same({ ...rest, headers: told }, { ...others, headers: knownHeaders }, name);
    t.equal(body, expected, name);
  }
}

t.test('the double responds as InfluxDB 2.9.1 did', async (t) => {
  await compare(t, await startInfluxV2(t));
});

if (INFLUXD2 !== null)
  t.test('InfluxDB 2 responds as recorded', async (t) => {
    await compare(t, await startInflux2(t, join(t.testdir(), 'influx')));
  });
