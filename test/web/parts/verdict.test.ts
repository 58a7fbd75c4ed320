/** The verdict on all services. */
import t from 'tap';
import { check, current, NOW, service, startApi } from '../../site/site-world.ts';
import { CATALOGUE } from '../home/catalogue-services.ts';

t.test('the verdict on all services claims only what is known', async (t) => {
  const world = await startApi({
    services: [...CATALOGUE.slice(0, 2), service(9, 'resting', { paused: true })],
  });
  t.teardown(world.close);
  const verdict = async (language = 'en') =>
    /data-live="verdict">([^<]*)</.exec((await world.get('/', { 'accept-language': language })).text)?.[1];
  t.equal(await verdict(), 'Nothing is known yet: no service has been checked');
  await world.status.put([current(1, check(NOW))]);
  t.equal(await verdict(), '1 of 2 operational');
  t.equal(await verdict('de'), '1 von 2 in Ordnung');
  await world.status.put([current(2, check(NOW))]);
  t.equal(await verdict(), 'All 2 services are operational');
  world.state.prober = { online: false, offlineSince: NOW, reason: 'no answer' };
  t.equal(await verdict(), 'Our own connection is down: these are the last known statuses');
});
