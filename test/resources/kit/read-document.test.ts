/** JSON Merge Patch: the examples of RFC 7396, and patches that are deep or hostile. */
import t from 'tap';
import { mergePatch, takeKept } from '../../../src/resources/kit/read-document.ts';

t.test('it merges as the examples of RFC 7396 do', async (t) => {
  const table: readonly (readonly [unknown, unknown, unknown])[] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, result] of table)
    t.same(mergePatch(target, patch), result, JSON.stringify([target, patch]));
});

t.test('it changes neither target nor prototypes, and ends at its depth', async (t) => {
  const target = Object.freeze({ a: Object.freeze({ b: 1 }) });
  t.same(mergePatch(target, { a: { c: 2 } }), { a: { b: 1, c: 2 } });
  const hostile = mergePatch({}, JSON.parse('{"__proto__":{"admin":true}}'));
  t.equal(Object.getPrototypeOf(hostile), Object.prototype);
  t.equal(Reflect.get({}, 'admin'), undefined);
  let deep: object = { x: null };
  for (let n = 0; n < 2_000; n++) deep = { a: deep };
  t.doesNotThrow(() => mergePatch({}, deep));
});

t.test('it takes secrets that are null out, if there is one to keep', async (t) => {
  const document = { name: 'Ops', settings: { token: null, url: 'x', note: null } };
  t.match(takeKept(document, ['token', 'password'], { token: 's3cret' }), {
    ok: true,
    value: { document: { name: 'Ops', settings: { url: 'x', note: null } }, kept: ['token'] },
  });
});

t.test('it refuses null where nothing is stored, by the path of each', async (t) => {
  t.same(takeKept({ settings: { token: null, password: null } }, ['token', 'password'], { password: 'x' }), {
    ok: false,
    refusals: [
      {
        field: 'settings.token',
        refusal: { code: 'setting_invalid', setting: 'token', problem: { code: 'secret_missing' } },
      },
    ],
  });
  t.match(takeKept({ settings: { constructor: null } }, ['constructor']), { ok: false });
});

t.test('what has no settings keeps none', async (t) => {
  for (const document of [null, [], 'x', {}, { settings: [] }, { settings: null }])
    t.match(takeKept(document, ['token'], { token: 'x' }), { ok: true, value: { document, kept: [] } });
});
