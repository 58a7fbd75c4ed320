/** The time axis of an incident: its window, its lanes, and the lag between our checks and the vendor. */
import t from 'tap';
import { gatherTrouble } from '../../../src/domain/incident/acknowledgement.ts';
import type { Incident } from '../../../src/domain/incident/incident.ts';
import type { Bucket } from '../../../src/domain/sample.ts';
import { LANGUAGES } from '../../../src/web/language/language.ts';
import { axisOf, axisWindow } from '../../../src/web/service/incident-axis.ts';
import { incident, NOW } from '../../site/site-world.ts';

const { en, de } = LANGUAGES;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const INTERVAL = 5 * MINUTE;

function during(id: string, source: Incident['source'], from: number, to: number | null): Incident {
  const updates = [{ at: NOW + from, status: 'investigating' as const, text: '' }];
  return incident(id, 1, {
    source,
    startedAt: NOW + from,
    resolvedAt: to === null ? null : NOW + to,
    updates: to === null ? updates : [...updates, { at: NOW + to, status: 'resolved', text: '' }],
  });
}

function bucket(startAt: number, endAt: number, more: Partial<Bucket> = {}): Bucket {
  const counts = { count: 1, upCount: 1, slowCount: 0, downCount: 0, suspectCount: 0 };
  return { startAt, endAt, ...counts, uptimeRatio: 1, meanMs: 9, p50Ms: 9, p95Ms: 9, p99Ms: 9, ...more };
}

t.test('it shows all that belongs to an incident, with some time before and after', async (t) => {
  const ours = during('ours', 'own', -4 * HOUR, -3 * HOUR);
  const theirs = during('theirs', 'vendor', -4 * HOUR + 12 * MINUTE, -2 * HOUR);
  const window = axisWindow(gatherTrouble(ours, [theirs], NOW), INTERVAL, NOW);
  t.same(window, { from: NOW - 4 * HOUR - 10 * MINUTE, to: NOW - 2 * HOUR + 576_000, stepMs: INTERVAL });
  const open = axisWindow(gatherTrouble(during('open', 'own', -MINUTE, null), [], NOW), INTERVAL, NOW);
  t.same(open, { from: NOW - INTERVAL, to: NOW, stepMs: INTERVAL }, 'a running one ends now');
});

t.test('it never has more cells than a phone can show, however long an incident lasts', async (t) => {
  for (const days of [1, 30, 400, 4_000]) {
    const { from, to, stepMs } = axisWindow(
      gatherTrouble(during('long', 'vendor', -days * DAY, null), [], NOW),
      INTERVAL,
      NOW,
    );
    t.ok((to - from) / stepMs <= 61, `${days} days: ${(to - from) / stepMs}`);
    t.ok(from < NOW - days * DAY && to === NOW, `${days} days`);
  }
});

t.test('it draws the lag between our first failed check and the first entry of the vendor', async (t) => {
  const ours = during('ours', 'own', -100 * MINUTE, -20 * MINUTE);
  const theirs = during('theirs', 'vendor', -80 * MINUTE, null);
  const trouble = gatherTrouble(theirs, [ours], NOW);
  const window = { from: NOW - 120 * MINUTE, to: NOW, stepMs: 30 * MINUTE };
  const at = (minutes: number) => NOW - minutes * MINUTE;
  const axis = axisOf(
    trouble,
    window,
    [
      bucket(at(120), at(90), { downCount: 1 }),
      bucket(at(90), at(60), { slowCount: 1 }),
      bucket(at(60), at(30)),
      bucket(at(30), at(0), { count: 0, suspectCount: 2 }),
    ],
    en,
  );
  t.match(axis.lag, { side: 'after', text: '20 min later' });
  t.same([axis.lag?.ours, axis.lag?.theirs], [16.67, 33.33]);
  t.same(
    axis.lanes.map(({ voice, name }) => [voice, name]),
    [
      ['own', 'Our checks'],
      ['vendor', 'The vendor'],
    ],
  );
  t.same(
    axis.lanes[0]?.cells.map(({ kind, x, width, height }) => [kind, x, width, height]),
    [
      ['down', 0, 25, 24],
      ['slow', 25, 25, 17],
      ['up', 50, 25, 10],
      ['suspect', 75, 25, 10],
    ],
    'the worse, the higher',
  );
  t.same(
    axis.lanes.map(({ lines }) =>
      lines.map(({ from, to, isOpen, marks }) => [from, to, isOpen, marks.map(({ x, title }) => [x, title])]),
    ),
    [
      [
        [
          16.67,
          83.33,
          false,
          [
            [16.67, '0: investigating'],
            [83.33, '+1 hr 20 min: resolved'],
          ],
        ],
      ],
      [[33.33, 100, true, [[33.33, '+20 min: investigating']]]],
    ],
  );
  t.same(
    axis.ticks.map(({ x, text }) => [x, text]),
    [
      [16.67, '0'],
      [66.67, '+1 hr'],
    ],
  );
  t.equal(axis.zero, 'check');
  const rows = axis.lanes.flatMap(({ lineY, nameY }) => [nameY, lineY]);
  t.ok(axis.lag !== null && axis.lag.above < axis.lag.y && axis.lag.y < axis.lag.below);
  t.ok(
    rows.every((y) => y > 0 && y < axis.height),
    'every row is inside the drawing',
  );
});

t.test('a vendor that was first has a negative time, in the language of the reader', async (t) => {
  const theirs = during('theirs', 'vendor', -80 * MINUTE, -10 * MINUTE);
  const trouble = gatherTrouble(during('ours', 'own', -50 * MINUTE, -10 * MINUTE), [theirs], NOW);
  const axis = axisOf(trouble, axisWindow(trouble, INTERVAL, NOW), null, de);
  t.match(axis.lag, { side: 'after', text: '30 Min. früher' });
  t.equal(axis.offset(theirs.startedAt), '−30 Min.');
  t.same(axis.lanes[0]?.cells, [], 'the checks of that time are not known');
});

t.test(
  'without an outage of our own it counts from the first entry, and still shows the checks',
  async (t) => {
    const trouble = gatherTrouble(during('theirs', 'vendor', -HOUR, null), [], NOW);
    const checks = [bucket(NOW - HOUR, NOW)];
    const { zero, lag, lanes } = axisOf(trouble, axisWindow(trouble, INTERVAL, NOW), checks, en);
    t.same([zero, lag, lanes.map(({ voice }) => voice)], ['entry', null, ['own', 'vendor']]);
    t.same(lanes[0]?.lines, []);
  },
);
