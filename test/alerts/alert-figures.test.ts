/** The figures of alerts, and what the log says of them. */
import t from 'tap';
import { watchAlertFigures } from '../../src/alerts/alert-figures.ts';
import type { AlertCounts } from '../../src/store/ports/alerts.ts';
import { double } from '../support/double.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const NONE: AlertCounts = {
  ...{ events: 0, waiting: 0, retrying: 0, delivered: 0, failed: 0, dropped: 0, overdueMs: 0 },
};

t.test('it says that messages are dropped or not sent, once, as long as this process sends', async (t) => {
  const clock = createFakeClock();
  const lines: string[] = [];
  const note = (_fields: object, sentence: string) => void lines.push(sentence);
  let counts = NONE;
  let isOurs = true;
  const figures = watchAlertFigures({
    registry: double({
      countAlerts: async () => counts,
      alertDelay: async () => ({ count: 0, p50Ms: null, p99Ms: null }),
    }),
    clock,
    log: { debug: note, info: note, warn: note, error: note },
    isOurs: () => isOurs,
  });
  const read = async (next: Partial<AlertCounts>) => {
    counts = { ...NONE, ...next };
    await clock.advance(10_000);
    return lines.splice(0);
  };
  const dropped = 'messages of alerts were dropped: a channel has failed for so long that too many wait';
  t.same(await read({}), []);
  t.same(await read({ dropped: 2 }), [dropped]);
  t.same(await read({ dropped: 2 }), []);
  t.same(await read({ dropped: 3 }), [dropped]);
  isOurs = false;
  t.same(await read({ dropped: 4 }), [], 'another process says it');
  isOurs = true;
  t.match(await read({ overdueMs: 120_000 }), [/due for 120 s and are not sent/]);
  t.same(await read({ overdueMs: 130_000 }), []);
  t.match(figures.current()?.problem, /due for 130 s/);
  await figures.stop();
});
