/** A short counting run: Redis and InfluxDB are killed, paused and stopped, and nothing is lost or doubled. */
import t from 'tap';
import { type DemoTiming, failing, good } from '../demo/behaviour.ts';
import { type Count, runCount } from '../demo/count-run.ts';
import type { Sender, SenderTiming } from '../demo/heartbeat-senders.ts';
import { judgeCount } from '../demo/judge-count.ts';
import type { DemoService, Script } from '../demo/script.ts';
import { hasProgram } from '../support/install-servers.ts';

const TIMING: DemoTiming = {
  intervalMs: 1_000,
  timeoutMs: 2_500,
  slowOverMs: 1_500,
  confirmAfterMs: [200, 200],
  firstSpreadMs: 1_000,
  slackMs: 4_000,
};
const PERIOD_MS = 10_000;

/** Services that fail for half of ten seconds, each at another time. */
const SERVICES = Array.from({ length: 8 }, (_, index): DemoService => {
  const from = index * 600;
  return {
    slug: `turning-${index}`,
    name: `Turning ${index}`,
    domain: `turning-${index}.demo.test`,
    category: 'developer',
    transport: 'http',
    host: '127.0.0.1',
    certificate: 'good',
    check: {},
    steps: [
      { at: 0, behaviour: good(5) },
      { at: from + 1, behaviour: failing(503) },
      { at: from + 5_000, behaviour: good(5) },
    ],
    story: '',
  };
});
const SCRIPT: Script = { periodMs: PERIOD_MS, services: SERVICES, outages: [], vendors: [] };
const SENDER: Sender = {
  domain: 'jobs.example.org',
  story: '',
  steps: [
    { at: 0, word: 'ok', means: 'up' },
    { at: 5_000, word: 'down', means: 'down' },
  ],
};
const SENDING: SenderTiming = { periodMs: PERIOD_MS, everyMs: 1_000, silenceMs: 600_000, slackMs: 3_000 };

/** Several times what it takes: the wait for a server that is back grows with the load of the machine. */
t.setTimeout(300_000);
const missing = ['redis-server', 'influxd'].filter((name) => !hasProgram(name));

t.test(
  'it loses no sample and no transition while both servers come and go',
  missing.length > 0 ? { skip: `${missing.join(', ')} is not there` } : {},
  async (t) => {
    const count = await runCount({
      script: SCRIPT,
      timing: TIMING,
      feedIntervalMs: 60_000,
      senders: { list: [SENDER], timing: SENDING },
      lengthMs: 24_000,
      everyMs: 4_000,
      awayMs: 2_000,
      tell: (line) => t.comment(line),
    });
    t.same(judgeCount(count), []);
    t.ok(count.faults >= 5, `${count.faults} faults`);
    t.ok(count.samplesStored > 50 && count.registered.length > 20, 'enough has happened');
  },
);

t.test('it sees what is lost and what is doubled', async (t) => {
  const transition = (position: number) => ({
    position,
    serviceId: 1,
    slug: 'shop',
    seq: position,
    from: 'up' as const,
    to: 'down' as const,
    at: position,
    recordedAt: position,
    reason: null,
  });
  const list = [1, 2, 3].map(transition);
  const right: Count = {
    faults: 1,
    samplesTaken: 9,
    samplesStored: 9,
    registered: list,
    inRedis: list,
    heardAtMonitor: [1, 2, 3],
    heardBeside: [1, 2],
    wrongInRedis: [],
    complaints: [],
    exits: [0, 0],
  };
  t.same(judgeCount(right), []);
  const table: readonly [string, Partial<Count>][] = [
    ['a sample is missing', { samplesStored: 8 }],
    ['a sample is doubled', { samplesStored: 10 }],
    ['nothing was taken', { samplesTaken: 0, samplesStored: 0 }],
    ['a transition is missing in Redis', { inRedis: list.slice(1) }],
    ['a transition stands twice in Redis', { inRedis: [...list, transition(3)] }],
    ['a client missed one', { heardAtMonitor: [1, 3] }],
    ['a client heard one twice', { heardBeside: [1, 1, 2] }],
    ['a client heard nothing', { heardBeside: [] }],
    ['a status is wrong', { wrongInRedis: [4] }],
    ['the log complains', { complaints: ['{"level":"error"}'] }],
    ['a process fell', { exits: [0, 70] }],
  ];
  for (const [what, change] of table) t.equal(judgeCount({ ...right, ...change }).length, 1, what);
});
