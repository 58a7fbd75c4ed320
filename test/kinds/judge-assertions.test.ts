/** The budget that the assertions of a response have together. */
import t from 'tap';
import { readAssertion } from '../../src/kinds/assertions.ts';
import { judgeAssertions } from '../../src/kinds/judge-assertions.ts';
import { readBody } from '../../src/outbound/read-body.ts';

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

t.test('a text is not missing where the charset of the body is not known', async (t) => {
  const unknown = { cause: { code: 'assertion_undecided', problem: { code: 'charset_unknown' } } };
  const broken = { cause: { code: 'assertion_failed' } };
  const western = Buffer.from('{"s":"Café ok"}', 'latin1');
  const russian = Buffer.from('7b2273223a22cef8e8e1eae0206f6b227d', 'hex');
  const rows: readonly (readonly [line: string, body: Buffer, type: string, outcome: object | null])[] = [
    ['body lacks Ошибка', russian, 'text/html', unknown],
    ['body lacks Ошибка', russian, 'text/html; charset=x-mac-none', unknown],
    ['body lacks Ошибка', russian, 'text/html; charset=utf-8', unknown],
    ['body lacks é', russian, 'text/html; charset=utf-8', unknown],
    ['body contains Ошибка', russian, 'text/html', unknown],
    ['body matches ^.*(Ошибка|Сбой)', russian, 'text/html', unknown],
    ['json $.s is not Ошибка', russian, 'application/json', unknown],
    ['json $.s lacks 障害', russian, 'application/json; charset=utf-8', unknown],
    ['json $.t missing', russian, 'application/json', null],
    ['json $.ошибка missing', russian, 'application/json', unknown],
    ['json $.ошибка missing', Buffer.from('{"s":1}'), 'application/json', null],
    ['body lacks Ошибка', russian, 'text/html; charset=windows-1251', broken],
    ['body lacks 障害', russian, 'text/html; charset=windows-1251', null],
    ['body contains ok', russian, 'text/html', null],
    ['body lacks error', russian, 'text/html; charset=utf-8', null],
    ['body contains Café', western, 'text/html', null],
    ['body lacks Größe', western, 'text/html', null],
    ['body lacks Störung', western, 'text/html; charset=utf-8', null],
    ['body lacks Größe', Buffer.from('Grösse, Größe', 'latin1'), 'text/html; charset=utf-8', unknown],
    ['body lacks Café x', western, 'text/html; charset=utf-8', null],
    ['body is not Ошибка 500', russian, 'text/html', null],
    ['body lacks Café', western, 'text/html', broken],
    ['body lacks Ошибка', Buffer.from('Ошибка'), 'text/html', broken],
    ['body lacks 障害', Buffer.from('Ошибка'), 'text/html', null],
  ];
  for (const [line, bytes, type, outcome] of rows) {
    const headers = { 'content-type': type };
    const body = await readBody({ body: bytes, overlong: false, headers }, 1_000);
    const assertion = readAssertion(line);
    if (assertion === null) throw new Error(line);
    const failure = judgeAssertions([assertion], { statusCode: 200, responseTimeMs: 1, headers, body });
    if (outcome === null) t.equal(failure, null, `${line}, ${type}`);
    else t.match(failure, outcome, `${line}, ${type}`);
  }
});
