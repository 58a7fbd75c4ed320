/** Lengths and limits of time in sentences. */
import t from 'tap';
import type { Failure, FailureCause } from '../../src/domain/failure.ts';
import { createFormats } from '../../src/language/formats.ts';
import { LANGUAGES } from '../../src/web/language/language.ts';

const MINUTE = 60_000;

const HOUR = 60 * MINUTE;

t.test('it says time limits in seconds, and a failure once', async (t) => {
  const failure = (kind: 'timeout' | 'status' | 'body' | 'dns', cause: FailureCause): Failure => ({
    class: kind,
    phase: 'first_byte',
    cause,
  });
  const timeout = (timeoutMs: number) =>
    failure('timeout', { code: 'timeout', phase: 'first_byte', timeoutMs });
  const table: readonly [Failure, english: string, german: string][] = [
    [timeout(10_000), 'no answer within 10 s', 'keine Antwort binnen 10 s'],
    [timeout(2_500), 'no answer within 2.5 s', 'keine Antwort binnen 2,5 s'],
    [timeout(250), 'no answer within 250 ms', 'keine Antwort binnen 250 ms'],
    [
      failure('status', { code: 'status', statusCode: 503 }),
      'answered with status 503',
      'Antwort mit Status 503',
    ],
    [
      failure('dns', { code: 'text', text: '' }),
      'it does not resolve in DNS',
      'der Dienst lässt sich im DNS nicht auflösen',
    ],
    [
      failure('body', { code: 'text', text: 'degraded' }),
      'it does not report that it is healthy (degraded)',
      'der Dienst meldet sich nicht als gesund (degraded)',
    ],
    [
      failure('body', { code: 'reported_down', word: 'on fire' }),
      'it reports "on fire"',
      'der Dienst meldet „on fire“',
    ],
    [
      failure('body', { code: 'reported_unknown', word: 'on fire' }),
      'it reports an unknown status "on fire"',
      'der Dienst meldet einen unbekannten Status „on fire“',
    ],
  ];
  for (const [one, english, german] of table)
    t.same(
      [LANGUAGES.en, LANGUAGES.de].map(({ texts }) => texts.page.failure(one)),
      [english, german],
    );
  t.equal(LANGUAGES.en.texts.service.failure(timeout(10_000)), 'no answer within 10 s');
});

t.test('it writes lengths in their two largest units, rounded down', async (t) => {
  const { length } = createFormats('en-GB', 'en');
  const table: readonly [number, string][] = [
    [-5, '0 s'],
    [59_999, '59 s'],
    [MINUTE, '1 min'],
    [59 * MINUTE + 59_000, '59 min'],
    [HOUR, '1 hr'],
    [2 * HOUR + 5 * MINUTE, '2 hr 5 min'],
    [48 * HOUR - 1, '47 hr 59 min'],
    [48 * HOUR, '2 days'],
  ];
  for (const [ms, said] of table) t.equal(length(ms), said);
});
