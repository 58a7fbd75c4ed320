import t from 'tap';
import { timeOfUlid } from '../../src/feeds/ulid.ts';

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
