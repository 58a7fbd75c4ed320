/** The form of results on their way through Redis: nothing is lost, and foreign entries do not end the judge. */

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import {
  correctTimes,
  decodeResults,
  encodeResults,
  type NodeResults,
} from '../../../src/cluster/results/result-stream.ts';
import { MAX_CLOCK_OFFSET_MS } from '../../../src/domain/node.ts';
import { failed503, good, START, unanswered } from '../../record/record-world.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const BATCH: NodeResults = {
  node: 'eu-1',
  region: 'eu',
  clockOffsetMs: -12,
  results: [
    { result: good(1, START), suspect: false, region: 'eu' },
    {
      result: failed503(2, START + 5, { reportedWord: 'kaputt ✓', reported: 'down' }),
      suspect: false,
      region: 'eu',
    },
    { result: unanswered(3, START + 7), suspect: true, region: 'eu' },
  ],
};

t.test('it decodes what it encoded', async (t) => {
  const { head, numbers } = encodeResults(BATCH);
  t.strictSame(decodeResults(head, numbers), BATCH);
  t.equal(numbers.length, 3 * 152, 'bytes of a result');
});

t.test(
  'it uses the newer form only for results that an earlier version would read differently',
  async (t) => {
    const formOf = (batch: NodeResults) => JSON.parse(encodeResults(batch).head).form;
    t.equal(formOf(BATCH), 1);
    const closed = unanswered(4, START + 9, { answered: true });
    const batch = { ...BATCH, results: [...BATCH.results, { result: closed, suspect: false, region: 'eu' }] };
    const { head, numbers } = encodeResults(batch);
    t.equal(formOf(batch), 2);
    t.strictSame(decodeResults(head, numbers), batch);
  },
);

t.test('it takes a result of an earlier version with a status code as one with a response', async (t) => {
  const batch = {
    ...BATCH,
    results: BATCH.results.map((one) => ({ ...one, result: { ...one.result, answered: false } })),
  };
  const { head, numbers } = encodeResults(batch);
  const earlier = JSON.stringify({ ...JSON.parse(head), form: 1 });
  t.same(
    decodeResults(earlier, numbers)?.results.map(({ result }) => result.answered),
    [true, true, false],
  );
});

t.test('it decodes numbers at any place in memory', async (t) => {
  const { head, numbers } = encodeResults(BATCH);
  const shifted = Buffer.concat([Buffer.alloc(3), numbers]).subarray(3);
  t.strictSame(decodeResults(head, shifted), BATCH);
});

t.test('a cause of failure that a later version knows is shown by the text beside it', async (t) => {
  const { head, numbers } = encodeResults(BATCH);
  const later = JSON.parse(head);
  later.failures[0][1] = {
    class: 'status',
    phase: 'first_byte',
    cause: { code: 'out_of_tea' },
    detail: 'the tea is out',
  };
  t.match(decodeResults(JSON.stringify(later), numbers)?.results[1]?.result.failure, {
    class: 'status',
    cause: { code: 'text', text: 'the tea is out' },
  });
});

t.test('it refuses entries of another form', async (t) => {
  const { head, numbers } = encodeResults(BATCH);
  const change = (changes: object) => JSON.stringify({ ...JSON.parse(head), ...changes });
  const number = (at: number, value: number) => {
    const bytes = Buffer.from(numbers);
    bytes.writeDoubleLE(value, at * 8);
    return bytes;
  };
  const wrong: Readonly<Record<string, readonly [head: string, numbers: Buffer]>> = {
    empty: ['', Buffer.alloc(0)],
    'another form': [change({ form: 3 }), numbers],
    'no region': [change({ region: 'No Region' }), numbers],
    'no offset': [change({ offset: null }), numbers],
    'no node': [change({ node: 7 }), numbers],
    'failures that are none': [change({ failures: [[0, { class: 'x', phase: 'dns' }]] }), numbers],
    'a failure without its parameters': [
      change({ failures: [[1, { class: 'tls', phase: 'tls', cause: { code: 'redirect_invalid' } }]] }),
      numbers,
    ],
    'half a result': [head, numbers.subarray(0, 152 + 80)],
    'half a number': [head, numbers.subarray(0, 150)],
    'a service that is no number': [head, number(0, Number.NaN)],
    'half a service': [head, number(0, 1.5)],
    'no time': [head, number(3, Number.POSITIVE_INFINITY)],
    'a response time that is no integer': [head, number(9, 0.5)],
  };
  for (const [what, [line, bytes]] of Object.entries(wrong)) t.equal(decodeResults(line, bytes), null, what);
});

t.test('no bytes make it throw', async () => {
  const { head, numbers } = encodeResults(BATCH);
  const damaged = fc
    .tuple(fc.nat(head.length - 1), fc.string({ maxLength: 4 }))
    .map(([at, text]) => head.slice(0, at) + text + head.slice(at + text.length));
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 500 }),
    fc.tuple(fc.nat(numbers.length - 1), fc.nat(255)).map(([at, value]) => {
      const copy = new Uint8Array(numbers);
      copy[at] = value;
      return copy;
    }),
  );
  fc.assert(
    fc.property(fc.oneof(damaged, fc.json(), fc.string()), bytes, (line, raw) => {
      const decoded = decodeResults(line, raw);
      // What it takes is whole: it can be sent again unchanged.
      if (decoded === null) return;
      const again = encodeResults(decoded);
      if (!isDeepStrictEqual(decodeResults(again.head, again.numbers), decoded)) throw new Error(line);
    }),
    { numRuns: propertyRuns(500) },
  );
});

t.test('it corrects times of a clock that is off by a second or more', async (t) => {
  const results = [{ result: failed503(1, START), suspect: false, region: 'eu' }];
  const at = (clockOffsetMs: number) => correctTimes({ node: 'a', region: 'eu', clockOffsetMs, results });
  t.equal(at(999), results);
  t.equal(at(-999), results);
  t.match(at(1_000), [
    { result: { startedAt: START - 1_000, endedAt: START - 1_000, firstFailedAt: START - 7_000 } },
  ]);
  t.match(at(-60_000), [{ result: { startedAt: START + 60_000 } }]);
  t.match(at(MAX_CLOCK_OFFSET_MS), [{}]);
  t.equal(at(MAX_CLOCK_OFFSET_MS + 1), null);
  t.equal(at(-MAX_CLOCK_OFFSET_MS - 1), null);
});
