/** Checks as rows of numbers: read back as they were, or refused. */
import fc from 'fast-check';
import t from 'tap';
import { SOURCES } from '../../../src/domain/packed.ts';
import { NO_TIMING } from '../../../src/domain/result.ts';
import type { LatestCheck } from '../../../src/domain/status/current.ts';
import {
  checkedAtOf,
  checkOf,
  createRows,
  flagsOf,
  isSameCheckRow,
  isSameRow,
  numberOf,
  observedAtOf,
  packRow,
  type RowContent,
  RowWords,
  setFlags,
  sinceOf,
  statusOf,
} from '../../../src/domain/status/status-rows.ts';
import { SERVICE_STATUSES } from '../../../src/domain/status.ts';

const CHECK: LatestCheck = {
  ...{ status: 'up', responseTimeMs: 12, statusCode: 200, checkedAt: 5, source: 'root', reported: null },
  ...{ failure: null, blocked: false, timing: NO_TIMING, certificateExpiresAt: null },
};
const CONTENT: RowContent = { number: 7, flags: 1, observedAt: 5, since: 3, status: 'up', check: CHECK };
const pack = (content: Partial<RowContent>, known = new RowWords(), rows = createRows(1)) =>
  packRow(rows, 0, { ...CONTENT, ...content }, known);

t.test('any check that fits is read back as it was, beside other rows', async () => {
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
  const check = fc.record({
    status: fc.constantFrom('up', 'slow', 'down' as const),
    responseTimeMs: maybe(fc.nat()),
    statusCode: fc.nat(65_535),
    checkedAt: fc.nat(),
    source: fc.constantFrom(...SOURCES),
    reported: maybe(fc.constantFrom('ok', 'fine', '')),
    failure: fc.constant(null),
    blocked: fc.boolean(),
    timing: fc.record({
      ...{ dnsMs: maybe(fc.nat()), connectMs: maybe(fc.nat()), tlsMs: maybe(fc.nat()) },
      ...{ firstByteMs: maybe(fc.nat()), totalMs: maybe(fc.nat()) },
    }),
    certificateExpiresAt: maybe(fc.nat()),
  });
  const content = fc.record({
    ...{ number: fc.nat(), flags: fc.constantFrom(0, 1, 2, 3), observedAt: fc.nat(), since: maybe(fc.nat()) },
    ...{ status: fc.constantFrom(...SERVICE_STATUSES), check: maybe(check) },
  });
  fc.assert(
    fc.property(fc.array(content, { minLength: 1, maxLength: 4 }), (contents) => {
      const rows = createRows(contents.length);
      const words = new RowWords();
      for (const [row, one] of contents.entries())
        if (!packRow(rows, row, one as RowContent, words)) return false;
      return contents.every(
        (one, row) =>
          JSON.stringify(checkOf(rows, row, words)) === JSON.stringify(one.check) &&
          numberOf(rows, row) === one.number &&
          (flagsOf(rows, row) & 3) === one.flags &&
          observedAtOf(rows, row) === one.observedAt &&
          sinceOf(rows, row) === one.since &&
          statusOf(rows, row) === one.status &&
          checkedAtOf(rows, row) === (one.check?.checkedAt ?? null) &&
          isSameRow(rows, row, rows, row),
      );
    }),
  );
});

t.test('what does not fit is refused, and nothing is written', async (t) => {
  const rows = createRows(1);
  const failure = { class: 'timeout' } as never;
  for (const check of [
    { ...CHECK, failure },
    { ...CHECK, source: 'gopher' as never },
    { ...CHECK, statusCode: 65_536 },
    { ...CHECK, statusCode: -1 },
    { ...CHECK, responseTimeMs: 1.5 },
    { ...CHECK, responseTimeMs: 2 ** 32 - 1 },
  ])
    t.notOk(pack({ check }, undefined, rows), JSON.stringify(check));
  for (const number of [-1, 0.5, 2 ** 32]) t.notOk(pack({ number }, undefined, rows), String(number));
  t.equal(flagsOf(rows, 0), 0, 'never written');
  t.equal(checkOf(rows, 0, new RowWords()), null);
});

t.test('it numbers 255 words, and refuses checks with a further one', async (t) => {
  const words = new RowWords();
  for (let n = 1; n <= 255; n++) t.equal(words.numberOf(`word ${n}`), n);
  t.equal(words.numberOf('word 7'), 7);
  t.same([words.numberOf(null), words.wordOf(0), words.wordOf(255)], [0, null, 'word 255']);
  t.ok(pack({ check: { ...CHECK, reported: 'word 255' } }, words));
  t.notOk(pack({ check: { ...CHECK, reported: 'one more' } }, words));
});

t.test('rows are the same in all, or in their checks alone', async (t) => {
  const words = new RowWords();
  const rows = createRows(4);
  const contents = [
    {},
    { since: 4, status: 'slow' },
    { check: { ...CHECK, blocked: true } },
    { check: null },
  ] as const;
  for (const [row, more] of contents.entries()) packRow(rows, row, { ...CONTENT, ...more }, words);
  t.notOk(isSameRow(rows, 0, rows, 1));
  t.ok(isSameCheckRow(rows, 0, rows, 1));
  t.notOk(isSameCheckRow(rows, 0, rows, 2));
  t.notOk(isSameCheckRow(rows, 0, rows, 3));
  setFlags(rows, 0, flagsOf(rows, 0) | 2);
  t.ok(isSameCheckRow(rows, 0, rows, 1), 'the flags of the caller are no part of it');
});
