/** The body of a heartbeat (contract 2.4; decisions, Heartbeats). */
import fc from 'fast-check';
import t from 'tap';
import {
  type HeartbeatProblem,
  type HeartbeatReport,
  readHeartbeat,
  STATUS_WORDS,
} from '../../../src/domain/heartbeat/heartbeat-body.ts';
import { readAnyHost } from '../../../src/domain/host-name.ts';
import { anyText } from '../../support/any-text.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const REPORT: HeartbeatReport = {
  kind: 'beat',
  domain: 'shop.example.com',
  word: 'up',
  reported: 'ok',
  timestamp: null,
  dependencies: null,
  run: null,
};
const BODY = { domain: 'shop.example.com', status: 'ok' };
const read = (body: unknown) => readHeartbeat(JSON.stringify(body), 'beat');
const refused = (place: string, problem: string, allowed: readonly string[] | null = null) =>
  ({ ok: false, place, problem, allowed }) satisfies HeartbeatProblem & { ok: false };

t.test('it parses what the contract describes', async (t) => {
  const body = {
    ...BODY,
    timestamp: '2026-11-20T10:00:00.000Z',
    checks: { database: { status: 'ok', latency: 12 }, cache: { status: 'DEGRADED' } },
    run: 'nightly-7',
    ignored: { deeply: [1, 2, { domain: 'x' }] },
  };
  t.strictSame(read(body), {
    ok: true,
    report: {
      ...REPORT,
      timestamp: Date.UTC(2026, 10, 20, 10),
      dependencies: [
        { name: 'database', status: 'up', latencyMs: 12 },
        { name: 'cache', status: 'slow', latencyMs: null },
      ],
      run: 'nightly-7',
    },
  });
  t.strictSame(read(BODY), { ok: true, report: REPORT });
  t.strictSame(read({ ...BODY, checks: {} }), { ok: true, report: { ...REPORT, dependencies: [] } });
});

t.test('a start and a fail need only the domain', async (t) => {
  const body = JSON.stringify({ domain: 'Shop.Example.com.', status: 7, checks: { db: { status: 'ok' } } });
  t.strictSame(readHeartbeat(body, 'start'), {
    ok: true,
    report: { ...REPORT, kind: 'start', word: null, reported: null },
  });
  t.strictSame(readHeartbeat(body, 'fail'), {
    ok: true,
    report: {
      ...REPORT,
      kind: 'fail',
      word: 'down',
      reported: null,
      dependencies: [{ name: 'db', status: 'up', latencyMs: null }],
    },
  });
});

t.test('it accepts every word of the vocabulary in any case, and no other', async (t) => {
  const verdicts: readonly [string, string][] = [
    ['up', 'ok up pass healthy operational'],
    ['slow', 'slow warn warning degraded partial'],
    ['down', 'down error fail failing critical unhealthy outage'],
  ];
  t.strictSame([...STATUS_WORDS].sort(), verdicts.flatMap(([, words]) => words.split(' ')).sort());
  for (const [verdict, words] of verdicts) {
    for (const word of words.split(' ')) {
      for (const form of [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)])
        t.match(read({ ...BODY, status: form }), { ok: true, report: { word: verdict } }, form);
    }
  }
  for (const word of ['', ' ok', 'okay', 'constructor', '__proto__', 'o\u212A', 'unknown'])
    t.strictSame(
      read({ ...BODY, status: word }),
      refused('/status', `is ${JSON.stringify(word)}, which is not known`, STATUS_WORDS),
    );
});

t.test('it names the place of a problem', async (t) => {
  const latency = 'must be a whole number of milliseconds from 0 to 600000';
  const time = 'must be an ISO 8601 UTC time, such as 2026-11-20T10:00:00.000Z';
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`d${n}`, { status: 'ok' }]));
  const cases: readonly [unknown, ReturnType<typeof refused>][] = [
    [null, refused('', 'must be a JSON object')],
    [[], refused('', 'must be a JSON object')],
    ['text', refused('', 'must be a JSON object')],
    [{}, refused('/domain', 'is missing')],
    [{ domain: 1 }, refused('/domain', 'must be a string')],
    [{ domain: 'localhost' }, refused('/domain', 'needs at least two labels, such as example.com')],
    [{ domain: BODY.domain }, refused('/status', 'is missing')],
    [{ ...BODY, status: null }, refused('/status', 'must be a string')],
    [{ ...BODY, timestamp: 1_700_000_000 }, refused('/timestamp', 'must be a string')],
    [{ ...BODY, timestamp: null }, refused('/timestamp', 'must be a string')],
    [{ ...BODY, timestamp: '2026-11-20' }, refused('/timestamp', time)],
    [{ ...BODY, checks: [] }, refused('/checks', 'must be an object of {status, latency} by name')],
    [{ ...BODY, checks: null }, refused('/checks', 'must be an object of {status, latency} by name')],
    [{ ...BODY, checks: many }, refused('/checks', 'has 51 entries; at most 50 are allowed')],
    [
      { ...BODY, checks: { 'a/b~c': 'ok' } },
      refused('/checks/a~1b~0c', 'must be an object of status and latency'),
    ],
    [{ ...BODY, checks: { db: {} } }, refused('/checks/db/status', 'is missing')],
    [
      { ...BODY, checks: { db: { status: 'fine' } } },
      refused('/checks/db/status', 'is "fine", which is not known', STATUS_WORDS),
    ],
    [
      { ...BODY, checks: { '': { status: 'ok' } } },
      refused('/checks/', 'has a name that is 0 characters long; 1 to 64 are allowed'),
    ],
    [
      { ...BODY, checks: { ['x'.repeat(65)]: { status: 'ok' } } },
      refused(`/checks/${'x'.repeat(64)}…`, 'has a name that is 65 characters long; 1 to 64 are allowed'),
    ],
    [{ ...BODY, run: '' }, refused('/run', 'is 0 characters long; 1 to 64 are allowed')],
    [{ ...BODY, run: 7 }, refused('/run', 'must be a string')],
    ...[-1, 0.5, 600_001, 1e300, '12', null, true, [1]].map(
      (value): [unknown, ReturnType<typeof refused>] => [
        { ...BODY, checks: { db: { status: 'ok', latency: value } } },
        refused('/checks/db/latency', latency),
      ],
    ),
  ];
  for (const [body, expected] of cases) t.strictSame(read(body), expected, JSON.stringify(body));
  for (const text of ['', '{', 'NaN', '{"domain":"a.example",}', '{"a":1}{', '\u0000', "{'a':1}"])
    t.strictSame(readHeartbeat(text, 'beat'), refused('', 'is not JSON'), JSON.stringify(text));
});

t.test('it accepts names and latencies at their bounds', async (t) => {
  const name = '😀'.repeat(64);
  const checks = {
    [name]: { status: 'ok', latency: 600_000 },
    '  ': { status: 'ok', latency: -0 },
    ' ': { status: 'ok', latency: 1.0 },
  };
  const text = JSON.stringify({ ...BODY, checks }).replace('"latency":0', '"latency":-0');
  t.strictSame(readHeartbeat(text, 'beat'), {
    ok: true,
    report: {
      ...REPORT,
      dependencies: [
        { name, status: 'up', latencyMs: 600_000 },
        { name: '  ', status: 'up', latencyMs: 0 },
        { name: ' ', status: 'up', latencyMs: 1 },
      ],
    },
  });
  t.match(read({ ...BODY, checks: { [`${name}x`]: { status: 'ok' } } }), { ok: false, problem: /65/ });
});

t.test('it refuses control characters and marks of direction', async (t) => {
  for (const character of ['\u0000', '\u001b', '\u007f', '\u0085', '\u2028', '\u202e', '\u200f', '\u0378']) {
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
    t.match(read({ ...BODY, checks: { [`a${character}b`]: { status: 'ok' } } }), {
      ok: false,
      problem: new RegExp(`has a name that must not contain U\\+${code}:`),
    });
    t.match(read({ ...BODY, run: `a${character}b` }), { ok: false, place: '/run' });
  }
});

t.test('it ignores inherited members, and uses the last of two members with the same name', async (t) => {
  const hidden = '{"__proto__":{"domain":"a.example","status":"ok"},"constructor":{"prototype":{}}}';
  t.strictSame(readHeartbeat(hidden, 'beat'), refused('/domain', 'is missing'));
  const named = '{"domain":"a.example","status":"ok","checks":{"__proto__":{"status":"down","latency":3}}}';
  t.strictSame(readHeartbeat(named, 'beat'), {
    ok: true,
    report: {
      ...REPORT,
      domain: 'a.example',
      dependencies: [{ name: '__proto__', status: 'down', latencyMs: 3 }],
    },
  });
  const inner = '{"domain":"a.example","status":"ok","checks":{"db":{"__proto__":{"status":"ok"}}}}';
  t.strictSame(readHeartbeat(inner, 'beat'), refused('/checks/db/status', 'is missing'));
  const twice = '{"status":"down","domain":"b.example","domain":"a.example","status":"ok"}';
  t.strictSame(readHeartbeat(twice, 'beat'), { ok: true, report: { ...REPORT, domain: 'a.example' } });
});

t.test('it accepts deep nesting, and refuses unpaired surrogates', async (t) => {
  const deep = `${'['.repeat(8_000)}${']'.repeat(8_000)}`;
  t.match(readHeartbeat(deep, 'beat'), { ok: false, place: '' });
  t.match(readHeartbeat(`{"domain":"a.example","status":"ok","x":${deep}}`, 'beat'), { ok: true });
  t.match(
    readHeartbeat(
      `{"domain":"a.example","status":"ok","checks":${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}}`,
      'beat',
    ),
    {
      ok: false,
      place: '/checks/a/status',
    },
  );
  t.strictSame(
    readHeartbeat('{"domain":"a.example","status":"ok","checks":{"\\ud800":{"status":"ok"}}}', 'beat'),
    refused('/checks/\ufffd', 'has a name that is not valid Unicode'),
  );
});

t.test('it never throws, and parsed reports always have their shape', async () => {
  const word = fc.oneof(fc.constantFrom('ok', 'WARN', 'fail', 'x', '__proto__'), anyText());
  const latency = fc.oneof(fc.integer({ min: -2, max: 600_002 }), fc.double(), fc.jsonValue());
  const entry = fc.oneof(fc.record({ status: word, latency }, { requiredKeys: [] }), fc.jsonValue());
  const body = fc.record(
    {
      domain: fc.oneof(fc.domain(), fc.constantFrom('a.example', 'x.local'), fc.jsonValue()),
      status: fc.oneof(word, fc.jsonValue()),
      timestamp: fc.oneof(
        fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
        fc.jsonValue(),
      ),
      checks: fc.oneof(fc.dictionary(anyText({ maxLength: 70 }), entry), fc.jsonValue()),
      run: fc.oneof(fc.string(), fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  const text = fc.oneof(
    fc.oneof(body, fc.jsonValue()).map((value) => JSON.stringify(value)),
    anyText(),
  );
  fc.assert(
    fc.property(text, fc.constantFrom('beat', 'start', 'fail'), (body, kind) => {
      const reading = readHeartbeat(body, kind);
      if (!reading.ok) return /^(\/|$)/.test(reading.place) && reading.problem.length < 300;
      const { report } = reading;
      return (
        report.domain.includes('.') &&
        (kind === 'start') === (report.word === null) &&
        (report.dependencies ?? []).every(
          ({ name, latencyMs }) =>
            [...name].length <= 64 && (latencyMs === null || (latencyMs >= 0 && latencyMs <= 600_000)),
        )
      );
    }),
    { numRuns: propertyRuns(150) },
  );
});

t.test('it reads the exit code of a failed run, and of nothing else', async (t) => {
  const read = (exit_code: unknown, kind: 'beat' | 'fail' = 'fail') =>
    readHeartbeat(JSON.stringify({ ...BODY, exit_code }), kind);
  for (const exitCode of [1, 255, 256, -1, 3_221_225_786, -2_147_483_648, 4_294_967_295])
    t.match(read(exitCode), { ok: true, report: { exitCode } });
  for (const code of [0, -2_147_483_649, 4_294_967_296, 1.5, '1', null])
    t.match(read(code), {
      ok: false,
      place: '/exit_code',
      problem: 'must be a whole number from -2147483648 to 4294967295, and not 0',
    });
  t.notOk('exitCode' in (read('anything', 'beat') as { readonly report: object }).report);
});

t.test('a report of a known service is of any host', async (t) => {
  const body = JSON.stringify({ domain: 'backup-of-the-nas', status: 'ok' });
  t.match(readHeartbeat(body, 'beat'), { ok: false, place: '/domain' });
  t.match(readHeartbeat(body, 'beat', readAnyHost), { ok: true, report: { domain: 'backup-of-the-nas' } });
});
