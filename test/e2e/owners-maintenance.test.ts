/** An owner's maintenance as it goes through kills and restarts of the whole program, on a wall clock that is set forward. */
import t from 'tap';
import { NEEDS_PORT_443, startToldProgram, startToldWorld } from '../alerts/told-world.ts';
import { NEEDS_WALL_CLOCK } from '../support/wall-clock.ts';

t.setTimeout(180_000);

const DOMAIN = 'shop.example.com';
const SLUG = 'shop-example-com';
const PASSED_MS = 5 * 60_000;

t.test(
  'an alert is held for as long as a maintenance runs, also over kills, and told at its end; figures say so',
  { ...NEEDS_WALL_CLOCK, ...NEEDS_PORT_443 },
  async (t) => {
    const world = await startToldWorld(t);
    const { installation, program, pass, restart } = await startToldProgram(t, world);
    const made = await installation.runHere('keys', 'create', '--account', 'acme', '--name', 'beats');
    const heartbeatKey = made.stdout.trim();
    const post = async (key: string, path: string, body: object) => {
      const response = await fetch(`${program().siteUrl}/api/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      t.ok(response.ok, `${path}: ${response.status}`);
      return (await response.json()) as { readonly id: string };
    };
    const beat = (status: string) => post(heartbeatKey, '/heartbeat', { domain: DOMAIN, status });
    await beat('ok');
    const writeKey = await world.addChannels(installation, program(), [SLUG]);
    const { id } = await post(writeKey, '/maintenances', {
      title: 'New disks',
      services: [SLUG],
      duration: '8h',
    });
    type Incidents = { readonly incidents: readonly { readonly severity: string; readonly title: string }[] };
    const listed = (count: number) =>
      program().until(`/api/v1/incidents/${SLUG}`, ({ incidents }: Incidents) => incidents.length === count);
    await listed(1);
    await beat('down');
    const { incidents } = await listed(2);
    t.same(
      incidents.map(({ severity }) => severity),
      ['maintenance', 'maintenance'],
      'what the owner announced, and what is seen meanwhile',
    );
    const nothingIsTold = () => t.same(Object.values(world.told()).flat(), []);
    pass(PASSED_MS);
    await program().until('/readyz', ({ status }: { readonly status: string }) => status === 'ready');
    nothingIsTold();
    for (const end of ['kill', 'stop']) {
      await (end === 'kill' ? program().killHard() : program().stop());
      pass(PASSED_MS);
      await restart();
      await beat('down');
      pass(PASSED_MS);
      await program().until('/readyz', ({ status }: { readonly status: string }) => status === 'ready');
      nothingIsTold();
    }

    await post(writeKey, `/maintenances/${id}/occurrence`, { action: 'end' });
    pass(60_000);
    await world.untilTold(1);
    t.match(world.told().webhook, [{ type: 'alert' }]);
    await beat('ok');
    pass(60_000);
    await world.untilTold(2);
    t.match(
      world.told().pagerduty.map(({ action }) => action),
      ['trigger', 'resolve'],
    );

    const [messages, backlog, overdue] = [
      'upbeat_alert_messages{state="delivered"} 8',
      'upbeat_alert_events_backlog 0',
      'upbeat_alert_overdue_seconds 0',
    ];
    const figures = async () => await (await fetch(`${program().siteUrl}/metrics`)).text();
    // They are read every ten seconds.
    for (let text = await figures(); !text.includes(`${messages}\n`); text = await figures())
      await new Promise((resolve) => setTimeout(resolve, 500));
    t.match(await figures(), `${backlog}\n`);
    t.match(await figures(), `${overdue}\n`);
    t.match(await figures(), 'upbeat_deliveries_total{what="messages",end="delivered"} 8\n');
    t.match(await figures(), 'upbeat_observations_dropped_total 0\n');
    const ready = (await (await fetch(`${program().siteUrl}/readyz`)).json()) as { parts: object };
    t.match(ready, { degraded: [] });
    t.notOk('alerts' in ready.parts, 'nothing of alerts is wrong');
    t.equal(await program().stop(), 0);
  },
);
