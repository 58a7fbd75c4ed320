/** The thread that writes to InfluxDB hangs: past checks are refused at once, and the program says so. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { listenOn, until } from '../support/loopback.ts';
import { install } from '../support/program.ts';
import { useInflux } from '../support/run-servers.ts';

t.setTimeout(240_000);

t.test('the InfluxDB thread hangs: history is refused, and all else goes on', async (t) => {
  const influx = await useInflux(t);
  const site = await listenOn(createServer((_, response) => response.end()));
  const orders = t.testdir();
  const installation = await install(
    [{ slug: 'shop', check: { url: `http://127.0.0.1:${site.port}/` } }],
    { storage: { influx: { url: influx.url, bucket: influx.database, api: 'v1' } } },
    {
      NODE_OPTIONS: `--import=${new URL('../support/end-thread.ts', import.meta.url).href}`,
      TEST_END_THREADS: orders,
    },
  );
  const program = await installation.start();
  t.teardown(async () => {
    await program.killHard();
    installation.remove();
    await site.close();
  });
  const HISTORY = '/api/v1/services/shop/history';
  const samples = async () => {
    const { status, body } = await program.get(HISTORY);
    const { buckets = [] } = body as { buckets?: readonly { readonly count: number }[] };
    return { status, count: buckets.reduce((sum, { count }) => sum + count, 0) };
  };
  await program.until<{ readonly status: string }>('/api/v1/status/shop', ({ status }) => status === 'up');
  await program.until<{ readonly degraded?: readonly string[] }>('/readyz', ({ degraded = [] }) => {
    return degraded.length === 0;
  });
  const order = join(orders, 'samples-influx.ts');
  writeFileSync(order, 'hang');
  await until(() => readFileSync(order, 'utf8') === 'hangs', 60_000);
  await until(() => program.output().includes('the samples thread does not answer'), 60_000);
  t.match((await program.get('/readyz')).body, { degraded: ['influx'] });
  t.match(await program.get(HISTORY), { status: 503, body: { code: 'history_unavailable' } });
  const { body } = await program.get('/api/v1/status/shop');
  const checkedAt = Date.parse((body as { readonly last_checked: string }).last_checked);
  await program.until<{ readonly last_checked: string }>(
    '/api/v1/status/shop',
    ({ last_checked: at }) => Date.parse(at) > checkedAt,
    60_000,
  );
  rmSync(order);
  await until(() => program.output().includes('the samples thread answers again'), 60_000);
  const after = await samples();
  t.ok(after.status === 200 && after.count >= 2, 'what was measured meanwhile is there');
});
