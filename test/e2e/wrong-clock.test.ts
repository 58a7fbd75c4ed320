/**
 * The whole program by a wall clock that is wrong: set ahead and back by an hour, a day and a year while it runs, and wrong at its start.
 * Nothing young is deleted, nothing is down, and everything answers.
 */
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createSessions } from '../../src/auth/sessions.ts';
import { systemClock } from '../../src/clock.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/durations.ts';
import { createSiteCookie } from '../../src/http/cookies.ts';
import type { Delivery } from '../../src/store/ports/webhooks.ts';
import { channelOf, messageOf } from '../store/alert-fixtures.ts';
import { listenOn } from '../support/loopback.ts';
import { startMailServer } from '../support/mail-server.ts';
import { install, type RunningProgram } from '../support/program.ts';
import { everyNth } from '../support/property-runs.ts';
import { createWallClock, NEEDS_WALL_CLOCK } from '../support/wall-clock.ts';

t.setTimeout(300_000);

interface Status {
  readonly status: string;
  readonly since: string;
  readonly last_checked: string | null;
}

interface Listed {
  readonly incidents: readonly { readonly id: string; readonly status: string }[];
  readonly total: number;
}

const STEPS = [
  ['an hour', HOUR_MS],
  ['a day', DAY_MS],
  ['a year', 365 * DAY_MS],
] as const;
const READ = [
  ...['/', '/status/shop-example', '/api/badge/shop-example', '/api/v1/services', '/api/v1/incidents'],
  ...['/incidents.atom', '/maintenance', '/metrics', '/readyz', '/healthz'],
];
const SHOP = '/api/v1/status/shop';
const JOBS = '/api/v1/status/jobs-example-org';
/** The clock of libfaketime is right to a second. */
const CLOCK_ERROR_MS = 2_000;

/** An installation with a service, a sender of heartbeats, and one of everything that is deleted one day. */
async function createWorld(t: Test) {
  let isDown = false;
  const site = await listenOn(
    createServer((_request, response) => response.writeHead(isDown ? 503 : 200).end()),
  );
  const mail = await startMailServer({ tls: 'none' });
  const clock = createWallClock(t, Date.now(), 'UTC');
  const installation = await install(
    [{ slug: 'shop', check: { url: `http://127.0.0.1:${site.port}/` } }],
    {
      // A busy machine may keep the site from answering, and nothing confirms a failure here.
      checks: { ownersMayProbePrivate: true, confirmAfter: [], timeout: '20s', slowOver: '15s' },
      alerts: {
        smtp: { host: '127.0.0.1', port: mail.port, tls: 'none', from: 'Upbeat <upbeat@example.org>' },
      },
    },
    clock.environment,
  );
  const begun = Date.now();
  let program = await installation.start();
  t.teardown(async () => {
    await program.killHard();
    installation.remove();
    await Promise.all([site.close(), mail.close()]);
  });
  const until = (path: string, accept: (status: Status) => boolean) => program.until<Status>(path, accept);
  const turn = async (next: boolean) => {
    isDown = next;
    await until(SHOP, ({ status }) => status === (next ? 'down' : 'up'));
  };
  const beat = async (key: string) => {
    const response = await fetch(`${program.siteUrl}/api/v1/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"domain":"jobs.example.org","status":"ok"}',
    });
    await response.arrayBuffer();
    return response.status;
  };
  const incidents = async () => (await program.get('/api/v1/incidents')).body as Listed;

  // A short outage: an incident, and changes of status.
  await until(SHOP, ({ status }) => status === 'up');
  await turn(true);
  await turn(false);
  await program.until<Listed>('/api/v1/incidents', ({ incidents: [own] }) => own?.status === 'resolved');
  const key = await installation.makeKey('ada');
  t.equal(await beat(key), 200);
  const seeds = await installation.withRegistry(async (registry) => {
    const now = Date.now();
    const { id: accountId } = await registry.ensureAccount('ada', now);
    const refused = 'http://127.0.0.1:9/';
    const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
    const webhook = await registry.addWebhook({ accountId, url: refused, secret, createdAt: now });
    await registry.addDelivery(accountId, webhook.id, { message: 'm', type: 'test', body: '{}', now });
    const channel = await registry.addChannel(channelOf(accountId));
    await registry.addMessage(accountId, channel.id, messageOf('a'), now);
    const [delivery] = await registry.dueDeliveries(now + DAY_MS, 9);
    const [message] = await registry.dueMessages(now + DAY_MS, 9);
    if (delivery === undefined || message === undefined) throw new Error('nothing is due');
    const settled = { at: now, deliveredAt: now, problem: null, dueAt: null };
    await registry.noteDelivery({ id: delivery.id, wasDueAt: delivery.dueAt, ...settled });
    await registry.noteMessage({ id: message.id, wasDueAt: message.dueAt, triedAt: now, ...settled });
    await registry.requestSubscription({
      ...{ topic: 'service:1', address: 'ada@example.org', language: 'en', now },
    });
    const { id: personId } = await registry.addPerson('Ada', now);
    await registry.linkPerson(accountId, personId, now);
    const { token } = await createSessions({ registry, clock: { ...systemClock, now: () => now } }).open(
      personId,
    );
    return { accountId, secret, cookie: `${createSiteCookie(program.siteUrl).name}=${token}` };
  });
  const [letter] = await mail.taken(1);
  const [, confirmation = ''] = /(\/subscribe\/confirm\/[\w-]+)/.exec(letter?.mail.text ?? '') ?? [];
  const kept = async () => ({
    ...(await installation.withRegistry(async (registry) => ({
      deliveries: (await registry.deliveriesOf(seeds.accountId)).length,
      messages: (await registry.messagesOf(seeds.accountId)).length,
      transitions: (await registry.transitionsAfter(0, 99)).length,
    }))),
    incidents: (await incidents()).total,
    subscription: (await program.get(confirmation)).status,
  });
  const samples = async () => {
    const span = `from=${begun - HOUR_MS}&to=${begun + HOUR_MS}&step=1h`;
    const { body } = await program.get(`/api/v1/services/shop/history?${span}`);
    return (body as { buckets: { count: number }[] }).buckets.reduce((sum, { count }) => sum + count, 0);
  };
  const deliveryUntil = async (accept: (delivery: Delivery | undefined) => boolean) =>
    await installation.withRegistry(async (registry) => {
      for (let tries = 0; tries < 200; tries += 1) {
        if (accept((await registry.deliveriesOf(seeds.accountId))[0])) return true;
        await setTimeout(100);
      }
      return false;
    });
  return {
    program: () => program,
    incidents,
    /** Adds a delivery to the service while it is down, and waits for its first attempt. */
    async failDelivery() {
      await installation.withRegistry(async (registry) => {
        const { accountId, secret } = seeds;
        const url = `http://127.0.0.1:${site.port}/hook`;
        const now = Date.now();
        const { id } = await registry.addWebhook({ accountId, url, secret, createdAt: now });
        await registry.addDelivery(accountId, id, { message: 'n', type: 'test', body: '{}', now });
      });
      t.ok(await deliveryUntil((delivery) => delivery?.attempts === 1));
    },
    isDelivered: () => deliveryUntil((delivery) => delivery?.deliveredAt !== null),
    turn,
    kept,
    samples,
    beat: () => beat(key),
    isSignedIn: async () => (await program.get('/dashboard', { cookie: seeds.cookie })).status === 200,
    /** Ends the program, and starts it by a clock that is so far ahead. */
    async restart(aheadMs: number) {
      t.equal(await program.stop(), 0);
      clock.set(Date.now() + aheadMs);
      program = await installation.start();
    },
    /** Sets the clock ahead of the right time, and waits for a check and a heartbeat by it. */
    async setAhead(ms: number) {
      const at = Date.now() + ms;
      clock.set(at);
      await until(SHOP, ({ last_checked: checkedAt }) => {
        const off = Date.parse(checkedAt ?? '1970-01-01') - at;
        return off > -CLOCK_ERROR_MS && off < HOUR_MS / 2;
      });
      t.equal(await beat(key), 200, 'heartbeats are taken');
    },
  };
}

/** What is wrong with what the program says. */
async function faultsOf(program: RunningProgram): Promise<string[]> {
  const faults: string[] = [];
  for (const path of READ) {
    const { status } = await program.get(path, { accept: 'text/html' });
    if (status !== 200) faults.push(`${path}: ${status}`);
  }
  for (const path of [SHOP, JOBS]) {
    const { status } = (await program.get(path)).body as Status;
    if (status !== 'up') faults.push(`${path}: ${status}`);
  }
  return faults;
}

t.test('a wrong clock', NEEDS_WALL_CLOCK, async (t) => {
  const world = await createWorld(t);
  const { program, kept, samples, setAhead, isSignedIn, turn } = world;
  const before = await kept();
  t.strictSame(before, { deliveries: 1, messages: 1, transitions: 4, incidents: 1, subscription: 200 });
  t.ok(await isSignedIn());
  let known = await samples();
  const isWhole = async (t: Test, when: string) => {
    t.strictSame(await faultsOf(program()), [], `${when}: everything answers, and nothing is down`);
    t.strictSame(await kept(), before, `${when}: nothing young is deleted`);
    const now = await samples();
    t.ok(now >= known, `${when}: ${now} of ${known} samples`);
    known = now;
  };

  for (const [name, ms] of STEPS)
    for (const [direction, aheadMs] of [
      ['ahead', ms],
      ['behind', -ms],
    ] as const)
      await t.test(`${name} ${direction} while it runs, and right again`, async (t) => {
        await setAhead(aheadMs);
        await isWhole(t, 'wrong');
        t.equal(await isSignedIn(), aheadMs < 30 * DAY_MS, 'sessions end by the wall clock');
        await setAhead(0);
        await isWhole(t, 'right again');
        t.ok(await isSignedIn());
      });

  // Each is a start of the program.
  for (const [name, ms] of everyNth(STEPS, 2, 0))
    for (const [direction, aheadMs] of [
      ['ahead', ms],
      ['behind', -ms],
    ] as const)
      await t.test(`${name} ${direction} at the start, and right later`, async (t) => {
        await world.restart(aheadMs);
        await setAhead(aheadMs);
        await isWhole(t, 'wrong');
        await setAhead(0);
        await isWhole(t, 'right again');
      });

  await t.test('an outage while it is a year ahead, and the next one when it is right', async (t) => {
    await setAhead(365 * DAY_MS);
    await turn(true);
    await world.failDelivery();
    await turn(false);
    await setAhead(0);
    t.ok(await world.isDelivered(), 'what failed meanwhile is tried again at once');
    const { status } = (await program().get(SHOP)).body as Status;
    t.equal(status, 'up');
    for (const isDown of [true, false]) {
      await turn(isDown);
      const { since } = (await program().get(SHOP)).body as Status;
      t.ok(Date.parse(since) <= Date.now() + CLOCK_ERROR_MS, `${isDown ? 'down' : 'up'} since ${since}`);
    }
    t.strictSame(await faultsOf(program()), []);
  });
  t.equal(await program().stop(), 0);
});
