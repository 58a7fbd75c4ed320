import t from 'tap';
import { errorCodeOf, messageOf, toError } from '../src/error.ts';

t.test('it reads the message and the code of whatever was thrown', async (t) => {
  const missing = Object.assign(new Error('no such file'), { code: 'ENOENT' });
  const timeout = new DOMException('too late', 'TimeoutError');
  const cases: readonly (readonly [thrown: unknown, message: string, code: string | null])[] = [
    [missing, 'no such file', 'ENOENT'],
    [new TypeError('wrong'), 'wrong', null],
    [timeout, 'too late', null],
    ['a text', 'a text', null],
    [undefined, 'undefined', null],
    [null, 'null', null],
  ];
  t.same(
    cases.map(([thrown]) => [thrown, messageOf(thrown), errorCodeOf(thrown)]),
    cases,
  );
  t.equal(toError(missing), missing);
  t.equal(toError(timeout), timeout, 'an error of the platform is one too');
  t.equal(toError('a text').message, 'a text');
});
