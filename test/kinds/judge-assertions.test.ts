/** The budget that the assertions of a response have together. */
import t from 'tap';
import { readAssertion } from '../../src/kinds/assertions.ts';
import { judgeAssertions } from '../../src/kinds/judge-assertions.ts';

const judge = (lines: readonly string[], document: unknown) =>
  judgeAssertions(
    lines.flatMap((line) => readAssertion(line) ?? []),
    {
      statusCode: 200,
      responseTimeMs: 1,
      headers: {},
      body: { kind: 'text', text: JSON.stringify(document), whole: true },
    },
  );

t.test('all expressions of a response look at a bounded number of characters', async (t) => {
  const texts = Array.from({ length: 63 }, () => 'x'.repeat(4_090));
  const lines = Array.from({ length: 10 }, (_, index) => `json $[*] matches (x+x+)+y${index}`);
  const problem = { code: 'too_many_characters', maxCharacters: 40_960 };
  t.match(judge(lines, texts), { class: 'content', cause: { code: 'assertion_undecided', problem } });
  t.match(judge(['json $[*] matches y'], texts), { cause: { problem } }, 'of one assertion, too');
  t.equal(judge(['json $[*] matches x'], texts), null, 'the first match decides');
  const ten = Array.from({ length: 10 }, () => 'json $[0] matches ^x');
  t.equal(judge(ten, texts), null);
  const short = Array.from({ length: 300 }, () => 'https://a.example/');
  t.equal(judge(['json $[*] matches ^https'], short), null);
});

t.test('all paths of a response visit a bounded number of values', async (t) => {
  const numbers = Array.from({ length: 100_000 }, () => 1);
  t.equal(judge(['json $[*] is not 2', 'json $[::-1] is not 3', 'json $[99999] is 1'], numbers), null);
  t.match(
    judge(
      Array.from({ length: 10 }, () => 'json $[*] is not 2'),
      numbers,
    ),
    {
      cause: { code: 'assertion_undecided', problem: { code: 'too_many_values', maxValues: 250_000 } },
    },
  );
});
