/** The words and marks of pasted lines. */
import t from 'tap';
import {
  hidePassword,
  kindOfPort,
  SCHEMES,
  splitUrls,
  WORDS,
  withoutDecoration,
} from '../../../src/domain/pasted/pasted-words.ts';

t.test('it knows services by their ports, and checks a connection to any other', async (t) => {
  t.same(kindOfPort(465), { kind: 'smtp', port: null, settings: { security: 'tls' } });
  t.same(kindOfPort(8080), { kind: 'http', port: null, settings: { plain: true } });
  t.same(kindOfPort(1234), { kind: 'tcp', port: null, settings: {} });
});

t.test('schemes and words are in lower case, as they are looked for', async (t) => {
  for (const name of [...SCHEMES.keys(), ...WORDS.keys()]) t.equal(name, name.toLowerCase());
});

t.test('it takes the marks of lists, quotes, tables and code away, and nothing of the text', async (t) => {
  for (const [line, text] of [
    ['- a.example', 'a.example'],
    ['12) a.example', 'a.example'],
    ['> > a.example', 'a.example'],
    ['* [x] a.example', 'a.example'],
    ['| a.example |', 'a.example'],
    ['"a.example",', 'a.example'],
    ['`a.example`', 'a.example'],
    ['\uFEFFa.example\u00A0b', 'a.example b'],
    ['-a.example', '-a.example'],
    ['8080', '8080'],
  ] as const)
    t.equal(withoutDecoration(line), text, line);
});

t.test('it divides a line with several URLs, each with the words before it', async (t) => {
  t.same(splitUrls('one two'), ['one two']);
  t.same(splitUrls('Shop https://a.example'), ['Shop https://a.example']);
  t.same(splitUrls('Shop https://a.example API https://b.example down'), [
    'Shop https://a.example',
    'API https://b.example down',
  ]);
});

t.test('it hides passwords of addresses, and no port', async (t) => {
  for (const [line, shown] of [
    ['https://ada:s3cret@a.example/', 'https://ada:***@a.example/'],
    ['ada:s3cret@a.example', 'ada:***@a.example'],
    ['redis://:p@ss@cache', 'redis://:***@cache'],
    ['https://a.example:8443/@user', 'https://a.example:8443/@user'],
    ['ada@a.example', 'ada@a.example'],
    ['two a:b@c and d:e@f', 'two a:***@c and d:***@f'],
  ] as const)
    t.equal(hidePassword(line), shown, line);
});
