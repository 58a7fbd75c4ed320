/** `Retry-After` in its forms. */
import fc from 'fast-check';
import t from 'tap';
import { readRetryAfter } from '../../src/outbound/response-head.ts';

const NOW = Date.UTC(2026, 10, 20, 10, 0, 0);

t.test('it reads Retry-After in seconds and as a date, at most an hour', async (t) => {
  const rows: readonly (readonly [string | readonly string[] | undefined, number | null])[] = [
    ['120', 120_000],
    ['0', 0],
    [' 5 ', 5000],
    ['3600', 3_600_000],
    ['3601', 3_600_000],
    ['99999999999999999999', 3_600_000],
    ['Fri, 20 Nov 2026 10:02:00 GMT', 120_000],
    ['Friday, 20-Nov-26 10:02:00 GMT', 120_000],
    ['Fri, 20 Nov 2026 09:00:00 GMT', 0],
    ['Sat, 21 Nov 2026 10:00:00 GMT', 3_600_000],
    [['7', '9'], 7000],
    [undefined, null],
    ['', null],
    ['-5', null],
    ['1.5', null],
    ['1e3', null],
    ['soon', null],
    ['Fri, 99 Nov 2026', null],
  ];
  for (const [value, wait] of rows) t.equal(readRetryAfter(value, NOW), wait, String(value));
});

t.test('it never waits for a negative time or more than an hour', async (t) => {
  const check = () =>
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer().map(String), fc.date().map(String)), (value) => {
        const wait = readRetryAfter(value, NOW);
        return wait === null || (wait >= 0 && wait <= 3_600_000);
      }),
    );
  t.doesNotThrow(check);
});
