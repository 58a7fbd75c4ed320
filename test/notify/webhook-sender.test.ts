/** Deliveries over real HTTP on loopback, from a real registry, by a clock that stands still. */

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import { RETRY_AFTER_MS } from '../../src/domain/delivery-retries.ts';
import { silentLog } from '../../src/log.ts';
import { createDeliveryCounter } from '../../src/notify/outbox.ts';
import {
  createMessageId,
  createWebhookSecret,
  signatureHeaders,
  startWebhookSender,
} from '../../src/notify/webhook-sender.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import type { WebhookStore } from '../../src/store/ports/webhooks.ts';
import { openRegistry } from '../../src/store/registry/open-registry.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const NOW = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;

async function start(
  t: Test,
  allowPrivate: readonly string[] = ['127.0.0.0/8'],
  others: Partial<WebhookStore> = {},
  format: 'json' | 'cloudevents' = 'json',
) {
  const heard: { headers: IncomingHttpHeaders; body: string }[] = [];
  const state = {
    status: 204,
    headers: {} as Record<string, string>,
    hangs: false,
    isOurs: true,
    offsetMs: 0,
  };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      heard.push({ headers: request.headers, body });
      if (state.hangs || request.url === '/slow') return;
      response.writeHead(state.status, state.headers).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clock = createFakeClock(NOW);
  const registry = await openRegistry({
    dataDir: t.testdir(),
    log: silentLog,
    clock: systemClock,
    domainsPerAccount: 100,
    onEnd: (error) => t.fail(error.message),
  });
  const { id: accountId } = await registry.ensureAccount('ada', NOW);
  const secret = createWebhookSecret();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const webhook = await registry.addWebhook({ accountId, url, secret, createdAt: NOW, format });
  const outbound = createOutbound({ userAgent: 'Upbeat/test', nameservers: [] });
  const counter = createDeliveryCounter('webhooks', clock, silentLog);
  const options = {
    registry: { ...registry, ...others },
    outbound,
    policy: { allowPrivate, ports: [80, 443] },
    trustedPolicy: { allowPrivate: ['127.0.0.0/8'], ports: null },
    retentionNow: async () => clock.now(),
    siteUrl: 'https://upbeat.test',
    counter,
    clock,
    // The clock of this node is ahead.
    sharedNow: () => clock.now() - state.offsetMs,
    random: () => 0,
    log: silentLog,
    isOurs: () => state.isOurs,
  };
  let sender = startWebhookSender(options);
  t.teardown(async () => {
    await sender.stop();
    outbound.close();
    await registry.close();
    server.closeAllConnections();
    server.close();
  });
  const delivery = async () => (await registry.deliveriesOf(accountId))[0];
  return {
    counts: counter.counts,
    heard,
    state,
    clock,
    secret,
    delivery,
    trust: (by: 'setting' | null) => registry.trustAccount(accountId, by, NOW),
    async send(body = '{"type":"test"}') {
      await registry.addDelivery(accountId, webhook.id, {
        message: createMessageId(),
        type: 'test',
        body,
        now: clock.now(),
      });
    },
    /** Moves time on and waits until so many attempts were made at the newest delivery. */
    async pass(ms: number, attempts: number) {
      await clock.advance(ms);
      for (;;) {
        const found = await delivery();
        if ((found?.attempts ?? 0) >= attempts) return found;
        // Real time for the delivery; the clock stands still, so that no later attempt comes due meanwhile.
        await setTimeout(5);
      }
    },
    /** Gives another account a webhook on `path` and so much to be delivered there; what came of it, newest first. */
    async sendToOther(path: string, count: number) {
      const other = await registry.ensureAccount(`owner of ${path}`, NOW);
      const address = new URL(path, url).href;
      const hook = { accountId: other.id, url: address, secret, createdAt: NOW };
      const { id } = await registry.addWebhook(hook);
      for (let n = 0; n < count; n++) {
        const message = { message: createMessageId(), type: 'test', body: '{}', now: clock.now() };
        await registry.addDelivery(other.id, id, message);
      }
      return () => registry.deliveriesOf(other.id);
    },
    stop: () => sender.stop(),
    async restart() {
      await sender.stop();
      sender = startWebhookSender(options);
    },
  };
}

t.test('it delivers at once, signed by the rules of Standard Webhooks', async (t) => {
  const world = await start(t);
  world.state.offsetMs = HOUR;
  await world.send('{"type":"test","data":"ü"}');
  t.match(await world.pass(1_000, 1), { deliveredAt: Number, problem: null, dueAt: null });
  const [{ headers, body } = { headers: {}, body: '' }] = world.heard;
  t.match(headers, {
    'content-type': 'application/json',
    'user-agent': 'Upbeat/test',
    'webhook-id': /^msg_/,
  });
  const key = Buffer.from(world.secret.replace('whsec_', ''), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  t.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  t.equal(body, '{"type":"test","data":"ü"}');
  const sentAt = Math.floor(world.clock.now() / 1_000) - HOUR / 1_000;
  t.ok(Math.abs(Number(headers['webhook-timestamp']) - sentAt) < 60, 'by the clock of the cluster');
  await world.clock.skip(HOUR);
  await world.clock.advance(2_000);
  t.equal(world.heard.length, 1, 'what was delivered is not sent again');
});

t.test('it delivers a CloudEvent, the same with each attempt, signed as it is sent', async (t) => {
  const world = await start(t, ['127.0.0.0/8'], {}, 'cloudevents');
  const payload = {
    type: 'test',
    timestamp: '2026-01-01T00:00:00.000Z',
    data: { service: { slug: 'shop-example-org' } },
  };
  world.state.status = 500;
  await world.send(JSON.stringify(payload));
  await world.pass(1_000, 1);
  world.state.status = 204;
  await world.pass(10_000, 2);
  const [first, second] = world.heard;
  t.equal(first?.body, second?.body);
  t.equal(first?.headers['content-type'], 'application/cloudevents+json');
  t.strictSame(JSON.parse(first?.body ?? ''), {
    specversion: '1.0',
    id: first?.headers['webhook-id'],
    source: 'https://upbeat.test',
    type: 'test',
    subject: 'shop-example-org',
    time: '2026-01-01T00:00:00.000Z',
    datacontenttype: 'application/json',
    data: payload,
  });
  const key = Buffer.from(world.secret.replace('whsec_', ''), 'base64');
  const { headers, body } = second ?? { headers: {}, body: '' };
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  t.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
});

t.test('it makes the signature of the published example', async (t) => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = '{"test": 2432232314}';
  t.strictSame(
    signatureHeaders(secret, { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', at: 1_614_265_330_000, body }),
    {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
  );
});

t.test('it tries again over a day, over restarts, with the same identifier', async (t) => {
  const world = await start(t);
  world.state.status = 500;
  await world.send();
  await world.pass(1_000, 1);
  t.match(await world.delivery(), { problem: { code: 'status', statusCode: 500 }, deliveredAt: null });
  for (const [index, wait] of RETRY_AFTER_MS.entries()) {
    // Seconds before the time the sender looks every second; what comes long before is found at once.
    await world.clock.skip(Math.max(0, wait - 10_000));
    await world.clock.advance(Math.min(wait, 10_000) - 3_000);
    t.equal(world.heard.length, index + 1, `not before ${wait} ms`);
    if (index === 2) await world.restart();
    await world.pass(3_000, index + 2);
  }
  t.match(await world.delivery(), { dueAt: null, problem: { code: 'status', statusCode: 500 } });
  t.ok(RETRY_AFTER_MS.reduce((sum, wait) => sum + wait, 0) >= 24 * HOUR);
  t.equal(new Set(world.heard.map(({ headers }) => headers['webhook-id'])).size, 1);
  await world.clock.skip(17 * HOUR);
  await world.clock.advance(2_000);
  t.equal(world.heard.length, RETRY_AFTER_MS.length + 1, 'then it gives up');
  t.same(world.counts(), { delivered: 0, retried: RETRY_AFTER_MS.length, given_up: 1, dropped: 0 });
});

t.test('it does not wait until the clock has caught up with one that was ahead', async (t) => {
  const world = await start(t);
  world.clock.setBy(365 * 24 * HOUR);
  world.state.status = 500;
  await world.send();
  t.match(await world.pass(1_000, 1), { deliveredAt: null });
  world.state.status = 204;
  world.clock.setBy(-365 * 24 * HOUR);
  t.match(await world.pass(1_000, 2), { deliveredAt: Number, dueAt: null });
});

t.test('it takes 410 for the end, and follows no redirect', async (t) => {
  const world = await start(t);
  world.state.status = 302;
  world.state.headers = { location: 'http://127.0.0.1:1/' };
  await world.send();
  t.match(await world.pass(1_000, 1), { problem: { code: 'status', statusCode: 302 }, dueAt: Number });
  world.state.status = 410;
  await world.send();
  t.match(await world.pass(1_000, 1), { problem: { code: 'status', statusCode: 410 }, dueAt: null });
});

t.test('it looks into no private network for an owner', async (t) => {
  const world = await start(t, []);
  await world.send();
  t.match(await world.pass(1_000, 1), {
    problem: { code: 'failed', failure: { cause: { code: 'address_not_public' } } },
    deliveredAt: null,
  });
  t.equal(world.heard.length, 0);
  await world.trust('setting');
  await world.send();
  t.match(await world.pass(1_000, 1), { problem: null, deliveredAt: Number }, 'a trusted account');
  await world.trust(null);
  await world.send();
  t.match(await world.pass(1_000, 1), { deliveredAt: null }, 'one that was trusted');
  t.ok(world.heard.length <= 2, 'the delivery that waited and the new one');
});

t.test('it leaves deliveries to the process that is the monitor', async (t) => {
  const world = await start(t);
  world.state.isOurs = false;
  await world.send();
  await world.clock.advance(10_000);
  t.same(world.heard, []);
  world.state.isOurs = true;
  await world.pass(1_000, 1);
  t.equal(world.heard.length, 1);
});

t.test('it waits 5 s for a receiver that hangs, and leaves the delivery to the next sender', async (t) => {
  const world = await start(t);
  world.state.hangs = true;
  await world.send();
  while (world.heard.length === 0) {
    await world.clock.advance(1_000);
    await setTimeout(5);
  }
  let isStopped = false;
  const stopped = world.stop().then(() => {
    isStopped = true;
  });
  await world.clock.advance(4_999);
  t.notOk(isStopped);
  await world.clock.advance(1);
  await stopped;
  t.match(await world.delivery(), { attempts: 0, deliveredAt: null, problem: null });
  world.state.hangs = false;
  await world.restart();
  await world.pass(0, 1);
  t.same(
    world.heard.map(({ headers }) => headers['webhook-id'] === world.heard[0]?.headers['webhook-id']),
    [true, true],
    'under the same identifier',
  );
});

t.test('slow receivers of one account do not delay the deliveries of another', async (t) => {
  const world = await start(t);
  const slow = await world.sendToOther('/slow', 40);
  await world.clock.advance(1_000);
  while (world.heard.length === 0) await setTimeout(5);
  // The slow ones are under way by now, and the clock stands still: they do not end.
  await world.send();
  t.match(await world.pass(1_000, 1), { deliveredAt: Number });
  await world.send();
  t.match(await world.pass(1_000, 1), { deliveredAt: Number }, 'again and again');
  t.ok((await slow()).every(({ attempts }) => attempts === 0));
  const stopped = world.stop();
  await world.clock.advance(5_000);
  await stopped;
});

t.test('it counts the deliveries that are deleted before they are made, because too many wait', async (t) => {
  const dropped = [3, 0, 4];
  const world = await start(t, undefined, { forgetDeliveries: async () => dropped.shift() ?? 0 });
  // A busy machine may still be at the hour before when the next one comes.
  while (dropped.length > 0) {
    await world.clock.skip(2 * HOUR);
    await world.clock.advance(2_000);
    await setTimeout(5);
  }
  t.equal(world.counts().dropped, 7);
});
