import fc from 'fast-check';
import t from 'tap';
import { FAILURE_CLASSES, type Failure } from '../../src/domain/failure.ts';
import { describeNote, describeReason, type Incident } from '../../src/domain/incident/incident.ts';
import { stepOwnIncident } from '../../src/domain/own-incident.ts';
import type { CheckResult } from '../../src/domain/result.ts';
import { type CurrentStatus, unknownStatus } from '../../src/domain/status/current.ts';
import { reasonOfVerdict } from '../../src/domain/status/judge.ts';
import { nextStatus } from '../../src/domain/status/transition.ts';
import type { Verdict } from '../../src/domain/status.ts';
import { failed503, good, makeService } from '../record/record-world.ts';

interface Life {
  readonly current: CurrentStatus;
  readonly open: Incident | null;
  readonly written: readonly Incident[];
}

const BORN: Life = { current: unknownStatus(1), open: null, written: [] };

/** One check a minute with this verdict, judged as the record judges it. */
function live({ current, open, written }: Life, verdict: Verdict, inMaintenance = false): Life {
  const at = current.observedAt + 60_000;
  const result: CheckResult =
    verdict === 'down' ? failed503(1, at) : good(1, at, { responseTimeMs: verdict === 'slow' ? 4_200 : 100 });
  const next = nextStatus(current, result, verdict, at) ?? current;
  const incident = stepOwnIncident(open, {
    service: makeService(1),
    current: next,
    changed: next.seq !== current.seq,
    reason: reasonOfVerdict(result, verdict),
    sourceUrl: 'http://localhost/status/service-1',
    inMaintenance,
  });
  return {
    current: next,
    open: incident === null ? open : incident.status === 'resolved' ? null : incident,
    written: incident === null ? written : [...written, incident],
  };
}

t.test('it describes the whole life of an incident', async (t) => {
  const verdicts: readonly Verdict[] = ['up', 'down', 'down', 'slow', 'up', 'down', 'up', 'up', 'slow', 'up'];
  const { written, open } = verdicts.reduce((life, verdict) => live(life, verdict), BORN);
  t.equal(open, null);
  t.same(
    written.map(({ status, goodChecks }) => `${status} ${goodChecks}`),
    [
      'investigating 0',
      'monitoring 1',
      'monitoring 2',
      'investigating 0',
      'monitoring 1',
      'monitoring 2',
      'resolved 0',
    ],
  );
  const fails = 'is returning errors (HTTP 503)';
  const { updates = [], ...last } = written.at(-1) ?? {};
  const texts = updates.map(({ note: _note, ...update }) => update);
  t.same(
    updates.map(({ text, note }) => note !== undefined && describeNote(note) === text),
    updates.map(() => true),
    'each text is that of its note',
  );
  t.same(
    { ...last, updates: texts },
    {
      id: `own-service-1-${(114_000).toString(36)}-2`,
      serviceId: 1,
      source: 'own',
      title: 'Service 1 answers with errors',
      description: `service-1.example ${fails}.`,
      severity: 'major',
      status: 'resolved',
      startedAt: 114_000,
      resolvedAt: 540_000,
      sourceUrl: 'http://localhost/status/service-1',
      goodChecks: 0,
      updates: [
        { at: 114_000, status: 'investigating', text: `service-1.example ${fails}.` },
        {
          at: 240_000,
          status: 'monitoring',
          text: 'service-1.example answers again, though slowly: it took 4.2 s to answer. We watch it.',
        },
        {
          at: 354_000,
          status: 'investigating',
          text: `service-1.example is down again: it ${fails}.`,
        },
        { at: 420_000, status: 'monitoring', text: 'service-1.example answers again. We watch it.' },
        { at: 540_000, status: 'resolved', text: 'service-1.example has answered 3 checks in a row.' },
      ],
    },
  );
});

t.test('it opens an incident for a service that is down at its first check', async (t) => {
  t.match(live(BORN, 'down').open, { id: /^own-service-1-\w+-1$/, status: 'investigating' });
  t.equal(live(BORN, 'slow').open, null);
});

t.test('it bounds the timeline of a service that flaps, and keeps its first entry', async (t) => {
  let life = BORN;
  for (let index = 0; index < 200; index++) life = live(life, index % 2 === 0 ? 'down' : 'up');
  t.equal(life.open?.updates.length, 50);
  t.equal(life.open?.updates[0]?.at, life.open?.startedAt);
});

t.test('every sequence of checks follows the rules of an incident', async () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom<Verdict>('up', 'slow', 'down')), (verdicts) => {
      let life = BORN;
      let goodInARow = 0;
      for (const verdict of verdicts) {
        const before = life;
        life = live(life, verdict);
        goodInARow = verdict === 'down' ? 0 : goodInARow + 1;
        const { open } = life;
        const expected =
          verdict === 'down'
            ? 'investigating'
            : before.open !== null && goodInARow < 3
              ? 'monitoring'
              : undefined;
        if (open?.status !== expected) throw new Error(`${open?.status} in place of ${expected}`);
        if (before.open !== null && open !== null && before.open.id !== open.id)
          throw new Error('two at once');
        const times = open?.updates.map(({ at }) => at) ?? [];
        if (times.some((at, index) => at < (times[index - 1] ?? 0))) throw new Error('updates run backwards');
      }
    }),
  );
});

t.test('it has a text for every failure', async (t) => {
  const titleOf = (failure: Failure | null) => {
    const result = failed503(1, 60_000, { failure });
    const current = nextStatus(BORN.current, result, 'down', 60_000) ?? BORN.current;
    const opened = stepOwnIncident(null, {
      service: makeService(1),
      current,
      changed: true,
      reason: null,
      sourceUrl: '',
      inMaintenance: false,
    });
    return opened?.title.replace('Service 1 ', '');
  };
  const titles = FAILURE_CLASSES.map((name) => [
    name,
    titleOf({ class: name, phase: 'connect', cause: { code: 'text', text: '' } }),
  ]);
  t.same(Object.fromEntries(titles), {
    dns: 'is not reachable',
    refused: 'is not reachable',
    unreachable: 'is not reachable',
    tls: 'cannot be reached securely',
    timeout: 'is not reachable',
    protocol: 'is not reachable',
    status: 'answers with errors',
    body: 'reports a failure',
    content: 'answers with errors',
    forbidden_address: 'is not reachable',
  });
  t.equal(titleOf(null), 'reports a failure');
  const why = (result: CheckResult, verdict: Verdict) => {
    const reason = reasonOfVerdict(result, verdict);
    return reason === null ? null : describeReason(reason);
  };
  const failure = { class: 'dns', phase: 'dns', cause: { code: 'text', text: '' } } as const;
  t.equal(why(failed503(1, 0, { failure }), 'down'), 'it does not resolve in DNS');
  t.equal(why(good(1, 0, { reported: 'down' }), 'down'), 'it reports that it is down');
  t.equal(why(good(1, 0, { reported: 'slow' }), 'slow'), 'it reports that it is slow');
  t.equal(why(good(1, 0, { responseTimeMs: 3_001 }), 'slow'), 'it took 3.0 s to answer');
  t.equal(why(good(1, 0), 'up'), null);
});

t.test(
  'it is a maintenance while the vendor works on the service, and major again when that is over',
  async (t) => {
    const within = live(BORN, 'down', true);
    t.match(within.open, { severity: 'maintenance', status: 'investigating' });
    t.equal(live(within, 'down', true).written.length, 1, 'nothing to write while nothing changes');
    const after = live(within, 'down', false);
    t.match(after.open, { id: /^own-service-1-\w+-1$/, severity: 'major', status: 'investigating' });
    t.match(live(live(BORN, 'down', false), 'down', true).open, { severity: 'maintenance' });
    t.match(live(within, 'up', false).open, { severity: 'maintenance', status: 'monitoring' });
  },
);
