/** Refusals in English, as the API, the command line and the pages have them. */
import t from 'tap';
import { describeRefusal } from '../../src/domain/refusal.ts';
import { REFUSAL_EXAMPLES } from './refusal-examples.ts';

t.test('it describes every refusal in English', async (t) => {
  for (const [refusal, english] of REFUSAL_EXAMPLES) t.equal(describeRefusal(refusal), english);
});
