import fc from 'fast-check';
import t from 'tap';
import { FeedFormatError } from '../../src/feeds/feed-kind.ts';
import {
  lookUp,
  member,
  numberAt,
  objectAt,
  objectsAt,
  readJson,
  readJsonList,
  readJsonObject,
  requireObjects,
  textAt,
  wordAt,
} from '../../src/feeds/json-shape.ts';

function document(body: string | Uint8Array) {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

t.test('it reads any JSON in UTF-8 and UTF-16', async () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const text = JSON.stringify(value);
      const wide = Buffer.from(text, 'utf16le');
      const marked = Buffer.from(`\uFEFF${text}`, 'utf16le');
      const bodies = [
        Buffer.from(text),
        Buffer.from(`\uFEFF \n${text} `),
        marked,
        Buffer.from(marked).swap16(),
      ];
      // Without a mark one character is too little to tell by.
      if (text.length > 1 && text.charCodeAt(0) < 128 && text.charCodeAt(1) < 128)
        bodies.push(wide, Buffer.from(wide).swap16());
      return bodies.every((body) => JSON.stringify(readJson(document(body))) === text);
    }),
  );
});

t.test('it never throws anything but its own error', async (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (body) => {
      try {
        readJson(document(body));
        return true;
      } catch (error) {
        return error instanceof FeedFormatError;
      }
    }),
  );
  t.throws(() => readJson(document('')), /empty/);
  t.throws(() => readJson(document(' <p>')), /page for people/);
  t.throws(() => readJson(document('Your page is inactive')), /inactive/);
  t.throws(() => readJsonObject(document('[]')), /not an object/);
  t.throws(() => readJsonList(document('{}')), /not a list/);
});

t.test('it refuses what is nested too deep, before it builds anything', async (t) => {
  const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;
  t.ok(readJson(document(nested(64))));
  t.throws(() => readJson(document(nested(66))), /nested more than 64 deep/);
  t.ok(
    readJson(document(`["${'['.repeat(100)}", "\\"${'{'.repeat(100)}"]`)),
    'brackets in texts do not count',
  );
  t.ok(readJson(document(`[${'[],'.repeat(1_000)}[]]`)), 'nor do those that are closed');
  t.throws(() => readJson(document('['.repeat(2_000_000))), /nested/);
});

t.test('it reads what is not of the shape as missing', async (t) => {
  const object: unknown = JSON.parse('{"a":1,"n":null,"__proto__":{"x":1}}');
  t.same(
    ['a', 'n', 'b', 'toString', 'x'].map((name) => member(object, name)),
    [1, null, null, null, null],
  );
  t.same(
    [null, 5, 'text', [1]].map((value) => member(value, 'length')),
    [null, null, null, null],
  );
  t.same(
    [{ a: 1 }, [], null, 'x'].map((value) => objectAt({ value }, 'value')),
    [{ a: 1 }, null, null, null],
  );
  t.same(objectsAt({ list: [{ a: 1 }, null, [], 2, { b: 2 }] }, 'list'), [{ a: 1 }, { b: 2 }]);
  t.same(objectsAt({ list: { 0: { a: 1 }, length: 1 } }, 'list'), []);
  t.same(
    [' a ', 5, 1.5, Number.NaN, null, true, {}].map((value) => textAt({ value }, 'value')),
    ['a', '5', '1.5', '', '', '', ''],
  );
  t.same(
    ['In Progress', 'in-progress', ' RESOLVED ', 7, null, 'x'.repeat(101)].map((value) =>
      wordAt({ value }, 'value'),
    ),
    ['in_progress', 'in_progress', 'resolved', '7', '', ''],
  );
  t.same(
    [5, '5', '-1.5', '1e9', '0x10', '', ' 7 ', null, '9'.repeat(16), true].map((value) =>
      numberAt({ value }, 'value'),
    ),
    [5, 5, -1.5, null, null, null, 7, null, null, null],
  );
  t.same(
    ['a', 'b', 'constructor', '__proto__', ''].map((word) => lookUp({ a: 'found' }, word)),
    ['found', null, null, null, null],
  );
});

t.test('a list that the kind must have is a list or null', async (t) => {
  t.same(requireObjects({ list: [{ a: 1 }, 2] }, 'list'), [{ a: 1 }]);
  t.same(requireObjects({ list: null }, 'list'), []);
  for (const owner of [{}, { list: {} }, { list: 'none' }, { list: 0 }, { list: false }])
    t.throws(() => requireObjects(owner, 'list'), /no list "list"/);
});
