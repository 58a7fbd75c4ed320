/** The monthly look at status pages, with a clock that a test turns. */
import t from 'tap';
import type { StatusPage, StatusPageKind } from '../../src/domain/service.ts';
import type { PageFinding } from '../../src/feeds/find-feed.ts';
import { startMonthlyLook } from '../../src/feeds/monthly-look.ts';
import { double } from '../support/double.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const page = (host: string, kind: StatusPageKind): StatusPage => ({
  ...{ url: `https://${host}`, kind, feedUrl: null, components: null },
});

function start() {
  const clock = createFakeClock(0);
  const facts = new Map<string, string>();
  const looks: string[] = [];
  const warnings: unknown[] = [];
  const state = { isOnline: true, finding: null as PageFinding | null, hangs: '', fails: '' };
  const begin = () =>
    startMonthlyLook({
      registry: {
        getFact: async (name) => facts.get(name) ?? null,
        async setFact(name, value) {
          facts.set(name, value);
        },
      },
      services: () => [
        { origin: 'catalogue', statusPage: page('well.example', 'statuspage') },
        { origin: 'catalogue', statusPage: page('broken.example', 'statuspage') },
        { origin: 'catalogue', statusPage: page('broken.example', 'statuspage') },
        { origin: 'catalogue', statusPage: page('custom.example', 'custom') },
        { origin: 'catalogue', statusPage: null },
        { origin: 'owner', statusPage: page('owned.example', 'custom') },
      ],
      feeds: () => [
        { feedId: 'statuspage https://well.example', readAt: 0, problem: null },
        { feedId: 'statuspage https://broken.example', readAt: 0, problem: 'status 404' },
      ],
      async look({ url }, problem) {
        looks.push(`${url} ${problem}`);
        if (state.hangs === url) await new Promise(() => {});
        if (state.fails === url) throw new Error('away');
        return state.finding;
      },
      isOnline: () => state.isOnline,
      clock,
      log: double({ info: () => {}, warn: (fields, sentence) => void warnings.push([sentence, fields]) }),
    });
  return { clock, looks, warnings, state, begin };
}

t.test('it looks once a month at pages of the catalogue that are not read, over restarts', async (t) => {
  const { clock, looks, begin } = start();
  const stop = begin();
  await clock.advance(HOUR);
  t.strictSame(looks.splice(0), ['https://broken.example status 404', 'https://custom.example null']);
  await clock.advance(29 * DAY);
  t.strictSame(looks, []);
  stop();
  const stopAgain = begin();
  await clock.advance(DAY);
  t.equal(looks.length, 2);
  stopAgain();
  await clock.advance(40 * DAY);
  t.equal(looks.length, 2);
});

t.test('what it finds is logged, and nothing is said while the machine is offline', async (t) => {
  const { clock, looks, warnings, state, begin } = start();
  t.teardown(begin());
  state.isOnline = false;
  await clock.advance(2 * HOUR);
  t.strictSame(looks, []);
  state.isOnline = true;
  state.finding = {
    url: 'https://broken.example',
    problem: 'it is of kind instatus',
    advice: 'statusPage: …',
  };
  await clock.advance(HOUR);
  const said = { page: 'https://broken.example', problem: 'it is of kind instatus', advice: 'statusPage: …' };
  t.strictSame(warnings[0], ['a status page has changed', said]);
});

t.test(
  'a look that is broken off goes on with the next hour, and a page that hangs ends it not',
  async (t) => {
    const { clock, looks, state, begin } = start();
    t.teardown(begin());
    state.fails = 'https://custom.example';
    await clock.advance(HOUR);
    t.strictSame(looks.splice(0), ['https://broken.example status 404', 'https://custom.example null']);
    state.fails = '';
    await clock.advance(HOUR);
    t.strictSame(looks.splice(0), ['https://custom.example null']);
    await clock.advance(2 * HOUR);
    t.strictSame(looks, []);
    state.hangs = 'https://broken.example';
    await clock.advance(30 * DAY);
    t.strictSame(looks, ['https://broken.example status 404', 'https://custom.example null']);
  },
);
