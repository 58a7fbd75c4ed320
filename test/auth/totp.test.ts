/** One-time codes and recovery codes. */
import { createHash } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import t from 'tap';
import { makeRecoveryCodes, readRecoveryCode } from '../../src/auth/password-sign-in.ts';
import { describeTotp, findTotpStep } from '../../src/auth/totp.ts';

/** The secret of RFC 6238's test vectors. */
const SECRET = new Uint8Array(Buffer.from('12345678901234567890'));

t.test('it accepts the codes of the RFC, once, and of the periods beside', async (t) => {
  // RFC 6238, appendix B, the last six of the eight digits.
  const rows: readonly (readonly [seconds: number, code: string])[] = [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_234_567_890, '005924'],
    [20_000_000_000, '353130'],
  ];
  for (const [seconds, code] of rows) {
    const step = Math.floor(seconds / 30);
    const at = (shift: number) => findTotpStep(SECRET, code, (seconds + shift) * 1_000, 0);
    t.equal(await at(0), step, code);
    t.equal(await at(30), step, 'of the period before');
    t.equal(await at(-30), step, 'of the period after');
    t.same([await at(60), await at(-60)], [null, null]);
    t.equal(await findTotpStep(SECRET, code, seconds * 1_000, step), null, 'used before');
    t.equal(await findTotpStep(SECRET, code, seconds * 1_000, step - 1), step);
  }
  for (const code of ['', '28708', '2870820', '２８７０８２', '28708a', ' 287082', 'constructor'])
    t.equal(await findTotpStep(SECRET, code, 59_000, 0), null, code);
});

t.test('the app gets the secret as text and as a picture', async (t) => {
  const { shownSecret, uri, qrCode } = await describeTotp(SECRET, 'Ada & "Co" (status.example.com)');
  t.equal(shownSecret, 'GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ');
  const url = new URL(uri);
  t.equal(url.protocol, 'otpauth:');
  t.equal(url.searchParams.get('secret'), shownSecret.replaceAll(' ', ''));
  t.match(qrCode, /^<svg [^>]*viewBox[^>]*>/);
  t.notMatch(qrCode, /Ada|style=|<script|<image/);
  const app = new TOTP({ secret: Secret.fromBase32(shownSecret) });
  t.equal(await findTotpStep(SECRET, app.generate({ timestamp: 59_000 }), 59_000, 0), 1);
});

t.test('recovery codes are read as people type them', async (t) => {
  const codes = makeRecoveryCodes();
  t.equal(new Set(codes.map(({ shown }) => shown)).size, 10);
  for (const { shown, sha256 } of codes) {
    t.match(shown, /^([a-km-np-z2-9]{4}-){3}[a-km-np-z2-9]{4}$/);
    t.same(readRecoveryCode(shown), sha256);
  }
  const [{ shown, sha256 } = { shown: '', sha256: new Uint8Array() }] = codes;
  t.same(readRecoveryCode(` ${shown.toUpperCase().replaceAll('-', ' ')} `), sha256);
  t.same(Buffer.from(sha256), createHash('sha256').update(shown.replaceAll('-', '')).digest());
  for (const text of ['', '123456', shown.slice(1), `${shown}x`]) t.equal(readRecoveryCode(text), null);
});
