/** The pure step from a service's state and an observation to an update. */
import fc from 'fast-check';
import t from 'tap';
import type { HeartbeatReport } from '../../src/domain/heartbeat/heartbeat-body.ts';
import type { Incident } from '../../src/domain/incident/incident.ts';
import { NO_MEMORY, type ProbeMemory } from '../../src/domain/result.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { type CurrentStatus, unknownStatus } from '../../src/domain/status/current.ts';
import type { ServiceStatus } from '../../src/domain/status.ts';
import { type EvaluationRules, evaluate } from '../../src/record/evaluate.ts';
import type { MissedHeartbeat, Observation, ReceivedHeartbeat } from '../../src/record/observation.ts';
import type { ServiceState } from '../../src/store/ports/services.ts';
import { USUAL } from '../support/attempts.ts';
import { ERROR_503, failed503, good, makeService } from './record-world.ts';

const NOW = 1_000_000;
const RULES: EvaluationRules = {
  usual: USUAL,
  sourceUrl: ({ slug }) => `http://localhost/status/${slug}`,
  isInMaintenance: () => false,
  regions: null,
};
const REPORTING = makeService(1, { check: { ...DEFAULT_CHECK, kind: 'heartbeat' } });

function stateOf(status: ServiceStatus, changes: Partial<ServiceState> = {}): ServiceState {
  const current: CurrentStatus =
    status === 'unknown'
      ? unknownStatus(1)
      : { serviceId: 1, seq: 3, observedAt: NOW - 60_000, status, since: NOW - 90_000, latest: null };
  return { service: makeService(1), current, memory: NO_MEMORY, openIncident: null, ...changes };
}

function reportingState(status: ServiceStatus, changes: Partial<ServiceState> = {}): ServiceState {
  return stateOf(status, { service: REPORTING, ...changes });
}

function heartbeat(
  report: Partial<HeartbeatReport> = {},
  more: Partial<ReceivedHeartbeat> = {},
): Observation {
  const said: HeartbeatReport = {
    kind: 'beat',
    domain: 'service-1.example',
    word: 'up',
    reported: 'ok',
    timestamp: null,
    dependencies: null,
    run: null,
    ...report,
  };
  return { via: 'heartbeat', received: { report: said, accountId: 7, arrivedAt: NOW, body: '{}', ...more } };
}

const MISSED: MissedHeartbeat = { via: 'missed', deadlineAt: NOW - 200, silenceMs: 60_000 };

t.test('it keeps what any region has learned of a service', async (t) => {
  const memory = { needsGet: true, headSeen: false, healthSeen: false, askHealthAt: NOW + 1_000 };
  const learnedBy = (before: typeof memory, found: Partial<ProbeMemory>) =>
    evaluate(
      stateOf('up', { memory: before }),
      {
        ...{ via: 'region', region: 'eu', deliveredAt: NOW, voting: ['eu', 'us'] },
        result: good(1, NOW, { memory: { ...NO_MEMORY, ...found } }),
      },
      NOW,
      { ...RULES, regions: { quorum: 'majority' } },
    )?.memory;
  t.equal(learnedBy(memory, {}), null, 'a region that has learned nothing yet takes nothing back');
  t.same(learnedBy(memory, { headSeen: true, askHealthAt: NOW + 500 }), { ...memory, headSeen: true });
  t.same(learnedBy(memory, { askHealthAt: NOW + 3_000 }), { ...memory, askHealthAt: NOW + 3_000 });
  const seen = learnedBy(memory, { healthSeen: true });
  t.same(seen, { ...memory, healthSeen: true, askHealthAt: null });
  // From here on a missing health endpoint is a failure, whichever node loads the service next.
  t.equal(learnedBy({ ...memory, healthSeen: true }, { askHealthAt: NOW + 5_000 })?.healthSeen, true);
});

const incident = (status: Incident['status'], goodChecks = 0): Incident => ({
  id: 'own-1-3',
  serviceId: 1,
  source: 'own',
  title: 'Service 1 answers with errors',
  description: '',
  severity: 'major',
  status,
  startedAt: NOW - 90_000,
  resolvedAt: null,
  sourceUrl: 'http://localhost/status/service-1',
  goodChecks,
  updates: [],
});

t.test('it turns a check into an update', async (t) => {
  const slow = good(1, NOW, { responseTimeMs: 3_001 });
  for (const [name, state, result, expected] of [
    ['first check', stateOf('unknown'), good(1, NOW), ['unknown to up', null, false]],
    ['still up', stateOf('up'), good(1, NOW), [null, null, true]],
    ['turns slow', stateOf('up'), slow, ['up to slow', null, false]],
    ['still slow', stateOf('slow'), slow, [null, null, true]],
    ['turns down', stateOf('up'), failed503(1, NOW), ['up to down', 'investigating 0', false]],
    ['still down', stateOf('down'), failed503(1, NOW), [null, null, true]],
    [
      'still down with its incident',
      stateOf('down', { openIncident: incident('investigating') }),
      failed503(1, NOW),
      [null, null, true],
    ],
    [
      'recovers',
      stateOf('down', { openIncident: incident('investigating') }),
      good(1, NOW),
      ['down to up', 'monitoring 1', false],
    ],
    [
      'second good check',
      stateOf('up', { openIncident: incident('monitoring', 1) }),
      good(1, NOW),
      [null, 'monitoring 2', false],
    ],
    [
      'third good check',
      stateOf('up', { openIncident: incident('monitoring', 2) }),
      slow,
      ['up to slow', 'resolved 0', false],
    ],
    [
      'fails again',
      stateOf('up', { openIncident: incident('monitoring', 1) }),
      failed503(1, NOW),
      ['up to down', 'investigating 0', false],
    ],
  ] as const) {
    const update = evaluate(state, result, NOW, RULES);
    const { transition = null, incident: next = null } = update ?? {};
    t.same(
      [
        transition && `${transition.from} to ${transition.to}`,
        next && `${next.status} ${next.goodChecks}`,
        update?.isRoutine,
      ],
      expected,
      name,
    );
    t.match(update, { heartbeat: null, sample: null, memory: null }, name);
  }
});

t.test('it gives the whole update of a service that goes down', async (t) => {
  t.match(evaluate(stateOf('up'), failed503(1, NOW), NOW, RULES), {
    current: {
      serviceId: 1,
      seq: 4,
      observedAt: NOW,
      status: 'down',
      since: NOW - 6_000,
      latest: { status: 'down', statusCode: 503, checkedAt: NOW, source: 'root' },
    },
    transition: {
      serviceId: 1,
      slug: 'service-1',
      seq: 4,
      from: 'up',
      to: 'down',
      at: NOW - 6_000,
      recordedAt: NOW,
      reason: { code: 'check_failed', failure: ERROR_503 },
    },
    incident: {
      id: /^own-service-1-\w+-4$/,
      startedAt: NOW - 6_000,
      sourceUrl: 'http://localhost/status/service-1',
    },
  });
});

t.test('it changes nothing for a check that is not newer', async (t) => {
  for (const at of [NOW - 60_001, NOW - 60_000])
    t.equal(evaluate(stateOf('up'), failed503(1, at), NOW, RULES), null);
});

t.test('it keeps what a check has learned, where that is new', async (t) => {
  const memory = { needsGet: true, headSeen: false, healthSeen: false, askHealthAt: null };
  t.same(evaluate(stateOf('up'), good(1, NOW, { memory }), NOW, RULES)?.memory, memory);
  const known = stateOf('up', { memory: { ...memory } });
  t.equal(evaluate(known, good(1, NOW, { memory }), NOW, RULES)?.memory, null);
});

t.test('a check is within a maintenance if it began within it', async (t) => {
  const isInMaintenance = (serviceId: number, at: number) => serviceId === 1 && at < NOW - 10_000;
  for (const [firstFailedAt, severity] of [
    [NOW - 10_001, 'maintenance'],
    [NOW - 10_000, 'major'],
  ] as const)
    t.match(
      evaluate(stateOf('up'), failed503(1, NOW - 5_000, { firstFailedAt }), NOW, {
        ...RULES,
        isInMaintenance,
      }),
      { incident: { severity } },
    );
});

t.test('it turns a heartbeat into an update', async (t) => {
  const latency = (latencyMs: number) =>
    ({ dependencies: [{ name: 'db', status: 'up', latencyMs }] }) as const;
  for (const [name, state, observation, to, counted, sample] of [
    ['the first one', reportingState('unknown'), heartbeat(), 'up', true, ['up', null]],
    ['a latency', reportingState('up'), heartbeat(latency(3_000)), null, true, ['up', 3_000]],
    ['a high latency', reportingState('up'), heartbeat(latency(3_001)), 'slow', true, ['slow', 3_001]],
    ['a word', reportingState('up'), heartbeat({ word: 'down' }), 'down', true, ['down', null]],
    [
      'a failed run',
      reportingState('up'),
      heartbeat({ kind: 'fail', word: 'down' }),
      'down',
      true,
      ['down', null],
    ],
    ['a start', reportingState('down'), heartbeat({ kind: 'start', word: null }), null, true, null],
    [
      'an older timestamp',
      reportingState('up', { newestTimestamp: NOW - 10 }),
      heartbeat({ word: 'down', timestamp: NOW - 11 }),
      null,
      false,
      ['down', null],
    ],
    [
      'the same timestamp',
      reportingState('up', { newestTimestamp: NOW - 10 }),
      heartbeat({ word: 'down', timestamp: NOW - 10 }),
      'down',
      true,
      ['down', null],
    ],
    [
      'one of the inbox that was overtaken',
      reportingState('up', { lastArrivedAt: NOW - 10 }),
      heartbeat({ word: 'down' }, { inboxId: 5, arrivedAt: NOW - 11 }),
      null,
      false,
      ['down', null],
    ],
    [
      'one of the inbox after our clock was set back',
      reportingState('up', { lastArrivedAt: NOW + 1 }),
      heartbeat({ word: 'down' }, { inboxId: 5 }),
      'down',
      true,
      ['down', null],
    ],
    [
      'one of a paused service',
      stateOf('up', { service: { ...REPORTING, paused: true } }),
      heartbeat({ word: 'down' }),
      null,
      false,
      null,
    ],
    ['one of a checked service', stateOf('up'), heartbeat({ word: 'down' }), null, false, null],
  ] as const) {
    const update = evaluate(state, observation, NOW, RULES);
    t.equal(update?.transition?.to ?? null, to, name);
    t.equal(update?.heartbeat?.counted, counted, name);
    t.same(update?.sample && [update.sample.status, update.sample.latencyMs], sample, name);
    t.equal(update?.isRoutine, false, `${name}: its sender waits for the commit`);
    if (!counted) t.equal(update?.current, state.current, `${name}: the very same status`);
  }
});

t.test('it turns a missed heartbeat into an update', async (t) => {
  t.match(evaluate(reportingState('up'), MISSED, NOW, RULES), {
    current: { status: 'down', since: NOW - 200, latest: { source: 'silence', checkedAt: NOW - 200 } },
    transition: {
      from: 'up',
      to: 'down',
      at: NOW - 200,
      reason: { code: 'no_heartbeat', silenceMs: 60_000 },
    },
    incident: { title: 'Service 1 has gone silent' },
    heartbeat: null,
    sample: { serviceId: 1, at: NOW - 200, status: 'down', latencyMs: null, statusCode: 0, suspect: false },
    isRoutine: false,
  });
  t.match(evaluate(reportingState('down'), MISSED, NOW, RULES), {
    current: { seq: 3, latest: { source: 'silence' } },
    transition: null,
    incident: null,
    isRoutine: false,
  });
});

t.test('it changes none of its arguments, and gives the same update for the same ones', async () => {
  const observations = fc.oneof(
    fc
      .record({ at: fc.integer({ min: NOW - 70_000, max: NOW }), ms: fc.nat(6_000) })
      .map(({ at, ms }) => good(1, at, { responseTimeMs: ms })),
    fc.integer({ min: NOW - 70_000, max: NOW }).map((at) => failed503(1, at)),
    fc
      .record({
        word: fc.constantFrom('up' as const, 'slow' as const, 'down' as const),
        timestamp: fc.option(fc.integer({ min: NOW - 1_000, max: NOW })),
      })
      .map((report) => heartbeat(report)),
    fc.constant(MISSED),
  );
  fc.assert(
    fc.property(
      fc.constantFrom<ServiceStatus>('unknown', 'up', 'slow', 'down'),
      fc.constantFrom(null, incident('investigating'), incident('monitoring', 2)),
      fc.boolean(),
      observations,
      (status, openIncident, reports, observation) => {
        const state = (reports ? reportingState : stateOf)(status, {
          openIncident,
          newestTimestamp: NOW - 500,
        });
        const before = JSON.stringify([state, observation]);
        const [first, second] = [1, 2].map(() => JSON.stringify(evaluate(state, observation, NOW, RULES)));
        if (first !== second) throw new Error('two updates for the same arguments');
        if (JSON.stringify([state, observation]) !== before) throw new Error('an argument was changed');
        const update = evaluate(state, observation, NOW, RULES);
        if (update === null) return;
        const steps = update.current.seq - state.current.seq;
        if (steps !== (update.transition === null ? 0 : 1)) throw new Error('seq does not count transitions');
        if ((update.current.status !== state.current.status) !== (steps === 1))
          throw new Error('a transition without a change of the status');
      },
    ),
  );
});
