import fc from 'fast-check';
import t from 'tap';
import {
  createSlashedReader,
  readLocalTime,
  readMonthFirst,
  readTime,
  timeOfUlid,
} from '../../src/feeds/read-time.ts';

const NOON = Date.UTC(2026, 8, 20, 12);

t.test('it reads every form in which vendors write a time', async (t) => {
  for (const text of [
    '2026-09-20T12:00:00Z',
    '2026-09-20T12:00:00.000Z',
    '2026-09-20t12:00:00z',
    '2026-09-20 12:00:00 UTC',
    '2026-09-20T12:00:00',
    '2026-09-20T12:00',
    '2026-09-20T05:00:00-07:00',
    '2026-09-20T17:30:00+0530',
    '2026-09-20T14:00:00+02',
    ' 2026-09-20T12:00:00Z ',
    'Sun, 20 Sep 2026 12:00:00 GMT',
    'Sun, 20 Sep 2026 12:00:00 Z',
    'Sun, 20 Sep 2026 12:00:00 +0000',
    'Sun, 20 Sep 2026 14:00:00 +0200',
    'Sun, 20 Sep 2026 05:00:00 PDT',
    'Sun, 20 Sep 2026 07:00 EST',
    'Sun, 20 Sep 2026 17:30:00 IST',
    'Sun, 20 Sep 2026 22:00:00 AEST',
    'Sun, 20 Sep 2026 20:00:00 +08',
    'Sun, 20 Sep 2026 14:00:00 SAST',
    'Sun, 20 Sep 2026 21:30:00 ACST',
    '2026-09-20 14:00:00 +0200 CEST',
    '20 Sep 2026 12:00:00 UT',
    '20 September 26 12:00 GMT+0',
    'Sun Sep 20 2026 12:00:00 GMT+0000 (Coordinated Universal Time)',
    'Sun Sep 20 2026 14:00:00 GMT+0200 (Central European Summer Time)',
    'Sun Sep 20 2026 12:00:00',
    '1789905600',
    '1789905600.0',
    1_789_905_600,
    1_789_905_600_000,
    '1789905600000',
  ])
    t.equal(readTime(text), NOON, String(text));
  t.equal(readTime('2026-09-20T12:00:00.1239Z'), NOON + 123);
  t.equal(readTime('2026-09-20'), Date.UTC(2026, 8, 20));
  t.equal(readTime('2028-02-29T00:00:00Z'), Date.UTC(2028, 1, 29));
  t.equal(readTime('1999-12-31T23:30:00-01:00'), Date.UTC(2000, 0, 1, 0, 30));
});

t.test('it reads nothing else as a time', async (t) => {
  for (const value of [
    ...['', 'now', 'yesterday', '12:00', '2026', '2026-09', '20/09/2026', '09/20/2026 12:00', 'Sep 20'],
    ...['2026-02-30T00:00:00Z', '2026-13-01', '2026-09-20T25:00:00Z', '2026-09-20T12:60:00Z', '2027-02-29'],
    ...['2026-09-20T12:00:00 XYZ', 'Sun, 20 Sep 2026 12:00:00 XYZ', 'Sun, 20 Foo 2026 12:00:00 GMT'],
    ...['2026-09-20T12:00:00+99:00', 'Sun, 20 Sep 2026 12:00:00 constructor', '2026-09-20T12:00:00Z; drop'],
    ...['1999-12-31T23:59:59Z', '2100-01-01T00:00:00Z', '0', '-1', '12345', '99999999999999999999'],
    ...[
      0,
      -1,
      1e20,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      null,
      undefined,
      true,
      {},
      [],
      [1_789_905_600],
      new Date(NOON),
    ],
    'x'.repeat(100_000),
  ])
    t.equal(readTime(value), null, String(value).slice(0, 60));
});

t.test('a time that was written is read again', async () => {
  const times = fc.date({
    min: new Date('2000-01-01T00:00:00Z'),
    max: new Date('2099-12-31T23:59:59Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(times, (date) => {
      const second = Math.floor(date.getTime() / 1_000) * 1_000;
      return (
        readTime(date.toISOString()) === date.getTime() &&
        readTime(date.toUTCString()) === second &&
        readTime(date.toString()) === second
      );
    }),
  );
});

t.test('it gives a whole number of the 21st century or nothing', async () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.string(), fc.double(), fc.integer()), (value) => {
      const at = readTime(value);
      return at === null || (Number.isInteger(at) && at >= Date.UTC(2000, 0) && at < Date.UTC(2100, 0));
    }),
  );
});

t.test('it reads a time on the wall of a zone, in winter and in summer', async (t) => {
  for (const [text, zone, expected] of [
    ['2026-01-18 08:30', 'US/Pacific', '2026-01-18T16:30:00Z'],
    ['2026-07-18 08:30', 'US/Pacific', '2026-07-18T15:30:00Z'],
    ['2026-07-18 08:30', 'utc', '2026-07-18T08:30:00Z'],
    // Summer time begins on 8 March and ends on 1 November, each at two o'clock.
    ['2026-03-08 01:59', 'US/Pacific', '2026-03-08T09:59:00Z'],
    ['2026-03-08 03:00', 'US/Pacific', '2026-03-08T10:00:00Z'],
    ['2026-11-01 00:59', 'US/Pacific', '2026-11-01T07:59:00Z'],
    ['2026-11-01 01:30', 'US/Pacific', '2026-11-01T08:30:00Z'],
    ['2026-11-01 02:00', 'US/Pacific', '2026-11-01T10:00:00Z'],
  ] as const)
    t.equal(readLocalTime(text, zone), Date.parse(expected), `${text} ${zone}`);
  t.equal(readLocalTime('2026-01-18 08:30', 'Mars/Olympus'), null);
  t.equal(readLocalTime('yesterday', 'UTC'), null);
});

t.test('it reads times with the month first, as Americans write them', async (t) => {
  for (const [text, iso] of [
    ['07/29/2026 20:20 PDT', '2026-07-30T03:20:00Z'],
    ['Thursday, September 3, 2026, at 6:57 AM UTC', '2026-09-03T06:57:00Z'],
    ['September 3, 2026 12:00 PM UTC.', '2026-09-03T12:00:00Z'],
    ['Sep 3, 2026 12:30 AM', '2026-09-03T00:30:00Z'],
    ['Aug 16, 2026 14:58', '2026-08-16T14:58:00Z'],
    ['13/29/2026 20:20 PDT', null],
    ['02/30/2026 20:20', null],
    ['Thursday, September 3, 2026', null],
    ['soon', null],
    ['9'.repeat(100_000), null],
  ] as const)
    t.equal(readMonthFirst(text), iso === null ? null : Date.parse(iso), text.slice(0, 60));
});

t.test('times with slashes are read where one order of month and day alone reads all of a document', (t) => {
  const read = (...texts: readonly string[]) => {
    const reader = createSlashedReader(texts);
    return texts.map((text) => {
      const at = reader(text);
      return at === null ? null : new Date(at).toISOString().slice(0, 19);
    });
  };
  t.strictSame(read('9/20/2026 8:00 AM', '9/1/2026 12:05:09 pm', '9/2/2026 12:30 AM', 'soon'), [
    '2026-09-20T08:00:00',
    '2026-09-01T12:05:09',
    '2026-09-02T00:30:00',
    null,
  ]);
  t.strictSame(read('20/9/2026 20:00', '01/09/2026, 8:00 +02:00'), [
    '2026-09-20T20:00:00',
    '2026-09-01T06:00:00',
  ]);
  t.strictSame(read('9/9/2026 08:00 PDT'), ['2026-09-09T15:00:00'], 'both orders say the same');
  for (const unclear of [['9/1/2026 8:00 AM'], ['9/20/2026 8:00', '20/9/2026 8:00'], ['13/13/2026 8:00'], []])
    t.strictSame(
      read(...unclear),
      unclear.map(() => null),
      unclear.join(),
    );
  t.end();
});

t.test('a ULID tells when it was made', async (t) => {
  // OpenAI's page told 2026-09-03T14:58:23.907Z for this one.
  t.equal(timeOfUlid('01M1KWEDH417T2CF44YYHZDFCR'), Date.parse('2026-09-03T14:58:23.908Z'));
  t.equal(timeOfUlid('01KY8K3GWWJTSJTRC17GHEH08Z'), Date.parse('2026-07-23T22:56:25.500Z'));
});

t.test('anything else tells nothing', async (t) => {
  for (const text of [
    '',
    '01M1K0',
    '01M1KWEDH417T2CF44YYHZDFC',
    '01M1KWEDH417T2CF44YYHZDFCRX',
    '01m1kwedh417t2cf44yyhzdfcr',
    '01M1KWEDH417T2CF44YYHZDFCU',
    '7ZZZZZZZZZZZZZZZZZZZZZZZZZ',
    '00000000000000000000000000',
  ])
    t.equal(timeOfUlid(text), null, text);
});
