/** Questions and answers of neighbours. */
import t from 'tap';
import { MAX_ASKED, readAnswer, readQuestion } from '../../../src/cluster/neighbours/neighbour-messages.ts';

t.test('only texts of the form are questions and answers', async (t) => {
  const ids = (length: number) => JSON.stringify(Array.from({ length }, (_, index) => index + 1));
  const question = (length: number) => `{"from":"a","number":1,"serviceIds":${ids(length)}}`;
  t.equal(readQuestion(question(MAX_ASKED))?.serviceIds.length, MAX_ASKED);
  for (const text of [
    question(MAX_ASKED + 1),
    '',
    'null',
    '[]',
    '{"from":"a b","number":1,"serviceIds":[1]}',
    '{"from":"a","number":0}',
  ])
    t.equal(readQuestion(text), null);
  for (const text of [
    '',
    '7',
    '{"number":1}',
    '{"number":1,"unknown":[-1]}',
    `{"number":1,"unknown":${ids(MAX_ASKED + 1)}}`,
    '{"number":1,"unknown":[],"head":"{}","numbers":""}',
    '{"number":1,"unknown":[],"head":3}',
  ])
    t.equal(readAnswer(text), null);
});
