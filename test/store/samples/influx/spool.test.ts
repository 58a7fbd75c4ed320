/** Real InfluxDB servers that are slow, full, paused, emptied or lock us out: no point is lost, and none is twice. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import type { InfluxSamples } from '../../../../src/store/samples/influx/influx-samples.ts';
import { setUpInflux } from '../../../../src/store/samples/influx/set-up-influx.ts';
import { openSpool } from '../../../../src/store/samples/influx/spool.ts';
import { freePort } from '../../../support/free-port.ts';
import { ask, startInflux } from '../../../support/influx-server.ts';
import { makeSmallDisk } from '../../../support/small-disk.ts';
import { startTcpProxy } from '../../../support/tcp-proxy.ts';
import { NEEDS_INFLUX, openInflux, rowsOf, settingsOf, until } from '../../influx-world.ts';
import { sampleAt } from '../../samples-contract.ts';

const DAY = 86_400_000;
const T0 = Date.now() - DAY;
const TIMEOUT_MS = 3_000;

t.jobs = 4;
t.setTimeout(300_000);
const sideBySide = () => ({ ...NEEDS_INFLUX, buffered: true });

/** `count` points from `from` on, a millisecond each. */
const points = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => sampleAt(T0 + from + index, { latencyMs: index % 5_000 }));

/** How many points the server has; counted by the server itself. */
async function countAt(url: string): Promise<number> {
  const [row] = await rowsOf(url, 'upbeat', 'SELECT COUNT(up) AS points FROM upbeat_check');
  return Number(row?.points ?? 0);
}

const allArrived = (store: InfluxSamples) =>
  until(async () => {
    await store.flush();
    return store.stats().pending === 0 && store.problem() === null;
  }, 'all arrived');

async function startWithDatabase(t: Test) {
  const folder = t.testdir();
  const server = await startInflux(t, { folder: join(folder, 'influx') });
  await ask(server.url, 'CREATE DATABASE upbeat');
  return { server, folder, dataDir: join(folder, 'data') };
}

t.test('callers that are faster than the server wait', sideBySide(), async (t) => {
  const { server, dataDir } = await startWithDatabase(t);
  const proxy = await startTcpProxy(t, server.url);
  const store = await openInflux({
    settings: settingsOf(proxy.url, 'upbeat'),
    dataDir,
    timeoutMs: 60_000,
  });
  proxy.bytesPerSecond = 4_000_000;
  let most = 0;
  for (let from = 0; from < 40_000; from += 2_000) {
    await store.append(points(from, 2_000));
    most = Math.max(most, store.stats().pending);
  }
  t.ok(most <= 22_000, `${most} points waited in memory`);
  proxy.bytesPerSecond = null;
  await allArrived(store);
  t.equal(await countAt(server.url), 40_000);
  t.equal(store.lost(), 0);
  await store.close();
});

t.test('points without a response are stored once', sideBySide(), async (t) => {
  const { server, dataDir } = await startWithDatabase(t);
  const proxy = await startTcpProxy(t, server.url);
  const store = await openInflux({ settings: settingsOf(proxy.url, 'upbeat'), dataDir });
  proxy.losesAnswers = true;
  await store.append(points(0, 7_000));
  await store.flush();
  t.match(store.problem(), /does not answer/);
  t.equal(store.stats().pending, 7_000);
  await until(
    async () => (await countAt(server.url)) === 5_000,
    'the server took what it did not answer for',
  );
  await until(() => proxy.lost >= 2, 'it was sent again');
  await store.append(points(7_000, 10));
  proxy.losesAnswers = false;
  await allArrived(store);
  t.equal(await countAt(server.url), 7_010);
  t.equal(store.lost(), 0);
  await store.close();
});

t.test('it continues after a server that was suspended for long', sideBySide(), async (t) => {
  const { server, dataDir } = await startWithDatabase(t);
  const store = await openInflux({
    settings: settingsOf(server.url, 'upbeat'),
    dataDir,
    timeoutMs: TIMEOUT_MS,
  });
  await store.append(points(0, 10));
  await allArrived(store);
  server.process.kill('SIGSTOP');
  await store.append(points(10, 12_000));
  await store.flush();
  t.match(store.problem(), /does not answer/);
  t.equal(store.stats().pending, 12_000, 'all of it is on disk');
  t.ok(store.stats().fileBytes > 0);
  await t.rejects(store.newest(1, 1), { code: 'samples_away' });
  server.process.kill('SIGCONT');
  await store.append(points(12_010, 10));
  await allArrived(store);
  t.equal(await countAt(server.url), 12_020);
  t.equal(store.lost(), 0);
  await store.close();
});

t.test('it waits until a server that lost its data is set up', sideBySide(), async (t) => {
  const folder = t.testdir();
  const port = await freePort();
  const first = await startInflux(t, { folder: join(folder, 'influx'), port });
  const settings = settingsOf(first.url, 'upbeat');
  await setUpInflux(settings, 90 * DAY);
  const store = await openInflux({ settings, dataDir: join(folder, 'data') });
  await store.append(points(0, 100));
  await store.flush();
  await first.stop('SIGKILL');
  await store.append(points(100, 100));
  await store.flush();
  rmSync(join(folder, 'influx'), { recursive: true });
  const second = await startInflux(t, { folder: join(folder, 'influx'), port });
  await until(() => /database not found/.test(store.problem() ?? ''), 'the server says that it is empty');
  await store.append(points(200, 100));
  await store.flush();
  t.equal(store.stats().pending, 200);
  t.match(await setUpInflux(settings, 90 * DAY), [{ what: 'database', made: true }]);
  await allArrived(store);
  t.equal(await countAt(second.url), 200, 'what it had before is gone with its disk');
  t.equal(store.lost(), 0);
  await store.close();
});

t.test('it keeps points while its password is refused', sideBySide(), async (t) => {
  const folder = t.testdir();
  const server = await startInflux(t, { folder: join(folder, 'influx') }, 'ada');
  const basic = (password: string) => ({
    authorization: `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`,
  });
  await ask(server.url, 'CREATE DATABASE upbeat', basic('secret'));
  const settings = settingsOf(server.url, 'upbeat', { token: 'ada:secret' });
  const store = await openInflux({ settings, dataDir: join(folder, 'data') });
  await store.append(points(0, 10));
  await store.flush();
  await ask(server.url, `SET PASSWORD FOR ada = 'changed'`, basic('secret'));
  await store.append(points(10, 10));
  await store.flush();
  t.match(store.problem(), /HTTP 401/);
  t.equal(store.stats().pending, 10);
  await ask(server.url, `SET PASSWORD FOR ada = 'secret'`, basic('changed'));
  await allArrived(store);
  t.equal((await store.newest(1, 100)).length, 20);
  t.equal(store.lost(), 0);
  await store.close();
});

t.test('it keeps points while the disk of the server is full', sideBySide(), async (t) => {
  const folder = join(t.testdir(), 'influx');
  const disk = await makeSmallDisk(t, join(folder, 'points'), 8_000_000);
  if (disk === null) {
    t.comment('not seen here: this system lets us make no small disk');
    return;
  }
  const port = await freePort();
  const first = await startInflux(t, { folder, port, disk });
  await ask(first.url, 'CREATE DATABASE upbeat');
  const store = await openInflux({
    settings: settingsOf(first.url, 'upbeat'),
    dataDir: join(folder, 'data'),
  });
  await store.append(points(0, 10));
  await allArrived(store);
  const ballast = join(disk.seenAt, 'ballast');
  t.throws(() => writeFileSync(ballast, Buffer.alloc(16_000_000)), { code: 'ENOSPC' });
  await store.append(points(10, 8_000));
  await store.flush();
  t.match(store.problem(), /HTTP 500.*error writing WAL entry/);
  t.ok(store.stats().pending > 0);
  rmSync(ballast);
  // InfluxDB 1.6 goes on refusing until it is started anew.
  await first.stop();
  const second = await startInflux(t, { folder, port, disk });
  await allArrived(store);
  t.equal(await countAt(second.url), 8_010);
  t.equal(store.lost(), 0);
  await store.close();
});

t.test('it keeps points in memory while both server and disk refuse them', sideBySide(), async (t) => {
  const folder = t.testdir();
  const disk = await makeSmallDisk(t, join(folder, 'data'), 600_000);
  if (disk === null) {
    t.comment('not seen here: this system lets us make no small disk');
    return;
  }
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const script = join(import.meta.dirname, '../../influx-spool-writer.ts');
  const [program = '', ...args] = [
    ...disk.enter,
    process.execPath,
    script,
    url,
    join(folder, 'data'),
    String(T0),
  ];
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH },
  });
  const ended = once(child, 'exit');
  t.teardown(() => child.kill('SIGKILL'));
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const bring = async (count: number) => {
    child.stdin.write(`${count}\n`);
    const { value } = await answers.next();
    if (value === undefined) throw new Error(`the process ended: ${await ended}`);
    return JSON.parse(String(value)) as {
      pending: number;
      fileBytes: number;
      problem: string | null;
      lost: number;
    };
  };
  let brought = 0;
  let state = await bring(0);
  while (brought < 100_000 && !/cannot be kept on disk/.test(state.problem ?? '')) {
    state = await bring(2_000);
    brought += 2_000;
  }
  t.match(state, { pending: brought, problem: /samples cannot be kept on disk/, lost: 0 });
  t.ok(state.fileBytes > 0 && state.fileBytes < 600_000, `${state.fileBytes} bytes are on disk`);
  while (state.lost === 0) {
    state = await bring(10_000);
    brought += 10_000;
  }
  t.ok(state.pending > 50_000, 'fifty thousand wait in memory');
  t.equal(state.pending + state.lost, brought, 'of more the oldest are given up, and counted');

  const influx = await startInflux(t, { folder: join(folder, 'influx'), port });
  await ask(influx.url, 'CREATE DATABASE upbeat');
  await until(async () => {
    state = await bring(0);
    return state.pending === 0 && state.problem === null;
  }, 'all arrived');
  t.equal(await countAt(url), brought - state.lost);
  child.stdin.end();
  t.same(await ended, [0, null]);
});

t.test(
  'it gives up what the server will never take, and nothing behind it',
  { buffered: true },
  async (t) => {
    const taken: string[] = [];
    let status = 503;
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const [code, message] =
        body.includes('latency_ms=13i') && status === 204
          ? [422, 'partial write: points beyond retention policy dropped=1']
          : [status, ''];
      if (code === 204 || code === 422) taken.push(body);
      response
        .writeHead(code, { 'content-type': 'application/json' })
        .end(code === 204 ? '' : JSON.stringify({ message }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const store = await openInflux({
      settings: settingsOf(url, 'upbeat', { api: 'v2' }),
      dataDir: t.testdir(),
    });
    await store.append([sampleAt(T0, { latencyMs: 13 }), sampleAt(T0 + 1)]);
    await store.flush();
    await store.append([sampleAt(T0 + 2)]);
    await store.flush();
    t.equal(store.stats().pending, 3);
    status = 204;
    await until(async () => {
      await store.flush();
      return store.stats().pending === 0 && store.problem() === null;
    });
    t.equal(taken.length, 1, 'what waited goes in one request');
    t.equal(store.lost(), 1, 'one of three, as the server says');
    t.equal(store.problem(), null);
    await store.close();
  },
);

t.test('it frees the disk when everything is stored', { buffered: true }, (t) => {
  const folder = t.testdir();
  const spool = openSpool(folder, 64_000_000);
  const line = (index: number) =>
    `upbeat_check,service_id=${index} latency_ms=${Math.imul(index, 0x9e3779b1)}i ${index}`;
  for (let batch = 0; batch < 40; batch++)
    spool.put(Array.from({ length: 5_000 }, (_, index) => line(batch * 5_000 + index)));
  const bytes = () =>
    ['', '-wal'].reduce(
      (sum, end) =>
        sum + (statSync(join(folder, `influx-spool.sqlite${end}`), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
  t.ok(bytes() > 2_000_000, `${bytes()} bytes`);
  let first = spool.first(5_000);
  for (let batch = 0; first !== null; first = spool.first(5_000), batch++) {
    t.equal(first.lines[0], line(batch * 5_000), 'in their order');
    spool.remove(first);
  }
  t.same([spool.samples, spool.bytes, spool.dropped], [0, 0, 0]);
  t.ok(bytes() < 1_000_000, `${bytes()} bytes`);
  spool.close();
  t.end();
});
