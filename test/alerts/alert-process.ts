/**
 * The process that `kill-alerts.ts` kills: a registry, the engine and the sender of alerts, on a clock that runs fast. It turns
 * services down and up by a plan, and ends when all of it is told.
 */
import { startAlertEngine } from '../../src/alerts/alert-engine.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import { unknownStatus } from '../../src/domain/status/current.ts';
import { silentLog } from '../../src/log.ts';
import { CHANNEL_KINDS_TABLE } from '../../src/notify/channels/kinds-table.ts';
import { startMessageSender } from '../../src/notify/message-sender.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { openRegistryInProcess } from '../../src/store/registry/open-registry.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';
import { turn } from '../store/registry-fixtures.ts';
import { double } from '../support/double.ts';

/** What the process is to do, as JSON in its first argument. */
export interface AlertOrder {
  readonly dataDir: string;
  readonly postgresUrl: string | null;
  /** The clock shows `epochAt` at the time `startedAt` of the system, and runs so many times faster. */
  readonly epochAt: number;
  readonly startedAt: number;
  readonly speed: number;
  /** When each service turns down at the earliest, and for how long at the least, milliseconds of the clock. */
  readonly plan: readonly { readonly serviceId: number; readonly downAt: number; readonly lastsMs: number }[];
}

const STEP_MS = 10;
/** Nothing more is told if nothing is due within this time of the clock. */
const QUIET_MS = 90_000;

const order: AlertOrder = JSON.parse(process.argv[2] ?? '{}');
const clock = createFastClock(order);
const registry = await openRegistryInProcess({
  ...{ dataDir: order.dataDir, postgresUrl: order.postgresUrl, log: silentLog, clock: systemClock },
});
const states = await registry.loadServices();
const directory = createServiceDirectory();
directory.load(states.map(({ service }) => service));
const statuses = new Map(states.map(({ service, current }) => [service.id, current]));
const log = { ...silentLog, error: (fields: object, message: string) => console.error(message, fields) };
const sender = startMessageSender({
  ...{
    registry,
    log,
    kinds: CHANNEL_KINDS_TABLE,
    random: Math.random,
    isOurs: () => true,
    isDown: () => false,
  },
  retentionNow: async () => clock.now(),
  counter: { note() {} },
  tools: {
    outbound: createOutbound({ userAgent: 'Upbeat/test', nameservers: [] }),
    policy: { allowPrivate: ['127.0.0.0/8'], ports: [] },
    mailer: null,
    clock,
    siteUrl: 'https://upbeat.example',
  },
});
const engine = startAlertEngine({
  ...{ registry, services: directory, clock, log, isOurs: () => true },
  status: double({ get: (id) => statuses.get(id) ?? null }),
  siteUrl: 'https://upbeat.example',
  usual: { intervalMs: 300_000, timeoutMs: 10_000, slowOverMs: 3_000, confirmAfterMs: [] },
  acknowledgeUrl: () => 'https://upbeat.example/acknowledge',
  recheck() {},
  onMessages: sender.poll,
});

process.stdout.write('ready');
for (;;) {
  const now = clock.now();
  const updates = order.plan.flatMap(({ serviceId, downAt, lastsMs }) => {
    const current = statuses.get(serviceId) ?? unknownStatus(serviceId);
    if (current.seq === 1 && downAt <= now) return [turn(current, 'down', now)];
    const isOver = current.seq === 2 && (current.since ?? now) + lastsMs <= now;
    return isOver ? [turn(current, 'up', now)] : [];
  });
  if (updates.length > 0) {
    await registry.commitUpdates(
      updates.map((update) => ({
        ...update,
        transition: update.transition && { ...update.transition, recordedAt: now },
      })),
    );
    for (const { serviceId, current } of updates) statuses.set(serviceId, current);
    engine.look();
  }
  if ([...statuses.values()].every(({ seq }) => seq === 3) && (await isQuiet())) break;
  await new Promise((resolve) => setTimeout(resolve, STEP_MS));
}
process.exit(0);

async function isQuiet(): Promise<boolean> {
  const { events, waiting } = await registry.countAlerts(clock.now());
  if (events > 0 || waiting > 0) return false;
  const known = await registry.loadAlertStates();
  return known.states.every(({ dueAt }) => dueAt === null || dueAt > clock.now() + QUIET_MS);
}

function createFastClock({ epochAt, startedAt, speed }: AlertOrder): Clock {
  return {
    now: () => Math.round(epochAt + (Date.now() - startedAt) * speed),
    monotonic: () => performance.now() * speed,
    after: (ms, task) => systemClock.after(ms / speed, task),
    every: (ms, task) => systemClock.every(Math.max(STEP_MS, ms / speed), task),
  };
}
