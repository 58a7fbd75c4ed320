/** The page behind the scenes of the demonstration. */
import t from 'tap';
import { startBackstage } from '../../demo/backstage.ts';
import { DEMO_SENDERS } from '../../demo/heartbeat-senders.ts';
import { DEMO_SCRIPT } from '../../demo/services.ts';

t.test('it shows the messages of a channel, newest first, and what happens when', async (t) => {
  const backstage = await startBackstage(DEMO_SCRIPT, DEMO_SENDERS);
  t.teardown(() => backstage.close());
  const look = async () => await (await fetch(backstage.url)).text();
  t.match(await look(), /None yet/);
  const send = async (body: string) => (await fetch(backstage.receiverUrl, { method: 'POST', body })).status;
  const alert = (title: string) =>
    JSON.stringify({
      type: 'alert',
      timestamp: '2026-11-27T12:00:00Z',
      data: {
        title,
        url: 'http://localhost:8080/status/orders',
        services: [
          { service: { name: 'Orders' }, event: 'down', reason: 'it says <so>' },
          { service: { name: 'Backup' }, event: 'up', reason: null },
        ],
      },
    });
  t.same([await send(alert('Orders is down')), await send(alert('Orders is up'))], [204, 204]);
  t.same([await send('{}'), await send('no JSON')], [400, 400]);
  const page = await look();
  t.match(page, /Orders is up[\s\S]*Orders is down[\s\S]*What happens every 5 minutes/);
  t.match(page, '<p>Orders: down, it says &lt;so></p><p>Backup: up</p>');
  for (const { domain, story } of [...DEMO_SCRIPT.services, ...DEMO_SENDERS])
    t.equal(page.includes(`>${domain}<`), story !== 'operational', domain);
});
