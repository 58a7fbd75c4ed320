/** The bytes of documents as text. */
import fc from 'fast-check';
import t from 'tap';
import { decodeText, decodeXml, safeLink } from '../../src/feeds/feed-kind.ts';
import { propertyRuns } from '../support/property-runs.ts';

const BASE = 'https://status.example.com/history';

t.test('it gives links that can be followed, and nothing else', async (t) => {
  for (const [value, link] of [
    ['https://a.example/x?y#z', 'https://a.example/x?y#z'],
    ['http://a.example', 'http://a.example/'],
    [' https://a.example/ ', 'https://a.example/'],
    ['/incidents/1', 'https://status.example.com/incidents/1'],
    ['incidents/1', 'https://status.example.com/incidents/1'],
    ['//cdn.example/x', 'https://cdn.example/x'],
    ['https://a.example/"><b>\'', 'https://a.example/%22%3E%3Cb%3E%27'],
    ['javascript:alert(1)', null],
    ['JaVa\nScRiPt:alert(1)', null],
    ['data:text/html,x', null],
    ['ftp://a.example/', null],
    ['mailto:a@example.com', null],
    ['https://user@a.example/', null],
    ['https://user:pass@a.example/', null],
    ['https://', null],
    ['https://a.example:99999/', null],
    ['', null],
    ['   ', null],
    [`https://a.example/${'x'.repeat(2_000)}`, null],
    [`https://a.example/${'é'.repeat(400)}`, null],
    [42, null],
    [null, null],
    [{}, null],
  ] as const)
    t.equal(safeLink(value, BASE), link, String(value).slice(0, 60));
});

t.test('no link leaves its attribute or its scheme', async () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.webUrl({ withFragments: true, withQueryParameters: true })),
      (value) => {
        const link = safeLink(value, BASE);
        return link === null || (/^https?:\/\/[^\s"'<>`]+$/.test(link) && link.length <= 2_000);
      },
    ),
    { numRuns: propertyRuns(50) },
  );
});

const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();

t.test('it knows UTF-16 by its mark or its first bytes', async (t) => {
  for (const body of [
    Buffer.from('{"a":"ü"}'),
    Buffer.from('\uFEFF{"a":"ü"}'),
    Buffer.from('{"a":"ü"}', 'utf16le'),
    Buffer.from('\uFEFF{"a":"ü"}', 'utf16le'),
    utf16be('{"a":"ü"}'),
    utf16be('\uFEFF{"a":"ü"}'),
  ]) {
    t.equal(decodeText(body), '{"a":"ü"}');
    t.equal(decodeXml(body), '{"a":"ü"}');
  }
  t.equal(decodeText(Buffer.alloc(0)), '');
});

t.test('it believes the declaration of XML, unless its bytes contradict it', async (t) => {
  const declared = (encoding: string, body: number[] = [0xe4]) =>
    decodeXml(
      Buffer.concat([Buffer.from(`<?xml version="1.0" encoding="${encoding}"?>`), Buffer.from(body)]),
    );
  t.match(declared('ISO-8859-1'), /ä$/);
  t.match(declared('windows-1251'), /д$/);
  t.match(declared('utf-16', [0xc3, 0xa4]), /ä$/, 'it is readable byte by byte, so it is UTF-8');
  t.match(declared('us-ascii', [0xc3, 0xa4]), /ä$/);
  t.match(declared('utf-8'), /\uFFFD$/);
  t.throws(() => declared('ebcdic'), { name: 'FeedFormatError' });
});
