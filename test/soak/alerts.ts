/**
 * `npm run soak -- alerts`: outages as an owner lives them, in real time and with real receivers. First one program, with a reminder
 * after five minutes; then two nodes of a cluster, of which the one that decides is killed (`-9`) between the transition and the
 * message, so that the other one tells. Ends with status 1 where an alert is missing, comes more than twice, or has no end in its
 * thread.
 */
import { strict as assert } from 'node:assert';
import { parseArgs } from 'node:util';
import { startToldWorld, type ToldWorld, type WebhookMessage } from '../alerts/told-world.ts';
import { createCluster } from '../support/cluster.ts';
import { install, type RunningProgram } from '../support/program.ts';

const { values } = parseArgs({
  options: {
    /** Rounds of the cluster. */
    rounds: { type: 'string', default: '5' },
    'cluster-only': { type: 'boolean', default: false },
  },
});
const GROUP_MS = 30_000;
const REPEAT_MS = 5 * 60_000;
/** Grouping, a takeover, and what a busy machine adds. */
const TOLD_MS = 120_000;

const endings: (() => unknown)[] = [];
const scope = { teardown: (end: () => unknown) => void endings.unshift(end) };
try {
  if (!values['cluster-only']) await tellByProgram();
  await tellByCluster(Number(values.rounds));
} finally {
  for (const end of endings) await end();
}

async function tellByProgram(): Promise<void> {
  const world = await startToldWorld(scope);
  const installation = await install(world.catalogue, world.settings, world.environment);
  scope.teardown(() => installation.remove());
  const program = await installation.start();
  scope.teardown(() => program.killHard());
  await is(program, 'up');
  await world.addChannels(installation, program);
  world.turn(true);
  await is(program, 'down');
  await world.untilTold(1, TOLD_MS);
  await world.untilTold(2, REPEAT_MS + TOLD_MS);
  await acknowledge(world, program.siteUrl);
  await world.untilTold(3, TOLD_MS);
  await sleep(REPEAT_MS + GROUP_MS);
  world.turn(false);
  await is(program, 'up');
  await world.untilTold(4, TOLD_MS);
  const types = world.told().webhook.map(({ type }) => type);
  assert.deepEqual(types, ['alert', 'reminder', 'acknowledged', 'recovery']);
  assertThreads(world, [1]);
  console.log(
    'one program: told, reminded of after 5 min, acknowledged, no more reminders, ended in its thread',
  );
}

async function tellByCluster(rounds: number): Promise<void> {
  const world = await startToldWorld(scope, rounds);
  const { catalogue: entries, settings, environment } = world;
  const cluster = await createCluster(scope, { entries, settings });
  for (const name of ['one', 'two']) await cluster.start({ name, region: 'eu', environment });
  const [first] = cluster.nodes;
  if (first === undefined) throw new Error('there is no node');
  await is(first.program, 'up');
  await world.addChannels(first.installation, first.program);
  const threads: string[] = [];
  for (let round = 1; round <= rounds; round++) {
    // Another service each time, since one that turns so often would flap.
    const slug = round === 1 ? 'shop' : `shop-${round}`;
    const roles = await Promise.all(cluster.nodes.map(async ({ program }) => await roleOf(program)));
    const judge = cluster.nodes[roles.indexOf('monitor')];
    const other = cluster.nodes.find((node) => node !== judge);
    if (judge === undefined || other === undefined) throw new Error(`there is no judge: ${roles.join()}`);
    world.turn(true, slug);
    await is(other.program, 'down', slug);
    const waitedMs = Math.random() * GROUP_MS;
    await sleep(waitedMs);
    await judge.kill();
    await untilLast(world, 'alert', round);
    await is(other.program, 'down', slug);
    await acknowledge(world, other.siteUrl);
    await untilLast(world, 'acknowledged', round);
    world.turn(false, slug);
    await is(other.program, 'up', slug);
    await untilLast(world, 'recovery', round);
    const { thread = '' } = world.told().webhook.at(-1) ?? {};
    threads.push(thread);
    console.log(
      `round ${round}: the judge was killed ${(waitedMs / 1_000).toFixed(1)} s after the transition; told by the other`,
    );
    await judge.start();
  }
  const { webhook, slack, pagerduty, email } = world.told();
  const ids = new Map<string, WebhookMessage>();
  const times = new Map<string, number>();
  for (const message of webhook) {
    ids.set(message.id, message);
    times.set(message.id, (times.get(message.id) ?? 0) + 1);
  }
  const told = [...ids.values()].map(({ type, thread }) => `${type} ${thread}`);
  const expected = threads.flatMap((thread) =>
    ['alert', 'acknowledged', 'recovery'].map((type) => `${type} ${thread}`),
  );
  assert.deepEqual(
    told,
    expected,
    'each message once, in order, and each recovery in the thread of its alert',
  );
  assert.ok(Math.max(...times.values()) <= 2, 'at most once more');
  const excess = [webhook, slack, pagerduty, email].map((messages) => messages.length - expected.length);
  assert.ok(
    excess.every((count) => count >= 0 && count <= rounds),
    `repetitions: ${excess.join()}`,
  );
  assertThreads(
    world,
    threads.map((_, index) => index + 1),
  );
  console.log(
    `two nodes: ${rounds} judges killed, ${expected.length} messages to each of 4 channels, repeated: ${excess.join(', ')}`,
  );
}

/** Each outage begins one thread in the chat and in the mailbox, and one incident on call, which is resolved. */
function assertThreads(world: ToldWorld, outages: readonly number[]): void {
  const { slack, email, pagerduty } = world.told();
  assert.equal(slack.filter(({ isReply }) => !isReply).length, outages.length);
  assert.equal(email.filter(({ isReply }) => !isReply).length, outages.length);
  const resolved = pagerduty.filter(({ action }) => action === 'resolve').map(({ key }) => key);
  const triggered = pagerduty.filter(({ action }) => action === 'trigger').map(({ key }) => key);
  assert.deepEqual(new Set(resolved), new Set(triggered));
}

/** Waits until every channel has been told so far into the round: alert, acknowledgement and recovery of each. */
async function untilLast(
  world: ToldWorld,
  type: 'alert' | 'acknowledged' | 'recovery',
  round: number,
): Promise<void> {
  const place = ['alert', 'acknowledged', 'recovery'].indexOf(type) + 1;
  await world.untilTold((round - 1) * 3 + place, TOLD_MS);
}

/** Opens the link of the newest alert at a node, and presses its button. */
async function acknowledge(world: ToldWorld, siteUrl: string): Promise<void> {
  const link = world.told().webhook.findLast(({ type }) => type === 'alert')?.acknowledgeUrl ?? '';
  const { pathname } = new URL(link);
  const page = await (await fetch(`${siteUrl}${pathname}`)).text();
  assert.match(page, /<form/);
  const { status } = await fetch(`${siteUrl}${pathname}`, { method: 'POST' });
  assert.equal(status, 200);
}

async function is(program: RunningProgram, status: string, slug = 'shop'): Promise<void> {
  await program.until(
    `/api/v1/status/${slug}`,
    (shown: { readonly status: string }) => shown.status === status,
  );
}

async function roleOf(program: RunningProgram): Promise<string> {
  const { body } = await program.get('/readyz');
  return typeof body === 'object' && body !== null && 'role' in body ? String(body.role) : '';
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
