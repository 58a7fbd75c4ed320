/** The bytes of documents as text. */
import t from 'tap';
import { decodeText, decodeXml } from '../../src/feeds/decode-text.ts';

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
