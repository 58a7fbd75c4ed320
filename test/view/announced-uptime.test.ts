/** Uptime with and without announced maintenance. */
import t from 'tap';
import { sendWith } from '../site/send-with.ts';
import { check, current, NOW, service, startApi } from '../site/site-world.ts';
import { openSampleStore } from '../support/sample-store.ts';

const HOUR = 3_600_000;

t.test('uptime is told with and without announced maintenance', async (t) => {
  const samples = openSampleStore({ now: () => NOW + 8 * HOUR });
  t.teardown(() => samples.close());
  const shop = service(1, 'shop', { origin: 'owner', accountId: 1 });
  const world = await startApi({ services: [shop], samples, startAt: NOW });
  t.teardown(world.close);
  const key = world.makeKey({ accountId: 1, scopes: ['read', 'write'] });
  await world.status.put([current(1, check(NOW))]);
  const sampleAt = (minute: number) => ({
    ...{ serviceId: 1, at: NOW + minute * 60_000, latencyMs: 100, suspect: false },
    ...(minute < 0
      ? ({ status: 'up', statusCode: 200 } as const)
      : ({ status: 'down', statusCode: 503 } as const)),
  });
  await samples.append(Array.from({ length: 300 }, (_, index) => sampleAt(index - 240)));
  const past = (await world.get('/api/v1/services/shop/history')).json as object;
  t.notOk('maintenance' in past, 'nothing was announced');
  await sendWith(world)(
    'POST',
    '/api/v1/maintenances',
    { title: 'x', duration: '30m', services: ['shop'] },
    key,
  );
  await world.clock.advance(HOUR);
  const { json } = await world.get('/api/v1/services/shop/history');
  t.strictSame((json as { readonly maintenance: object }).maintenance, {
    windows: 1,
    uptime_ratio: 240 / 300,
    uptime_ratio_without: 240 / 270,
  });
  t.match(
    (await world.get('/status/shop')).text,
    /80\s?%[\s\S]{0,80}88\.\d+\s?% without announced maintenance/,
  );
});
