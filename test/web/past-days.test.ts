/** The days of a year, read again only where they can have changed. */
import t, { type Test } from 'tap';
import type { SampleQuery } from '../../src/store/ports/samples.ts';
import { daysUntil } from '../../src/view/time-ranges.ts';
import { createPastDays, DAYS_KEPT_MS } from '../../src/web/service/service-page.ts';
import { NOW } from '../site/site-world.ts';
import { double } from '../support/double.ts';
import { openSampleStore, samplesOfSteps } from '../support/sample-store.ts';

const DAY = 86_400_000;

async function start(t: Test) {
  const store = openSampleStore({ now: () => NOW });
  t.teardown(() => store.close());
  for (const serviceId of [1, 2])
    await store.append(
      samplesOfSteps({ serviceId, from: NOW - 366 * DAY, to: NOW + DAY, stepMs: DAY / 2 }, [
        { status: 'up', latencyMs: 100 },
        { status: 'down', latencyMs: null },
        { status: 'slow', latencyMs: 4_000 },
      ]),
    );
  const asked: SampleQuery[] = [];
  const state = { now: NOW, fails: false };
  const read = createPastDays(
    double({
      async query(query) {
        asked.push(query);
        if (state.fails) throw Object.assign(new Error('away'), { code: 'samples_away' });
        return await store.query(query);
      },
    }),
    () => state.now,
  );
  const days = (serviceId = 1) => read(serviceId, daysUntil(state.now, 365));
  return { asked, state, days, store, windows: () => asked.splice(0).map(({ from, to }) => [from, to]) };
}

t.test('it gives what the store would give for the whole window', async (t) => {
  const { days, state, store } = await start(t);
  for (const now of [NOW, NOW + 1_000, Math.floor(NOW / DAY) * DAY, Math.floor(NOW / DAY) * DAY + DAY - 1]) {
    state.now = now;
    t.strictSame(await days(), await store.query({ serviceId: 1, ...daysUntil(now, 365) }));
  }
});

t.test('it reads today each time, and the days before it after some minutes or on another day', async (t) => {
  const { days, state, windows } = await start(t);
  const today = Math.floor(NOW / DAY) * DAY;
  const first = today - 364 * DAY;
  await Promise.all([days(), days()]);
  t.strictSame(windows(), [
    [first, today],
    [today, NOW],
    [today, NOW],
  ]);
  state.now += DAYS_KEPT_MS - 1;
  await days();
  t.strictSame(windows(), [[today, state.now]]);
  await days(2);
  t.equal(windows().length, 2, 'each service by itself');
  state.now += 1;
  await days();
  t.equal(windows().length, 2);
  state.now = today + DAY + 1;
  await days();
  t.strictSame(windows(), [
    [first + DAY, today + DAY],
    [today + DAY, today + DAY + 1],
  ]);
});

t.test('it keeps no failure', async (t) => {
  const { days, state } = await start(t);
  state.fails = true;
  await t.rejects(days(), { code: 'samples_away' });
  state.fails = false;
  t.equal((await days()).length, 365);
});
