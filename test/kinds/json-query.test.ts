/** Paths into JSON, by RFC 9535. */
import t from 'tap';
import { queryJson } from '../../src/kinds/json-query.ts';

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
