/** Open alerts over the API, and their acknowledgement by a key and by a link. */
import t from 'tap';
import { createAcknowledgeLinks } from '../../src/auth/acknowledge-link.ts';
import type { AlertService } from '../../src/domain/alert/alert-draft.ts';
import { NO_ALERTS, writeAlertState } from '../../src/domain/alert/alert-state.ts';
import { decide } from '../../src/domain/alert/decide.ts';
import { start } from '../site/owned-account.ts';
import { NOW, type World } from '../site/site-world.ts';

const OPS = {
  name: 'Ops',
  kind: 'gotify',
  settings: { server: 'https://push.example.com', token: 's3cret' },
};

const NONE = { total: 0, limit: 100, offset: 0 };

/** Decides that the shop of ada has gone down, as the engine does, and tells her channel. */
async function breakShop(world: World) {
  const { registry } = world;
  const [channel] = await registry.channelsOf(1);
  const [rule] = await registry.rulesOf(1);
  const shop: AlertService = {
    id: 2,
    slug: 'shop-example-com',
    name: 'Shop',
    domain: 'shop.example.com',
    url: 'https://upbeat.test/status/shop-example-com',
    accountId: 1,
    isPublic: false,
    category: 'developer',
    isPaused: false,
    status: 'down',
    scope: null,
    vendor: null,
    certificateEndsAt: null,
    isInMaintenance: false,
    ...{ ancestors: [], since: null, checkedAt: null, isStale: false, lastOutage: null, isProbed: true },
  };
  const change = {
    type: 'status',
    from: 'up',
    to: 'down',
    source: 'check',
    reason: null,
    phase: null,
    lastGoodAt: null,
    regions: [],
  } as const;
  const { state, messages } = decide(
    NO_ALERTS,
    {
      events: [{ position: 1, serviceId: 2, at: NOW, recordedAt: NOW, change }],
      acknowledgements: [],
      now: NOW + 60_000,
    },
    {
      accountId: 1,
      service: () => shop,
      rulesOf: () => (rule === undefined ? [] : [rule]),
      rule: () => rule ?? null,
      hasThreads: () => true,
      hasChannel: (id) => id === channel?.id,
      countBehind: () => 0,
      causeFacts: () => [],
      overviewUrl: 'https://upbeat.test/dashboard',
      acknowledgeUrl: (thread) => LINKS.urlOf({ accountId: 1, thread }),
    },
  );
  await registry.commitAlerts({
    position: 1,
    states: [{ accountId: 1, state: writeAlertState(state), dueAt: null }],
    messages,
    acknowledgements: [],
    rulesVersion: await registry.rulesVersion(),
    now: NOW,
  });
  const [told] = messages;
  return { thread: told?.message.thread ?? '', link: told?.message.acknowledgeUrl ?? '' };
}

const LINKS = createAcknowledgeLinks(new Uint8Array(32), 'https://upbeat.test');

t.test('open alerts are listed and acknowledged, by a key and by the link in a message', async (t) => {
  const { ada, grace, world, send } = await start(t);
  await send('POST', '/api/v1/channels', OPS, ada);
  await send('POST', '/api/v1/rules', { name: 'Mine', own: true, channels: ['Ops'] }, ada);
  t.strictSame((await send('GET', '/api/v1/alerts', undefined, ada)).json, { alerts: [], ...NONE });
  const { thread, link } = await breakShop(world);
  const open = await send('GET', '/api/v1/alerts', undefined, ada);
  t.match(open.json, {
    total: 1,
    alerts: [
      {
        thread,
        services: [{ name: 'Shop' }],
        service_count: 1,
        acknowledged_at: null,
        acknowledged_by: null,
      },
    ],
  });
  t.strictSame((await send('GET', '/api/v1/alerts', undefined, grace)).json, { alerts: [], ...NONE });

  const path = new URL(link).pathname;
  const page = await fetch(world.origin + path);
  const text = await page.text();
  t.equal(page.status, 200);
  t.equal(page.headers.get('cache-control'), 'no-store');
  t.equal(page.headers.get('referrer-policy'), 'no-referrer');
  t.match(text, /<form method="post" action="\/alerts\/acknowledge\//);
  t.match(text, />Shop</);
  t.strictSame(await world.registry.newAcknowledgements(), [], 'looking changes nothing');
  const wrong = await fetch(`${world.origin}${path.slice(0, -3)}AAA`, { method: 'POST' });
  t.equal(wrong.status, 404);
  const taken = await fetch(world.origin + path, { method: 'POST' });
  t.equal(taken.status, 200);
  t.match(await taken.text(), /acknowledged by a link/);
  t.notMatch(await (await fetch(world.origin + path)).text(), '<form method="post"');
  t.match(await world.registry.newAcknowledgements(), [{ accountId: 1, thread, by: '' }]);
  t.match((await send('GET', '/api/v1/alerts', undefined, ada)).json, { alerts: [{ acknowledged_by: '' }] });

  const where = `/api/v1/alerts/${thread}/acknowledge`;
  t.equal((await send('POST', where, undefined, ada)).status, 204, 'again changes nothing');
  t.equal((await world.registry.newAcknowledgements()).length, 1);
  for (const [other, key] of [
    [where, grace],
    ['/api/v1/alerts/none/acknowledge', ada],
  ] as const)
    t.match(await send('POST', other, undefined, key), { status: 404, json: { code: 'alert_not_found' } });
  await world.registry.commitAlerts({
    position: 1,
    states: [{ accountId: 1, state: writeAlertState(NO_ALERTS), dueAt: null }],
    messages: [],
    acknowledgements: [],
    rulesVersion: await world.registry.rulesVersion(),
    now: NOW,
  });
  const over = await fetch(world.origin + path);
  t.equal(over.status, 410);
  t.match(await over.text(), /This alert is over/);
});
