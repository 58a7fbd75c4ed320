/**
 * The whole program by clocks that a test sets: from a service's first minutes to its third day, over midnight, the end
 * of a month, 29 February and both changes of summer time. Every page and endpoint answers, and what it says is sane.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { install, type RunningProgram } from '../support/program.ts';
import { createWallClock, NEEDS_WALL_CLOCK } from '../support/wall-clock.ts';

t.jobs = 2;
t.setTimeout(300_000);
const sideBySide = () => ({ buffered: true, ...NEEDS_WALL_CLOCK });
const RANGES = ['24h', '7d', '30d', '90d', '1y'];
const ENDS = ['24h', '1y'];
const HOUR_MS = 3_600_000;
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

const PAGES = [
  ...['/', '/?q=lib', '/badges', '/docs', '/sign-in', '/p/acme', '/p/acme/embed', '/badges/library-example'],
  ...ENDS.map((range) => `/status/library-example?range=${range}`),
];
const DATA = [
  ...['/search.json', '/p/acme.json', '/api/v1/pages/acme', '/api/v1/status/library', '/api/v1/services'],
  ...['/api/v1/incidents', '/api/v1/incidents/library', '/api/v1/maintenance', '/api/v1/dependencies'],
  ...['/api/v1/services/library/history', '/api/v1/services/library/history?step=15m&to=2040-01-01'],
  ...['/healthz', '/readyz', '/api/v1/openapi.json'],
  ...RANGES.map((range) => `/status/library-example/response-times.json?range=${range}`),
];
const FEEDS = ['/incidents.atom', '/status/library-example/incidents.atom', '/p/acme/incidents.atom'];
const PICTURES = [
  ...['/api/badge/library-example', '/badges/library-example/picture', '/api/heatmap.png'],
  ...ENDS.map((window) => `/api/badge/library-example?variant=uptime&window=${window}`),
  ...ENDS.map((window) => `/api/chart/library-example?window=${window}`),
];

/** Starts the program at the first of `instants`, and asks it for everything at each of them. */
async function live(t: Test, zone: string, instants: readonly string[]) {
  const site = createServer((_request, response) => response.end());
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  t.teardown(() => site.close());
  const [first = 0, ...later] = instants.map((instant) => Date.parse(instant));
  const clock = createWallClock(t, first, zone);
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  const installation = await install(
    [{ slug: 'library', name: 'Library', check: { url } }],
    {},
    clock.environment,
  );
  t.teardown(() => installation.remove());
  const program = await installation.start();
  t.teardown(() => program.killHard());
  const { status } = await installation.run(
    ...['pages', 'add', 'acme', '--account', 'ada', '--title', 'Acme', '--group', 'library'],
  );
  t.equal(status, 0, 'the status page is made');
  await checkedSince(program, first);
  // On a busy machine the newest check is not the first any more.
  const begun = await historyOf(program, `from=${first}&to=${first + 900_000}&step=1s`);
  const firstCheck = Date.parse(begun.find(({ count }) => count > 0)?.start ?? '');
  for (const at of [first, ...later]) {
    const instant = new Date(at).toISOString();
    // At the first it stands already, and is not set back.
    if (at !== first) clock.set(at);
    await checkedSince(program, at);
    t.same(await faultsOf(program), [], instant);
    const page = String((await program.get('/status/library-example')).body);
    const told = /Measured since <time datetime="([^"]+)">/.exec(page)?.[1] ?? null;
    // After two days the day is told.
    if (at - firstCheck < 47 * HOUR_MS)
      t.equal(
        told,
        `${new Date(firstCheck).toISOString().slice(0, 16)}:00.000Z`,
        `${instant}: to the minute`,
      );
    const past = await historyOf(program, `from=${firstCheck}&to=${at + HOUR_MS}&step=1d`);
    t.ok((past[0]?.count ?? 0) > 0, `${instant}: the first check is known`);
    t.ok(
      past.every(({ down }) => down === 0),
      `${instant}: it was never down`,
    );
    const [now] = await historyOf(program, `from=${at}&to=${at + HOUR_MS}&step=1d`);
    t.ok((now?.count ?? 0) > 0, `${instant}: the last check is known`);
  }
  t.equal(await program.stop(), 0);
}

async function historyOf(program: RunningProgram, query: string) {
  const { body } = await program.get(`/api/v1/services/library/history?${query}`);
  return (body as { buckets: { start: string; count: number; down: number }[] }).buckets;
}

/** Waits until the service was checked at `at` or later; returns when. */
async function checkedSince(program: RunningProgram, at: number): Promise<number> {
  const timeOf = (body: { last_checked: string | null }) => Date.parse(body.last_checked ?? '1970-01-01');
  return timeOf(await program.until('/api/v1/status/library', (body) => timeOf(body as never) >= at));
}

/** What is wrong with the answers. */
async function faultsOf(program: RunningProgram): Promise<string[]> {
  const faults: string[] = [];
  const look = async (path: string, isGood: (body: Buffer, text: string) => boolean) => {
    let { status, body } = await program.get(path, { accept: 'text/html' });
    // All are asked for at once, and a busy machine draws the last pictures too late for their first reader.
    for (let tries = 0; status === 503 && tries < 10; tries++)
      ({ status, body } = await program.get(path, { accept: 'text/html' }));
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    const text = bytes.toString();
    if (status !== 200 || !isGood(bytes, text)) faults.push(`${path}: ${status} ${text.slice(0, 300)}`);
  };
  const isClean = (text: string) => !/\bNaN\b|\bundefined\b|Invalid Date|Infinity/.test(text);
  await Promise.all([
    ...PAGES.map((path) => look(path, (_, text) => isClean(text) && text.includes('</html>'))),
    ...DATA.map((path) => look(path, (_, text) => isClean(text) && /^[{[]/.test(text))),
    ...FEEDS.map((path) => look(path, (_, text) => isClean(text) && text.includes('</feed>'))),
    ...PICTURES.map((path) => look(path, (bytes) => bytes.subarray(0, 8).equals(PNG))),
    look('/metrics', (_, text) => isClean(text)),
  ]);
  return faults;
}

t.test(
  "it lives through a service's first three days, a 29 February and the end of its month",
  sideBySide(),
  (t) =>
    live(t, 'UTC', [
      '2028-02-27T12:00:00Z',
      '2028-02-27T16:45:00Z',
      '2028-02-27T23:59:30Z',
      '2028-02-28T00:00:30Z',
      '2028-02-29T00:00:30Z',
      '2028-02-29T10:30:00Z',
      '2028-02-29T23:59:30Z',
      '2028-03-01T00:00:30Z',
    ]),
);

t.test('it lives through both changes of summer time', sideBySide(), (t) =>
  live(t, 'Europe/Berlin', [
    '2026-03-28T22:59:30Z',
    '2026-03-29T00:59:30Z',
    '2026-03-29T01:00:30Z',
    '2026-10-24T22:00:30Z',
    '2026-10-25T00:59:30Z',
    '2026-10-25T01:00:30Z',
  ]),
);
