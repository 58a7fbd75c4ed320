/** Encryption of credentials of checks: a sealed text can be read for its place only, and with its key only. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import {
  deriveChecksKey,
  isKeyOf,
  NONCE_BYTES,
  openCredential,
  sealCredential,
} from '../../src/domain/credential-seal.ts';
import { propertyRuns } from '../support/property-runs.ts';

const KEY = deriveChecksKey(Buffer.alloc(32, 7));
const PLACE = { domain: 'a.example', kind: 'http', destination: 'https:443', setting: 'token' };
const seal = (text: string) => sealCredential(KEY, PLACE, text, randomBytes(NONCE_BYTES));

t.test('it reads any text again, and seals none in the same way twice', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const [one, other] = [seal(text), seal(text)];
      t.strictSame(openCredential(KEY, PLACE, one), { ok: true, text });
      t.not(one, other);
    }),
    { numRuns: propertyRuns(30) },
  );
});

t.test('it is read for its own place only', async (t) => {
  const sealed = seal('hunter2');
  const changed = { ok: false, problem: 'changed' };
  for (const other of [
    { domain: 'b.example' },
    { kind: 'websocket' },
    { destination: 'http:80' },
    { setting: 'password' },
    // Members cannot run into each other.
    { domain: 'a.example","http', kind: '' },
  ])
    t.strictSame(openCredential(KEY, { ...PLACE, ...other }, sealed), changed, JSON.stringify(other));
});

t.test('it says whether the key is missing, another one, or the text was changed', async (t) => {
  const sealed = seal('hunter2');
  const other = deriveChecksKey(randomBytes(32));
  t.strictSame(openCredential(null, PLACE, sealed), { ok: false, problem: 'no_key' });
  t.strictSame(openCredential(other, PLACE, sealed), { ok: false, problem: 'other_key' });
  t.same([isKeyOf(KEY, sealed), isKeyOf(other, sealed), isKeyOf(KEY, 'check:v1:')], [true, false, false]);
  const at = sealed.lastIndexOf(':') + 1;
  const bytes = Buffer.from(sealed.slice(at), 'base64');
  for (const index of bytes.keys()) {
    const flipped = Buffer.from(bytes);
    flipped[index] = (flipped[index] ?? 0) ^ 1;
    const text = sealed.slice(0, at) + flipped.toString('base64');
    t.strictSame(openCredential(KEY, PLACE, text), { ok: false, problem: 'changed' }, `byte ${index}`);
  }
  for (const text of ['', 'hunter2', sealed.slice(0, at), `${sealed.slice(0, at)}AAAA`])
    t.strictSame(openCredential(KEY, PLACE, text), { ok: false, problem: 'changed' }, text);
});

t.test('the key of checks is derived, and reveals neither key in its name', async (t) => {
  const secretsKey = Buffer.alloc(32, 7);
  // RFC 5869 with SHA-256, no salt, and the text "upbeat credentials of checks".
  t.equal(KEY.toString('hex'), deriveChecksKey(secretsKey).toString('hex'));
  t.not(KEY.toString('hex'), secretsKey.toString('hex'));
  t.notMatch(seal(''), KEY.toString('hex').slice(0, 16));
});
