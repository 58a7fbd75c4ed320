/** The verdict of the trial by `kill -9`: each way of losing or doubling something is reported. */
import t from 'tap';
import { judgeRegistry, judgeSamples, type RegistryFacts } from '../soak/crashes/crash-verdict.ts';

const BEATS = [1, 2, 3].map((n) => ({ domain: 'job', timestamp: n * 100, answeredMs: n * 100 }));
const LOAD = { beats: BEATS, created: new Set(['made-1']), asked: new Set(['made-1', 'made-2']) };
/** A service that has failed, one that sends heartbeats and one that was created. */
const FACTS: RegistryFacts = {
  transitions: [
    { position: 1, serviceId: 1, seq: 1, from: 'unknown', to: 'up' },
    { position: 2, serviceId: 1, seq: 2, from: 'up', to: 'down' },
  ],
  services: [
    { id: 1, domain: 'shop', status: 'down', seq: 2 },
    { id: 2, domain: 'job', status: 'unknown', seq: 0 },
    { id: 3, domain: 'made-1', status: 'unknown', seq: 0 },
  ],
  heartbeats: BEATS,
  incidents: [{ id: 'own-1-2', serviceId: 1, status: 'investigating' }],
};

t.test('it says nothing where all is right, and something of each fault', async (t) => {
  t.same(judgeRegistry(FACTS, LOAD), []);
  const { transitions, services, heartbeats, incidents } = FACTS;
  const [first, second] = transitions;
  const again = second === undefined ? [] : [...transitions, { ...second, position: 3 }];
  const faults: readonly [what: string, facts: Partial<RegistryFacts>, said: RegExp][] = [
    ['a transition is written twice', { transitions: again }, /service 1: 2 follows 2/],
    ['a transition is lost', { transitions: first ? [first] : [] }, /shop is down \(2\) beside .* up \(1\)/],
    ['a position is left out', { transitions: transitions.slice(1) }, /position 1 of the transitions is 2/],
    ['an incident is lost', { incidents: [] }, /shop is down and has 0 open incidents/],
    [
      'an incident is opened twice',
      { incidents: [...incidents, { id: 'own-1-1', serviceId: 1, status: 'investigating' }] },
      /own-1-1 has no transition/,
    ],
    ['a heartbeat is lost', { heartbeats: heartbeats.slice(0, 2) }, /job lost 1 acknowledged heartbeats/],
    ['a heartbeat is there twice', { heartbeats: [...heartbeats, ...heartbeats] }, /job: .* there twice/],
    ['a service is lost', { services: services.slice(0, 2) }, /made-1 was lost/],
    ['a service is there twice', { services: [...services, ...services.slice(2)] }, /created twice/],
    [
      'a service is there for which nobody asked',
      { services: [...services, { id: 4, domain: 'made-9', status: 'unknown', seq: 0 }] },
      /nobody asked for made-9/,
    ],
  ];
  for (const [what, changed, said] of faults)
    t.match(judgeRegistry({ ...FACTS, ...changed }, LOAD).join('\n'), said, what);
});

t.test('samples may be lost with the moments before a kill, and not otherwise', async (t) => {
  const judge = (times: readonly number[], killedAt: readonly number[]) =>
    judgeSamples(new Map([[2, times]]), FACTS.services, BEATS, killedAt);
  t.match(judge([100, 200, 300], []), { samples: 3, unflushed: 0, wrong: [] });
  t.match(judge([100, 200], [400]), { unflushed: 1, oldestMs: 100, wrong: [] });
  t.match(judge([100, 200], [60_000]).wrong, [/job: 1 samples of heartbeats were lost/]);
  t.match(judge([100, 100, 200, 300], []).wrong, [/a sample is there twice/]);
});
