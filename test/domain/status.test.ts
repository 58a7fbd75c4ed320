/** Words and times that make a verdict. */
import t from 'tap';
import {
  judgeLatency,
  readStatusWord,
  SERVICE_STATUSES,
  STATUS_VOCABULARY,
} from '../../src/domain/status.ts';

t.test('each word has one verdict, in any case', async (t) => {
  const words = Object.entries(STATUS_VOCABULARY).flatMap(([verdict, list]) =>
    list.map((word) => [word, verdict] as const),
  );
  t.equal(new Set(words.map(([word]) => word)).size, words.length);
  for (const [word, verdict] of words) {
    t.equal(readStatusWord(word), verdict, word);
    t.equal(readStatusWord(word.toUpperCase()), verdict, word);
    t.ok(SERVICE_STATUSES.some((status) => status === verdict));
  }
});

t.test('no other text is a verdict, however much it looks like one', async (t) => {
  for (const word of ['', 'fine', 'ok ', 'o\u212A', 'constructor', 'up!', 'unknown'])
    t.equal(readStatusWord(word), null, word);
});

t.test('exactly the bound is not slow', async (t) => {
  t.same([judgeLatency(3_000, 3_000), judgeLatency(3_000.1, 3_000)], ['up', 'slow']);
});
