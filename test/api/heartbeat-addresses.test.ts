/** Heartbeat addresses (`/beat/<secret>`): cron jobs report by a plain request. */
import t, { type Test } from 'tap';
import { hashAddressSecret } from '../../src/domain/heartbeat-address.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import type { Log } from '../../src/log.ts';
import { HeartbeatRefused } from '../../src/record/observation.ts';
import { from, NOW, service, startApi } from '../site/site-world.ts';

const SECRET = 'q8mOGyrv6Jc0vTGTUlZ5Yg';
const check = { ...DEFAULT_CHECK, kind: 'heartbeat', addressHash: hashAddressSecret(SECRET) } as const;
const JOB = service(1, 'job', { check, origin: 'owner', accountId: 7, domain: 'job.example.com' });

async function start(t: Test) {
  const lines: string[] = [];
  const note = (fields: object, message: string) => void lines.push(JSON.stringify([fields, message]));
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const world = await startApi({ services: [JOB, service(2, 'shop')], log });
  t.teardown(world.close);
  const send = (path: string, init: RequestInit = {}) => fetch(`${world.origin}/beat/${path}`, init);
  return { world, send, logged: () => lines.join('\n') };
}

t.test('it takes each signal by GET, HEAD and POST', async (t) => {
  const { world, send } = await start(t);
  const answer = await send(SECRET);
  t.equal(answer.status, 200);
  t.equal(await answer.text(), 'OK\n');
  t.match(Object.fromEntries(answer.headers), {
    'cache-control': 'no-store',
    'content-type': 'text/plain; charset=utf-8',
    link: '<https://upbeat.test/api/v1/status/job>; rel="status"',
  });
  for (const [path, method] of [
    ['', 'HEAD'],
    ['', 'POST'],
    ['/0', 'GET'],
    ['/start?run=nightly-7', 'GET'],
    ['/fail?rid=nightly-7', 'POST'],
    ['/255', 'GET'],
  ] as const)
    t.equal((await send(`${SECRET}${path}`, { method })).status, 200, `${method} ${path}`);
  const beat = { kind: 'beat', domain: 'job.example.com', word: 'up', reported: 'ok', run: null };
  t.match(
    world.heartbeats.taken.map(({ report }) => report),
    [
      ...[beat, beat, beat, beat],
      { kind: 'start', word: null, run: 'nightly-7' },
      { kind: 'fail', word: 'down', run: 'nightly-7', exitCode: undefined },
      { kind: 'fail', word: 'down', run: null, exitCode: 255 },
    ],
  );
  t.match(world.heartbeats.taken[0], { accountId: 7, arrivedAt: NOW });
});

t.test('it keeps the body of a POST as a log', async (t) => {
  const { world, send } = await start(t);
  const post = (path: string, body: string | Uint8Array<ArrayBuffer>) => send(path, { method: 'POST', body });
  t.equal((await post(`${SECRET}/fail`, 'no space left\n')).status, 200);
  t.same(JSON.parse(world.heartbeats.taken[0]?.body ?? ''), {
    domain: 'job.example.com',
    log: 'no space left',
  });
  t.equal((await post(`${SECRET}/log?run=r1`, new Uint8Array([0x61, 0, 0xff, 0x62]))).status, 200);
  t.equal((await post(`${SECRET}/log`, 'x'.repeat(20_000))).status, 200);
  t.equal((await post(`${SECRET}/log`, ' ')).status, 200, 'an empty log is nothing to keep');
  t.same(await world.registry.heartbeatLogs(1), [
    { at: NOW, run: null, text: 'x'.repeat(10_000) },
    { at: NOW, run: 'r1', text: 'a\uFFFD\uFFFDb' },
  ]);
  t.equal(world.heartbeats.taken.length, 1, 'a log is no heartbeat');
  t.equal((await post(SECRET, 'x'.repeat(70_000))).status, 413);
});

t.test('it refuses what it does not know, and says why', async (t) => {
  const { send } = await start(t);
  const refused = async (path: string, init?: RequestInit) => {
    const answer = await send(path, init);
    const { code } = (await answer.json()) as { code: string };
    return [answer.status, code];
  };
  t.same(await refused('q8mOGyrv6Jc0vTGTUlZ5Yh'), [404, 'address_not_found']);
  t.same(await refused(SECRET.toLowerCase()), [404, 'address_not_found']);
  for (const signal of ['done', '256', '-1', '01', '1e2'])
    t.same(await refused(`${SECRET}/${signal}`), [404, 'route_not_found'], signal);
  t.same(await refused(`${SECRET}?run=${'x'.repeat(65)}`), [400, 'invalid_parameter']);
  t.same(await refused(`${SECRET}?run=a&run=b`), [400, 'invalid_parameter']);
  t.same(await refused(SECRET, { method: 'PUT' }), [405, 'method_not_allowed']);
  t.same(await refused(SECRET, { headers: { authorization: 'Bearer upb_wrong' } }), [401, 'invalid_key']);
});

t.test('it counts requests by service, and wrong addresses by client', async (t) => {
  const { world, send } = await start(t);
  const limit = async (path: string) => (await send(path)).headers.get('x-ratelimit-limit');
  const [known, unknown] = [await limit(SECRET), await limit('nonsense')];
  t.equal(known, (await world.get('/api/v1/services', world.makeKey())).headers.get('x-ratelimit-limit'));
  t.equal(
    unknown,
    (await world.get('/api/v1/services', from('203.0.113.9'))).headers.get('x-ratelimit-limit'),
  );
});

t.test('it tells a job to come back where nothing can be written, and logs no secret', async (t) => {
  const { world, send, logged } = await start(t);
  world.faults.heartbeats = new HeartbeatRefused('The heartbeat could not be written; send it again.');
  const away = await send(`${SECRET}/3`);
  t.match([away.status, away.headers.get('retry-after')], [503, '5']);
  t.equal(world.heartbeats.refusals, 1, 'no missed heartbeat follows from it');
  world.faults.heartbeats = new Error('a bug');
  t.equal((await send(`${SECRET}/3`)).status, 500);
  t.match(logged(), /a request failed/);
  t.notMatch(logged(), new RegExp(SECRET));
});
