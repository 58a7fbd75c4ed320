/** The verdicts of `npm run soak -- cluster kills` find what they are there for. */
import t from 'tap';
import { ownIncidentId } from '../../src/domain/own-incident.ts';
import type { Disturbance, NodeIdentity } from '../soak/cluster/disturbances.ts';
import type { SentHeartbeat } from '../soak/cluster/heartbeat-senders.ts';
import { type CountedCheck, judgeChecks } from '../soak/cluster/judge-checks.ts';
import { judgeAgreement, judgeJudgement } from '../soak/cluster/judge-nodes.ts';
import {
  judgeDeliveries,
  judgeHeartbeats,
  judgeIncidents,
  judgeOrder,
  judgeOutages,
} from '../soak/cluster/judge-registry.ts';
import type { IncidentRow, TransitionRow } from '../soak/cluster/read-registry.ts';

const INTERVAL_MS = 10_000;
const EU: NodeIdentity = { name: 'eu-1', region: 'eu', roles: ['judge', 'probe', 'serve'] };
const US: NodeIdentity = { name: 'us-1', region: 'us', roles: ['judge', 'probe', 'serve'] };

function checksAt(...seconds: readonly number[]): CountedCheck[] {
  return seconds.map((second) => ({ path: '/shop', node: EU, atMs: second * 1_000, failed: false }));
}

function judgeOf(requests: readonly CountedCheck[], disturbances: readonly Disturbance[] = []) {
  return judgeChecks({
    ...{ requests, disturbances, outages: [], regions: ['eu'], slugs: ['shop'], intervalMs: INTERVAL_MS },
    ...{ fromMs: 0, untilMs: 60_000 },
  });
}

function transition(position: number, seq: number, from: string, to: string, at: number): TransitionRow {
  return {
    position,
    slug: 'shop',
    serviceId: 1,
    seq,
    from,
    to,
    at,
    recordedAt: at,
    scope: null,
    reason: null,
  };
}

const GOOD: readonly TransitionRow[] = [
  transition(1, 1, 'unknown', 'up', 1_000),
  transition(2, 2, 'up', 'down', 20_000),
  transition(3, 3, 'down', 'up', 50_000),
];
const OUTAGE = { slug: 'shop', region: null, fromAt: 20_000, untilAt: 50_000 };
const INCIDENT: IncidentRow = {
  ...{
    id: ownIncidentId('shop', 20_000, 2),
    slug: 'shop',
    serviceId: 1,
    status: 'resolved',
    startedAt: 20_000,
    resolvedAt: 60_000,
  },
};

t.test('it finds services that waited too long, and checks that were repeated', async (t) => {
  t.match(judgeOf(checksAt(5, 15, 25, 35, 45, 55)), { wrong: [], longestGapMs: INTERVAL_MS, repeated: 0 });
  t.match(judgeOf(checksAt(5, 15, 25, 56)).wrong, [/^shop was not checked from eu for 31\.0 s/]);
  t.match(judgeOf(checksAt(5, 15, 25)).wrong, [/^shop was not checked from eu for 35\.0 s/]);
  const twice = checksAt(5, 15, 16, 25, 35, 45, 55);
  t.match(judgeOf(twice).wrong, [/^1 checks were repeated while no node was disturbed/]);
  const kill: Disturbance = { kind: 'kill', node: EU, wasMonitor: false, atMs: 10_000 };
  t.match(judgeOf(twice, [kill]), { repeated: 1, mostRepeated: 1 });
  t.match(judgeOf(twice, [{ ...kill, node: US }]).wrong, [/while no node was disturbed/]);
});

t.test('it finds transitions that are lost, doubled or false', async (t) => {
  const judge = (rows: readonly TransitionRow[]) => [
    ...judgeOrder(rows),
    ...judgeOutages(rows, [OUTAGE], ['shop'], 30_000).wrong,
  ];
  t.same(judge(GOOD), []);
  const again = [...GOOD, transition(4, 4, 'up', 'down', 70_000)];
  t.match(judge(again), [/nothing was expected, and there is up to down/]);
  t.match(judge(GOOD.slice(0, 1)), [/down at 1970.* was expected, and there is none/]);
  t.match(judge([...GOOD, transition(4, 3, 'down', 'up', 50_000)])[0], /has the number 3/);
  t.match(judge(GOOD.slice(1))[0], /^position 1 of the transitions is 2/);
  const late = GOOD.map((one) => (one.position === 2 ? { ...one, at: 51_000 } : one));
  t.match(judge(late).at(-1), /down at .* was expected/);
});

t.test('it finds incidents and webhooks that do not belong to a transition', async (t) => {
  t.same(judgeIncidents(GOOD, [INCIDENT]), []);
  t.match(judgeIncidents(GOOD, []), [/it was down at .* without an incident/]);
  t.match(judgeIncidents(GOOD, [INCIDENT, { ...INCIDENT, id: 'own-1-9' }]), [/own-1-9 has no transition/]);
  const deliveries = [
    ...GOOD.map(({ to, at }) => ({
      type: 'service.status_changed',
      data: { service: { slug: 'shop' }, to, at: new Date(at) },
    })),
    ...['incident.opened', 'incident.resolved'].map((type) => ({
      type,
      data: { service: { slug: 'shop' }, incident: { id: INCIDENT.id } },
    })),
  ].map(({ type, data }, index) => {
    const [id, message] = [index + 1, `msg_${index + 1}`];
    return { id, message, type, body: JSON.stringify({ type, data }), deliveredAt: 1 };
  });
  const received = deliveries.map(({ message, body }, index) => ({ message, body, atMs: index }));
  const judge = (rows: typeof deliveries, heard: typeof received) =>
    judgeDeliveries(GOOD, [INCIDENT], rows, heard, () => true);
  t.same(judge(deliveries, [...received, ...received.slice(0, 1)]), []);
  const swapped = [received[1], received[0], ...received.slice(2)].filter((one) => one !== undefined);
  t.match(judge(deliveries, swapped), [/webhook 2 of shop came before an earlier one/]);
  t.match(judge(deliveries, received.slice(1)), [/webhook 1 was not delivered/]);
  t.match(judge(deliveries.slice(1), received.slice(1)), [/^3 transitions of owners are registered, and 2/]);
});

t.test('it finds heartbeats that are lost or doubled, and a long pause of judgement', async (t) => {
  const beat = (timestamp: number, status: number | null): SentHeartbeat => ({
    ...{ domain: 'jobs.example.org', timestamp, sentMs: timestamp, answeredMs: timestamp, status },
  });
  const sent = [beat(1_000, 200), beat(2_000, 503), beat(9_000, 200)];
  const judge = (...times: readonly number[]) => {
    const rows = times.map((timestamp, number) => [number, { slug: 'jobs', number, timestamp }] as const);
    return judgeHeartbeats(sent, new Map([['jobs', new Map(rows)]]), () => 'jobs');
  };
  t.same([...judge(1_000, 9_000), ...judge(1_000, 2_000, 9_000)], []);
  t.match(judge(1_000), [/1 acknowledged heartbeats are lost/]);
  t.match(judge(1_000, 9_000, 9_000), [/registered twice/]);
  t.match(judge(9_000, 1_000), [/in another order/]);
  const death: Disturbance = { kind: 'kill', node: EU, wasMonitor: true, atMs: 1_500 };
  t.match(judgeJudgement(sent, [death]), {
    pauseMs: [7_500],
    wrong: [/for 7500 ms: kill eu-1, the monitor/],
  });
});

t.test('it finds nodes that tell late, or not once and in order', async (t) => {
  const events = (...times: readonly number[]) =>
    times.map((atMs, index) => ({ position: index + 1, atMs, connectedMs: 0 }));
  const judge = (ours: readonly number[], theirs: readonly number[]) => {
    const heard = new Map([
      [EU, events(...ours)],
      [US, events(...theirs)],
    ]);
    return judgeAgreement(heard, [1, 2], []);
  };
  t.match(judge([10_000, 20_000], [10_100, 20_900]), { lagMs: [0, 0, 100, 900], wrong: [] });
  t.match(judge([10_000, 20_000], [10_100, 21_100]).wrong, [/us-1 told event 2 1100 ms after/]);
  t.match(judge([10_000, 20_000], [10_100]).wrong, [/us-1 has heard 1 of 2 events/]);
});
