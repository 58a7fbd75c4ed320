/** The budget that the assertions of a response have together, and the paths and expressions that they may have. */
import t from 'tap';
import { isExpression, readAssertion } from '../../src/kinds/assertions.ts';
import { queryJson } from '../../src/kinds/json-query.ts';
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

t.test('paths lead to values as RFC 9535 says', async (t) => {
  const document = { a: [0, 1, 2, 3, 4], 'b c': { d: null }, '?': { e: true } };
  const rows: readonly (readonly [path: string, values: readonly unknown[]])[] = [
    ['$', [document]],
    ['$.a[1]', [1]],
    ['$.a[-1]', [4]],
    ['$.a[9]', []],
    ['$.a[1:3]', [1, 2]],
    ['$.a[::2]', [0, 2, 4]],
    ['$.a[::-2]', [4, 2, 0]],
    ['$.a[-2:]', [3, 4]],
    ['$.a[3:0:-1]', [3, 2, 1]],
    ['$.a[::0]', []],
    ['$.a[0:9007199254740991]', [0, 1, 2, 3, 4]],
    ["$['b\\u0020c'].d", [null]],
    ['$.*.d', [null]],
    ['$.a.length', []],
    ['$.constructor', []],
    ['$.a[*]', [0, 1, 2, 3, 4]],
  ];
  for (const [path, values] of rows) {
    const found: unknown[] = [];
    queryJson(
      document,
      path,
      () => true,
      (value) => found.push(value) > 0,
    );
    t.same(found, values, path);
  }
});

t.test('paths and expressions that would take long are refused without being tried', async (t) => {
  const before = process.cpuUsage();
  for (const path of [
    `$[?${'count('.repeat(30)}`,
    '$..a',
    '$[?@.a]',
    '$[0,1]',
    "$['a',?@.b]",
    `$${'['.repeat(190)}`,
  ])
    t.equal(readAssertion(`json ${path} exists`), null, path);
  for (const source of [
    `(${'a'.repeat(400)}){1000}`,
    `((${'a'.repeat(440)}){30}){30}`,
    `(${'a'.repeat(400)}[](]){250}`,
    '(\\pL{30}){30}',
    '\\Q(\\E(a{60}){16}',
  ])
    t.notOk(isExpression(source), source.slice(0, 20));
  t.ok(process.cpuUsage(before).user < 3_000_000, 'the parsers alone would take minutes');
  for (const source of [
    '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z$',
    '\\x{0410}+',
    '[[:alpha:]]{3}',
    '[]()]{9}',
    '(a|b){3}(c|d){3}',
    '\\Q((\\E',
  ])
    t.ok(isExpression(source), source);
});
