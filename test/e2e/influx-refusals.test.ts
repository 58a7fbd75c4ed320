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
  ['/api/badge/shop-example.svg?variant=uptime&window=90d', [200]],
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
  await installation.withRegistry(async (registry) => {
    const { id: accountId } = await registry.ensureAccount('ada', Date.now());
    const groups = [{ name: 'All', services: [1] }];
    await registry.addPage({ accountId, slug: 'fleet', title: 'Fleet', text: '', groups, now: Date.now() });
  });
  return { installation, program };
}

/** An InfluxDB 2 with the bucket. */
async function startV2(t: Test) {
  const server = await startInfluxV2(t);
  await server.makeBucket('upbeat', 90 * 86_400);
  return server;
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

t.test('programs beside an InfluxDB that refuses them', async (t) => {
  const world = t;
  const [locked, nameless] = [await startV2(t), await startV2(t)];
  type Beside = Awaited<ReturnType<typeof startBeside>>;
  const beside: { locked?: Beside; nameless?: Beside['installation'] } = {};
  t.jobs = 3;

  const first = t.test('a token that InfluxDB 2 does not know', { buffered: true }, async (t) => {
    const influx = { url: locked.url, token: 'hunter2', org: 'acme' };
    beside.locked = await startBeside(world, influx);
    const { program } = beside.locked;
    await saysSoAndGoesOn(t, program, /HTTP 401/, /storage\.influx\.token/);
    t.notMatch(program.output(), /hunter2/);
  });

  const second = t.test(
    'no organisation for InfluxDB 2: the start is refused, and names the setting',
    { buffered: true },
    async (t) => {
      const installation = await install([], {
        storage: { influx: { url: nameless.url, token: nameless.token } },
      });
      world.teardown(() => installation.remove());
      beside.nameless = installation;
      await t.rejects(installation.start(), { message: /storage\.influx\.org: is not set; set storage/ });
    },
  );

  const third = t.test(
    'a database that InfluxDB 1.6 lacks, and one that comes',
    { ...NEEDS_INFLUX, buffered: true },
    async (t) => {
      const server = await startInflux(world, { folder: join(world.testdir(), 'influx') });
      const { program } = await startBeside(world, { url: server.url, api: 'v1', bucket: 'shop' });
      await saysSoAndGoesOn(
        t,
        program,
        /database not found/,
        /doctor --setup, which makes the database shop/,
      );
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
  await Promise.all([first, second, third]);

  await t.test('the commands say what to mend', async (t) => {
    t.match(await beside.locked?.installation.runHere('doctor'), {
      status: 1,
      stdout: /^FIX +influx .*HTTP 401.*storage\.influx\.token/m,
    });
    const run = async (...words: string[]) => await beside.nameless?.runHere(...words);
    t.match(await run('doctor'), { status: 1, stdout: /^FIX +influx .*storage\.influx\.org/m });
    t.match(await run('doctor', '--setup'), {
      status: 1,
      stdout: /^FIX +influx organisation .*set storage\.influx\.org to acme/m,
    });
    t.match(await run('start', '--check-config'), {
      status: 0,
      stderr: /warning: storage\.influx\.org is not set/,
    });
    t.equal(nameless.lines.filter((line) => line.startsWith('upbeat_check')).length, 0);
  });
});
