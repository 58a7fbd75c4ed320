/** The whole program beside an InfluxDB that refuses it: nothing answers 500, nothing is lost, and it says what to mend. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { NEEDS_INFLUX, until } from '../store/influx-world.ts';
import { ask, startInflux } from '../support/influx-server.ts';
import { startInfluxV2 } from '../support/influx-v2-server.ts';
import { install, type RunningProgram } from '../support/program.ts';

interface Ready {
  readonly degraded: readonly string[];
  readonly parts: {
    readonly influx?: {
      readonly problem: string | null;
      readonly advice: string | null;
      readonly waiting: number;
      readonly lost: number;
      readonly missing_since: string | null;
    };
  };
}

t.setTimeout(300_000);
t.jobs = 2;

/** Everything that shows the past, and what it may answer while the past cannot be read. */
const PATHS: readonly (readonly [path: string, statuses: readonly number[]])[] = [
  ['/', [200]],
  ['/status/shop-example', [200]],
  ['/status/shop-example?range=90d', [200]],
  ['/status/shop-example/response-times.json?range=7d', [503]],
  ['/api/v1/services/shop/history', [503]],
  ['/api/v1/status/shop', [200]],
  ['/api/chart/shop-example.png', [503]],
  ['/api/chart/shop-example?window=90d', [503]],
  ['/api/heatmap.png', [503]],
  ['/api/badge/shop-example', [200]],
  ['/api/badge/shop-example.svg?variant=uptime&window=90d', [503]],
  ['/badges/shop-example', [200]],
  ['/p/fleet', [200]],
  ['/p/fleet.json', [200]],
  ['/p/fleet/embed', [200]],
  ['/metrics', [200]],
];

async function startBeside(t: Test, influx: object) {
  const site = createServer((_, response) => response.end());
  site.listen(0, '127.0.0.1');
  await new Promise((resolve) => site.once('listening', resolve));
  t.teardown(() => site.close());
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  const installation = await install([{ slug: 'shop', check: { url } }], { storage: { influx } });
  t.teardown(() => installation.remove());
  const program = await installation.start();
  t.teardown(() => program.killHard());
  await installation.run(
    'pages',
    'add',
    'fleet',
    '--account',
    'ada',
    '--title',
    'Fleet',
    '--group',
    'All: shop',
  );
  return { installation, program };
}

async function saysSoAndGoesOn(t: Test, program: RunningProgram, problem: RegExp, advice: RegExp) {
  const ready = await program.until<Ready>(
    '/readyz',
    ({ degraded, parts }) => degraded.length > 0 && (parts.influx?.waiting ?? 0) >= 2,
  );
  t.same(ready.degraded, ['influx']);
  t.match(ready.parts.influx, { problem, advice, lost: 0 });
  t.match(program.output(), advice, 'the log says it too');
  for (const [path, statuses] of PATHS) {
    const { status } = await program.get(path);
    t.ok(statuses.includes(status), `${path}: ${status}`);
  }
  t.match((await program.get('/api/v1/services/shop/history')).body, { code: 'history_unavailable' });
}

t.test('a token that InfluxDB 2 does not know', { buffered: true }, async (t) => {
  const server = await startInfluxV2(t);
  await server.makeBucket('upbeat', 90 * 86_400);
  const influx = { url: server.url, token: 'hunter2', org: 'acme' };
  const { program, installation } = await startBeside(t, influx);
  await saysSoAndGoesOn(t, program, /HTTP 401/, /storage\.influx\.token/);
  t.notMatch(program.output(), /hunter2/);
  t.match(await installation.run('doctor'), {
    status: 1,
    stdout: /^MEND +influx .*HTTP 401.*storage\.influx\.token/m,
  });
});

t.test('no organisation for InfluxDB 2: all is kept until it is set', { buffered: true }, async (t) => {
  const server = await startInfluxV2(t);
  await server.makeBucket('upbeat', 90 * 86_400);
  const { program, installation } = await startBeside(t, { url: server.url, token: server.token });
  const ready = await program.until<Ready>(
    '/readyz',
    ({ degraded, parts }) => degraded.length > 0 && (parts.influx?.waiting ?? 0) >= 3,
  );
  t.match(ready, {
    degraded: ['influx'],
    parts: {
      influx: { problem: /Please provide either orgID or org/, advice: /set storage\.influx\.org/, lost: 0 },
    },
  });
  t.match(ready.parts.influx?.missing_since, /^\d{4}-.*Z$/);
  t.match(program.output(), /set storage\.influx\.org/);
  const [doctor, setup, check] = await Promise.all([
    installation.run('doctor'),
    installation.run('doctor', '--setup'),
    installation.run('start', '--check-config'),
  ]);
  t.match(doctor, { status: 1, stdout: /^MEND +influx .*storage\.influx\.org/m });
  t.match(setup, { status: 1, stdout: /^MEND +influx organisation .*set storage\.influx\.org to acme/m });
  t.match(check, { status: 0, stderr: /warning: storage\.influx\.org is not set/ });
  t.equal(await program.stop(), 0);
  t.equal(server.lines.filter((line) => line.startsWith('upbeat_check')).length, 0);
});

t.test(
  'a database that InfluxDB 1.6 lacks, and one that comes',
  { ...NEEDS_INFLUX, buffered: true },
  async (t) => {
    const server = await startInflux(t, { folder: join(t.testdir(), 'influx') });
    const { program } = await startBeside(t, { url: server.url, api: 'v1', bucket: 'shop' });
    await saysSoAndGoesOn(t, program, /database not found/, /doctor --setup, which makes the database shop/);
    await ask(server.url, 'CREATE DATABASE shop');
    await program.until<Ready>('/readyz', ({ degraded }) => degraded.length === 0);
    await until(async () => {
      const { status, body } = await program.get('/api/v1/services/shop/history');
      return status === 200 && (body as { readonly incomplete: boolean }).incomplete === false;
    }, 'the history is whole');
    t.match((await program.get('/readyz')).body, {
      parts: { influx: { problem: null, lost: 0, missing_since: null } },
    });
  },
);
