import t from 'tap';
import type { BadgePicture, ChartPicture } from '../../src/domain/picture.ts';
import { silentLog } from '../../src/log.ts';
import { drawBadge } from '../../src/render/badge.ts';
import { drawChart } from '../../src/render/chart.ts';
import { drawHeatmap } from '../../src/render/heatmap.ts';
import { createRenderer } from '../../src/render/renderer.ts';
import { scene } from './heatmap-scenes.ts';

const badge: BadgePicture = { name: 'GitHub', status: 'up', theme: 'light', ageText: null };
const named = (name: string): BadgePicture => ({ ...badge, name });
const FAILING = new URL('./failing-thread.ts', import.meta.url);

t.test('it draws in its thread what the pure function draws', async (t) => {
  const renderer = createRenderer({ log: silentLog });
  t.teardown(() => renderer.close());
  t.same(Buffer.from(await renderer.badge(badge)), Buffer.from(drawBadge(badge)));
  const stale = { ...badge, theme: 'dark', ageText: '12 min ago' } as const;
  t.same(Buffer.from(await renderer.badge(stale)), Buffer.from(drawBadge(stale)));
});

t.test('it draws charts and heat maps in its thread, and says once why WebGL does not', async (t) => {
  const lines: object[] = [];
  const log = { ...silentLog, info: (fields: object) => void lines.push(fields) };
  const renderer = createRenderer({ log });
  t.teardown(() => renderer.close());
  const heatmap = scene('24h', 3, 1);
  const { span, window, theme } = heatmap;
  const chart: ChartPicture = {
    name: 'GitHub',
    domain: 'github.com',
    status: 'up',
    ageText: null,
    asOf: null,
    missingSince: null,
    window,
    span,
    points: [{ p50Ms: 5, p95Ms: 9, count: 1, downCount: 0 }],
    uptimeText: '100 %',
    theme,
    size: 'embed',
    site: 'upbeat.test',
  };
  t.same(Buffer.from(await renderer.chart(chart)), Buffer.from(drawChart(chart)));
  const drawn = Buffer.from(await drawHeatmap(heatmap));
  t.same(Buffer.from(await renderer.heatmap(heatmap)), drawn);
  t.same(Buffer.from(await renderer.heatmap(heatmap)), drawn);
  // Where WebGL works there is nothing to say.
  t.ok(lines.length <= 1, JSON.stringify(lines));
});

t.test('it draws a badge once, however often and at once it is asked for', async (t) => {
  const renderer = createRenderer({ log: silentLog, entry: FAILING });
  t.teardown(() => renderer.close());
  const both = await Promise.all([renderer.badge(named('a')), renderer.badge(named('a'))]);
  t.same(
    both.map((bytes) => bytes[0]),
    [1, 1],
  );
  t.equal((await renderer.badge(named('a')))[0], 1);
  for (const other of [
    named('b'),
    { ...named('a'), status: 'down' },
    { ...named('a'), theme: 'dark' },
    { ...named('a'), ageText: '1 min ago' },
    { ...named('a'), fallback: 'a.example' },
  ] as const) {
    t.ok(((await renderer.badge(other))[0] ?? 0) > 1, 'another input is another drawing');
  }
});

t.test('it forgets the badge that was not asked for longest', async (t) => {
  const renderer = createRenderer({ log: silentLog, entry: FAILING, maxBadges: 2 });
  t.teardown(() => renderer.close());
  const drawings: (number | undefined)[] = [];
  for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) drawings.push((await renderer.badge(named(name)))[0]);
  t.same(drawings, [1, 2, 1, 3, 1, 4]);
});

t.test('it starts a new thread after one has ended, and says so', async (t) => {
  const lines: string[] = [];
  const log = { ...silentLog, warn: (_: object, message: string) => void lines.push(message) };
  const renderer = createRenderer({ log, entry: FAILING });
  t.teardown(() => renderer.close());
  await t.rejects(
    renderer.badge(named('exit')),
    /ended with code 7/,
    'a badge that ends it each time is given up',
  );
  t.equal((await renderer.badge(named('a')))[0], 1, 'the next one is drawn by a fresh thread');
  t.same(lines, Array(2).fill('the render thread ended; the next image starts a new one'));
});

t.test('it hands an error of the drawing on and does not keep it', async (t) => {
  const renderer = createRenderer({ log: silentLog, entry: FAILING });
  t.teardown(() => renderer.close());
  await t.rejects(renderer.badge(named('fail')), { message: 'no ink' });
  await t.rejects(renderer.badge(named('fail')), { message: 'no ink' });
  t.equal((await renderer.badge(named('a')))[0], 1, 'the thread lives on');
});

t.test('it refuses badges once closed, and closing twice does nothing', async (t) => {
  const renderer = createRenderer({ log: silentLog, entry: FAILING });
  await renderer.close();
  await renderer.close();
  await t.rejects(renderer.badge(named('a')), /closed/);
});
