/** Refusals and notices in English, as the API, the command line and the pages have them. */
import t from 'tap';
import { describeNotice } from '../../src/domain/notice.ts';
import { describeRefusal } from '../../src/domain/refusal.ts';
import { NOTICE_EXAMPLES, REFUSAL_EXAMPLES } from './refusal-examples.ts';

t.test('it describes every refusal in English', async (t) => {
  for (const [refusal, english] of REFUSAL_EXAMPLES) t.equal(describeRefusal(refusal), english);
});

t.test('it describes every notice in English', async (t) => {
  for (const [notice, english] of NOTICE_EXAMPLES) t.equal(describeNotice(notice), english);
});
