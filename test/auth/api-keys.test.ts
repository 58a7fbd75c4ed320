import { createHash } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { generateKeyText, readKey } from '../../src/auth/api-keys.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A key whose random characters are those of `secret`. */
function keyOf(secret: string): string {
  return generateKeyText(() => Uint8Array.from([...secret], (character) => BASE62.indexOf(character)));
}

const secrets = fc.string({ unit: fc.constantFrom(...BASE62), minLength: 32, maxLength: 32 });

t.test('it writes keys as prefix, random characters and checksum', (t) => {
  const key = keyOf('0'.repeat(32));
  t.match(key, /^upb_0{32}[0-9A-Za-z]{6}$/);
  t.match(generateKeyText(), /^upb_[0-9A-Za-z]{38}$/);
  t.end();
});

t.test('it appends the CRC-32 in base62, filled up with zeros', (t) => {
  fc.assert(
    fc.property(secrets, (secret) => {
      const written = keyOf(secret).slice(-6);
      const value = [...written].reduce((sum, character) => sum * 62 + BASE62.indexOf(character), 0);
      return value === slowCrc32(secret);
    }),
  );
  t.end();
});

t.test('it reads back what it wrote, with the hash of the whole and a little to show', (t) => {
  fc.assert(
    fc.property(secrets, (secret) => {
      const key = keyOf(secret);
      const reading = readKey(key);
      const expected = createHash('sha256').update(key).digest('hex');
      return (
        reading !== null &&
        Buffer.from(reading.sha256).toString('hex') === expected &&
        reading.shown === `upb_${secret.slice(0, 4)}`
      );
    }),
  );
  t.end();
});

t.test('it refuses every typo of one character and every swap of neighbours', (t) => {
  fc.assert(
    fc.property(secrets, fc.nat(41), fc.constantFrom(...BASE62, '-', '_', ' ', 'é'), (secret, at, typo) => {
      const key = keyOf(secret);
      const wrong = key.slice(0, at) + typo + key.slice(at + 1);
      const swapped = key.slice(0, at) + (key[at + 1] ?? '') + (key[at] ?? '') + key.slice(at + 2);
      return [wrong, swapped].every((text) => text === key || readKey(text) === null);
    }),
    { numRuns: 1_000 },
  );
  t.end();
});

t.test('it refuses everything of another form, and throws for nothing', (t) => {
  const key = generateKeyText();
  const table = [
    '',
    'upb_',
    key.slice(4),
    `${key}0`,
    key.slice(0, -1),
    ` ${key}`,
    `${key}\n`,
    key.toUpperCase(),
  ];
  for (const text of table) t.equal(readKey(text), null, JSON.stringify(text));
  fc.assert(fc.property(fc.string(), (text) => readKey(text) === null));
  fc.assert(
    fc.property(fc.string({ minLength: 38, maxLength: 38 }), (text) => readKey(`upb_${text}`) === null),
  );
  t.end();
});

t.test('it draws every character from four bytes, and throws the eight bytes left over away', (t) => {
  const drawn = new Map<string, number>();
  for (let byte = 0; byte < 248; byte++) {
    const character = generateKeyText(firstThen([byte], 7)).charAt(4);
    drawn.set(character, (drawn.get(character) ?? 0) + 1);
  }
  t.same([...drawn].sort(), [...BASE62].map((character) => [character, 4] as const).sort());
  const leftOver = generateKeyText(firstThen([248, 249, 250, 251, 252, 253, 254, 255], 7));
  t.equal(leftOver.slice(4, 36), '7'.repeat(32));
  t.end();
});

t.test('it makes no key twice', (t) => {
  t.equal(new Set(Array.from({ length: 1_000 }, () => generateKeyText())).size, 1_000);
  t.end();
});

/** A random source that returns `bytes` first and then always `rest`. */
function firstThen(bytes: number[], rest: number): (count: number) => Uint8Array {
  return (count) => Uint8Array.from({ length: count }, () => bytes.shift() ?? rest);
}

/** CRC-32 bit by bit (ISO 3309), as another opinion. */
function slowCrc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
